//! The pass that lets one audited action run once.
//!
//! Invariant *one door*: a [`Clearance`] can be made only here, out of an audit that says `allow`; it has private
//! fields, is neither `Clone` nor deserialisable, and tools consume it.
//!
//! ```
//! fn twice(pass: weal::policy::clearance::Clearance) {
//!     let first = pass;
//!     let _ = first;
//! }
//! ```
//!
//! The same with a second use does not compile:
//!
//! ```compile_fail
//! fn twice(pass: weal::policy::clearance::Clearance) {
//!     let first = pass;
//!     let _ = first; let again = pass;
//! }
//! ```
//!
//! Nor does making one by hand:
//!
//! ```compile_fail
//! fn forge(action: weal::domain::Action) -> weal::policy::clearance::Clearance {
//!     weal::policy::clearance::Clearance { action, facts: Default::default(), proposal: weal::domain::ProposalId(1) }
//! }
//! ```

use crate::domain::{Action, Audit, Decision, Digest, Facts, ProposalId};

/// One execution of one action, exactly as it was audited.
#[derive(Debug)]
pub struct Clearance {
    proposal: ProposalId,
    action: Action,
    facts: Facts,
}

impl Clearance {
    /// A pass for `action`, if `audit` is an audit of this very action over these very facts and allows it.
    pub fn issue(proposal: ProposalId, action: Action, facts: Facts, audit: &Audit) -> Option<Clearance> {
        let same = audit.action == action.digest() && action.facts == facts.digest();
        (same && audit.decision == Decision::Allow).then_some(Clearance { proposal, action, facts })
    }

    pub const fn proposal(&self) -> ProposalId {
        self.proposal
    }
    pub const fn action(&self) -> &Action {
        &self.action
    }
    /// What the world looked like when the action was audited; checked again before it runs.
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }
    /// What is written down as the intent.
    pub fn digest(&self) -> Digest {
        Digest::of_json(&(self.proposal, self.action.digest()))
    }
}
