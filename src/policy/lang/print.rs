//! Writing rules: one text for each tree, and it reads back as that tree.

use super::{
    ast::{Compare, Consequence, Guard, Operand, Predicate, Rule, Target, VerbClass, Window},
    lexer::is_word,
};
use std::fmt::{self, Display, Formatter, Write as _};

/// Text in quotes.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// A name, in quotes only where it is no word.
struct Name<'a>(&'a str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_word(self.0) { f.write_str(self.0) } else { Quoted(self.0).fmt(f) }
    }
}

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "if {} then {}", self.guard, self.then)
    }
}

/// A guard as a part of something that binds tighter than `or`, or than `and` too.
struct Part<'a> {
    guard: &'a Guard,
    of_not: bool,
}

impl Display for Part<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let bare = match self.guard {
            Guard::Always | Guard::Is(_) | Guard::Not(_) => true,
            Guard::All(_) => !self.of_not,
            Guard::AnyOf(_) => false,
        };
        if bare { self.guard.fmt(f) } else { write!(f, "({})", self.guard) }
    }
}

fn joined(f: &mut Formatter<'_>, parts: &[Guard], word: &str) -> fmt::Result {
    for (nth, guard) in parts.iter().enumerate() {
        if nth > 0 {
            write!(f, " {word} ")?;
        }
        Part { guard, of_not: false }.fmt(f)?;
    }
    Ok(())
}

impl Display for Guard {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Guard::Always => f.write_str("always"),
            Guard::Is(predicate) => predicate.fmt(f),
            Guard::Not(guard) => write!(f, "not {}", Part { guard, of_not: true }),
            Guard::All(parts) => joined(f, parts, "and"),
            Guard::AnyOf(parts) => joined(f, parts, "or"),
        }
    }
}

impl Display for VerbClass {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Display for Compare {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.sign())
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Number(number) => number.fmt(f),
            Operand::Text(text) => Quoted(text).fmt(f),
            Operand::Name(name) => f.write_str(name),
        }
    }
}

impl Display for Predicate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Predicate::IntentIs(label) => write!(f, "intent_is({})", Quoted(label)),
            Predicate::DataScopeIs(label) => write!(f, "data_scope_is({})", Quoted(label)),
            Predicate::ToolIs(tool) => write!(f, "tool_is({})", Quoted(tool)),
            Predicate::Arg { name, compare, value } => write!(f, "arg({}) {compare} {value}", Name(name)),
            Predicate::Variable { name, compare, value } => write!(f, "{name} {compare} {value}"),
            Predicate::TurnOfTask { compare, value } => write!(f, "turn_of_task {compare} {value}"),
            Predicate::EffectIs(verb) => write!(f, "effect_is({verb})"),
            Predicate::ResourceIn(pattern) => write!(f, "resource_in({})", Quoted(pattern)),
            Predicate::RecipientIn(pattern) => write!(f, "recipient_in({})", Quoted(pattern)),
            Predicate::Reversible => f.write_str("reversible()"),
            Predicate::Requested => f.write_str("requested()"),
        }
    }
}

impl Display for Window {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Window::Call => f.write_str("per call"),
            Window::Session => f.write_str("per session"),
            Window::Total => f.write_str("per total"),
            Window::RollingHours(n) => write!(f, "per rolling {n} h"),
            Window::RollingDays(n) => write!(f, "per rolling {n} d"),
            Window::CalendarDay => f.write_str("per calendar day"),
            Window::CalendarWeek => f.write_str("per calendar week"),
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Target::SameResource => f.write_str("same_resource"),
            Target::Named(pattern) => Quoted(pattern).fmt(f),
        }
    }
}

impl Display for Consequence {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Consequence::ForbidToolCall(tool) => write!(f, "forbid_tool_call({})", Quoted(tool)),
            Consequence::ForbidToolArg { tool, arg, value } => {
                write!(f, "forbid_tool_arg({}, {}, {value})", Quoted(tool), Quoted(arg))
            }
            Consequence::ForbidEnvAction(action) => write!(f, "forbid_env_action({})", Quoted(action)),
            Consequence::ForbidEffect(verb) => write!(f, "forbid_effect({verb})"),
            Consequence::RequireApproval => f.write_str("require_approval()"),
            Consequence::RequireBefore { verb, target } => write!(f, "require_before({verb}, {target})"),
            Consequence::Limit { attr, max, unit: Some(unit), window } => {
                write!(f, "limit({}, {max} {}, {window})", Name(attr), Name(unit))
            }
            Consequence::Limit { attr, max, unit: None, window } => {
                write!(f, "limit({}, {max}, {window})", Name(attr))
            }
            Consequence::Except(rule) => write!(f, "except({rule})"),
        }
    }
}
