//! What can arrive, and what can be ordered. An `Input` is a noun, a `Command` an imperative.

use crate::domain::event::Entry;
use crate::domain::{
    Facts, GrantId, HumanDecision, Outcome, ProposalId, Query, RawCall, Reply, RuleId, Span, event::Opening,
};

/// Something that arrived from outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    Open(Box<Opening>),
    /// A stored session was loaded again; `go_on` asks the model at once where it was waited for.
    Resume {
        version: String,
        go_on: bool,
    },
    UserTurn {
        text: String,
        pasted: Vec<Span>,
    },
    /// The person proposes an action themselves.
    PersonCall {
        call: RawCall,
    },
    /// The person asks for a reply to what is there (after a failure, after an interruption).
    GoOn,
    Answer {
        proposal: ProposalId,
        decision: HumanDecision,
        approver: String,
    },
    OnRule {
        rule: RuleId,
        decision: RuleDecision,
        why: String,
    },
    RevokeGrant {
        grant: GrantId,
        why: String,
    },
    ReleaseLatch {
        reason: String,
    },
    Interrupt {
        why: String,
    },
    ModelReplied {
        reply: Reply,
    },
    ModelFailed {
        error: String,
    },
    FactsRead {
        proposal: ProposalId,
        facts: Facts,
    },
    ToolFinished {
        proposal: ProposalId,
        outcome: Outcome,
    },
    Close {
        why: String,
    },
}

/// What a person may say of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleDecision {
    Confirm,
    Reject,
    Suspend,
    Revoke,
    Revive,
}

impl RuleDecision {
    pub const fn word(self) -> &'static str {
        match self {
            RuleDecision::Confirm => "confirm",
            RuleDecision::Reject => "reject",
            RuleDecision::Suspend => "suspend",
            RuleDecision::Revoke => "revoke",
            RuleDecision::Revive => "revive",
        }
    }
}

/// Something to be done outside; what comes of it returns as an `Input`.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Ask the model with the prompt that the state now yields.
    CallModel,
    ReadFacts {
        proposal: ProposalId,
        queries: Vec<Query>,
    },
    /// Run what was cleared; the driver takes the clearance from the state.
    Execute {
        proposal: ProposalId,
    },
    /// End what is running.
    Cancel,
}

/// What happened and what should be done.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Step {
    pub events: Vec<Entry>,
    pub commands: Vec<Command>,
}

impl Step {
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.commands.is_empty()
    }
}
