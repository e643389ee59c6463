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
use serde_json::Value;
use std::collections::BTreeMap;

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

    /// The same pass with each placeholder of a secret in its arguments filled in from `secrets`: such text is never
    /// written down, so it is put back only here. The error names a placeholder that nobody can fill.
    pub fn reveal(mut self, secrets: &BTreeMap<String, String>) -> Result<Clearance, String> {
        fill(&mut self.action.call.args, secrets)?;
        Ok(self)
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

/// How every placeholder of a secret begins.
const PLACEHOLDER: &str = "[secret:";

fn fill(value: &mut Value, secrets: &BTreeMap<String, String>) -> Result<(), String> {
    match value {
        Value::String(text) if text.contains(PLACEHOLDER) => {
            for (placeholder, secret) in secrets {
                *text = text.replace(placeholder.as_str(), secret);
            }
            let lost = text.find(PLACEHOLDER).and_then(|at| text.get(at..));
            lost.map_or(Ok(()), |rest| Err(rest.split_inclusive(']').next().unwrap_or(rest).to_owned()))
        }
        Value::Array(items) => items.iter_mut().try_for_each(|v| fill(v, secrets)),
        Value::Object(fields) => fields.values_mut().try_for_each(|v| fill(v, secrets)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}
