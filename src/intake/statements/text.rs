//! A turn cut into words and sentences, with everything that is not the person's own speech taken out: fenced code,
//! quoted lines, comments. What stands in quotation marks or inline code stays as one token, since it can name a thing.

use super::names::{is_name, is_number};
use crate::domain::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Word,
    Number,
    /// A path, file name, glob, address or URL.
    Name,
    /// Inline code that is more than a name.
    Code,
    Quoted,
    Comma,
    Semicolon,
    Colon,
    Dash,
    Open,
    Close,
    /// `.`, `!` at the end of a sentence.
    Stop,
    Question,
    /// End of a line that is also the end of a sentence.
    Break,
    /// A bullet or number at the start of a line.
    Bullet,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub sort: Sort,
    /// In `char`s of the turn.
    pub span: Span,
    /// As written; of quotes and code what stands between the marks.
    pub text: String,
    /// What patterns see: lower case, contractions taken apart.
    pub norm: String,
}

/// A sentence, or one item of a list with the words that introduce the list in front.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sentence {
    pub tokens: Vec<Token>,
    /// So many tokens in front belong to the introduction of a list.
    pub lead: usize,
    pub question: bool,
}

const LONGEST_QUOTE: usize = 400;
const LONGEST_LEAD: usize = 40;
const LONGEST_CHUNK: usize = 256;
/// Longer ones are cut, so that reading stays linear.
const LONGEST_SENTENCE: usize = 300;

pub(crate) fn sentences(text: &str, known_word: &dyn Fn(&str) -> bool) -> Vec<Sentence> {
    group(tokens(text, known_word))
}

struct Cutter<'a> {
    chars: Vec<char>,
    tokens: Vec<Token>,
    known_word: &'a dyn Fn(&str) -> bool,
}

/// All tokens of a turn.
fn tokens(text: &str, known_word: &dyn Fn(&str) -> bool) -> Vec<Token> {
    let mut cutter = Cutter { chars: text.chars().collect(), tokens: Vec::new(), known_word };
    let mut at = 0;
    let mut line_start = true;
    while at < cutter.chars.len() {
        if line_start {
            line_start = false;
            at = cutter.line_start(at);
            continue;
        }
        match cutter.at(at) {
            '\n' => {
                cutter.line_end(at);
                line_start = true;
                at += 1;
            }
            c if c.is_whitespace() => at += 1,
            _ => at = cutter.token(at),
        }
    }
    cutter.tokens
}

impl Cutter<'_> {
    fn at(&self, i: usize) -> char {
        self.chars.get(i).copied().unwrap_or('\n')
    }

    fn text(&self, from: usize, to: usize) -> String {
        self.chars.get(from..to).unwrap_or_default().iter().collect()
    }

    fn push(&mut self, sort: Sort, from: usize, to: usize, text: String) {
        let norm = text.to_lowercase();
        self.push_as(sort, from, to, text, norm);
    }

    fn push_as(&mut self, sort: Sort, from: usize, to: usize, text: String, norm: String) {
        self.tokens.push(Token { sort, span: Span { start: from as u32, end: to as u32 }, text, norm });
    }

    fn line_of(&self, from: usize) -> usize {
        (from..self.chars.len()).find(|i| self.at(*i) == '\n').unwrap_or(self.chars.len())
    }

    /// Skips what is not speech; otherwise notes a bullet. Returns where to go on.
    fn line_start(&mut self, from: usize) -> usize {
        let mut at = from;
        while at < self.chars.len() && self.at(at) != '\n' && self.at(at).is_whitespace() {
            at += 1;
        }
        let end = self.line_of(at);
        let three: String = self.text(at, (at + 3).min(end));
        if three == "```" || three == "~~~" {
            return self.fence_end(end, &three);
        }
        if three.starts_with('>') || three.starts_with("//") || three.starts_with("/*") {
            return end;
        }
        let mut mark = at;
        while self.at(mark).is_ascii_digit() {
            mark += 1;
        }
        let numbered = mark > at && mark - at <= 3 && matches!(self.at(mark), '.' | ')');
        let bulleted = mark == at && matches!(self.at(at), '-' | '*' | '•' | '–' | '+' | '#');
        if (numbered || bulleted) && matches!(self.at(mark + 1), ' ' | '\t' | '#') {
            while self.at(mark + 1) == '#' {
                mark += 1;
            }
            self.push(Sort::Bullet, at, mark + 1, String::new());
            return mark + 1;
        }
        at
    }

    /// The end of the line that closes a fence; an unclosed one takes the rest.
    fn fence_end(&self, opened: usize, marks: &str) -> usize {
        let mut at = opened + 1;
        while at < self.chars.len() {
            let end = self.line_of(at);
            let line = self.text(at, end.min(at + 40));
            if line.trim_start().starts_with(marks) {
                return end;
            }
            at = end + 1;
        }
        self.chars.len()
    }

    /// A line ends its sentence unless the next line goes on in lower case without a bullet.
    fn line_end(&mut self, at: usize) {
        let mut next = at + 1;
        while next < self.chars.len() && self.at(next) != '\n' && self.at(next).is_whitespace() {
            next += 1;
        }
        let goes_on = self.at(next).is_lowercase() && self.tokens.last().is_some_and(|t| t.sort == Sort::Word);
        if !goes_on && self.tokens.last().is_some_and(|t| t.sort != Sort::Break) {
            self.push(Sort::Break, at, at + 1, String::new());
        }
    }

    /// One token from `from`, where no white space stands. Returns its end.
    fn token(&mut self, from: usize) -> usize {
        let c = self.at(from);
        if let Some(end) = self.quoted(from, c) {
            return end;
        }
        let sort = match c {
            ',' | '，' => Some(Sort::Comma),
            ';' => Some(Sort::Semicolon),
            ':' => Some(Sort::Colon),
            '(' | '[' | '{' => Some(Sort::Open),
            ')' | ']' | '}' => Some(Sort::Close),
            '!' | '。' | '…' => Some(Sort::Stop),
            '?' | '？' => Some(Sort::Question),
            '–' | '—' | '→' => Some(Sort::Dash),
            _ => None,
        };
        if let Some(sort) = sort {
            self.push(sort, from, from + 1, c.to_string());
            return from + 1;
        }
        self.chunk(from)
    }

    /// A span in quotation marks or backticks.
    fn quoted(&mut self, from: usize, open: char) -> Option<usize> {
        let close = match open {
            '"' | '`' => open,
            '“' | '„' => '”',
            '«' => '»',
            '‘' => '’',
            '\'' => '\'',
            _ => return None,
        };
        let single = matches!(open, '\'' | '‘');
        if single && (from > 0 && self.at(from - 1).is_alphanumeric() || !self.at(from + 1).is_alphanumeric()) {
            return None;
        }
        let limit = (from + 1 + LONGEST_QUOTE).min(self.chars.len());
        let mut to = from + 1;
        while to < limit {
            let c = self.at(to);
            let closes = c == close || open == '„' && c == '“';
            if c == '\n' && open != '"' {
                return None;
            }
            if closes && to > from + 1 && !(single && self.at(to + 1).is_alphanumeric()) {
                break;
            }
            to += 1;
        }
        if to >= limit {
            return None;
        }
        let inner = self.text(from + 1, to);
        let name = is_name(&inner) && !inner.contains(char::is_whitespace);
        let word = open == '`' && !inner.contains(char::is_whitespace);
        let sort = match (open, name || word) {
            (_, true) => Sort::Name,
            ('`', false) => Sort::Code,
            (_, false) => Sort::Quoted,
        };
        let norm = if sort == Sort::Quoted { "“”".to_owned() } else { inner.to_lowercase() };
        self.push_as(sort, from, to + 1, inner, norm);
        Some(to + 1)
    }

    /// What stands between white space: a name, a number, or words.
    fn chunk(&mut self, from: usize) -> usize {
        let ends = |c: char| {
            c.is_whitespace()
                || matches!(
                    c,
                    ',' | ';' | '!' | '?' | '"' | '“' | '”' | '„' | '«' | '»' | '—' | '…' | '`' | '(' | ')'
                )
        };
        let mut end = from + 1;
        let thousands = |at: usize| {
            self.at(at) == ','
                && self.at(at - 1).is_ascii_digit()
                && (1..=3).all(|n| self.at(at + n).is_ascii_digit())
        };
        while end < self.chars.len() && end - from < LONGEST_CHUNK && (!ends(self.at(end)) || thousands(end)) {
            end += 1;
        }
        // brackets and question marks inside a glob belong to it
        let mut whole = self.text(from, end);
        let short = matches!(whole.to_lowercase().as_str(), "e.g." | "i.e." | "etc." | "vs." | "a.m." | "p.m.");
        while let Some(last) = whole.chars().last().filter(|_| !short) {
            let trailing = matches!(last, '.' | ':' | '\'' | '’' | ']' | '}' | '>' | '–')
                && !(last == '.' && (whole == "." || whole.ends_with("..")))
                && !(last == ']' && whole.contains('['))
                && !(last == '}' && whole.contains('{'));
            if !trailing || end == from + 1 {
                break;
            }
            whole.pop();
            end -= 1;
        }
        match whole.as_str() {
            "-" | "--" | "->" | "=>" | "=" => self.push(Sort::Dash, from, end, whole),
            "." | ".." | "..." => self.push(Sort::Stop, from, end, whole),
            "&" | "+" => self.push_as(Sort::Word, from, end, whole, "and".to_owned()),
            _ => self.words(from, end, whole),
        }
        end
    }

    fn words(&mut self, from: usize, end: usize, whole: String) {
        if !whole.chars().any(char::is_alphanumeric) {
            if whole.contains(['*', '/', '~']) {
                self.push(Sort::Name, from, end, whole);
            }
            return;
        }
        if is_number(&whole) {
            return self.push(Sort::Number, from, end, whole);
        }
        let halves: Vec<&str> = whole.split('/').collect();
        let choice = halves.len() > 1 && halves.iter().all(|h| (self.known_word)(&h.to_lowercase()));
        if is_name(&whole) && !choice {
            return self.push(Sort::Name, from, end, whole);
        }
        let mut at = from;
        for (n, half) in halves.iter().enumerate() {
            let len = half.chars().count();
            if n > 0 && choice {
                self.push_as(Sort::Word, at - 1, at, "/".into(), "or".into());
            }
            self.hyphened(at, half);
            at += len + 1;
        }
    }

    /// `off-limits` is two words; `e-mail` is one.
    fn hyphened(&mut self, from: usize, word: &str) {
        let lower = word.to_lowercase().replace('’', "'");
        if let Some(rest) = lower.strip_prefix("e-mail") {
            let len = word.chars().count();
            return self.push_as(Sort::Word, from, from + len, word.to_owned(), format!("email{rest}"));
        }
        if word.starts_with('-') {
            return self.push_as(Sort::Word, from, from + word.chars().count(), word.to_owned(), lower);
        }
        let mut at = from;
        for part in word.split('-') {
            let len = part.chars().count();
            if len > 0 {
                self.contracted(at, at + len, part);
            }
            at += len + 1;
        }
    }

    /// `don't` is `do not`, `I've` is `i have`.
    fn contracted(&mut self, from: usize, end: usize, word: &str) {
        let lower = word.to_lowercase().replace('’', "'");
        let irregular = match lower.as_str() {
            "can't" | "cannot" | "cant" => Some(("can", "not")),
            "won't" | "wont" => Some(("will", "not")),
            "dont" => Some(("do", "not")),
            "doesnt" => Some(("does", "not")),
            "didnt" => Some(("did", "not")),
            "shouldnt" => Some(("should", "not")),
            "mustnt" => Some(("must", "not")),
            "isnt" => Some(("is", "not")),
            "im" => Some(("i", "am")),
            "ive" => Some(("i", "have")),
            "let's" | "lets" => Some(("let", "us")),
            _ => None,
        };
        let cut = irregular.map(|(a, b)| (a.to_owned(), b)).or_else(|| {
            let ends =
                [("n't", "not"), ("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'m", "am"), ("'d", "would")];
            ends.iter().find_map(|(end, full)| lower.strip_suffix(end).map(|head| (head.to_owned(), *full)))
        });
        let copula = ["it's", "that's", "what's", "there's", "he's", "she's", "who's", "here's", "where's"];
        let cut = cut.or_else(|| copula.contains(&lower.as_str()).then(|| (lower.replace("'s", ""), "is")));
        match cut.filter(|(head, _)| !head.is_empty()) {
            Some((head, tail)) => {
                self.push_as(Sort::Word, from, end, word.to_owned(), head);
                self.push_as(Sort::Word, from, end, word.to_owned(), tail.to_owned());
            }
            None => {
                let norm = lower.strip_suffix("'s").unwrap_or(&lower).to_owned();
                self.push_as(Sort::Word, from, end, word.to_owned(), norm);
            }
        }
    }
}

/// Tokens to sentences; the items of a list get the sentence before it as their lead when it ends in a colon.
fn group(tokens: Vec<Token>) -> Vec<Sentence> {
    let mut done: Vec<Sentence> = Vec::new();
    let mut lead: Vec<Token> = Vec::new();
    let mut now = Sentence::default();
    let mut item = false;
    let mut heading = usize::MAX;
    for token in tokens {
        match token.sort {
            Sort::Stop | Sort::Question => {
                now.question = token.sort == Sort::Question;
                finish(&mut done, &mut now);
            }
            Sort::Break => {
                let introduces = now.tokens.last().is_some_and(|t| t.sort == Sort::Colon);
                if introduces {
                    lead = now.tokens.iter().take(LONGEST_LEAD).cloned().collect();
                } else if !item {
                    lead.clear();
                }
                finish(&mut done, &mut now);
                heading = if introduces { done.len() } else { usize::MAX };
                item = false;
            }
            Sort::Bullet => {
                finish(&mut done, &mut now);
                if done.len() == heading {
                    // it speaks through its items only
                    done.pop();
                }
                item = true;
                now.lead = lead.len();
                now.tokens.extend(lead.iter().cloned());
            }
            Sort::Word
            | Sort::Number
            | Sort::Name
            | Sort::Code
            | Sort::Quoted
            | Sort::Comma
            | Sort::Semicolon
            | Sort::Colon
            | Sort::Dash
            | Sort::Open
            | Sort::Close => {
                if now.tokens.len() >= LONGEST_SENTENCE {
                    finish(&mut done, &mut now);
                }
                now.tokens.push(token);
            }
        }
    }
    finish(&mut done, &mut now);
    done
}

fn finish(done: &mut Vec<Sentence>, now: &mut Sentence) {
    let sentence = std::mem::take(now);
    if sentence.tokens.len() > sentence.lead {
        done.push(sentence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn norms(text: &str) -> Vec<Vec<String>> {
        let words = |s: &Sentence| s.tokens.iter().map(|t| t.norm.clone()).collect();
        sentences(text, &|w| matches!(w, "delete" | "move")).iter().map(words).collect()
    }

    #[test]
    fn words_names_and_sentences() {
        for (text, want) in [
            ("Don't touch src/a.rs. Ok?", vec!["do not touch src/a.rs", "ok"]),
            ("delete/move off-limits e-mails", vec!["delete or move off limits emails"]),
            ("keep `rm -rf x` and 'my file.txt' out", vec!["keep rm -rf x and “” out"]),
            ("see v1.2 e.g. this", vec!["see v1.2 e.g. this"]),
            ("a\n```\nnever push\n```\nb", vec!["a", "b"]),
            ("> never push\nfine", vec!["fine"]),
            ("never:\n- push\n- merge", vec!["never : push", "never : merge"]),
            ("it goes\non here", vec!["it goes on here"]),
        ] {
            let got: Vec<String> = norms(text).iter().map(|s| s.join(" ")).collect();
            assert_eq!(got, want, "{text}");
        }
    }
}
