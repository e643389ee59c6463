//! An interpreter that knows neither the index nor compiled guards: it asks every rule, straight from its tree.

use super::world::{World, places};
use crate::{
    domain::{Effect, Extent, Origin, Reversibility, RuleId, Scalar, Verb},
    policy::{
        Law, LawRule,
        audit::{Hit, most_doubts},
        eval::Truth,
        lang::ast::{Compare, Consequence, Guard, Operand, Predicate, Rule, VerbClass},
        pattern::Pattern,
    },
};

/// Reads a guard as the design says it, straight from the tree.
struct Naive<'a> {
    world: &'a World,
    at: usize,
}

impl Naive<'_> {
    fn effect(&self) -> &Effect {
        &self.world.action.effects[self.at]
    }

    fn guard(&self, guard: &Guard, wide: bool) -> Truth {
        match guard {
            Guard::Always => Truth::True,
            Guard::Is(p) => self.predicate(p, wide),
            Guard::Not(g) => match self.guard(g, !wide) {
                Truth::True => Truth::False,
                Truth::False => Truth::True,
                Truth::Unknown => Truth::Unknown,
            },
            Guard::All(gs) => gs.iter().map(|g| self.guard(g, wide)).min().unwrap(),
            Guard::AnyOf(gs) => gs.iter().map(|g| self.guard(g, wide)).max().unwrap(),
        }
    }

    fn predicate(&self, predicate: &Predicate, wide: bool) -> Truth {
        let (w, e) = (self.world, self.effect());
        let yes = |b: bool| if b { Truth::True } else { Truth::False };
        match predicate {
            Predicate::IntentIs(l) => yes(w.intents.contains(l) || wide && w.model_intents.contains(l)),
            Predicate::DataScopeIs(l) => {
                let with = |e: &&Effect| e.labels.contains(l);
                let others = w.action.effects.iter().any(|e| !e.labels.is_empty() && !e.labels.contains(l));
                match (w.action.effects.iter().find(with), w.action.effects.iter().any(Effect::is_opaque)) {
                    (Some(_), _) if wide => Truth::True,
                    (_, true) => Truth::Unknown,
                    (Some(_), false) => yes(!others),
                    (None, false) => Truth::False,
                }
            }
            Predicate::ToolIs(t) => yes(t.replace('.', "_") == w.action.call.tool),
            Predicate::Arg { name, compare, value } => {
                let arg = match name.as_str() {
                    "deep.n" => w.action.call.args.get("deep").and_then(|d| d.get("n")),
                    name => w.action.call.args.get(name),
                };
                match arg {
                    _ if matches!(value, Operand::Name(n) if n == "undeclared") => Truth::Unknown,
                    None => Truth::False,
                    Some(v) if v.is_number() => self.compare(&Scalar::Number(v.as_f64().unwrap()), *compare, value),
                    Some(v) => self.compare(&Scalar::Text(v.as_str().unwrap().to_owned()), *compare, value),
                }
            }
            Predicate::Variable { name, compare, value } => {
                w.variables.get(name).map_or(Truth::Unknown, |v| self.compare(v, *compare, value))
            }
            Predicate::TurnOfTask { compare, value } => {
                self.compare(&Scalar::Number(3.0), *compare, &Operand::Number(*value))
            }
            Predicate::EffectIs(class) if e.is_opaque() => match class {
                VerbClass::One(Verb::Unknown) => Truth::True,
                class if e.verb != Verb::Unknown && class.covers(e.verb) => Truth::True,
                _ => Truth::Unknown,
            },
            Predicate::EffectIs(class) => yes(class.covers(e.verb)),
            Predicate::ResourceIn(text) => self.lies(text, wide),
            Predicate::RecipientIn(text) => {
                let goes_out =
                    [Verb::Send, Verb::Publish, Verb::Request, Verb::Pay, Verb::Grant, Verb::Schedule, Verb::Unknown];
                match Pattern::compile(text, &places()) {
                    Err(_) => Truth::Unknown,
                    Ok(_) if goes_out.contains(&e.verb) => self.lies(text, wide),
                    Ok(_) if e.is_opaque() => Truth::Unknown,
                    Ok(_) => Truth::False,
                }
            }
            Predicate::Reversible => match e.reversibility {
                Reversibility::ReadOnly | Reversibility::Reversible if e.is_opaque() => Truth::Unknown,
                Reversibility::ReadOnly | Reversibility::Reversible => Truth::True,
                Reversibility::ExternallyReversible | Reversibility::Irreversible => Truth::False,
            },
            Predicate::Requested => yes(w.requested.get(self.at) == Some(&true)),
        }
    }

    fn lies(&self, text: &str, wide: bool) -> Truth {
        let e = self.effect();
        let Ok(pattern) = Pattern::compile(text, &places()) else { return Truth::Unknown };
        let (meets, holds) = (pattern.meets(&e.resource, &places()), pattern.holds(&e.resource, &places()));
        let unresolved = e.resource.extent == Extent::Any;
        let truth = if unresolved && meets && !holds {
            Truth::Unknown
        } else if if wide { meets } else { holds } {
            Truth::True
        } else {
            Truth::False
        };
        let named = wide && !unresolved && e.verb != Verb::Unknown && truth == Truth::True;
        if e.is_opaque() && !named { Truth::Unknown } else { truth }
    }

    fn compare(&self, left: &Scalar, how: Compare, right: &Operand) -> Truth {
        let right = match right {
            Operand::Number(n) => Scalar::Number(*n),
            Operand::Text(t) => Scalar::Text(t.clone()),
            Operand::Name(name) => match self.world.variables.get(name) {
                Some(value) => value.clone(),
                None => return Truth::Unknown,
            },
        };
        let yes = match (left, &right, how) {
            (Scalar::Number(l), Scalar::Number(r), Compare::Less) => l < r,
            (Scalar::Number(l), Scalar::Number(r), Compare::AtMost) => l <= r,
            (Scalar::Number(l), Scalar::Number(r), Compare::AtLeast) => l >= r,
            (Scalar::Number(l), Scalar::Number(r), Compare::More) => l > r,
            (Scalar::Number(_), Scalar::Number(_), _) | (Scalar::Text(_), Scalar::Text(_), Compare::Equal) => {
                (*left == right) == (how == Compare::Equal)
            }
            (Scalar::Text(l), Scalar::Text(r), Compare::Unequal) => l != r,
            _ => return Truth::Unknown,
        };
        if yes { Truth::True } else { Truth::False }
    }

    /// Whether the restriction speaks: its guard, and the conditions of its consequence.
    fn speaks(&self, rule: &Rule) -> Truth {
        let tool = |t: &str| self.predicate(&Predicate::ToolIs(t.to_owned()), true);
        let arg = |name: &str, value: &Operand| {
            let (name, value) = (name.to_owned(), value.clone());
            self.predicate(&Predicate::Arg { name, compare: Compare::Equal, value }, true)
        };
        let condition = match &rule.then {
            Consequence::ForbidToolCall(t) => tool(t),
            Consequence::ForbidToolArg { tool: t, arg: a, value } => tool(t).min(arg(a, value)),
            Consequence::ForbidEnvAction(a) => tool("env_act").min(arg("action", &Operand::Text(a.clone()))),
            Consequence::ForbidEffect(class) => self.predicate(&Predicate::EffectIs(*class), true),
            Consequence::Limit { max, .. } if !max.is_finite() => Truth::Unknown,
            Consequence::RequireApproval | Consequence::RequireBefore { .. } | Consequence::Limit { .. } => {
                Truth::True
            }
            Consequence::Except(_) => Truth::False,
        };
        condition.min(self.guard(&rule.guard, true))
    }

    fn lifted(&self, law: &Law, rule: RuleId) -> Option<RuleId> {
        if law.rules().iter().any(|r| r.id == rule && r.hard) {
            return None;
        }
        let lifts = |r: &&LawRule| {
            r.rule.then == Consequence::Except(rule) && self.guard(&r.rule.guard, false) == Truth::True
        };
        law.rules().iter().find(lifts).map(|r| r.id)
    }
}

pub(super) fn naive_hits(world: &World, law: &Law) -> Vec<Hit> {
    let mut hits = Vec::new();
    let restrictions: Vec<&LawRule> = law.rules().iter().filter(|r| !r.rule.then.loosens()).collect();
    for at in 0..world.action.effects.len() {
        let naive = Naive { world, at };
        let mut doubts = 0;
        let core = |r: &LawRule| r.id.origin == Origin::Core;
        let (core, own): (Vec<_>, Vec<_>) = restrictions.iter().enumerate().partition(|(_, r)| core(r));
        for (rule, restriction) in own.into_iter().chain(core) {
            let truth = naive.speaks(&restriction.rule);
            let lifted = naive.lifted(law, restriction.id);
            let doubt = truth == Truth::Unknown && naive.effect().is_opaque();
            if truth == Truth::False || doubt && doubts >= most_doubts(restriction.id) {
                continue;
            }
            doubts += usize::from(doubt && lifted.is_none());
            hits.push(Hit { rule, effect: at, truth, lifted });
        }
    }
    hits.sort();
    hits
}
