//! The laws of the audit, over random worlds.

use super::{
    LawRule,
    audit::Trial,
    eval::Truth,
    lang::ast::{Compare, Consequence, Guard, Operand, Predicate, Rule},
    latch::LATCH,
};
use crate::domain::{Audit, Decision, Demand, Digest, RuleId};
use proptest::{collection::vec, prelude::*};

mod naive;
mod world;

use naive::naive_hits;
use world::{World, approval, exception, grant, restricting, understand, world};

fn is_question(demand: &Demand) -> bool {
    matches!(demand, Demand::Approval | Demand::Unknown { .. })
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_index_equals_asking_every_rule(world in world()) {
        let (law, case) = (world.law(), world.case());
        let trial = Trial { law: &law, case: &case, digest: world.action.digest(), understand: &understand, depth: 0 };
        prop_assert_eq!(trial.hits(), naive_hits(&world, &law));
    }

    #[test]
    fn adding_a_restriction_never_loosens(world in world(), more in vec(restricting(), 1..3)) {
        prop_assert!(world.with(&more).audit().decision >= world.audit().decision);
    }

    /// With every one-shot grant given under the law that holds the exception.
    #[test]
    fn removing_an_exception_never_loosens(world in world(), more in vec(exception(), 1..4), approved: bool) {
        let mut with = world.with(&more);
        with.grants.retain(|g| g.action.is_none());
        if approved {
            with.grants.push(approval(&with));
        }
        let without = World { rules: world.rules, ..with.clone() };
        prop_assert!(without.audit().decision >= with.audit().decision);
    }

    #[test]
    fn order_and_duplicates_do_not_matter(world in world(), seed in any::<u64>()) {
        let mut shuffled = world.clone();
        shuffled.rules.extend(world.rules.clone());
        shuffled.rules.sort_by_key(|r| Digest::of(format!("{seed}{r:?}").as_bytes()));
        prop_assert_eq!(shuffled.law().digest(), world.law().digest());
        prop_assert_eq!(shuffled.audit(), world.audit());
        shuffled.grants.reverse();
        prop_assert_eq!(shuffled.audit().decision, world.audit().decision);
    }

    #[test]
    fn the_same_input_gives_the_same_verdict(world in world()) {
        prop_assert_eq!(world.audit(), world.clone().audit());
    }

    #[test]
    fn a_grant_lifts_no_deny(world in world(), more in vec(grant(), 0..4)) {
        let mut bare = world.clone();
        bare.grants.clear();
        let before = bare.audit();
        let mut granted = bare.clone();
        granted.grants = more;
        granted.grants.push(approval(&bare));
        let after = granted.audit();
        prop_assert!(after.decision <= before.decision);
        let denials = |a: &Audit| a.findings.iter().filter(|f| f.level == Decision::Deny).count();
        prop_assert_eq!(denials(&before) > 0, denials(&after) > 0);
        prop_assert!(after.findings.iter().all(|f| f.granted.is_none() || is_question(&f.demand)));
    }

    #[test]
    fn a_hard_rule_is_lifted_by_nothing(world in world(), more in vec(exception(), 0..6)) {
        let mut hard = world;
        for rule in hard.rules.iter_mut().filter(|r| !r.rule.then.loosens()) {
            rule.hard = true;
        }
        let relaxed = hard.with(&more).audit();
        prop_assert!(relaxed.findings.iter().all(|f| f.lifted.is_none()));
        hard.rules.retain(|r| !r.rule.then.loosens());
        hard.grants.clear();
        let mut bare = hard.with(&more);
        bare.grants.clear();
        prop_assert_eq!(bare.audit().decision, hard.audit().decision);
    }

    /// What is unknown or cannot be read is a question at least, until a person answers it.
    #[test]
    fn neither_unknown_nor_an_error_allows(world in world()) {
        let law = world.law();
        let unanswered = World { grants: Vec::new(), ..world.clone() };
        let audit = unanswered.audit();
        for hit in naive_hits(&world, &law) {
            let rule = law.rules().iter().filter(|r| !r.rule.then.loosens()).nth(hit.rule).unwrap();
            let settled = matches!(rule.rule.then, Consequence::RequireBefore { .. } | Consequence::Limit { .. });
            if hit.lifted.is_none() && !settled {
                prop_assert!(audit.decision >= Decision::Ask, "{:?}", rule);
            }
            if hit.lifted.is_none() && settled && hit.truth == Truth::Unknown
                && world.action.effects[hit.effect].is_opaque() {
                prop_assert!(audit.decision >= Decision::Ask, "{:?}", rule);
            }
        }
        for broken in [Predicate::ResourceIn("a/[".into()), Predicate::Variable {
            name: "undeclared".into(), compare: Compare::Less, value: Operand::Number(1.0) }] {
            let rule = Rule { guard: Guard::Is(broken.clone()), then: Consequence::RequireApproval };
            let erring = LawRule { id: RuleId::said(1), hard: false, rule, once: None };
            let mut only = unanswered.clone();
            only.rules = vec![erring.clone()];
            prop_assert_eq!(only.audit().decision.max(Decision::Ask), only.audit().decision);
            // An exception that cannot be read lifts nothing.
            let guard = Guard::Is(broken);
            only.rules.push(LawRule { id: RuleId::said(2), hard: false, once: None,
                rule: Rule { guard, then: Consequence::Except(RuleId::said(1)) } });
            prop_assert!(only.audit().decision >= Decision::Ask);
        }
    }

    #[test]
    fn every_verdict_cites_rules_and_no_open_finding_allows(world in world()) {
        let audit = world.audit();
        let strictest = audit.open().map(|f| f.level).max();
        prop_assert_eq!(audit.decision, strictest.unwrap_or(Decision::Allow));
        let known: Vec<RuleId> = world.rules.iter().map(|r| r.id).chain([LATCH]).collect();
        prop_assert!(audit.findings.iter().all(|f| known.contains(&f.rule)));
        for at in 0..world.action.effects.len() {
            prop_assert_eq!(audit.lawful.contains(&at), audit.open().all(|f| f.effect != at));
        }
    }

    /// A yes given once answers every question that a yes can answer.
    #[test]
    fn approve_once_leaves_no_question_that_it_could_answer(world in world()) {
        let mut asked = world;
        asked.grants = vec![approval(&asked)];
        let open = asked.audit();
        prop_assert!(open.open().all(|f| !is_question(&f.demand)));
    }

    /// Exceptions made for a denied action take away its denials, and only from this very action.
    #[test]
    fn relaxations_lift_what_denied_and_bind_to_the_action(world in world()) {
        let law = world.law();
        let audit = world.audit();
        let Some(made) = super::grant::one_shot_exceptions(&world.action, &audit, &law) else {
            let hard = |id: RuleId| world.rules.iter().any(|r| r.id == id && r.hard);
            prop_assert!(audit.open().any(|f| f.level == Decision::Deny && hard(f.rule)));
            return Ok(());
        };
        let made: Vec<LawRule> = made.into_iter().zip(50..)
            .map(|(r, n)| LawRule { id: RuleId::said(n), hard: false, rule: r.rule, once: Some(r.once) }).collect();
        let relaxed = world.with(&made);
        prop_assert_eq!(relaxed.law().digest(), law.digest());
        prop_assert!(relaxed.audit().decision < Decision::Deny);
        let mut other = relaxed;
        other.action.facts = Digest([1; 32]);
        let without = World { action: other.action.clone(), ..world };
        prop_assert_eq!(other.audit(), without.audit());
    }
}
