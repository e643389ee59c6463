//! The audit: one action, one law, one verdict with its whole trace.
//!
//! Every restriction that speaks about an effect gives a finding; a finding is open until an exception lifts it, a
//! grant discharges it or its demand turns out to be met; the strictest open finding decides. So a new restriction
//! can only add findings, and the verdict can only get stricter. No finding open: allow.
//!
//! What never lives here: IO, clocks, and any way round the law. An approval is a grant or an exception, and the
//! action is audited again.

use super::{
    case::Case,
    eval::{Reading, Scene, Truth},
    grant, latch,
    law::{Duty, Law, Restriction},
    words,
};
use crate::domain::{Action, Audit, Decision, Demand, Digest, Effect, Finding, Origin, Plan, RawCall, RuleId, Verb};

/// How many doubtful rules are named for one opaque effect. More are cut off: they all ask the same question, and
/// whatever answers one of them answers all.
pub const MOST_DOUBTS: usize = 8;

/// Up to how many doubts about an opaque effect this rule's is named too.
pub(super) const fn most_doubts(rule: RuleId) -> usize {
    match rule.origin {
        Origin::Core => 1,
        Origin::Said | Origin::Scar => MOST_DOUBTS,
    }
}

/// Audits an action. `understand` gives the action of a repair step, from the facts at hand; without one there is no
/// plan.
pub fn audit(law: &Law, case: &Case<'_>, understand: &dyn Fn(&RawCall) -> Option<Action>) -> Audit {
    Trial { law, case, digest: case.action.digest(), understand, depth: 0 }.verdict()
}

/// One audit under way.
pub(super) struct Trial<'a> {
    pub law: &'a Law,
    pub case: &'a Case<'a>,
    /// Of the action.
    pub digest: Digest,
    pub understand: &'a dyn Fn(&RawCall) -> Option<Action>,
    /// 0 for a proposal, 1 for a step of its plan, and so on.
    pub depth: u8,
}

/// A restriction that speaks, or may, about an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hit {
    pub rule: usize,
    pub effect: usize,
    pub truth: Truth,
    pub lifted: Option<RuleId>,
}

impl<'a> Trial<'a> {
    pub(super) fn verdict(&self) -> Audit {
        let mut plan = Plan::default();
        let mut findings = Vec::new();
        for group in self.hits().chunk_by(|a, b| a.rule == b.rule) {
            self.judge(group, &mut findings, &mut plan);
        }
        self.mind(&mut findings);
        findings.extend(latch::questions(self.case, &findings));
        for finding in &mut findings {
            if let Some(grant) = grant::discharging(self, finding) {
                finding.granted = Some(grant);
                finding.level = Decision::Allow;
            }
        }
        findings.sort_by_key(|f| (f.effect, f.rule));
        let decision = findings.iter().map(|f| f.level).max().unwrap_or(Decision::Allow);
        if matches!(decision, Decision::Allow | Decision::Deny) {
            plan = Plan::default();
        }
        if matches!(decision, Decision::Ask | Decision::Deny) {
            self.offer(&findings, decision, &mut plan);
        }
        let stands = |effect: usize| findings.iter().any(|f| f.effect == effect && f.is_open());
        let lawful = (0..self.case.action.effects.len()).filter(|e| !stands(*e)).collect();
        Audit { decision, plan, lawful, action: self.digest, law: self.law.digest(), findings }
    }

    /// Words that could not be made into a rule ask where they name an effect or what it acts on.
    fn mind(&self, findings: &mut Vec<Finding>) {
        for (rule, words) in &self.law.words {
            for (at, effect) in self.case.action.effects.iter().enumerate() {
                let reads = matches!(effect.verb, Verb::Read | Verb::List);
                if !reads && words::name(words, effect, &self.case.action.call) {
                    let why = "what was said here could not be made into a rule".to_owned();
                    let (demand, matched) = (Demand::Unknown { why }, effect.to_string());
                    let (granted, lifted) = (None, None);
                    findings.push(Finding {
                        rule: *rule,
                        effect: at,
                        demand,
                        level: Decision::Ask,
                        matched,
                        granted,
                        lifted,
                    });
                }
            }
        }
    }

    /// All restrictions that are not silent, in order of rule then effect, each pair once.
    pub(super) fn hits(&self) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (at, effect) in self.case.action.effects.iter().enumerate() {
            let scene = self.scene(at, effect);
            if effect.is_opaque() {
                self.opaque_hits(at, &scene, &mut hits);
                continue;
            }
            self.law.index.each(&self.case.action.call.tool, effect, self.law.places(), &mut |rule| {
                hits.extend(self.hit(rule, at, &scene));
            });
        }
        hits.sort_unstable();
        hits.dedup();
        hits
    }

    /// An opaque effect may be anything, so every rule is asked, the person's own first; of those in doubt only the
    /// first few count, and the core's only where there is no other, because the core asks about what is opaque anyway.
    fn opaque_hits(&self, at: usize, scene: &Scene<'_>, hits: &mut Vec<Hit>) {
        let mut doubts = 0;
        let of_core = |core: bool| {
            let all = self.law.restrictions.iter().enumerate();
            all.filter(move |(_, r)| (r.id.origin == Origin::Core) == core)
        };
        for (rule, restriction) in of_core(false).chain(of_core(true)) {
            let settled = doubts >= most_doubts(restriction.id);
            if settled && restriction.doubtful && scene.effect.verb == Verb::Unknown {
                continue;
            }
            let Some(hit) = self.hit(rule, at, scene) else { continue };
            if hit.truth == Truth::Unknown {
                if settled {
                    continue;
                }
                doubts += usize::from(hit.lifted.is_none());
            }
            hits.push(hit);
        }
    }

    fn hit(&self, rule: usize, effect: usize, scene: &Scene<'_>) -> Option<Hit> {
        let restriction = self.law.restrictions.get(rule)?;
        let truth = restriction.check.truth(scene, Reading::Wide);
        (truth != Truth::False).then(|| {
            let lifted = self.law.lifting(restriction.id, scene, Some(self.digest));
            Hit { rule, effect, truth, lifted }
        })
    }

    /// What one rule asks for, of all effects that it speaks about.
    fn judge(&self, hits: &[Hit], findings: &mut Vec<Finding>, plan: &mut Plan) {
        let Some(rule) = hits.first().and_then(|hit| self.law.restrictions.get(hit.rule)) else { return };
        let of_each = hits.iter().filter_map(|hit| Some((hit, self.case.action.effects.get(hit.effect)?)));
        match &rule.duty {
            Duty::Forbid => findings.extend(of_each.map(|(hit, effect)| match hit.truth {
                Truth::True => self.finding(rule, hit, effect, Demand::Forbidden, Decision::Deny),
                Truth::Unknown | Truth::False => self.doubt(rule, hit, effect),
            })),
            Duty::Approve => findings.extend(of_each.map(|(hit, effect)| match hit.truth {
                Truth::Unknown if effect.is_opaque() => self.doubt(rule, hit, effect),
                Truth::True | Truth::Unknown | Truth::False => {
                    self.finding(rule, hit, effect, Demand::Approval, Decision::Ask)
                }
            })),
            Duty::Before { verb, target } => {
                findings.extend(
                    of_each.map(|(hit, effect)| self.prerequisite(rule, hit, effect, *verb, target.as_ref(), plan)),
                );
            }
            Duty::Limit(limit) => self.limit(rule, limit, hits, findings),
        }
    }

    pub(super) fn scene(&self, at: usize, effect: &'a Effect) -> Scene<'a> {
        Scene::of(self.case, at, effect, self.law.places())
    }

    /// A finding at `level`, unless an exception lifts it.
    pub(super) fn finding(
        &self,
        rule: &Restriction,
        hit: &Hit,
        effect: &Effect,
        demand: Demand,
        level: Decision,
    ) -> Finding {
        let scene = Scene::of(self.case, hit.effect, effect, self.law.places());
        Finding {
            rule: rule.id,
            effect: hit.effect,
            demand,
            level: if hit.lifted.is_some() { Decision::Allow } else { level },
            matched: rule.check.matched(&scene),
            granted: None,
            lifted: hit.lifted,
        }
    }

    /// The rule may speak, and whether it does cannot be told: a question.
    pub(super) fn doubt(&self, rule: &Restriction, hit: &Hit, effect: &Effect) -> Finding {
        let why = rule.check.doubt(&Scene::of(self.case, hit.effect, effect, self.law.places()));
        self.finding(rule, hit, effect, Demand::Unknown { why }, Decision::Ask)
    }
}
