//! Guards, compiled: names made canonical, patterns read once, variables looked up among those that are provided.
//!
//! What never lives here: what a guard means for an effect; that is `eval`.

use super::{
    case::LATCHED,
    eval::Truth,
    lang::ast::{Compare, Guard, Operand, Predicate, VerbClass},
    pattern::Pattern,
};
use crate::domain::{Places, Verb};

/// A pattern with the text it was written as.
#[derive(Debug, Clone)]
pub struct Named {
    pub text: String,
    pub pattern: Pattern,
}

/// The left side of a comparison.
#[derive(Debug, Clone)]
pub enum Left {
    Arg(String),
    Variable(String),
    TurnOfTask,
}

/// A predicate, compiled.
#[derive(Debug, Clone)]
pub enum Test {
    Intent(String),
    DataScope(String),
    Tool(String),
    Compare {
        left: Left,
        compare: Compare,
        right: Operand,
    },
    Effect(VerbClass),
    Resource(Named),
    Recipient(Named),
    Reversible,
    Requested,
    /// What could not be compiled, and why. Never known, so a restriction that holds it asks and an exception that
    /// holds it lifts nothing.
    Broken(String),
}

/// A guard, compiled.
#[derive(Debug, Clone)]
pub enum Check {
    Always,
    Is(Test),
    Not(Box<Check>),
    All(Vec<Check>),
    AnyOf(Vec<Check>),
}

/// `domain.verb` is read as `domain_verb`.
pub fn tool_name(text: &str) -> String {
    text.replacen('.', "_", 1)
}

impl Check {
    /// Compiles a guard; what cannot be compiled becomes [`Test::Broken`] and is reported to `broken`.
    pub fn compile(guard: &Guard, places: &Places, variables: &[&str], broken: &mut Vec<String>) -> Check {
        let mut parts = |guards: &[Guard]| -> Vec<Check> {
            guards.iter().map(|g| Check::compile(g, places, variables, broken)).collect()
        };
        match guard {
            Guard::Always => Check::Always,
            Guard::Is(predicate) => Check::Is(Test::compile(predicate, places, variables, broken)),
            Guard::Not(inner) => Check::Not(Box::new(Check::compile(inner, places, variables, broken))),
            Guard::All(guards) => Check::all(parts(guards)),
            Guard::AnyOf(guards) => Check::AnyOf(parts(guards)),
        }
    }

    /// A conjunction with the cheap tests first; the order has no meaning.
    pub fn all(mut parts: Vec<Check>) -> Check {
        parts.sort_by_key(Check::cost);
        Check::All(parts)
    }

    fn cost(&self) -> u8 {
        match self {
            Check::Always => 0,
            Check::Is(test) => test.cost(),
            Check::Not(inner) => inner.cost(),
            Check::All(parts) | Check::AnyOf(parts) => parts.iter().map(Check::cost).max().unwrap_or(0),
        }
    }

    /// The most this can be for an effect of which nothing is known, however the rest lies.
    pub fn of_the_unknown(&self) -> Truth {
        match self {
            Check::Always => Truth::True,
            Check::Is(test) => test.of_the_unknown(),
            Check::Not(inner) => match inner.as_ref() {
                Check::Is(test) => test.of_the_unknown(),
                Check::Always | Check::Not(_) | Check::All(_) | Check::AnyOf(_) => Truth::True,
            },
            Check::All(parts) => parts.iter().map(Check::of_the_unknown).min().unwrap_or(Truth::True),
            Check::AnyOf(parts) => parts.iter().map(Check::of_the_unknown).max().unwrap_or(Truth::False),
        }
    }
}

impl Operand {
    fn variable(&self) -> Option<&str> {
        match self {
            Operand::Name(name) => Some(name),
            Operand::Number(_) | Operand::Text(_) => None,
        }
    }
}

impl Left {
    fn variable(&self) -> Option<&str> {
        match self {
            Left::Variable(name) => Some(name),
            Left::Arg(_) | Left::TurnOfTask => None,
        }
    }
}

impl Test {
    fn compile(predicate: &Predicate, places: &Places, variables: &[&str], broken: &mut Vec<String>) -> Test {
        let named =
            |text: &String, wrap: fn(Named) -> Test, broken: &mut Vec<String>| match Pattern::compile(text, places) {
                Ok(pattern) => wrap(Named { text: text.clone(), pattern }),
                Err(error) => Test::broken(error.to_string(), broken),
            };
        match predicate {
            Predicate::IntentIs(label) => Test::Intent(label.clone()),
            Predicate::DataScopeIs(label) => Test::DataScope(label.clone()),
            Predicate::ToolIs(tool) => Test::Tool(tool_name(tool)),
            Predicate::Arg { name, compare, value } => Test::arg(name, *compare, value, variables, broken),
            Predicate::Variable { name, compare, value } => {
                Test::compare(Left::Variable(name.clone()), *compare, value, variables, broken)
            }
            Predicate::TurnOfTask { compare, value } => {
                Test::compare(Left::TurnOfTask, *compare, &Operand::Number(*value), variables, broken)
            }
            Predicate::EffectIs(class) => Test::Effect(*class),
            Predicate::ResourceIn(text) => named(text, Test::Resource, broken),
            Predicate::RecipientIn(text) => named(text, Test::Recipient, broken),
            Predicate::Reversible => Test::Reversible,
            Predicate::Requested => Test::Requested,
        }
    }

    pub fn arg(name: &str, compare: Compare, right: &Operand, variables: &[&str], broken: &mut Vec<String>) -> Test {
        Test::compare(Left::Arg(name.to_owned()), compare, right, variables, broken)
    }

    fn compare(left: Left, compare: Compare, right: &Operand, variables: &[&str], broken: &mut Vec<String>) -> Test {
        let names = [left.variable(), right.variable()];
        let undeclared = names.into_iter().flatten().find(|name| *name != LATCHED && !variables.contains(name));
        match undeclared.map(|name| format!("nothing provides the variable `{name}`")) {
            Some(why) => Test::broken(why, broken),
            None => Test::Compare { left, compare, right: right.clone() },
        }
    }

    pub fn broken(why: String, broken: &mut Vec<String>) -> Test {
        broken.push(why.clone());
        Test::Broken(why)
    }

    const fn cost(&self) -> u8 {
        match self {
            Test::Effect(_) | Test::Reversible | Test::Requested | Test::Broken(_) => 0,
            Test::Tool(_) | Test::Intent(_) => 1,
            Test::Compare { .. } | Test::DataScope(_) => 2,
            Test::Resource(_) | Test::Recipient(_) => 3,
        }
    }

    const fn of_the_unknown(&self) -> Truth {
        match self {
            Test::Effect(VerbClass::One(Verb::Unknown)) => Truth::True,
            Test::Effect(_) | Test::Resource(_) | Test::Recipient(_) | Test::Broken(_) => Truth::Unknown,
            Test::Intent(_)
            | Test::DataScope(_)
            | Test::Tool(_)
            | Test::Compare { .. }
            | Test::Reversible
            | Test::Requested => Truth::True,
        }
    }
}
