//! Constraints in force: supersession, suspension, expiry, lookup. Pure.

use crate::domain::{
    Action, Constraint, Digest, Effect, Grant, Moment, Places, RawCall, Resource, RuleId, Verb, event::CoreRule,
};
use crate::policy::{
    Case, audit,
    lang::{
        ast::{Consequence, Guard, Predicate},
        parse,
    },
    law::{Law, LawRule, Unenforceable},
};
use std::collections::BTreeMap;

/// Variables that guards may speak of; their provider is weal.
pub const VARIABLES: [&str; 5] = ["latched", "step", "turn", "sandbox", "proposer"];

/// The law made of the core rules and of the active constraints that have a rule, and what of it says nothing that
/// could be enforced.
pub fn law<'a>(
    core: &[CoreRule],
    constraints: impl IntoIterator<Item = &'a Constraint>,
    places: &Places,
) -> (Law, Vec<Unenforceable>) {
    let mut unreadable = Vec::new();
    let mut read = |id: RuleId, text: &str, hard: bool, once: Option<Digest>| match parse(text) {
        Ok(rule) => Some(LawRule { id, hard, rule, once }),
        Err(_) => {
            unreadable.push(Unenforceable { id, why: "its rule cannot be read".to_owned() });
            None
        }
    };
    let mut rules: Vec<LawRule> = core.iter().filter_map(|c| read(c.id, &c.rule, c.hard, None)).collect();
    let mut words = Vec::new();
    for constraint in constraints.into_iter().filter(|c| c.is_active()) {
        match &constraint.rule {
            Some(text) => rules.extend(read(constraint.id, text, false, constraint.once)),
            None => words.push((constraint.id, constraint.quote.clone())),
        }
    }
    let (law, mut unenforceable) = Law::compile(rules, places.clone(), &VARIABLES);
    let law = law.minding(words);
    unenforceable.extend(unreadable);
    (law, unenforceable)
}

/// Is every call of the tool forbidden, whatever its arguments, with no exception to it?
pub fn forbids_tool(law: &Law, tool: &str) -> bool {
    let lifted = |id: RuleId| law.rules().iter().any(|r| matches!(r.rule.then, Consequence::Except(e) if e == id));
    law.rules().iter().any(|r| {
        let whole = match &r.rule.guard {
            Guard::Always => true,
            Guard::Is(Predicate::ToolIs(named)) => named == tool,
            Guard::Is(_) | Guard::Not(_) | Guard::All(_) | Guard::AnyOf(_) => false,
        };
        whole && matches!(&r.rule.then, Consequence::ForbidToolCall(named) if named == tool) && !lifted(r.id)
    })
}

/// Does the restriction speak of anything the grant covers?
pub fn restricts_grant(restriction: &Constraint, grant: &Grant, places: &Places) -> bool {
    let covered = grant.verbs.iter().flat_map(|v| grant.resources.iter().map(|r| Effect::new(*v, r.clone())));
    speaks_of(restriction, covered.collect(), places)
}

/// Does the restriction take back anything of the exception? It does when it is about the rule that the exception
/// relaxes: same verbs and overlapping resources.
pub fn restricts_exception(restriction: &Constraint, exception: &Constraint, places: &Places) -> bool {
    let Some(Ok(rule)) = exception.rule.as_deref().map(parse) else { return false };
    if !matches!(rule.then, Consequence::Except(_)) {
        return false;
    }
    let resources = named_resources(&rule.guard);
    let effects = Verb::ALL.into_iter().flat_map(|v| resources.iter().map(move |r| Effect::new(v, r.clone())));
    speaks_of(restriction, effects.filter(|e| e.verb.writes()).collect(), places)
}

fn named_resources(guard: &Guard) -> Vec<Resource> {
    match guard {
        Guard::Is(Predicate::ResourceIn(text)) => text.parse().into_iter().collect(),
        Guard::All(parts) | Guard::AnyOf(parts) => parts.iter().flat_map(named_resources).collect(),
        Guard::Always | Guard::Is(_) | Guard::Not(_) => Vec::new(),
    }
}

fn speaks_of(restriction: &Constraint, effects: Vec<Effect>, places: &Places) -> bool {
    let (law, _) = law(&[], [restriction], places);
    let call = RawCall::new("", serde_json::json!({}));
    let action = Action { call, effects, programs: Vec::new(), facts: Digest::default() };
    let requested = vec![false; action.effects.len()];
    let case = Case {
        action: &action,
        requested: &requested,
        intents: &[],
        offers: &[],
        model_intents: &[],
        variables: &BTreeMap::new(),
        done: &[],
        grants: &[],
        latch: None,
        task_turn: 0,
        now: Moment::default(),
    };
    audit(&law, &case, &|_| None).open().next().is_some()
}
