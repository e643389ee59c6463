//! Prerequisites: whether one is met, and which step would meet it.
//!
//! A prerequisite is met by what was done, or earlier in the same chain of the action; it must be true (verified),
//! cover the whole operand, and be fresh: nothing may have changed the operand since. A step that would meet it is
//! an action like any other and is audited like any other, at most [`DEEPEST`] deep.

use super::{
    audit::{Hit, Trial},
    case::Case,
    eval::Truth,
    law::{Restriction, Wanted},
    pattern::{may_overlap, surely_within},
};
use crate::domain::{
    Action, Audit, Certainty, Decision, Demand, Effect, Extent, Finding, Kind, Plan, PlanKind, PlanStep, RawCall,
    Resource, Scalar, Verb,
};
use serde_json::json;

/// Steps of steps of steps have no plan of their own.
pub const DEEPEST: u8 = 3;

/// Whether a prerequisite is met.
enum Met {
    /// In words where.
    Yes(String),
    No,
    /// The action itself spoils it before it needs it: only splitting the action helps.
    Spoilt(String),
    Doubtful(String),
}

/// A prerequisite of one effect.
struct Before<'a> {
    verb: Verb,
    /// What it must have been done to.
    wanted: &'a Resource,
    target: Option<&'a Wanted>,
}

impl Trial<'_> {
    /// The finding of a prerequisite; steps that would meet it are added to `plan`.
    pub(super) fn prerequisite(
        &self,
        rule: &Restriction,
        hit: &Hit,
        effect: &Effect,
        verb: Verb,
        target: Option<&Wanted>,
        plan: &mut Plan,
    ) -> Finding {
        let before = Before { verb, wanted: target.map_or(&effect.resource, |t| &t.resource), target };
        let demand = Demand::Before { verb, resource: before.wanted.clone() };
        if hit.lifted.is_some() {
            return self.finding(rule, hit, effect, demand, Decision::Allow);
        }
        let in_doubt = hit.truth == Truth::Unknown;
        if in_doubt && effect.is_opaque() {
            return self.doubt(rule, hit, effect);
        }
        let told = |matched: Option<String>, demand: Demand, level: Decision| {
            let finding = self.finding(rule, hit, effect, demand, level);
            Finding { matched: matched.unwrap_or_else(|| finding.matched.clone()), ..finding }
        };
        match self.met(&before, hit.effect, effect) {
            Met::Yes(place) => told(Some(place), demand, Decision::Allow),
            Met::Doubtful(why) => told(None, Demand::Unknown { why }, Decision::Ask),
            Met::No | Met::Spoilt(_) if in_doubt => self.doubt(rule, hit, effect),
            Met::Spoilt(how) => told(Some(how), demand, Decision::Deny),
            Met::No => match self.plan(rule, &before) {
                None => told(None, demand, Decision::Deny),
                Some((steps, level)) => {
                    for step in steps {
                        if !plan.0.iter().any(|known| known.call == step.call) {
                            plan.0.push(step);
                        }
                    }
                    told(None, demand, level)
                }
            },
        }
    }

    fn met(&self, before: &Before<'_>, at: usize, effect: &Effect) -> Met {
        let (case, places) = (self.case, self.law.places());
        let earlier = case.action.effects.get(..at).unwrap_or_default();
        let touches = |e: &Effect| may_overlap(&e.resource, before.wanted, places);
        // A backup made in the same breath has not been compared with its source.
        let chained = |e: &Effect| {
            before.verb != Verb::Backup
                && effect.chain != 0
                && e.chain == effect.chain
                && e.certainty == Certainty::Certain
                && self.meets(before, e)
        };
        let (place, since) = match earlier.iter().rposition(chained).and_then(|own| earlier.split_at_checked(own + 1))
        {
            Some((upto, since)) => (upto.last().map(|e| format!("{e}, earlier in this action")), since),
            None => (self.was_done(before), earlier),
        };
        if let Some(e) = since.iter().find(|e| !e.is_opaque() && adds(e.verb) && touches(e)) {
            return Met::Spoilt(format!("{e} comes first in this action"));
        }
        match (place, since.iter().find(|e| e.is_opaque())) {
            (None, _) => Met::No,
            (Some(_), Some(e)) => Met::Doubtful(format!("{} may change {} first", e.resource, before.wanted)),
            (Some(place), None) => Met::Yes(place),
        }
    }

    /// The last time it was really done to all that is wanted, if nothing was changed since.
    fn was_done(&self, before: &Before<'_>) -> Option<String> {
        let (case, places) = (self.case, self.law.places());
        let good = |d: &crate::domain::Done| {
            d.verified
                && d.effect.certainty == Certainty::Certain
                && self.meets(before, &d.effect)
                && (before.verb != Verb::Backup || self.survives(case, &d.effect))
        };
        let last = case.done.iter().rposition(good)?;
        let stale = case.done.get(last + 1..).unwrap_or_default().iter().any(|d| {
            d.effect.is_opaque() || (changes(d.effect.verb) && may_overlap(&d.effect.resource, before.wanted, places))
        });
        let done = case.done.get(last).filter(|_| !stale)?;
        Some(format!("{} by {} in turn {}", done.effect, done.proposal, done.turn))
    }

    /// This effect is what was asked for, on all of what was asked for.
    fn meets(&self, before: &Before<'_>, done: &Effect) -> bool {
        let places = self.law.places();
        if done.verb != before.verb {
            return false;
        }
        let one_of_them = |t: &Wanted| t.named.as_ref().is_some_and(|n| n.pattern.holds(&done.resource, places));
        let on_all = surely_within(before.wanted, &done.resource, places);
        match before.verb {
            // These are done to contents: a part is not enough.
            Verb::Backup | Verb::Read | Verb::List | Verb::Copy => on_all,
            Verb::Create
            | Verb::Modify
            | Verb::Overwrite
            | Verb::Delete
            | Verb::Move
            | Verb::Execute
            | Verb::Install
            | Verb::Grant
            | Verb::Send
            | Verb::Publish
            | Verb::Request
            | Verb::Pay
            | Verb::Schedule
            | Verb::Cancel
            | Verb::Set
            | Verb::Escalate
            | Verb::Unknown => on_all || before.target.is_some_and(one_of_them),
        }
    }

    /// A backup is worth something if it lies where the action does not reach.
    fn survives(&self, case: &Case<'_>, backup: &Effect) -> bool {
        let Some(Scalar::Text(location)) = backup.attributes.get("location") else { return false };
        let location = Resource::subtree(location.as_str());
        let reached = |e: &Effect| changes(e.verb) && may_overlap(&e.resource, &location, self.law.places());
        !case.action.effects.iter().any(reached)
    }

    /// Steps that would meet it, and what they leave to decide: `repair` when they may run, else `ask` or `deny`.
    fn plan(&self, rule: &Restriction, before: &Before<'_>) -> Option<(Vec<PlanStep>, Decision)> {
        let offered = self.case.offers.iter().filter(|o| o.kind == PlanKind::Precede).map(|o| o.call.clone());
        let helps = |action: &Action| {
            let same = |e: &Effect| e.resource.name().is_some() && e.resource.name() == before.wanted.name();
            action.effects.iter().any(|e| e.verb == before.verb && (self.meets(before, e) || same(e)))
        };
        step(before.verb, before.wanted).into_iter().chain(offered).find_map(|call| {
            let (action, audit) = self.tried(&call)?;
            if !helps(&action) {
                return None;
            }
            let mut steps = audit.plan.0;
            steps.push(PlanStep { kind: PlanKind::Precede, call, rule: rule.id });
            Some((steps, audit.decision.max(Decision::Repair)))
        })
    }

    /// What a step would do and the verdict on it; nothing where steps have got too deep.
    fn tried(&self, call: &RawCall) -> Option<(Action, Audit)> {
        if self.depth >= DEEPEST {
            return None;
        }
        let action = (self.understand)(call)?;
        let case = Case { action: &action, requested: &[], offers: &[], ..*self.case };
        let trial = Trial { case: &case, digest: action.digest(), depth: self.depth + 1, ..*self };
        let audit = trial.verdict();
        Some((action, audit))
    }

    /// Offers that help with what stands against the action: something to do before a yes, or something else to
    /// propose. They change nothing about the verdict.
    pub(super) fn offer(&self, findings: &[Finding], decision: Decision, plan: &mut Plan) {
        for offer in self.case.offers {
            let stands = |f: &&Finding| f.is_open() && offer.eases.contains(&f.effect);
            let Some(finding) = findings.iter().find(stands) else { continue };
            if plan.0.iter().any(|known| known.call == offer.call) {
                continue;
            }
            let Some((action, audit)) = self.tried(&offer.call) else { continue };
            let helps = match offer.kind {
                PlanKind::Precede => decision == Decision::Ask && audit.decision < Decision::Deny,
                PlanKind::Substitute => audit.decision < Decision::Deny && audit.decision <= decision,
            };
            let opaque = action.effects.iter().any(Effect::is_opaque);
            if helps && !opaque {
                plan.0.push(PlanStep { kind: offer.kind, call: offer.call.clone(), rule: finding.rule });
            }
        }
    }
}

/// The call that does `verb` to `resource`, where one tool does.
fn step(verb: Verb, resource: &Resource) -> Option<RawCall> {
    if resource.kind != Kind::Path {
        return None;
    }
    let path = match &resource.extent {
        Extent::One(name) | Extent::Subtree(name) => name,
        Extent::Glob(glob) => glob,
        Extent::Any => return None,
    };
    let tool = match verb {
        Verb::Backup => "fs_backup",
        Verb::List => "fs_list",
        Verb::Read => "fs_read",
        Verb::Create
        | Verb::Modify
        | Verb::Overwrite
        | Verb::Delete
        | Verb::Move
        | Verb::Copy
        | Verb::Execute
        | Verb::Install
        | Verb::Grant
        | Verb::Send
        | Verb::Publish
        | Verb::Request
        | Verb::Pay
        | Verb::Schedule
        | Verb::Cancel
        | Verb::Set
        | Verb::Escalate
        | Verb::Unknown => return None,
    };
    Some(RawCall::new(tool, json!({ "path": path })))
}

/// After this the resource is not what it was.
const fn changes(verb: Verb) -> bool {
    match verb {
        Verb::Delete | Verb::Move | Verb::Cancel => true,
        Verb::Read
        | Verb::List
        | Verb::Copy
        | Verb::Backup
        | Verb::Execute
        | Verb::Send
        | Verb::Request
        | Verb::Pay
        | Verb::Create
        | Verb::Modify
        | Verb::Overwrite
        | Verb::Install
        | Verb::Grant
        | Verb::Publish
        | Verb::Schedule
        | Verb::Set
        | Verb::Escalate
        | Verb::Unknown => adds(verb),
    }
}

/// After this the resource holds what no earlier backup or look can know of. (What is gone is still in the backup.)
const fn adds(verb: Verb) -> bool {
    match verb {
        Verb::Create
        | Verb::Modify
        | Verb::Overwrite
        | Verb::Install
        | Verb::Grant
        | Verb::Publish
        | Verb::Schedule
        | Verb::Set
        | Verb::Escalate
        | Verb::Unknown => true,
        Verb::Read
        | Verb::List
        | Verb::Delete
        | Verb::Move
        | Verb::Cancel
        | Verb::Copy
        | Verb::Backup
        | Verb::Execute
        | Verb::Send
        | Verb::Request
        | Verb::Pay => false,
    }
}
