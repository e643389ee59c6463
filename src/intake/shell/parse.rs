//! The only place that calls the shell parser: text to syntax tree, with the guards that keep hostile text from
//! costing more than it should. Decides nothing about meaning.

use brush_parser::{ParserOptions, Token, ast, word};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Longer lines are not read.
pub(super) const MAX_TEXT: usize = 128 * 1024;
/// Every nested construct costs stack, so their number is bounded before anything recurses.
const MAX_OPENERS: usize = 4_000;
/// The grammar backtracks: broken text inside `n` open parentheses costs `2^n`, inside nested cases more.
const MAX_PARENTHESES: usize = 10;
const MAX_CASES: usize = 12;
/// A word with more substitutions than this is read as one whose text cannot be told.
const MAX_WORD_OPENERS: usize = 200;

/// Up to this many openers fit on any thread's stack.
pub(super) const SHALLOW: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("the command is too long to be read")]
    TooLong,
    #[error("the command is nested too deeply to be read")]
    TooDeep,
    #[error("the command is not valid shell")]
    Syntax,
}

/// How many constructs `text` may nest at most.
pub(super) fn openers(text: &str) -> usize {
    let signs = text.bytes().filter(|b| matches!(b, b'(' | b'{' | b'`' | b'!')).count();
    let words = ["if", "while", "until", "for", "case", "[[", "select", "coproc", "function"];
    signs + words.iter().map(|w| text.matches(w).count()).sum::<usize>()
}

pub(super) fn program(text: &str) -> Result<ast::Program, Unreadable> {
    if text.len() > MAX_TEXT {
        return Err(Unreadable::TooLong);
    }
    if openers(text) > MAX_OPENERS {
        return Err(Unreadable::TooDeep);
    }
    // The parser is foreign code: should it panic, the line is unreadable, not weal dead.
    catch_unwind(AssertUnwindSafe(|| {
        let tokens = brush_parser::uncached_tokenize_str(text, &options().tokenizer_options())
            .map_err(|_| Unreadable::Syntax)?;
        if !shallow(&tokens) {
            return Err(Unreadable::TooDeep);
        }
        brush_parser::parse_tokens(&tokens, &options()).map_err(|_| Unreadable::Syntax)
    }))
    .unwrap_or(Err(Unreadable::Syntax))
}

fn shallow(tokens: &[Token]) -> bool {
    let (mut depth, mut cases) = (0_usize, 0_usize);
    for token in tokens {
        match token {
            Token::Operator(sign, _) if sign == "(" => depth += 1,
            Token::Operator(sign, _) if sign == ")" => depth = depth.saturating_sub(1),
            Token::Word(word, _) if word == "case" => cases += 1,
            Token::Operator(..) | Token::Word(..) => {}
        }
        if depth > MAX_PARENTHESES || cases > MAX_CASES {
            return false;
        }
    }
    true
}

/// The pieces of one word.
pub(super) fn pieces(text: &str) -> Option<Vec<word::WordPieceWithSource>> {
    guarded(text, |t| word::parse(t, &options()).ok())
}

/// The pieces of a here-document's body, in which quotes are plain text. Nobody has checked yet that what opens in it
/// closes, and an open substitution costs `2^n`, so it is read in chunks of few openers.
pub(super) fn heredoc(text: &str) -> Option<Vec<word::WordPieceWithSource>> {
    const MOST: usize = 10;
    if !text.contains(['$', '`', '\\']) {
        return guarded(text, |t| word::parse_heredoc(t, &options()).ok());
    }
    let (mut pieces, mut from, mut seen) = (Vec::new(), 0, Opened::default());
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        seen.add(line);
        if seen.openers > MOST {
            return None;
        }
        if seen.is_open() && at < text.len() {
            continue;
        }
        pieces.extend(guarded(text.get(from..at)?, |t| word::parse_heredoc(t, &options()).ok())?);
        (from, seen) = (at, Opened::default());
    }
    Some(pieces)
}

/// What a stretch of text opens and closes, quotes not considered.
#[derive(Default)]
struct Opened {
    openers: usize,
    parentheses: isize,
    braces: isize,
    backticks: usize,
}

impl Opened {
    fn add(&mut self, line: &str) {
        let mut dollar = false;
        for c in line.bytes() {
            match c {
                b'(' => self.parentheses += 1,
                b')' => self.parentheses -= 1,
                b'{' => self.braces += 1,
                b'}' => self.braces -= 1,
                b'`' => self.backticks += 1,
                _ => {}
            }
            self.openers += usize::from(dollar && matches!(c, b'(' | b'{') || c == b'`' && self.backticks % 2 == 1);
            dollar = c == b'$';
        }
    }

    /// A substitution may run on in the next line.
    fn is_open(&self) -> bool {
        self.openers > 0 && (self.parentheses > 0 || self.braces > 0 || self.backticks % 2 == 1)
    }
}

fn guarded<T>(text: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let openers = text.bytes().filter(|b| matches!(b, b'(' | b'{' | b'`')).count();
    if text.len() > MAX_TEXT || openers > MAX_WORD_OPENERS && text.contains(['$', '`']) {
        return None;
    }
    catch_unwind(AssertUnwindSafe(|| parse(text))).ok().flatten()
}

fn options() -> ParserOptions {
    ParserOptions::default()
}
