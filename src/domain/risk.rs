//! The latch and the hazard estimate as they are recorded and shown.

use super::id::{Moment, ProposalId, RuleId, Seq, Turn};
use serde::{Deserialize, Serialize};

/// Why the latch engaged (DESIGN §6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "cause")]
pub enum LatchCause {
    /// An irreversible proposal was denied.
    DeniedIrreversible { proposal: ProposalId },
    /// The same verb on an intersecting resource after a denial.
    OtherRoute { proposal: ProposalId, denied: ProposalId },
    /// The 90 % lower bound of the hazard passed its threshold.
    Hazard { lower: f64 },
    /// Words that cannot be enforced name the effect or object at hand.
    Unenforceable { rule: RuleId, proposal: ProposalId },
    /// Inherited from the last session of this workspace.
    Inherited,
}

/// The engaged latch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatchState {
    pub cause: LatchCause,
    pub turn: Turn,
    pub since: Seq,
    pub at: Moment,
}

/// One safety-critical opportunity, for the posterior of the residual hazard.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hazard {
    pub proposal: ProposalId,
    /// Tokens in the context when it was proposed.
    pub tokens: u64,
    /// Its first audit was deny, or repair for an unmet prerequisite.
    pub entry: bool,
}
