//! Reading rules: by hand, one look ahead, in linear time, at most [`DEEPEST`] levels deep. After a mistake the
//! reader goes on behind it, so that one reading reports all of them.

use super::{
    ast::{Compare, Guard, Operand, Predicate, Rule, VerbClass},
    diagnostic::{Diagnostic, did_you_mean},
    lexer::{Token, tokens},
    words::{CONSEQUENCES, KEYWORDS, PREDICATES, example, names},
};
use crate::domain::{Kind, Span, Verb};
use crate::policy::pattern::Pattern;

/// Parentheses and `not` inside one another.
pub const DEEPEST: usize = 64;
/// More mistakes than this are not worth reading.
pub(super) const MOST_ERRORS: usize = 8;

/// Reads one rule; on failure every mistake that was found, in order of place.
pub fn parse(text: &str) -> Result<Rule, Vec<Diagnostic>> {
    let (tokens, errors) = tokens(text);
    let mut parser = Parser { tokens, at: 0, depth: 0, errors };
    let rule = parser.rule();
    let mut errors = parser.errors;
    match rule {
        Some(rule) if errors.is_empty() => Ok(rule),
        _ => {
            errors.sort_by_key(|e| e.span);
            // What is missing at the end is a consequence of what went wrong up to it, a text that is not closed.
            let end = parser.tokens.last().map_or(0, |(_, span)| span.start);
            if errors.iter().any(|e| e.span.start < end && e.span.end == end) {
                errors.retain(|e| e.span.start < end);
            }
            Err(errors)
        }
    }
}

pub(super) struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
    pub(super) errors: Vec<Diagnostic>,
}

/// `None` after a mistake that was reported.
pub(super) type Read<T> = Option<T>;

impl Parser {
    pub(super) fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    pub(super) fn second(&self) -> &Token {
        self.tokens.get(self.at + 1).map_or(&Token::End, |(token, _)| token)
    }

    pub(super) fn span(&self) -> Span {
        self.tokens.get(self.at).or(self.tokens.last()).map_or_else(Span::default, |(_, span)| *span)
    }

    pub(super) fn bump(&mut self) {
        if *self.peek() != Token::End {
            self.at += 1;
        }
    }

    pub(super) fn wrong<T>(&mut self, span: Span, message: impl Into<String>, hint: Option<String>) -> Read<T> {
        if self.errors.len() < MOST_ERRORS {
            self.errors.push(Diagnostic { span, message: message.into(), hint });
        }
        None
    }

    /// Reports what stands here instead of `wanted`.
    pub(super) fn expected<T>(&mut self, wanted: &str, hint: Option<String>) -> Read<T> {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Text(_) => "a text".to_owned(),
            Token::Compare(compare) => format!("`{compare}`"),
            Token::Open => "`(`".to_owned(),
            Token::Close => "`)`".to_owned(),
            Token::Comma => "`,`".to_owned(),
            Token::End => "the end of the rule".to_owned(),
        };
        self.wrong(self.span(), format!("{wanted} is expected here, found {found}"), hint)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.bump();
        }
        found
    }

    fn rule(&mut self) -> Read<Rule> {
        if !self.eat_word("if") && !self.missing_if() {
            return None;
        }
        let guard = self.guard();
        if !self.eat_word("then") {
            self.missing_then(guard.is_some());
            self.skip_to(&["then"]);
            self.bump();
        }
        let then = self.consequence()?;
        if *self.peek() != Token::End {
            self.expected::<()>("the end of the rule", Some("one rule has one consequence".to_owned()));
        }
        Some(Rule { guard: guard?, then })
    }

    /// Whether reading on makes sense.
    fn missing_if(&mut self) -> bool {
        let word = match self.peek() {
            Token::Word(word) => word.clone(),
            _ => String::new(),
        };
        if names(&CONSEQUENCES).any(|name| name == word) {
            let hint = "a rule without a condition is written `if always then …`";
            self.wrong::<()>(self.span(), format!("`{word}` stands without a condition"), Some(hint.to_owned()));
            return false;
        }
        self.expected::<()>("`if`", Some("a rule is written `if … then …`".to_owned()));
        // A misspelt `if`, and not the condition's first word.
        if !word.is_empty() && !matches!(self.second(), Token::Open | Token::Compare(_)) {
            self.bump();
        }
        *self.peek() != Token::End
    }

    fn missing_then(&mut self, guard_was_read: bool) {
        if !guard_was_read && !self.errors.is_empty() {
            return;
        }
        match self.peek().clone() {
            Token::Word(word) if names(&CONSEQUENCES).any(|name| name == word) => {
                let hint = Some(format!("write `then {word}(…)`"));
                self.wrong::<()>(self.span(), "`then` is missing before the consequence", hint);
            }
            Token::Word(word) => {
                let hint = did_you_mean(&word, ["and", "or", "then"]);
                self.expected::<()>("`and`, `or` or `then`", hint);
            }
            Token::Close => {
                self.wrong::<()>(self.span(), "this `)` closes nothing", None);
            }
            Token::End => {
                let hint = "a rule ends in what follows: `then forbid_effect(delete)`";
                self.wrong::<()>(self.span(), "the rule has no consequence", Some(hint.to_owned()));
            }
            Token::Number(_) | Token::Text(_) | Token::Compare(_) | Token::Open | Token::Comma => {
                self.expected::<()>("`and`, `or` or `then`", None);
            }
        }
    }

    /// Goes on at one of these words, at the `)` that closes what is open here, or at the end.
    fn skip_to(&mut self, words: &[&str]) {
        let mut open = 0_usize;
        loop {
            match self.peek() {
                Token::End => return,
                Token::Word(word) if open == 0 && words.contains(&word.as_str()) => return,
                Token::Word(word) if word == "then" => return,
                Token::Open => open += 1,
                Token::Close if open == 0 && words.contains(&")") => return,
                Token::Close => open = open.saturating_sub(1),
                Token::Word(_) | Token::Number(_) | Token::Text(_) | Token::Compare(_) | Token::Comma => {}
            }
            self.bump();
        }
    }

    fn guard(&mut self) -> Read<Guard> {
        self.list("or", Self::conjunction, Guard::any_of)
    }

    fn conjunction(&mut self) -> Read<Guard> {
        self.list("and", Self::part, Guard::all)
    }

    /// Parts joined by `word`. All are read, even behind a mistake.
    fn list(&mut self, word: &str, part: fn(&mut Self) -> Read<Guard>, join: fn(Vec<Guard>) -> Guard) -> Read<Guard> {
        let mut parts = vec![part(self)];
        while self.eat_word(word) {
            parts.push(part(self));
        }
        parts.into_iter().collect::<Option<Vec<Guard>>>().map(join)
    }

    fn part(&mut self) -> Read<Guard> {
        if self.depth >= DEEPEST {
            let hint = Some(format!("at most {DEEPEST} levels can be read"));
            self.wrong::<()>(self.span(), "the condition is nested too deep", hint);
            self.at = self.tokens.len();
            return None;
        }
        self.depth += 1;
        let read = self.nested();
        self.depth -= 1;
        if read.is_none() {
            self.skip_to(&["and", "or", ")"]);
        }
        read
    }

    fn nested(&mut self) -> Read<Guard> {
        if self.eat_word("not") {
            return self.part().map(|guard| Guard::Not(Box::new(guard)));
        }
        if self.eat_word("always") {
            return Some(Guard::Always);
        }
        if *self.peek() != Token::Open {
            return self.predicate().map(Guard::Is);
        }
        let open = self.span();
        self.bump();
        let guard = self.guard();
        if *self.peek() == Token::Close {
            self.bump();
            return guard;
        }
        if guard.is_some() {
            self.wrong::<()>(open, "this `(` is not closed", Some("a `)` is missing".to_owned()));
        }
        None
    }

    fn predicate(&mut self) -> Read<Predicate> {
        let (token, span) = (self.peek().clone(), self.span());
        let Token::Word(name) = token else {
            let hint = Some("a name stands left of a comparison: `step < 3`".to_owned());
            return self.expected("a condition", hint);
        };
        if KEYWORDS.contains(&name.as_str()) {
            return self.expected("a condition", Some("for a rule that always applies write `always`".to_owned()));
        }
        let Some(example) = example(&PREDICATES, &name) else {
            return match self.second() {
                Token::Compare(_) => {
                    self.bump();
                    let (compare, value) = self.comparison()?;
                    Some(Predicate::Variable { name, compare, value })
                }
                _ => self.no_predicate(&name, span),
            };
        };
        self.bump();
        if name == "turn_of_task" {
            let (compare, value) = self.comparison()?;
            return match value {
                Operand::Number(value) => Some(Predicate::TurnOfTask { compare, value }),
                Operand::Text(_) | Operand::Name(_) => {
                    self.wrong(span, "`turn_of_task` is compared with a number", Some(format!("write `{example}`")))
                }
            };
        }
        self.open(&name, example)?;
        let predicate = match name.as_str() {
            "intent_is" => Predicate::IntentIs(self.text(example)?),
            "data_scope_is" => Predicate::DataScopeIs(self.text(example)?),
            "tool_is" => Predicate::ToolIs(self.text(example)?),
            "effect_is" => Predicate::EffectIs(self.verb_class()?),
            "resource_in" => Predicate::ResourceIn(self.pattern(example)?),
            "recipient_in" => Predicate::RecipientIn(self.pattern(example)?),
            "reversible" => Predicate::Reversible,
            "requested" => Predicate::Requested,
            _ => {
                let name = self.text(example)?;
                self.close(example)?;
                let (compare, value) = self.comparison()?;
                return Some(Predicate::Arg { name, compare, value });
            }
        };
        self.close(example)?;
        Some(predicate)
    }

    fn no_predicate<T>(&mut self, name: &str, span: Span) -> Read<T> {
        if names(&CONSEQUENCES).any(|known| known == name) {
            let hint = Some("a consequence stands behind `then`".to_owned());
            return self.wrong(span, format!("`{name}` is no condition"), hint);
        }
        if *self.second() == Token::Open {
            let known = names(&PREDICATES).collect::<Vec<_>>().join(", ");
            let hint = did_you_mean(name, names(&PREDICATES)).unwrap_or(format!("the conditions are {known}"));
            return self.wrong(span, format!("there is no condition `{name}`"), Some(hint));
        }
        let near = did_you_mean(name, names(&PREDICATES).chain(KEYWORDS));
        let hint = near.unwrap_or(format!("write `{name} == …`, or a condition with parentheses"));
        self.wrong(span, format!("`{name}` alone is no condition"), Some(hint))
    }

    fn comparison(&mut self) -> Read<(Compare, Operand)> {
        let Token::Compare(compare) = *self.peek() else {
            return self.expected("a comparison", Some("one of < <= == != >= >".to_owned()));
        };
        self.bump();
        let span = self.span();
        let value = self.value()?;
        match value {
            Operand::Text(_) if !compare.suits_text() => {
                self.wrong(span, format!("`{compare}` compares numbers only"), Some("text has == and !=".to_owned()))
            }
            value => Some((compare, value)),
        }
    }

    pub(super) fn value(&mut self) -> Read<Operand> {
        let value = match self.peek() {
            Token::Number(number) => Operand::Number(*number),
            Token::Text(text) => Operand::Text(text.clone()),
            Token::Word(word) if matches!(word.as_str(), "true" | "false") => Operand::Text(word.clone()),
            Token::Word(word) if !KEYWORDS.contains(&word.as_str()) => Operand::Name(word.clone()),
            _ => return self.expected("a value", Some("a number, a \"text\" or the name of a variable".to_owned())),
        };
        self.bump();
        Some(value)
    }

    pub(super) fn open(&mut self, name: &str, example: &str) -> Read<()> {
        if *self.peek() == Token::Open {
            self.bump();
            return Some(());
        }
        self.expected(&format!("`(` after `{name}`"), Some(format!("write `{example}`")))
    }

    pub(super) fn close(&mut self, example: &str) -> Read<()> {
        if *self.peek() == Token::Close {
            self.bump();
            return Some(());
        }
        self.expected("`)`", Some(format!("write it like `{example}`")))
    }

    pub(super) fn comma(&mut self, example: &str) -> Read<()> {
        if *self.peek() == Token::Comma {
            self.bump();
            return Some(());
        }
        self.expected("`,`", Some(format!("write it like `{example}`")))
    }

    /// A text, or a single word without quotes.
    pub(super) fn text(&mut self, example: &str) -> Read<String> {
        let text = match self.peek() {
            Token::Text(text) | Token::Word(text) => text.clone(),
            _ => return self.expected("a text", Some(format!("write it like `{example}`"))),
        };
        self.bump();
        Some(text)
    }

    pub(super) fn number(&mut self, example: &str) -> Read<f64> {
        let Token::Number(number) = *self.peek() else {
            return self.expected("a number", Some(format!("write it like `{example}`")));
        };
        self.bump();
        Some(number)
    }

    pub(super) fn verb(&mut self) -> Read<Verb> {
        self.verb_word(Verb::from_word, &[])
    }

    pub(super) fn verb_class(&mut self) -> Read<VerbClass> {
        self.verb_word(VerbClass::from_word, &["write", "any"])
    }

    fn verb_word<T>(&mut self, read: fn(&str) -> Option<T>, classes: &[&'static str]) -> Read<T> {
        let span = self.span();
        let word = self.text("effect_is(delete)")?;
        let known = || Verb::ALL.into_iter().map(Verb::word).chain(classes.iter().copied());
        read(&word).or_else(|| {
            let all = || format!("the verbs are {}", known().collect::<Vec<_>>().join(", "));
            let hint = did_you_mean(&word, known()).unwrap_or_else(all);
            self.wrong(span, format!("there is no verb `{word}`"), Some(hint))
        })
    }

    pub(super) fn pattern(&mut self, example: &str) -> Read<String> {
        let span = self.span();
        let pattern = self.text(example)?;
        if let Err(error) = Pattern::check(&pattern) {
            return self.wrong(span, error.to_string(), None);
        }
        let prefix = pattern.split_once(':').map_or("", |(prefix, _)| prefix);
        let kinds = Kind::ALL.into_iter().map(Kind::word);
        match did_you_mean(prefix, kinds) {
            Some(hint) if prefix.len() > 3 && Kind::from_word(prefix).is_none() => {
                let hint = format!("{hint} (a path of that name is written `path:{pattern}`)");
                self.wrong(span, format!("there is no kind `{prefix}:`"), Some(hint))
            }
            _ => Some(pattern),
        }
    }
}
