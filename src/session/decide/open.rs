//! Opening and resuming a session.

use super::Out;
use crate::domain::{Event, event::Opening};
use crate::session::Stage;

pub(super) fn open(out: &mut Out<'_>, opening: Opening) {
    if out.state.opening.is_some() {
        return out.ignore("opening the session", "it is open already");
    }
    out.event(Event::SessionOpened(opening));
}

/// What ran when the process died may have happened: the person is asked, nothing is run again by itself.
pub(super) fn resume(out: &mut Out<'_>, version: String, go_on: bool) {
    out.event(Event::SessionResumed { version });
    for id in &out.state.open {
        if out.state.handlings.get(id).is_some_and(|h| h.stage == Stage::Running) {
            let why = "weal ended while this ran: it may have happened. Look at what is there, then say whether to run it again";
            out.event(Event::PersonAsked { proposal: *id, why: why.to_owned() });
        }
    }
    if (out.state.calling || out.state.owes_reply) && !go_on {
        let error = "weal ended before this was answered; say so when it should go on".to_owned();
        out.event(Event::ModelFailed { turn: out.state.turn, error });
    }
}
