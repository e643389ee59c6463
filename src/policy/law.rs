//! The law: all rules in force, compiled once and put in order, so that neither their order nor repetitions matter.
//!
//! What never lives here: which rules are in force (the library says), and what they mean for an action (`audit`).

use super::{
    check::{Check, Named, Test, tool_name},
    eval::{Reading, Scene, Truth},
    index::Index,
    lang::ast::{Compare, Consequence, Operand, Rule, Target, Window},
    pattern::Pattern,
};
use crate::domain::{Digest, Places, Resource, RuleId, Verb};
use std::collections::{BTreeMap, BTreeSet};

/// A rule in force.
#[derive(Debug, Clone, PartialEq)]
pub struct LawRule {
    pub id: RuleId,
    /// No exception relaxes it.
    pub hard: bool,
    pub rule: Rule,
    /// Of an exception: it lifts only from the action with this digest.
    pub once: Option<Digest>,
}

/// A rule, or a part of one, that cannot be enforced as it was meant. A restriction that cannot be read asks wherever
/// the rest of it holds; an exception that cannot be read lifts nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unenforceable {
    pub id: RuleId,
    pub why: String,
}

/// What a restriction asks for where it speaks.
#[derive(Debug, Clone)]
pub(super) enum Duty {
    Forbid,
    Approve,
    Before { verb: Verb, target: Option<Wanted> },
    Limit(Limit),
}

/// The named target of a prerequisite, as a set and as a pattern.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub resource: Resource,
    pub named: Option<Named>,
}

#[derive(Debug, Clone)]
pub(super) struct Limit {
    pub attr: String,
    pub max: f64,
    pub unit: Option<String>,
    pub window: Window,
}

/// A restriction, compiled. The consequence's own conditions (its tool, its verb) are part of `check`.
#[derive(Debug)]
pub(super) struct Restriction {
    pub id: RuleId,
    pub check: Check,
    pub duty: Duty,
    /// Never more than in doubt about an effect of which nothing is known.
    pub doubtful: bool,
}

#[derive(Debug)]
struct Exception {
    id: RuleId,
    check: Check,
    once: Option<Digest>,
}

/// The rules of one moment, ready to audit by.
#[derive(Debug)]
pub struct Law {
    rules: Vec<LawRule>,
    pub(super) restrictions: Vec<Restriction>,
    pub(super) index: Index,
    exceptions: BTreeMap<RuleId, Vec<Exception>>,
    pub(super) places: Places,
    /// What the person said that no rule could be made of: it cannot be enforced, so it is asked about.
    pub(super) words: Vec<(RuleId, String)>,
    digest: Digest,
}

impl Law {
    /// The law with words in force that could not be made into rules.
    #[must_use]
    pub fn minding(mut self, words: impl IntoIterator<Item = (RuleId, String)>) -> Law {
        self.words = words.into_iter().collect();
        self.words.sort();
        self.words.dedup();
        if !self.words.is_empty() {
            self.digest = Digest::of_json(&(self.digest, &self.words));
        }
        self
    }

    /// Compiles the rules in force. `variables` are the names that somebody other than the agent provides. A core
    /// rule among the unenforceable ones is an error that the caller refuses to start on.
    pub fn compile(
        rules: impl IntoIterator<Item = LawRule>,
        places: Places,
        variables: &[&str],
    ) -> (Law, Vec<Unenforceable>) {
        let mut sorted: Vec<(String, LawRule)> = rules.into_iter().map(|r| (r.line(), r)).collect();
        sorted.sort_by(|(a, x), (b, y)| (x.id, a, x.once).cmp(&(y.id, b, y.once)));
        sorted.dedup_by(|(a, _), (b, _)| a == b);
        let lasting = sorted.iter().filter(|(_, r)| r.once.is_none() || !r.rule.then.loosens());
        let digest = Digest::of_parts(lasting.map(|(line, _)| line.as_bytes()));
        let rules: Vec<LawRule> = sorted.into_iter().map(|(_, rule)| rule).collect();

        let hard: BTreeSet<RuleId> = rules.iter().filter(|r| r.hard).map(|r| r.id).collect();
        let mut law = Law {
            rules: Vec::new(),
            restrictions: Vec::new(),
            index: Index::default(),
            exceptions: BTreeMap::new(),
            places,
            words: Vec::new(),
            digest,
        };
        let mut unenforceable = Vec::new();
        for rule in &rules {
            let mut broken = Vec::new();
            law.add(rule, &hard, variables, &mut broken);
            unenforceable.extend(broken.into_iter().map(|why| Unenforceable { id: rule.id, why }));
        }
        law.rules = rules;
        (law, unenforceable)
    }

    fn add(&mut self, rule: &LawRule, hard: &BTreeSet<RuleId>, variables: &[&str], broken: &mut Vec<String>) {
        let guard = Check::compile(&rule.rule.guard, &self.places, variables, broken);
        let (condition, duty) = match &rule.rule.then {
            Consequence::Except(relaxed) if hard.contains(relaxed) => {
                broken.push(format!("{relaxed} is hard: nothing relaxes it"));
                return;
            }
            Consequence::Except(relaxed) => {
                let exception = Exception { id: rule.id, check: guard, once: rule.once };
                self.exceptions.entry(*relaxed).or_default().push(exception);
                return;
            }
            Consequence::ForbidToolCall(tool) => (vec![Test::Tool(tool_name(tool))], Duty::Forbid),
            Consequence::ForbidToolArg { tool, arg, value } => {
                let value = Test::arg(arg, Compare::Equal, value, variables, broken);
                (vec![Test::Tool(tool_name(tool)), value], Duty::Forbid)
            }
            Consequence::ForbidEnvAction(action) => {
                let action = Operand::Text(action.clone());
                let action = Test::arg("action", Compare::Equal, &action, variables, broken);
                (vec![Test::Tool("env_act".to_owned()), action], Duty::Forbid)
            }
            Consequence::ForbidEffect(class) => (vec![Test::Effect(*class)], Duty::Forbid),
            Consequence::RequireApproval => (Vec::new(), Duty::Approve),
            Consequence::RequireBefore { verb, target } => {
                let target = match target {
                    Target::SameResource => None,
                    Target::Named(text) => Some(Wanted::of(text, &self.places, broken)),
                };
                (Vec::new(), Duty::Before { verb: *verb, target })
            }
            Consequence::Limit { attr, max, unit, window } if !max.is_finite() => {
                let limit = Limit { attr: attr.clone(), max: -1.0, unit: unit.clone(), window: *window };
                (vec![Test::broken(format!("`{max}` is no maximum"), broken)], Duty::Limit(limit))
            }
            Consequence::Limit { attr, max, unit, window } => {
                let limit = Limit { attr: attr.clone(), max: *max, unit: unit.clone(), window: *window };
                (Vec::new(), Duty::Limit(limit))
            }
        };
        let check = match condition.is_empty() {
            true => guard,
            false => Check::all(condition.into_iter().map(Check::Is).chain([guard]).collect()),
        };
        self.index.file(self.restrictions.len(), &check);
        let doubtful = check.of_the_unknown() < Truth::True;
        self.restrictions.push(Restriction { id: rule.id, check, duty, doubtful });
    }

    /// Of all restrictions and lasting exceptions. One-shot exceptions and grants are not part of it: they are what
    /// an approval under this law leaves behind.
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Every rule, sorted, each once.
    pub fn rules(&self) -> &[LawRule] {
        &self.rules
    }

    pub const fn places(&self) -> &Places {
        &self.places
    }

    /// Whether a rule of this id is hard.
    pub fn is_hard(&self, id: RuleId) -> bool {
        self.rules.iter().any(|r| r.id == id && r.hard)
    }

    /// The exception that provably lifts `rule` from the effect in `scene`, in an action with this digest.
    pub(super) fn lifting(&self, rule: RuleId, scene: &Scene<'_>, action: Option<Digest>) -> Option<RuleId> {
        let mut known = self.exceptions.get(&rule)?.iter();
        let lifts = |e: &&Exception| {
            (e.once.is_none() || e.once == action) && e.check.truth(scene, Reading::Narrow) == Truth::True
        };
        known.find(lifts).map(|e| e.id)
    }
}

impl LawRule {
    /// The whole rule in one line: what it is sorted, told apart and digested by.
    fn line(&self) -> String {
        let hard = if self.hard { " hard" } else { "" };
        let once = self.once.map(|d| format!(" once {d}")).unwrap_or_default();
        format!("{}{hard}{once}: {}", self.id, self.rule)
    }
}

impl Wanted {
    fn of(text: &str, places: &Places, broken: &mut Vec<String>) -> Wanted {
        let resource = match text.parse::<Resource>() {
            Ok(resource) => resource,
            Err(never) => match never {},
        };
        let named = match Pattern::compile(text, places) {
            Ok(pattern) => Some(Named { text: text.to_owned(), pattern }),
            Err(error) => {
                broken.push(error.to_string());
                None
            }
        };
        Wanted { resource, named }
    }
}
