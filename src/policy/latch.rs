//! The risk latch: what it asks while it is engaged, and what engages it. Releasing it is a person's deed and no
//! function of this room.

use super::{case::Case, pattern::may_overlap, words};
use crate::domain::{
    Action, Audit, Decision, Demand, Effect, Finding, LatchCause, Places, ProposalId, Reversibility, RuleId,
};

/// The rule of the core schema that asks while the latch is engaged. The question is asked under its name even by a
/// law that does not hold it.
pub const LATCH: RuleId = RuleId::core(12);

/// Lower bound of the hazard estimate above which the latch engages.
pub const HAZARD_BOUND: f64 = 0.2;

/// While the latch is engaged every effect that cannot be had back is a question, if it is not one already.
pub(super) fn questions(case: &Case<'_>, findings: &[Finding]) -> Vec<Finding> {
    if case.latch.is_none() {
        return Vec::new();
    }
    let asked = |at: usize| findings.iter().any(|f| f.rule == LATCH && f.effect == at && f.level == Decision::Ask);
    let effects = case.action.effects.iter().enumerate().filter(|(at, e)| e.is_critical() && !asked(*at));
    let question = |(at, effect): (usize, &Effect)| Finding {
        rule: LATCH,
        effect: at,
        demand: Demand::Approval,
        level: Decision::Ask,
        matched: effect.to_string(),
        granted: None,
        lifted: None,
    };
    effects.map(question).collect()
}

/// A denied proposal, as far as the latch remembers it: the effects that were denied.
#[derive(Debug, Clone, PartialEq)]
pub struct Denied {
    pub proposal: ProposalId,
    pub effects: Vec<Effect>,
}

impl Denied {
    pub fn of(proposal: ProposalId, action: &Action, audit: &Audit) -> Option<Denied> {
        let denied = |at: usize| audit.findings.iter().any(|f| f.effect == at && f.level == Decision::Deny);
        let effects: Vec<Effect> =
            action.effects.iter().enumerate().filter(|(at, _)| denied(*at)).map(|(_, e)| e.clone()).collect();
        (!effects.is_empty()).then_some(Denied { proposal, effects })
    }
}

/// What just happened, for [`engage`].
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    pub proposal: ProposalId,
    pub action: &'a Action,
    pub audit: &'a Audit,
    /// Earlier denials of the session.
    pub denied: &'a [Denied],
    /// 90 % lower bound of the hazard, once there is an estimate.
    pub hazard: Option<f64>,
    /// Constraints in force that could not be made into rules, in the person's words.
    pub unenforceable: &'a [(RuleId, &'a str)],
    pub places: &'a Places,
}

/// Why the latch should engage now, if it should.
pub fn engage(occasion: &Occasion<'_>) -> Option<LatchCause> {
    let &Occasion { proposal, action, audit, .. } = occasion;
    let irreversible = action.effects.iter().any(|e| e.reversibility == Reversibility::Irreversible);
    if audit.decision == Decision::Deny && irreversible {
        return Some(LatchCause::DeniedIrreversible { proposal });
    }
    if let Some(denied) = occasion.denied.iter().find(|d| d.proposal != proposal && occasion.goes_round(d)) {
        return Some(LatchCause::OtherRoute { proposal, denied: denied.proposal });
    }
    if let Some(lower) = occasion.hazard.filter(|lower| *lower > HAZARD_BOUND) {
        return Some(LatchCause::Hazard { lower });
    }
    let critical = || action.effects.iter().filter(|e| e.is_critical());
    let named =
        occasion.unenforceable.iter().find(|(_, words)| critical().any(|e| words::name(words, e, &action.call)));
    named.map(|(rule, _)| LatchCause::Unenforceable { rule: *rule, proposal })
}

impl Occasion<'_> {
    /// The same verb on something that was denied under it.
    fn goes_round(&self, denied: &Denied) -> bool {
        let same = |new: &Effect, old: &Effect| {
            new.verb == old.verb && may_overlap(&new.resource, &old.resource, self.places)
        };
        self.action.effects.iter().any(|new| denied.effects.iter().any(|old| same(new, old)))
    }
}
