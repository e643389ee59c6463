//! What an approval leaves behind. A grant discharges `require_approval` and the latch's question, nothing else.

use super::{
    action::Program,
    effect::Verb,
    id::{Digest, GrantId, Moment, Turn},
    resource::Resource,
};
use serde::{Deserialize, Serialize};

/// How long a grant lasts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "until")]
pub enum Until {
    /// One execution of exactly the action that was approved.
    Once,
    Session,
    Moment {
        at: Moment,
    },
}

/// One approval: effect, object, how long, how often.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    pub id: GrantId,
    /// The verbs it covers.
    pub verbs: Vec<Verb>,
    /// The objects it covers; an effect must be provably contained in one of them.
    pub resources: Vec<Resource>,
    /// Of a one-shot grant: the digest of the action (call, effects, facts) it was given for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Digest>,
    /// Of a one-shot grant: digest of the restrictions in force when it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<Digest>,
    /// Of a grant for an opaque program: its path and content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    pub until: Until,
    pub turn: Turn,
    pub given: Moment,
    /// The scope in the words the person saw when they said yes.
    pub words: String,
    /// `person`, or `scripted` in a scratch workspace.
    pub approver: String,
    #[serde(default)]
    pub used: u32,
    #[serde(default)]
    pub revoked: bool,
}

impl Grant {
    /// Can still discharge something at `now`.
    pub fn is_live(&self, now: Moment) -> bool {
        !self.revoked
            && match &self.until {
                Until::Once => self.used == 0,
                Until::Session => true,
                Until::Moment { at } => now < *at,
            }
    }
}
