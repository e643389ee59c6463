//! What an input from outside means: a file per kind of input. Each answers with events and commands only.

mod answer;
mod law;
mod model;
mod open;
mod turn;

use super::{
    Desk, Stage, State,
    input::{Command, Input, Step},
};
use crate::domain::{Event, Fact, Facts, Outcome, Proposal, ProposalId, Proposer, RawCall, Stream, event::Entry};

/// What happened and what should be done now that `input` arrived.
pub fn decide(state: &State, input: Input, desk: Desk<'_>) -> Step {
    let mut out = Out::new(state);
    match input {
        Input::Open(opening) => open::open(&mut out, *opening),
        Input::Resume { version, go_on } => open::resume(&mut out, version, go_on),
        Input::UserTurn { text, pasted } => turn::user_turn(&mut out, &text, pasted, desk),
        Input::PersonCall { call } => {
            let proposal = Proposal { id: state.next_proposal(), turn: state.turn, call, by: Proposer::Person };
            out.event(Event::ActionProposed { proposal });
        }
        Input::GoOn => model::go_on(&mut out),
        Input::Answer { proposal, decision, approver } => {
            answer::answer(&mut out, proposal, decision, approver, desk)
        }
        Input::OnRule { rule, decision, why } => law::on_rule(&mut out, rule, decision, why),
        Input::RevokeGrant { grant, why } => law::revoke_grant(&mut out, grant, why),
        Input::ReleaseLatch { reason } => law::release_latch(&mut out, reason),
        Input::Interrupt { why } => interrupt(&mut out, why),
        Input::ModelReplied { reply } => model::replied(&mut out, reply, desk),
        Input::ModelFailed { error } => {
            if state.calling {
                out.event(Event::ModelFailed { turn: state.turn, error });
            }
        }
        Input::FactsRead { proposal, facts } => facts_read(&mut out, proposal, facts),
        Input::ToolFinished { proposal, outcome } => finished(&mut out, proposal, outcome, desk),
        Input::Close { why } => out.event(Event::SessionClosed { why }),
    }
    out.step
}

/// A step in the making, with the state it is decided on.
pub(super) struct Out<'a> {
    pub state: &'a State,
    pub step: Step,
}

impl<'a> Out<'a> {
    pub fn new(state: &'a State) -> Self {
        Out { state, step: Step::default() }
    }

    /// Records an event in the stream it belongs to.
    pub fn event(&mut self, event: Event) {
        let stream = self.stream_of(&event);
        self.step.events.push(Entry { stream, event });
    }

    pub fn order(&mut self, command: Command) {
        self.step.commands.push(command);
    }

    pub fn ignore(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.event(Event::InputIgnored { what: what.into(), why: why.into() });
    }

    /// What outlives the session goes to the library: lasting constraints and the latch.
    fn stream_of(&self, event: &Event) -> Stream {
        let lasting = match event {
            Event::LatchEngaged { .. } | Event::LatchReleased { .. } => true,
            Event::ConstraintAdded { constraint } => constraint.outlives_session(),
            Event::ConstraintChanged { id, .. } => self.constraint_outlives(*id),
            Event::SessionOpened(opening) => return Stream::Session(opening.session.clone()),
            _ => false,
        };
        match self.state.session() {
            Some(id) if !lasting => Stream::Session(id.clone()),
            Some(_) | None => Stream::Library,
        }
    }

    fn constraint_outlives(&self, id: crate::domain::RuleId) -> bool {
        let known = self.state.constraints.get(&id);
        let added = self.step.events.iter().find_map(|e| match &e.event {
            Event::ConstraintAdded { constraint } if constraint.id == id => Some(constraint),
            _ => None,
        });
        known.or(added).is_some_and(crate::domain::Constraint::outlives_session)
    }
}

fn facts_read(out: &mut Out<'_>, id: ProposalId, mut facts: Facts) {
    let waits = out.state.handlings.get(&id).is_some_and(|h| h.stage == Stage::Proposed);
    if !waits {
        return;
    }
    for fact in facts.0.values_mut() {
        if let Fact::Path { resolved, made_here, .. } = fact {
            *made_here = out.state.made_here(resolved);
        }
    }
    out.event(Event::FactsRead { proposal: id, facts });
}

fn finished(out: &mut Out<'_>, id: ProposalId, outcome: Outcome, desk: Desk<'_>) {
    match out.state.handlings.get(&id).map(|h| h.stage) {
        Some(Stage::Running) => out.event(Event::ActionFinished { proposal: id, outcome, at: desk.now }),
        _ => out.ignore(format!("an outcome of {id}"), "it was not running"),
    }
}

/// Esc: nothing more of what is under way is begun; what runs is ended and its outcome still recorded.
fn interrupt(out: &mut Out<'_>, why: String) {
    out.event(Event::Interrupted { why: why.clone() });
    for id in &out.state.open {
        let stage = out.state.handlings.get(id).map(|h| h.stage);
        if !matches!(stage, Some(Stage::Running) | None) {
            out.event(Event::ActionDropped { proposal: *id, why: format!("interrupted: {why}") });
        }
    }
    out.order(Command::Cancel);
}

/// A call of the model that is to be handled like any other, under the id it answers to.
pub(super) fn propose(out: &mut Out<'_>, id: ProposalId, call: RawCall, by: Proposer) {
    let turn = out.state.turn;
    out.event(Event::ActionProposed { proposal: Proposal { id, turn, call, by } });
}
