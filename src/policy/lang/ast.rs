//! The rule language as trees. Shapes only: reading is in `parse`, writing in `print`, meaning in `eval`.

use crate::domain::{RuleId, Verb};

/// `if GUARD then CONSEQUENCE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    pub guard: Guard,
    pub then: Consequence,
}

/// `and` binds tighter than `or`, `not` tighter than both. `All` and `AnyOf` hold at least two parts and never
/// directly a node of their own sort, so that a printed rule reads back as the same tree.
#[derive(Debug, Clone, PartialEq)]
pub enum Guard {
    /// The guard of a rule that always applies, written `always`.
    Always,
    Is(Predicate),
    Not(Box<Guard>),
    All(Vec<Guard>),
    AnyOf(Vec<Guard>),
}

impl Guard {
    /// The parts joined by `and`: nested conjunctions become one, a single part stays itself, none is `always`.
    pub fn all(parts: impl IntoIterator<Item = Guard>) -> Guard {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Guard::All(inner) => flat.extend(inner),
                other @ (Guard::Always | Guard::Is(_) | Guard::Not(_) | Guard::AnyOf(_)) => flat.push(other),
            }
        }
        Guard::single_or(flat, Guard::All)
    }

    /// The parts joined by `or`, in the same way; none is `not always`.
    pub fn any_of(parts: impl IntoIterator<Item = Guard>) -> Guard {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Guard::AnyOf(inner) => flat.extend(inner),
                other @ (Guard::Always | Guard::Is(_) | Guard::Not(_) | Guard::All(_)) => flat.push(other),
            }
        }
        if flat.is_empty() {
            return Guard::Not(Box::new(Guard::Always));
        }
        Guard::single_or(flat, Guard::AnyOf)
    }

    fn single_or(mut parts: Vec<Guard>, join: fn(Vec<Guard>) -> Guard) -> Guard {
        match (parts.pop(), parts.is_empty()) {
            (None, _) => Guard::Always,
            (Some(only), true) => only,
            (Some(last), false) => {
                parts.push(last);
                join(parts)
            }
        }
    }
}

/// A verb or one of the two classes that people mean when they name no verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VerbClass {
    One(Verb),
    /// `write`: create, modify, overwrite, delete, move.
    Write,
    /// `any`: every effect that is not a read or a list.
    Any,
}

impl VerbClass {
    pub const fn word(self) -> &'static str {
        match self {
            VerbClass::One(verb) => verb.word(),
            VerbClass::Write => "write",
            VerbClass::Any => "any",
        }
    }

    pub fn from_word(word: &str) -> Option<VerbClass> {
        match word {
            "write" => Some(VerbClass::Write),
            "any" => Some(VerbClass::Any),
            word => Verb::from_word(word).map(VerbClass::One),
        }
    }

    pub const fn covers(self, verb: Verb) -> bool {
        match self {
            VerbClass::One(one) => one as u8 == verb as u8,
            VerbClass::Write => verb.writes(),
            VerbClass::Any => !matches!(verb, Verb::Read | Verb::List),
        }
    }
}

/// `<`, `<=`, `==`, `!=`, `>=`, `>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compare {
    Less,
    AtMost,
    Equal,
    Unequal,
    AtLeast,
    More,
}

impl Compare {
    pub const ALL: [Compare; 6] =
        [Compare::Less, Compare::AtMost, Compare::Equal, Compare::Unequal, Compare::AtLeast, Compare::More];

    pub const fn sign(self) -> &'static str {
        match self {
            Compare::Less => "<",
            Compare::AtMost => "<=",
            Compare::Equal => "==",
            Compare::Unequal => "!=",
            Compare::AtLeast => ">=",
            Compare::More => ">",
        }
    }

    /// Text has no order: it is the same or it is not.
    pub const fn suits_text(self) -> bool {
        matches!(self, Compare::Equal | Compare::Unequal)
    }
}

/// The right side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    Number(f64),
    Text(String),
    /// Another variable.
    Name(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// Of the action.
    IntentIs(String),
    DataScopeIs(String),
    ToolIs(String),
    Arg {
        name: String,
        compare: Compare,
        value: Operand,
    },
    Variable {
        name: String,
        compare: Compare,
        value: Operand,
    },
    TurnOfTask {
        compare: Compare,
        value: f64,
    },
    /// Of one effect.
    EffectIs(VerbClass),
    /// A glob over paths, or `kind:name` with globs in the name.
    ResourceIn(String),
    RecipientIn(String),
    Reversible,
    /// The present request names this effect (its verb and all of its operands).
    Requested,
}

/// The window over which a limit adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Window {
    Call,
    Session,
    Total,
    RollingHours(u32),
    RollingDays(u32),
    CalendarDay,
    CalendarWeek,
}

/// What a prerequisite must have been done to.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    SameResource,
    /// As in `ResourceIn`.
    Named(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Consequence {
    ForbidToolCall(String),
    ForbidToolArg {
        tool: String,
        arg: String,
        value: Operand,
    },
    ForbidEnvAction(String),
    ForbidEffect(VerbClass),
    RequireApproval,
    RequireBefore {
        verb: Verb,
        target: Target,
    },
    /// `attr` may carry a unit: `limit(amount, 50 EUR, per calendar day)`.
    Limit {
        attr: String,
        max: f64,
        unit: Option<String>,
        window: Window,
    },
    Except(RuleId),
}

impl Consequence {
    /// The only consequence that lets something through.
    pub const fn loosens(&self) -> bool {
        matches!(self, Consequence::Except(_))
    }
}
