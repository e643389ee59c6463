//! What a guard means for one effect: true, false, or not to be told.
//!
//! A restriction is read *wide* (`resource_in` holds where the operand may meet the pattern), an exception *narrow*
//! (only where it provably lies inside), and `not` turns one reading into the other. So whatever is uncertain makes
//! a restriction speak and an exception keep silent. Nothing here errs: what cannot be told is [`Truth::Unknown`].

use super::{
    case::{Case, LATCHED},
    check::{Check, Left, Named, Test},
    lang::ast::{Compare, Operand, VerbClass},
};
use crate::domain::{Action, Done, Effect, Extent, Places, Resource, Scalar, Verb};
use serde_json::Value;

/// Kleene's three values, in order: `and` is the lesser, `or` the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Truth {
    False,
    Unknown,
    True,
}

impl Truth {
    #[must_use]
    pub const fn negated(self) -> Truth {
        match self {
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
            Truth::True => Truth::False,
        }
    }
}

impl From<bool> for Truth {
    fn from(yes: bool) -> Truth {
        if yes { Truth::True } else { Truth::False }
    }
}

/// How what is only possible counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// May be so: restrictions.
    Wide,
    /// Is provably so: exceptions.
    Narrow,
}

impl Reading {
    const fn turned(self) -> Reading {
        match self {
            Reading::Wide => Reading::Narrow,
            Reading::Narrow => Reading::Wide,
        }
    }
}

/// One effect and what may be known around it.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    pub places: &'a Places,
    pub tool: &'a str,
    pub effect: &'a Effect,
    /// Of an effect of the action at hand: its case and whether the request names it. Of what was done earlier these
    /// are not kept, so predicates of the action are unknown there.
    pub present: Option<(&'a Case<'a>, bool)>,
}

impl<'a> Scene<'a> {
    /// Effect `index` of the action at hand.
    pub fn of(case: &'a Case<'a>, index: usize, effect: &'a Effect, places: &'a Places) -> Scene<'a> {
        let requested = case.requested.get(index).copied().unwrap_or(false);
        Scene { places, tool: &case.action.call.tool, effect, present: Some((case, requested)) }
    }

    pub fn of_done(done: &'a Done, places: &'a Places) -> Scene<'a> {
        Scene { places, tool: &done.tool, effect: &done.effect, present: None }
    }
}

impl Check {
    pub fn truth(&self, scene: &Scene<'_>, reading: Reading) -> Truth {
        match self {
            Check::Always => Truth::True,
            Check::Is(test) => test.truth(scene, reading),
            Check::Not(inner) => inner.truth(scene, reading.turned()).negated(),
            Check::All(parts) => {
                let mut all = Truth::True;
                for part in parts {
                    all = all.min(part.truth(scene, reading));
                    if all == Truth::False {
                        break;
                    }
                }
                all
            }
            Check::AnyOf(parts) => {
                let mut any = Truth::False;
                for part in parts {
                    any = any.max(part.truth(scene, reading));
                    if any == Truth::True {
                        break;
                    }
                }
                any
            }
        }
    }

    /// The first test of those that `of` picks whose value, in the reading it stands in, speaks for `truth` of all.
    fn first(
        &self,
        scene: &Scene<'_>,
        reading: Reading,
        truth: Truth,
        of: &dyn Fn(&Test) -> bool,
    ) -> Option<(&Test, Reading)> {
        match self {
            Check::Always => None,
            Check::Is(test) => (of(test) && test.truth(scene, reading) == truth).then_some((test, reading)),
            Check::Not(inner) => inner.first(scene, reading.turned(), truth.negated(), of),
            Check::All(parts) | Check::AnyOf(parts) => {
                parts.iter().find_map(|part| part.first(scene, reading, truth, of))
            }
        }
    }

    /// Which operand met which pattern, in words; the effect itself where no pattern was met.
    pub fn matched(&self, scene: &Scene<'_>) -> String {
        let named = |test: &Test| matches!(test, Test::Resource(_) | Test::Recipient(_));
        let effect = scene.effect;
        match self.first(scene, Reading::Wide, Truth::True, &named) {
            Some((Test::Resource(n) | Test::Recipient(n), Reading::Wide)) => {
                format!("{} meets {}", effect.resource, n.text)
            }
            Some((Test::Resource(n) | Test::Recipient(n), Reading::Narrow)) => {
                format!("{} is not surely inside {}", effect.resource, n.text)
            }
            Some(_) | None => effect.to_string(),
        }
    }

    /// Why this check cannot be told, in words.
    pub fn doubt(&self, scene: &Scene<'_>) -> String {
        match self.first(scene, Reading::Wide, Truth::Unknown, &|_| true) {
            Some((Test::Broken(why), _)) => why.clone(),
            Some((Test::Compare { left, .. }, _)) => left.doubt(scene),
            Some(_) | None if scene.effect.is_opaque() => match scene.effect.attributes.get("why") {
                Some(why) => format!("what {} does cannot be told: {why}", scene.effect.resource),
                None => format!("what {} does cannot be told", scene.effect.resource),
            },
            Some(_) | None => format!("which {} is meant cannot be told", scene.effect.resource.kind),
        }
    }
}

impl Left {
    fn doubt(&self, scene: &Scene<'_>) -> String {
        match (self, scene.present) {
            (Left::Variable(name), Some((case, _))) if !case.variables.contains_key(name) => {
                format!("the variable `{name}` has no value")
            }
            (Left::Variable(name), _) => format!("the variable `{name}` cannot be compared with this"),
            (Left::Arg(name), _) => format!("the argument `{name}` cannot be compared with this"),
            (Left::TurnOfTask, _) => "the turn of the task cannot be told".to_owned(),
        }
    }

    fn value<'a>(&self, case: &'a Case<'_>) -> Given<'a> {
        match self {
            Left::Arg(name) => argument(case.action, name).map_or(Given::Missing, Given::of_json),
            Left::Variable(name) => Given::of_variable(name, case),
            Left::TurnOfTask => Given::Number(f64::from(case.task_turn)),
        }
    }
}

/// An argument by name, or by a path of names joined with dots.
fn argument<'a>(action: &'a Action, name: &str) -> Option<&'a Value> {
    let args = &action.call.args;
    args.get(name).or_else(|| name.split('.').try_fold(args, |at, part| at.get(part)))
}

/// A value that may be compared.
#[derive(Debug, Clone, Copy)]
enum Given<'a> {
    Number(f64),
    Text(&'a str),
    Bool(bool),
    /// The tool was not given this argument.
    Missing,
    /// There is something, and it is no number, text or truth value; or its value is not known.
    Odd,
}

impl<'a> Given<'a> {
    fn of_json(value: &'a Value) -> Self {
        match value {
            Value::Null => Given::Missing,
            Value::Bool(b) => Given::Bool(*b),
            Value::Number(n) => n.as_f64().map_or(Given::Odd, Given::Number),
            Value::String(s) => Given::Text(s),
            Value::Array(_) | Value::Object(_) => Given::Odd,
        }
    }

    fn of_variable(name: &str, case: &'a Case<'_>) -> Self {
        match case.variables.get(name) {
            _ if name == LATCHED => Given::Text(if case.latch.is_some() { "yes" } else { "no" }),
            Some(Scalar::Bool(b)) => Given::Bool(*b),
            Some(Scalar::Number(n)) => Given::Number(*n),
            Some(Scalar::Text(t)) => Given::Text(t),
            None => Given::Odd,
        }
    }
}

fn compare(left: Given<'_>, how: Compare, right: &Operand, case: &Case<'_>) -> Truth {
    let right = match right {
        Operand::Number(n) => Given::Number(*n),
        Operand::Text(t) => Given::Text(t),
        Operand::Name(name) => Given::of_variable(name, case),
    };
    match (left, right) {
        (Given::Missing, _) => Truth::False,
        (Given::Number(l), Given::Number(r)) => match l.partial_cmp(&r) {
            Some(order) => how.admits(order).into(),
            None => Truth::Unknown,
        },
        (Given::Text(l), Given::Text(r)) => equality(how, l == r),
        (Given::Bool(l), Given::Bool(r)) => equality(how, l == r),
        (Given::Bool(l), Given::Text(r)) => equality(how, r == if l { "true" } else { "false" }),
        (Given::Text(l), Given::Bool(r)) => equality(how, l == if r { "true" } else { "false" }),
        (Given::Number(_) | Given::Text(_) | Given::Bool(_) | Given::Odd, _) => Truth::Unknown,
    }
}

const fn equality(how: Compare, equal: bool) -> Truth {
    match (how, equal) {
        (Compare::Equal, true) | (Compare::Unequal, false) => Truth::True,
        (Compare::Equal, false) | (Compare::Unequal, true) => Truth::False,
        (Compare::Less | Compare::AtMost | Compare::AtLeast | Compare::More, _) => Truth::Unknown,
    }
}

impl Compare {
    const fn admits(self, order: std::cmp::Ordering) -> bool {
        match self {
            Compare::Less => order.is_lt(),
            Compare::AtMost => order.is_le(),
            Compare::Equal => order.is_eq(),
            Compare::Unequal => order.is_ne(),
            Compare::AtLeast => order.is_ge(),
            Compare::More => order.is_gt(),
        }
    }
}

impl Test {
    pub fn truth(&self, scene: &Scene<'_>, reading: Reading) -> Truth {
        let effect = scene.effect;
        match self {
            Test::Tool(tool) => (scene.tool == tool).into(),
            Test::Effect(class) => effect_is(*class, effect),
            Test::Resource(named) => lies_in(named, &effect.resource, effect, scene.places, reading),
            Test::Recipient(named) => received_in(named, effect, scene.places, reading),
            Test::Reversible if !effect.reversibility.is_reversible() => Truth::False,
            Test::Reversible if effect.is_opaque() => Truth::Unknown,
            Test::Reversible => Truth::True,
            Test::Broken(_) => Truth::Unknown,
            Test::Intent(label) => scene.present.map_or(Truth::Unknown, |(case, _)| {
                let proposed = reading == Reading::Wide && case.model_intents.contains(label);
                (proposed || case.intents.contains(label)).into()
            }),
            Test::DataScope(label) => match scene.present {
                Some((case, _)) => labelled(label, &case.action.effects, reading),
                None => effect.labels.contains(label).into(),
            },
            Test::Compare { left, compare: how, right } => {
                scene.present.map_or(Truth::Unknown, |(case, _)| compare(left.value(case), *how, right, case))
            }
            Test::Requested => scene.present.map_or(Truth::Unknown, |(_, requested)| requested.into()),
        }
    }
}

/// An opaque effect may be anything besides what it is named as.
fn effect_is(class: VerbClass, effect: &Effect) -> Truth {
    match (effect.is_opaque(), class) {
        (true, VerbClass::One(Verb::Unknown)) => Truth::True,
        (true, class) if effect.verb != Verb::Unknown && class.covers(effect.verb) => Truth::True,
        (true, _) => Truth::Unknown,
        (false, class) => class.covers(effect.verb).into(),
    }
}

fn lies_in(named: &Named, resource: &Resource, effect: &Effect, places: &Places, reading: Reading) -> Truth {
    let unresolved = resource.extent == Extent::Any;
    if effect.is_opaque() {
        let surely = reading == Reading::Wide && effect.verb != Verb::Unknown && !unresolved;
        let touches = surely && named.pattern.meets(resource, places);
        return if touches { Truth::True } else { Truth::Unknown };
    }
    if unresolved {
        let whole = named.pattern.holds(resource, places);
        let some = whole || named.pattern.meets(resource, places);
        return if whole {
            Truth::True
        } else if some {
            Truth::Unknown
        } else {
            Truth::False
        };
    }
    match reading {
        Reading::Wide => named.pattern.meets(resource, places).into(),
        Reading::Narrow => named.pattern.holds(resource, places).into(),
    }
}

/// The recipient is the resource of what goes out, or named beside it.
fn received_in(named: &Named, effect: &Effect, places: &Places, reading: Reading) -> Truth {
    if let Some(Scalar::Text(recipient)) = effect.attributes.get("recipient") {
        return match recipient.parse::<Resource>() {
            Ok(resource) => lies_in(named, &resource, effect, places, reading),
            Err(never) => match never {},
        };
    }
    match effect.verb {
        Verb::Send | Verb::Publish | Verb::Request | Verb::Pay | Verb::Grant | Verb::Schedule | Verb::Unknown => {
            lies_in(named, &effect.resource, effect, places, reading)
        }
        Verb::Read
        | Verb::List
        | Verb::Create
        | Verb::Modify
        | Verb::Overwrite
        | Verb::Delete
        | Verb::Move
        | Verb::Copy
        | Verb::Backup
        | Verb::Execute
        | Verb::Install
        | Verb::Cancel
        | Verb::Set
        | Verb::Escalate => {
            if effect.is_opaque() {
                Truth::Unknown
            } else {
                Truth::False
            }
        }
    }
}

/// Wide: one effect of the action carries the label, or may. Narrow: nothing in the action carries other labels only.
fn labelled(label: &String, effects: &[Effect], reading: Reading) -> Truth {
    let any = effects.iter().any(|e| e.labels.contains(label));
    let opaque = effects.iter().any(Effect::is_opaque);
    match reading {
        Reading::Wide if any => Truth::True,
        Reading::Narrow if any && !opaque => {
            effects.iter().all(|e| e.labels.is_empty() || e.labels.contains(label)).into()
        }
        Reading::Wide | Reading::Narrow if opaque => Truth::Unknown,
        Reading::Wide | Reading::Narrow => Truth::False,
    }
}
