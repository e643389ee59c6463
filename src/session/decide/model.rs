//! What the model said.

use super::{Out, propose};
use crate::domain::{Event, ProposalId, Proposer, Reply};
use crate::session::{Desk, Phase};

pub(super) fn replied(out: &mut Out<'_>, reply: Reply, desk: Desk<'_>) {
    if !out.state.calling {
        return out.ignore("a reply of the model", "it was no longer waited for");
    }
    let calls = reply.calls.clone();
    out.event(Event::ModelReplied { turn: out.state.called_in, reply });
    let first = out.state.next_proposal().0;
    for (n, made) in (first..).zip(calls) {
        let id = ProposalId(n);
        let name = made.call.tool.clone();
        propose(out, id, made.call, Proposer::Model { call: made.id });
        if let Some(wrong) = made.malformed {
            let why =
                format!("The arguments of this call are no JSON object: {wrong}. Send the call again, complete.");
            out.event(Event::ActionDropped { proposal: id, why });
        } else if !desk.has_tool(&name) {
            let names: Vec<_> = desk.tools.iter().map(|t| t.name.as_str()).collect();
            let why = format!("There is no tool `{name}`. The tools are {}.", names.join(", "));
            out.event(Event::ActionDropped { proposal: id, why });
        }
    }
}

/// Asks for a reply where none is under way.
pub(super) fn go_on(out: &mut Out<'_>) {
    match out.state.phase() {
        Phase::Idle if out.state.has_model() && out.state.turn.0 > 0 => {
            out.event(Event::ReplyOwed { why: "the person asked to go on".to_owned() });
        }
        Phase::Idle => out.ignore("going on", "there is nothing to go on with"),
        Phase::Thinking | Phase::Working | Phase::Waiting | Phase::Closed => {
            out.ignore("going on", "something is under way");
        }
    }
}
