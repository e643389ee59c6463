//! What is written down. If it is not an `Event`, it did not happen.
//!
//! Events are facts in the past; folds over them (`session::State`, the screen, export, replay) look at nothing else.

use super::{
    action::{Action, Proposal, RawCall},
    constraint::{Constraint, ConstraintState, Scope, Statement},
    facts::Facts,
    grant::Grant,
    id::{Digest, GrantId, Moment, ProposalId, RuleId, Seq, SessionId, Span, Turn},
    message::Reply,
    outcome::Outcome,
    risk::{Hazard, LatchCause},
    verdict::{Audit, HumanDecision},
};
use serde::{Deserialize, Serialize};

/// Which chain an event belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Stream {
    /// Constraints, scars and the latch of the workspace: what outlives a session.
    Library,
    Session(SessionId),
}

impl std::fmt::Display for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stream::Library => f.write_str("library"),
            Stream::Session(id) => write!(f, "session/{id}"),
        }
    }
}

impl From<Stream> for String {
    fn from(s: Stream) -> String {
        s.to_string()
    }
}

impl From<String> for Stream {
    fn from(text: String) -> Stream {
        match text.strip_prefix("session/") {
            Some(id) => Stream::Session(SessionId(id.to_owned())),
            None => Stream::Library,
        }
    }
}

/// A fragment put before the model by the restore gate, or left out of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fragment {
    pub rule: RuleId,
    /// As rendered into the prompt.
    pub text: String,
    pub tokens: u64,
    /// Higher is more relevant to the task at hand.
    pub score: f64,
    /// Why it was put in or left out.
    pub why: String,
}

/// Where the children of this session run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Sandbox {
    /// The kernel keeps children inside their write set; the number is landlock's ABI.
    Landlock {
        abi: u8,
    },
    None {
        why: String,
    },
}

/// What a session starts with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    pub session: SessionId,
    /// Absolute path of the workspace.
    pub workspace: String,
    /// Absolute path of the person's home, for `~/` names.
    pub home: String,
    /// The model's name, or `none`, `scripted`, `rehearsal`.
    pub model: String,
    /// The model is simulated: label it wherever it is shown.
    pub simulated: bool,
    /// The workspace is weal's own scratch world; scripted answers hold only here.
    pub scratch: bool,
    pub sandbox: Sandbox,
    pub version: String,
    /// The human-authored rules in force (core and the user's own), as loaded: the core part of the law.
    pub core: Vec<CoreRule>,
    /// First free number for a constraint of this workspace.
    pub next_constraint: u32,
    /// The latch was engaged when the last session of this workspace ended.
    pub latched: bool,
    /// Tokens the conversation may fill before it is compacted.
    pub context_budget: u64,
}

/// A rule of the core schema as it was in force, embedded so that a log explains itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CoreRule {
    pub id: RuleId,
    pub title: String,
    pub rule: String,
    pub hard: bool,
    pub why: String,
    /// `core`, or the user's file.
    pub file: String,
}

/// Everything that can happen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    SessionOpened(Opening),
    SessionResumed {
        version: String,
    },
    SessionClosed {
        why: String,
    },
    /// The law that audits from here on are made under.
    LawAdvanced {
        sequence: Seq,
        digest: Digest,
    },

    UserSaid {
        turn: Turn,
        text: String,
        /// Parts that were pasted, not typed.
        #[serde(default)]
        pasted: Vec<Span>,
    },
    /// What the turn asks for: labels of the intent classifier.
    IntentSet {
        turn: Turn,
        intents: Vec<String>,
    },
    StatementsFound {
        turn: Turn,
        statements: Vec<Statement>,
    },
    ConstraintAdded {
        constraint: Constraint,
    },
    ConstraintChanged {
        id: RuleId,
        state: ConstraintState,
        why: String,
        by: String,
    },

    ContextRestored {
        turn: Turn,
        given: Vec<Fragment>,
        left_out: Vec<Fragment>,
        budget: u64,
    },
    /// Turns `from..=to` are given to the model as `summary` from here on.
    HistoryCompacted {
        from: Turn,
        to: Turn,
        summary: String,
        tokens_before: u64,
        tokens_after: u64,
    },
    ModelCalled {
        turn: Turn,
        prompt: Digest,
        tokens: u64,
    },
    ModelReplied {
        turn: Turn,
        reply: Reply,
    },
    ModelFailed {
        turn: Turn,
        error: String,
    },
    /// The person wants an answer to what is there already.
    ReplyOwed {
        why: String,
    },

    ActionProposed {
        proposal: Proposal,
    },
    FactsRead {
        proposal: ProposalId,
        facts: Facts,
    },
    ActionUnderstood {
        proposal: ProposalId,
        action: Action,
    },
    ActionAudited {
        proposal: ProposalId,
        audit: Audit,
        requested: Vec<bool>,
        at: Moment,
    },
    /// The person is asked; nothing runs until they answer.
    PersonAsked {
        proposal: ProposalId,
        why: String,
    },
    PersonDecided {
        proposal: ProposalId,
        decision: HumanDecision,
        approver: String,
    },
    GrantIssued {
        grant: Grant,
    },
    GrantUsed {
        grant: GrantId,
        proposal: ProposalId,
    },
    GrantRevoked {
        grant: GrantId,
        why: String,
    },
    RepairStarted {
        proposal: ProposalId,
        steps: Vec<RawCall>,
    },
    RepairEnded {
        proposal: ProposalId,
        ok: bool,
        why: String,
    },
    /// Durable before the action starts.
    ActionIntended {
        proposal: ProposalId,
        clearance: Digest,
    },
    ActionFinished {
        proposal: ProposalId,
        outcome: Outcome,
        at: Moment,
    },
    /// The proposal came to nothing: denied, malformed, superseded by an edit, interrupted.
    ActionDropped {
        proposal: ProposalId,
        why: String,
    },

    HazardObserved {
        hazard: Hazard,
    },
    LatchEngaged {
        turn: Turn,
        cause: LatchCause,
        at: Moment,
    },
    LatchReleased {
        reason: String,
        by: String,
    },
    /// The person broke in; what was under way was cancelled.
    Interrupted {
        why: String,
    },
    /// An input that changed nothing, and why.
    InputIgnored {
        what: String,
        why: String,
    },
}

impl Event {
    /// The tag under which it is serialised.
    pub fn name(&self) -> &'static str {
        match self {
            Event::SessionOpened(_) => "session_opened",
            Event::SessionResumed { .. } => "session_resumed",
            Event::SessionClosed { .. } => "session_closed",
            Event::LawAdvanced { .. } => "law_advanced",
            Event::UserSaid { .. } => "user_said",
            Event::IntentSet { .. } => "intent_set",
            Event::StatementsFound { .. } => "statements_found",
            Event::ConstraintAdded { .. } => "constraint_added",
            Event::ConstraintChanged { .. } => "constraint_changed",
            Event::ContextRestored { .. } => "context_restored",
            Event::HistoryCompacted { .. } => "history_compacted",
            Event::ModelCalled { .. } => "model_called",
            Event::ModelReplied { .. } => "model_replied",
            Event::ModelFailed { .. } => "model_failed",
            Event::ReplyOwed { .. } => "reply_owed",
            Event::ActionProposed { .. } => "action_proposed",
            Event::FactsRead { .. } => "facts_read",
            Event::ActionUnderstood { .. } => "action_understood",
            Event::ActionAudited { .. } => "action_audited",
            Event::PersonAsked { .. } => "person_asked",
            Event::PersonDecided { .. } => "person_decided",
            Event::GrantIssued { .. } => "grant_issued",
            Event::GrantUsed { .. } => "grant_used",
            Event::GrantRevoked { .. } => "grant_revoked",
            Event::RepairStarted { .. } => "repair_started",
            Event::RepairEnded { .. } => "repair_ended",
            Event::ActionIntended { .. } => "action_intended",
            Event::ActionFinished { .. } => "action_finished",
            Event::ActionDropped { .. } => "action_dropped",
            Event::HazardObserved { .. } => "hazard_observed",
            Event::LatchEngaged { .. } => "latch_engaged",
            Event::LatchReleased { .. } => "latch_released",
            Event::Interrupted { .. } => "interrupted",
            Event::InputIgnored { .. } => "input_ignored",
        }
    }

    /// Must survive a power cut before anything else happens: intents, decisions and what changes the law.
    pub const fn is_durable(&self) -> bool {
        matches!(
            self,
            Event::ActionIntended { .. }
                | Event::PersonDecided { .. }
                | Event::GrantIssued { .. }
                | Event::ConstraintAdded { .. }
                | Event::ConstraintChanged { .. }
                | Event::LatchEngaged { .. }
                | Event::LatchReleased { .. }
                | Event::SessionOpened(_)
        )
    }
}

impl Constraint {
    /// A lasting constraint belongs to the library, the others to their session.
    pub const fn outlives_session(&self) -> bool {
        matches!(self.scope, Scope::Project | Scope::Always)
    }
}

/// One event as it stands in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub seq: Seq,
    pub stream: Stream,
    pub at: Moment,
    pub event: Event,
}

/// One event to append, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub stream: Stream,
    pub event: Event,
}
