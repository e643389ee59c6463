//! Events to state. Total: an event that does not fit is passed over, because the log is what happened.

use super::{
    State,
    state::{Compaction, Handling, LABELS, Restored, Said, Stage},
    timeline::{Entry as Shown, NoteSign, Timeline},
};
use crate::domain::{
    Constraint, Decision, Done, Effect, Event, HumanDecision, LatchState, Message, Moment, Outcome, Places, Proposal,
    ProposalId, Proposer, Record, Role, Seq, Status, Turn, Usage, Verb, event::Opening,
};
use crate::intake::actions::Surroundings;
use crate::library;
use crate::policy::law::Law;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

impl State {
    /// Before anything happened.
    pub fn new() -> Self {
        let places = Places { workspace: "/workspace".to_owned(), home: "/home/user".to_owned() };
        State {
            opening: None,
            law: Arc::new(Law::compile([], places.clone(), &[]).0),
            around: Surroundings { places: places.clone(), labels: LABELS.clone() },
            places,
            turn: Turn(0),
            task_began: Turn(0),
            request: String::new(),
            intents: Vec::new(),
            conversation: Vec::new(),
            compaction: None,
            owes_reply: false,
            calling: false,
            called_in: Turn(0),
            model_error: None,
            model_calls_this_turn: 0,
            context_tokens: 0,
            usage: Usage::default(),
            constraints: BTreeMap::new(),
            grants: BTreeMap::new(),
            law_seen: None,
            restored: Restored::default(),
            handlings: BTreeMap::new(),
            open: Vec::new(),
            done: Vec::new(),
            made: BTreeSet::new(),
            latch: None,
            hazards: Vec::new(),
            timeline: Timeline::default(),
            last: Seq(0),
            at: Moment::default(),
            closed: false,
        }
    }

    /// The state after all of `records`.
    pub fn replay<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut state = State::new();
        records.into_iter().for_each(|r| state.apply(r));
        state
    }

    /// Takes one record in. Records come in the order of their sequence numbers.
    pub fn apply(&mut self, record: &Record) {
        self.last = record.seq;
        self.at = record.at;
        let (seq, at) = (record.seq, record.at);
        match &record.event {
            Event::SessionOpened(opening) => self.open_session(opening, seq, at),
            Event::SessionResumed { .. } => self.resume(seq),
            Event::SessionClosed { .. } => self.closed = true,
            Event::LawAdvanced { sequence, digest } => self.law_seen = Some((*sequence, *digest)),

            Event::UserSaid { turn, text, .. } => self.user_said(seq, *turn, text),
            Event::IntentSet { turn, intents } => {
                if *intents != self.intents {
                    self.task_began = *turn;
                }
                self.intents.clone_from(intents);
            }
            Event::StatementsFound { .. } => {}
            Event::ConstraintAdded { constraint } => self.add_constraint(constraint),
            Event::ConstraintChanged { id, state, .. } => {
                if let Some(constraint) = self.constraints.get_mut(id) {
                    constraint.state = state.clone();
                }
                let text = format!("{id} is {} now", state.word());
                self.note(seq, NoteSign::Law, text);
                self.compile_law();
            }

            Event::ContextRestored { turn, given, left_out, budget } => {
                let (turn, given, left_out, budget) = (*turn, given.clone(), left_out.clone(), *budget);
                self.restored = Restored { turn, given, left_out, budget };
            }
            Event::HistoryCompacted { from, to, summary, tokens_before, tokens_after } => {
                let (tokens_before, tokens_after) = (*tokens_before, *tokens_after);
                let shown = Shown::Compacted { from: *from, to: *to, tokens_before, tokens_after };
                self.timeline.push(seq, self.turn, shown);
                self.compaction = Some(Compaction { to: *to, summary: summary.clone(), tokens_before, tokens_after });
            }
            Event::ModelCalled { turn, tokens, .. } => {
                self.calling = true;
                self.called_in = *turn;
                self.model_error = None;
                self.model_calls_this_turn += 1;
                self.context_tokens = *tokens;
            }
            Event::ModelReplied { turn, reply } => self.model_replied(seq, *turn, reply),
            Event::ModelFailed { error, .. } => {
                self.calling = false;
                self.owes_reply = false;
                self.model_error = Some(error.clone());
                self.note(seq, NoteSign::Problem, error.clone());
            }

            Event::ReplyOwed { .. } => self.owes_reply = true,

            Event::ActionProposed { proposal } => self.proposed(seq, at, proposal),
            Event::FactsRead { proposal, facts } => self.with(*proposal, |h| {
                h.rounds += 1;
                h.facts.0.extend(facts.0.clone());
            }),
            Event::ActionUnderstood { proposal, action } => self.with(*proposal, |h| {
                h.action = Some(action.clone());
                h.stage = Stage::Understood;
            }),
            Event::ActionAudited { proposal, audit, requested, .. } => self.with(*proposal, |h| {
                h.audits.push(audit.clone());
                h.requested.clone_from(requested);
                h.stage = Stage::Audited;
            }),
            Event::PersonAsked { proposal, why } => self.with(*proposal, |h| {
                h.question = Some(why.clone());
                if h.stage != Stage::Unresolved {
                    h.stage = Stage::Asked;
                }
            }),
            Event::PersonDecided { proposal, decision, approver } => self.decided(*proposal, decision, approver),
            Event::GrantIssued { grant } => {
                self.grants.insert(grant.id, grant.clone());
            }
            Event::GrantUsed { grant, .. } => {
                if let Some(grant) = self.grants.get_mut(grant) {
                    grant.used += 1;
                }
            }
            Event::GrantRevoked { grant, .. } => {
                if let Some(grant) = self.grants.get_mut(grant) {
                    grant.revoked = true;
                }
            }
            Event::RepairStarted { proposal, .. } => self.with(*proposal, |h| {
                h.stage = Stage::Repairing;
                h.repair_rounds += 1;
            }),
            Event::RepairEnded { proposal, ok, .. } => self.with(*proposal, |h| {
                if *ok {
                    h.reconsider();
                } else {
                    h.stage = Stage::Understood;
                }
            }),
            Event::ActionIntended { proposal, .. } => self.with(*proposal, |h| h.stage = Stage::Running),
            Event::ActionFinished { proposal, outcome, at } => self.finished(seq, *proposal, outcome, *at),
            Event::ActionDropped { proposal, why } => self.dropped(*proposal, why),

            Event::HazardObserved { hazard } => self.hazards.push(*hazard),
            Event::LatchEngaged { turn, cause, at } => {
                self.latch = Some(LatchState { cause: cause.clone(), turn: *turn, since: seq, at: *at });
                self.note(seq, NoteSign::Latch, "the latch is engaged".to_owned());
            }
            Event::LatchReleased { reason, .. } => {
                self.latch = None;
                self.note(seq, NoteSign::Latch, format!("the latch is released: {reason}"));
            }
            Event::Interrupted { why } => {
                self.calling = false;
                self.owes_reply = false;
                self.note(seq, NoteSign::Info, format!("interrupted: {why}"));
            }
            Event::InputIgnored { what, why } => self.note(seq, NoteSign::Info, format!("{what} ignored: {why}")),
        }
    }

    fn note(&mut self, seq: Seq, sign: NoteSign, text: String) {
        self.timeline.push(seq, self.turn, Shown::Note { sign, text });
    }

    fn with(&mut self, id: ProposalId, change: impl FnOnce(&mut Handling)) {
        if let Some(handling) = self.handlings.get_mut(&id) {
            change(handling);
        }
    }

    fn say(&mut self, message: Message) {
        self.conversation.push(Said { turn: self.turn, message });
    }

    fn open_session(&mut self, opening: &Opening, seq: Seq, at: Moment) {
        self.places = Places { workspace: opening.workspace.clone(), home: opening.home.clone() };
        self.around.places = self.places.clone();
        if opening.latched && self.latch.is_none() {
            let cause = crate::domain::LatchCause::Inherited;
            self.latch = Some(LatchState { cause, turn: Turn(0), since: seq, at });
        }
        self.opening = Some(opening.clone());
        self.compile_law();
    }

    /// What ran when the process died may have happened; a reply that was under way is lost.
    fn resume(&mut self, seq: Seq) {
        self.closed = false;
        self.owes_reply |= self.calling;
        self.calling = false;
        for id in self.open.clone() {
            self.with(id, |h| {
                if h.stage == Stage::Running {
                    h.stage = Stage::Unresolved;
                }
            });
        }
        self.note(seq, NoteSign::Info, "resumed".to_owned());
    }

    fn compile_law(&mut self) {
        let core = self.opening.as_ref().map(|o| o.core.as_slice()).unwrap_or_default();
        let (law, _) = library::law(core, self.constraints.values(), &self.places);
        self.law = Arc::new(law);
    }

    fn user_said(&mut self, seq: Seq, turn: Turn, text: &str) {
        self.turn = turn;
        self.request = text.to_owned();
        self.owes_reply = true;
        self.model_error = None;
        self.model_calls_this_turn = 0;
        self.timeline.push(seq, turn, Shown::User { text: text.to_owned(), rules: Vec::new() });
        self.say(Message::new(Role::User, text));
    }

    fn add_constraint(&mut self, constraint: &Constraint) {
        if constraint.turn == self.turn
            && let Some(rules) = self.timeline.latest_user()
        {
            rules.push(constraint.id);
        }
        self.constraints.insert(constraint.id, constraint.clone());
        self.compile_law();
    }

    /// A reply to an earlier turn leaves the present one unanswered.
    fn model_replied(&mut self, seq: Seq, turn: Turn, reply: &crate::domain::Reply) {
        self.calling = false;
        self.owes_reply = turn < self.turn;
        if let Some(usage) = reply.usage {
            self.usage.prompt += usage.prompt;
            self.usage.completion += usage.completion;
            self.context_tokens = usage.prompt + usage.completion;
        }
        if !reply.text.trim().is_empty() {
            let simulated = self.opening.as_ref().is_some_and(|o| o.simulated);
            self.timeline.push(seq, self.turn, Shown::Agent { text: reply.text.clone(), simulated });
        }
        let mut message = Message::new(Role::Assistant, reply.text.clone());
        message.calls.clone_from(&reply.calls);
        self.say(message);
    }

    fn proposed(&mut self, seq: Seq, at: Moment, proposal: &Proposal) {
        let id = proposal.id;
        if let Proposer::Repair { of, .. } = proposal.by {
            self.with(of, |h| h.repairs.push(id));
        } else {
            self.timeline.push(seq, self.turn, Shown::Action(id));
        }
        self.open.push(id);
        self.handlings.insert(
            id,
            Handling {
                proposal: proposal.clone(),
                stage: Stage::Proposed,
                rounds: 0,
                facts: Default::default(),
                action: None,
                requested: Vec::new(),
                audits: Vec::new(),
                question: None,
                decisions: Vec::new(),
                repairs: Vec::new(),
                repair_rounds: 0,
                outcome: None,
                note: None,
                proposed: seq,
                at,
            },
        );
    }

    fn decided(&mut self, id: ProposalId, decision: &HumanDecision, approver: &str) {
        self.with(id, |h| {
            h.decisions.push((decision.clone(), approver.to_owned()));
            match decision {
                // the law has changed: look at the world and audit again
                HumanDecision::ApproveOnce | HumanDecision::ApproveSession { .. } => h.reconsider(),
                HumanDecision::RepairFirst => h.stage = Stage::Audited,
                HumanDecision::Deny { .. } | HumanDecision::Edit { .. } | HumanDecision::AskHuman => {}
            }
        });
    }

    fn dropped(&mut self, id: ProposalId, why: &str) {
        let Some(handling) = self.handlings.get_mut(&id) else { return };
        let denied = handling.audit().is_some_and(|a| a.decision == Decision::Deny)
            || matches!(handling.decisions.last(), Some((HumanDecision::Deny { .. }, _)));
        handling.stage = if denied { Stage::Denied } else { Stage::Dropped };
        handling.note = Some(why.to_owned());
        let edited = matches!(handling.decisions.last(), Some((HumanDecision::Edit { .. }, _)));
        if edited {
            // the edited proposal answers in its place
            self.open.retain(|open| *open != id);
        } else {
            self.close(id, why.to_owned());
        }
    }

    fn finished(&mut self, seq: Seq, id: ProposalId, outcome: &Outcome, at: Moment) {
        let Some(handling) = self.handlings.get_mut(&id) else { return };
        handling.stage = Stage::Finished;
        handling.outcome = Some(outcome.clone());
        let handling = handling.clone();
        if outcome.status == Status::Succeeded || outcome.status == Status::Unknown {
            self.remember(seq, &handling, outcome, at);
        }
        let shown = outcome.output.shown();
        let text = match outcome.status {
            Status::Succeeded => shown,
            Status::Failed | Status::TimedOut | Status::Cancelled | Status::Unknown => {
                let exit = outcome.exit.map(|code| format!(" (exit code {code})")).unwrap_or_default();
                format!("{}{exit}\n{shown}", outcome.status.word())
            }
        };
        self.close(id, text);
    }

    /// Notes what was done, for prerequisites and limits.
    fn remember(&mut self, seq: Seq, handling: &Handling, outcome: &Outcome, at: Moment) {
        let Some(action) = &handling.action else { return };
        self.carry_labels(&action.effects);
        for effect in &action.effects {
            let mut effect: Effect = effect.clone();
            let mut verified = outcome.status == Status::Succeeded;
            if let (Verb::Backup, Some(backup)) = (effect.verb, &outcome.backup) {
                verified &= backup.verified;
                effect = effect.with("location", backup.location.clone());
            }
            if matches!(effect.verb, Verb::Create)
                && let Some(name) = effect.resource.name()
            {
                self.made.insert(self.places.absolute(name));
            }
            let tool = action.call.tool.clone();
            self.done.push(Done {
                proposal: handling.id(),
                turn: handling.proposal.turn,
                seq,
                at,
                tool,
                effect,
                verified,
            });
        }
    }

    /// What an action makes out of labelled things carries their labels.
    fn carry_labels(&mut self, effects: &[Effect]) {
        let takes = |e: &&Effect| matches!(e.verb, Verb::Read | Verb::Copy | Verb::Move);
        let labels: Vec<String> = effects.iter().filter(takes).flat_map(|e| e.labels.iter().cloned()).collect();
        let makes = |e: &&Effect| matches!(e.verb, Verb::Create | Verb::Overwrite | Verb::Modify);
        for made in effects.iter().filter(makes).filter_map(|e| e.resource.name()) {
            self.around.labels.carry(made, &labels);
        }
    }

    /// Ends a proposal and hands its result to whoever made it.
    fn close(&mut self, id: ProposalId, result: String) {
        self.open.retain(|open| *open != id);
        let Some(handling) = self.handlings.get(&id) else { return };
        match handling.proposal.by.clone() {
            Proposer::Model { call } => {
                let mut message = Message::new(Role::Tool, result);
                message.answers = Some(call);
                self.say(message);
                self.owes_reply |= !self.has_open_calls();
            }
            Proposer::Person => {
                let call = &handling.proposal.call;
                let what = call.text("command").map_or_else(|| call.args.to_string(), str::to_owned);
                let text = format!("[I ran {} myself: {what}]\n{result}", call.tool);
                self.say(Message::new(Role::User, text));
            }
            Proposer::Repair { .. } => {}
        }
    }

    fn has_open_calls(&self) -> bool {
        let open = self.open.iter().filter_map(|id| self.handlings.get(id));
        open.into_iter().any(|h| matches!(h.proposal.by, Proposer::Model { .. }))
    }
}

impl Default for State {
    fn default() -> Self {
        State::new()
    }
}

impl Handling {
    /// Back to the start with fresh facts; audits and decisions stay on record.
    fn reconsider(&mut self) {
        self.stage = Stage::Proposed;
        self.rounds = 0;
        self.facts = Default::default();
        self.action = None;
        self.question = None;
    }
}
