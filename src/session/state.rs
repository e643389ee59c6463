//! Everything that is known of a session at one place of its log: a fold of records and of nothing else.

use super::timeline::Timeline;
use crate::domain::{
    Action, Audit, Constraint, Done, Facts, Grant, GrantId, Hazard, HumanDecision, LatchState, Message, Moment,
    Outcome, Places, Proposal, ProposalId, Proposer, RuleId, Seq, Turn, Usage,
    event::{Fragment, Opening},
};
use crate::intake::{actions::Surroundings, labels::Labels};
use crate::policy::{
    grant::{self, SessionScope},
    latch::LATCH,
    law::Law,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, LazyLock},
};

/// The labels that ship with weal, read once.
pub(super) static LABELS: LazyLock<Labels> = LazyLock::new(Labels::shipped);

/// How far a proposal has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Its facts and effects are still to be found out.
    Proposed,
    /// Its effects are known; the audit is next.
    Understood,
    /// The verdict is there and says what is next.
    Audited,
    /// A person was asked.
    Asked,
    /// Steps that must come before it are under way.
    Repairing,
    /// The intent is durable, the outcome is not there.
    Running,
    Finished,
    /// Stopped by the audit or the person.
    Denied,
    /// Came to nothing without a verdict: malformed, edited, interrupted.
    Dropped,
    /// The process died while it ran: it may have happened.
    Unresolved,
}

impl Stage {
    /// Nothing more will happen to it.
    pub const fn is_over(self) -> bool {
        matches!(self, Stage::Finished | Stage::Denied | Stage::Dropped)
    }

    /// A person's answer is what it waits for.
    pub const fn waits_for_person(self) -> bool {
        matches!(self, Stage::Asked | Stage::Unresolved)
    }

    pub const fn word(self) -> &'static str {
        match self {
            Stage::Proposed => "proposed",
            Stage::Understood => "understood",
            Stage::Audited => "audited",
            Stage::Asked => "waits for you",
            Stage::Repairing => "repairing",
            Stage::Running => "running",
            Stage::Finished => "finished",
            Stage::Denied => "denied",
            Stage::Dropped => "dropped",
            Stage::Unresolved => "may have happened",
        }
    }
}

/// A proposal with all that became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Handling {
    pub proposal: Proposal,
    pub stage: Stage,
    /// How often the world was asked; at four, what is missing stays unknown.
    pub rounds: u8,
    pub facts: Facts,
    pub action: Option<Action>,
    /// For each effect: does the present request name it?
    pub requested: Vec<bool>,
    /// One for each time it was audited; the last is in force.
    pub audits: Vec<Audit>,
    /// Why a person was asked.
    pub question: Option<String>,
    pub decisions: Vec<(HumanDecision, String)>,
    /// Proposals that repair this one, in order.
    pub repairs: Vec<ProposalId>,
    /// How many repairs were tried.
    pub repair_rounds: u8,
    pub outcome: Option<Outcome>,
    /// Why it was denied or dropped: the receipt.
    pub note: Option<String>,
    pub proposed: Seq,
    pub at: Moment,
}

impl Handling {
    pub fn audit(&self) -> Option<&Audit> {
        self.audits.last()
    }
    /// What `approve_session` would cover, where it is offered for this question.
    pub fn session_scope(&self) -> Option<SessionScope> {
        let (action, audit) = (self.action.as_ref()?, self.audit()?);
        let latched = audit.open().any(|f| f.rule == LATCH);
        grant::session_scope(action, audit, latched)
    }

    pub const fn id(&self) -> ProposalId {
        self.proposal.id
    }
    /// The question was put to somebody else; the rest goes on meanwhile.
    pub fn is_put_off(&self) -> bool {
        self.stage.waits_for_person() && matches!(self.decisions.last(), Some((HumanDecision::AskHuman, _)))
    }
}

/// What the session as a whole is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nothing is under way; the person has the word.
    Idle,
    /// The model is answering.
    Thinking,
    /// Proposals are being worked off.
    Working,
    /// A question is open.
    Waiting,
    Closed,
}

/// One message of the conversation with the turn it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    pub turn: Turn,
    pub message: Message,
}

/// What the restore gate last did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Restored {
    pub turn: Turn,
    pub given: Vec<Fragment>,
    pub left_out: Vec<Fragment>,
    pub budget: u64,
}

impl Restored {
    pub fn tokens(&self) -> u64 {
        self.given.iter().map(|f| f.tokens).sum()
    }
}

/// A compaction that is in force for the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Compaction {
    pub to: Turn,
    pub summary: String,
    pub tokens_before: u64,
    pub tokens_after: u64,
}

/// The fold.
#[derive(Debug, Clone)]
pub struct State {
    pub opening: Option<Opening>,
    pub places: Places,
    /// What intake knows besides call and facts: places, and labels with what the session carried along.
    pub around: Surroundings,
    /// The latest user turn; 0 before the first.
    pub turn: Turn,
    /// The turn in which the present task began.
    pub task_began: Turn,
    /// The words of the latest user turn.
    pub request: String,
    pub intents: Vec<String>,
    pub conversation: Vec<Said>,
    pub compaction: Option<Compaction>,
    /// A reply of the model is owed to the person.
    pub owes_reply: bool,
    /// The model was called and has not answered.
    pub calling: bool,
    /// The turn in which it was called.
    pub called_in: Turn,
    pub model_error: Option<String>,
    pub model_calls_this_turn: u32,
    /// Tokens of the last prompt, counted by the endpoint where it says so.
    pub context_tokens: u64,
    pub usage: Usage,
    pub constraints: BTreeMap<RuleId, Constraint>,
    pub grants: BTreeMap<GrantId, Grant>,
    pub law: Arc<Law>,
    pub law_seen: Option<(Seq, crate::domain::Digest)>,
    pub restored: Restored,
    pub handlings: BTreeMap<ProposalId, Handling>,
    /// Proposals that are not over, in the order in which they are worked off.
    pub open: Vec<ProposalId>,
    /// What was really done, oldest first.
    pub done: Vec<Done>,
    /// Absolute paths made by this session.
    pub made: BTreeSet<String>,
    pub latch: Option<LatchState>,
    pub hazards: Vec<Hazard>,
    pub timeline: Timeline,
    pub last: Seq,
    pub at: Moment,
    pub closed: bool,
}

impl State {
    pub fn phase(&self) -> Phase {
        if self.closed {
            return Phase::Closed;
        }
        if self.waiting().next().is_some() {
            return Phase::Waiting;
        }
        if self.calling {
            return Phase::Thinking;
        }
        if !self.open.is_empty() || self.owes_reply { Phase::Working } else { Phase::Idle }
    }

    /// Proposals that wait for a person, oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &Handling> {
        self.open.iter().filter_map(|id| self.handlings.get(id)).filter(|h| h.stage.waits_for_person())
    }

    /// The proposal that is worked on next: one after the other in the order they were made, repairs before what
    /// they repair. None while the first of them waits for a person (unless that question was put to someone else).
    pub fn current(&self) -> Option<&Handling> {
        let open = self.open.iter().filter_map(|id| self.handlings.get(id));
        let mut top = open.filter(|h| !matches!(h.proposal.by, Proposer::Repair { .. }) && !h.is_put_off());
        let mut handling = top.next()?;
        while handling.stage == Stage::Repairing {
            let repairs = handling.repairs.iter().filter_map(|id| self.handlings.get(id));
            match repairs.into_iter().find(|h| !h.stage.is_over()) {
                Some(repair) => handling = repair,
                None => break,
            }
        }
        (!handling.stage.waits_for_person()).then_some(handling)
    }

    /// Constraints in force, by number.
    pub fn active(&self) -> impl Iterator<Item = &Constraint> {
        self.constraints.values().filter(|c| c.is_active())
    }

    pub fn next_proposal(&self) -> ProposalId {
        ProposalId(self.handlings.keys().next_back().map_or(1, |id| id.0 + 1))
    }

    pub fn next_grant(&self) -> GrantId {
        GrantId(self.grants.keys().next_back().map_or(1, |id| id.0 + 1))
    }

    pub fn next_constraint(&self) -> u32 {
        let here = self.constraints.keys().next_back().map_or(1, |id| id.number + 1);
        here.max(self.opening.as_ref().map_or(1, |o| o.next_constraint))
    }

    pub fn session(&self) -> Option<&crate::domain::SessionId> {
        self.opening.as_ref().map(|o| &o.session)
    }

    /// A model is there to be asked.
    pub fn has_model(&self) -> bool {
        self.opening.as_ref().is_some_and(|o| o.model != "none")
    }
}
