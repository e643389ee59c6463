//! What the person says of rules, grants and the latch.

use super::Out;
use crate::domain::{ConstraintState, Event, GrantId, Origin, RuleId};
use crate::session::RuleDecision;

pub(super) fn on_rule(out: &mut Out<'_>, id: RuleId, decision: RuleDecision, why: String) {
    let what = format!("{} {id}", decision.word());
    let Some(constraint) = out.state.constraints.get(&id) else {
        let why = match id.origin {
            Origin::Core => "core rules are changed in their file, not from a session",
            Origin::Said | Origin::Scar => "there is no such rule",
        };
        return out.ignore(what, why);
    };
    let from = &constraint.state;
    let state = match (decision, from) {
        (RuleDecision::Confirm, ConstraintState::Proposed) => ConstraintState::Active,
        (RuleDecision::Reject, ConstraintState::Proposed) => ConstraintState::Revoked,
        (RuleDecision::Suspend, ConstraintState::Active) => ConstraintState::Suspended,
        (RuleDecision::Revoke, ConstraintState::Active | ConstraintState::Suspended | ConstraintState::Proposed) => {
            ConstraintState::Revoked
        }
        (RuleDecision::Revive, ConstraintState::Suspended | ConstraintState::Revoked | ConstraintState::Expired) => {
            ConstraintState::Active
        }
        (_, from) => return out.ignore(what, format!("it is {}", from.word())),
    };
    out.event(Event::ConstraintChanged { id, state, why, by: "person".to_owned() });
}

pub(super) fn revoke_grant(out: &mut Out<'_>, grant: GrantId, why: String) {
    match out.state.grants.get(&grant) {
        Some(known) if !known.revoked => out.event(Event::GrantRevoked { grant, why }),
        Some(_) => out.ignore(format!("revoking {grant}"), "it is revoked already"),
        None => out.ignore(format!("revoking {grant}"), "there is no such grant"),
    }
}

/// Only a person releases the latch, and says why.
pub(super) fn release_latch(out: &mut Out<'_>, reason: String) {
    if reason.trim().is_empty() {
        out.ignore("releasing the latch", "a reason is needed");
    } else if out.state.latch.is_none() {
        out.ignore("releasing the latch", "it is not engaged");
    } else {
        out.event(Event::LatchReleased { reason, by: "person".to_owned() });
    }
}
