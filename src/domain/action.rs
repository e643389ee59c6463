//! A proposed tool call before and after it was understood.

use super::{
    effect::Effect,
    id::{Digest, ProposalId, Turn},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A call as somebody said it; nothing is known of what it means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RawCall {
    /// `domain_verb` on the wire (`fs_delete`, `shell_exec`); `domain.verb` is read as the same.
    pub tool: String,
    pub args: Value,
}

impl RawCall {
    pub fn new(tool: &str, args: Value) -> Self {
        RawCall { tool: tool.replacen('.', "_", 1), args }
    }

    /// A string argument by name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.args.get(name).and_then(Value::as_str)
    }
}

/// Who proposes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "who", rename_all = "snake_case")]
pub enum Proposer {
    /// The model, under its own call id (echoed back with the result).
    Model { call: String },
    /// The person, by `!command` or by editing a proposal.
    Person,
    /// weal, as step `step` of the repair of another proposal.
    Repair { of: ProposalId, step: u32 },
}

/// A call with a name in its session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    pub id: ProposalId,
    pub turn: Turn,
    pub call: RawCall,
    pub by: Proposer,
}

/// A program or script that an opaque effect runs; a session grant for it is bound to both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    pub path: String,
    pub digest: Option<Digest>,
}

/// A call as intake understood it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    pub call: RawCall,
    /// In the order in which they would happen; never empty (a call nobody knows has one opaque effect).
    pub effects: Vec<Effect>,
    /// Programs behind the opaque effects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Program>,
    /// Digest of the facts that the effects were derived from.
    pub facts: Digest,
}

impl Action {
    /// What an approval is bound to: the call, what it was understood to do, and the facts behind it. How reversible
    /// an effect is stays out: a backup made for an approved deletion must not void the approval.
    pub fn digest(&self) -> Digest {
        let effects: Vec<_> = self.effects.iter().map(|e| (e.verb, &e.resource, e.certainty)).collect();
        Digest::of_json(&(&self.call, effects, &self.programs, self.facts))
    }
}
