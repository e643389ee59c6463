//! A rule's text as words, numbers, texts and signs. Never fails: what is no token is reported and read as what was
//! meant, or left out.

use super::{ast::Compare, diagnostic::Diagnostic, parse::MOST_ERRORS};
use crate::domain::Span;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// Keywords, names, verbs, rule ids.
    Word(String),
    Number(f64),
    Text(String),
    Compare(Compare),
    Open,
    Close,
    Comma,
    End,
}

/// Reads back as this very word. Inside a word `.` and `-` join two parts.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(starts_word) && Lexer { rest: text, at: 0, errors: Vec::new() }.word() == text
}

fn starts_word(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(super) fn tokens(text: &str) -> (Vec<(Token, Span)>, Vec<Diagnostic>) {
    let mut lexer = Lexer { rest: text, at: 0, errors: Vec::new() };
    let mut found = Vec::new();
    loop {
        lexer.take_while(char::is_whitespace);
        let start = lexer.at;
        let Some(token) = lexer.token() else { break };
        found.extend(token.map(|token| (token, lexer.span(start))));
    }
    found.push((Token::End, Span { start: lexer.at, end: lexer.at + 1 }));
    (found, lexer.errors)
}

struct Lexer<'a> {
    rest: &'a str,
    /// In characters.
    at: u32,
    errors: Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn second(&self) -> Option<char> {
        self.rest.chars().nth(1)
    }

    fn bump(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        self.at += 1;
        Some(c)
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let whole = self.rest;
        while self.peek().is_some_and(&keep) {
            self.bump();
        }
        whole.get(..whole.len() - self.rest.len()).unwrap_or_default()
    }

    const fn span(&self, start: u32) -> Span {
        Span { start, end: self.at }
    }

    fn wrong(&mut self, start: u32, message: impl Into<String>, hint: impl Into<String>) {
        if self.errors.len() < MOST_ERRORS {
            let span = self.span(start);
            self.errors.push(Diagnostic { span, message: message.into(), hint: Some(hint.into()) });
        }
    }

    /// The next token; `Some(None)` where there was something that is none.
    fn token(&mut self) -> Option<Option<Token>> {
        let c = self.peek()?;
        Some(match c {
            '(' => self.sign(Token::Open),
            ')' => self.sign(Token::Close),
            ',' => self.sign(Token::Comma),
            '"' => self.text('"'),
            '\'' | '“' | '”' | '„' | '‘' | '’' | '«' => self.misquoted(),
            '<' | '>' | '=' | '!' => self.compare(),
            '&' | '|' => self.connective(),
            '§' => self.rule_id(),
            c if starts_word(c) => Some(Token::Word(self.word())),
            c if c.is_ascii_digit() => self.number(),
            '-' | '.' if self.second().is_some_and(|c| c.is_ascii_digit() || c == '.') => self.number(),
            c => {
                let start = self.at;
                self.bump();
                let hint = "text stands in double quotes: \"records/**\"";
                self.wrong(start, format!("`{}` means nothing here", c.escape_debug()), hint);
                None
            }
        })
    }

    fn sign(&mut self, token: Token) -> Option<Token> {
        self.bump();
        Some(token)
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) = self.peek() {
            let joins = matches!(c, '.' | '-') && self.second().is_some_and(continues_word);
            if !joins && !continues_word(c) {
                break;
            }
            self.bump();
            word.push(c);
        }
        word
    }

    fn rule_id(&mut self) -> Option<Token> {
        self.bump();
        Some(Token::Word(format!("§{}", self.take_while(|c| c.is_ascii_digit()))))
    }

    fn number(&mut self) -> Option<Token> {
        let start = self.at;
        let whole = self.rest;
        if self.peek() == Some('-') {
            self.bump();
        }
        self.take_while(|c| c.is_ascii_digit() || c == '.');
        let mut ahead = self.rest.chars().skip(1);
        let exponent = matches!(self.peek(), Some('e' | 'E'))
            && match ahead.next() {
                Some('+' | '-') => ahead.next().is_some_and(|c| c.is_ascii_digit()),
                Some(c) => c.is_ascii_digit(),
                None => false,
            };
        if exponent {
            self.bump();
            self.bump();
            self.take_while(|c| c.is_ascii_digit());
        }
        let written = whole.get(..whole.len() - self.rest.len()).unwrap_or_default();
        match written.parse::<f64>() {
            Ok(number) if number.is_finite() => Some(Token::Number(number)),
            _ => {
                self.wrong(start, format!("`{written}` is no number"), "write `50` or `0.5`");
                Some(Token::Number(0.0))
            }
        }
    }

    fn text(&mut self, close: char) -> Option<Token> {
        let start = self.at;
        self.bump();
        let mut text = String::new();
        loop {
            let at = self.at;
            match self.bump() {
                Some(c) if c == close => return Some(Token::Text(text)),
                Some('\\') => match self.bump() {
                    Some('n') => text.push('\n'),
                    Some(c @ ('"' | '\\')) => text.push(c),
                    Some(c) => {
                        self.wrong(
                            at,
                            format!("`\\{}` is no escape", c.escape_debug()),
                            "write `\\\\` for a backslash",
                        );
                        text.push(c);
                    }
                    None => {}
                },
                Some(c) => text.push(c),
                None => {
                    self.wrong(start, "the text is not closed", "a `\"` is missing at its end");
                    return Some(Token::Text(text));
                }
            }
        }
    }

    fn misquoted(&mut self) -> Option<Token> {
        let start = self.at;
        let close = match self.peek()? {
            '“' | '„' if self.rest.contains('”') => '”',
            '„' => '“',
            '‘' => '’',
            '«' => '»',
            same => same,
        };
        self.bump();
        let text = self.take_while(|c| c != close).to_owned();
        self.bump();
        self.wrong(start, "text stands in straight double quotes", format!("write {:?}", text.trim()));
        Some(Token::Text(text))
    }

    fn compare(&mut self) -> Option<Token> {
        let start = self.at;
        let sign = self.take_while(|c| matches!(c, '<' | '>' | '=' | '!'));
        if let Some(known) = Compare::ALL.into_iter().find(|c| c.sign() == sign) {
            return Some(Token::Compare(known));
        }
        let (meant, token) = match sign {
            "!" => ("not", Token::Word("not".into())),
            "<>" => ("!=", Token::Compare(Compare::Unequal)),
            "=<" => ("<=", Token::Compare(Compare::AtMost)),
            "=>" => (">=", Token::Compare(Compare::AtLeast)),
            _ => ("==", Token::Compare(Compare::Equal)),
        };
        self.wrong(start, format!("`{sign}` is no comparison"), format!("did you mean `{meant}`?"));
        Some(token)
    }

    fn connective(&mut self) -> Option<Token> {
        let start = self.at;
        let sign = self.take_while(|c| matches!(c, '&' | '|'));
        let meant = if sign.starts_with('&') { "and" } else { "or" };
        self.wrong(start, format!("`{sign}` joins nothing here"), format!("did you mean `{meant}`?"));
        Some(Token::Word(meant.into()))
    }
}
