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
const MAX_WORD_OPENERS: usize = 32;

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

/// The pieces of a here-document's body, in which quotes are plain text.
pub(super) fn heredoc(text: &str) -> Option<Vec<word::WordPieceWithSource>> {
    guarded(text, |t| word::parse_heredoc(t, &options()).ok())
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
