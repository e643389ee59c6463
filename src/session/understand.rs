//! From a proposal to an action: intake with what the session itself knows (what it made, what was backed up).

use super::{LEXICON, State, state::Handling};
use crate::domain::{Action, Effect, Facts, Kind, Proposer, Query, RawCall, Reversibility, Verb};
use crate::intake::{
    actions::{self, Understanding},
    request,
};
use crate::policy::pattern::{may_overlap, surely_within};

/// Rounds of questions to the world; what is missing then stays unknown.
const ROUNDS: u8 = 4;

pub enum Understood {
    Need(Vec<Query>),
    Known(Action),
}

/// What the proposal would do, or what must be known first.
pub fn action(state: &State, handling: &Handling) -> Understood {
    let around = &state.around;
    let call = &handling.proposal.call;
    let understanding = if handling.rounds < ROUNDS {
        actions::understand(call, &handling.facts, around)
    } else {
        Understanding::Known(actions::understand_blind(call, &handling.facts, around))
    };
    match understanding {
        Understanding::Need(queries) => Understood::Need(queries),
        Understanding::Known(action) => Understood::Known(recoverable(state, action)),
    }
}

/// The action of a call about which the world was not asked: for the steps of a plan.
pub fn blind(state: &State, call: &RawCall) -> Option<Action> {
    Some(recoverable(state, actions::understand_blind(call, &Facts::default(), &state.around)))
}

/// An effect on files of which a verified backup is newer than their last change can be taken back.
fn recoverable(state: &State, mut action: Action) -> Action {
    for effect in &mut action.effects {
        let takes = matches!(effect.verb, Verb::Delete | Verb::Overwrite | Verb::Modify | Verb::Move);
        if takes
            && effect.is_critical()
            && effect.resource.kind == Kind::Path
            && let Some(location) = fresh_backup(state, effect)
        {
            effect.reversibility = Reversibility::Reversible;
            effect.attributes.insert("backup".to_owned(), location.into());
        }
    }
    action
}

fn fresh_backup(state: &State, effect: &Effect) -> Option<String> {
    let covers = |done: &&crate::domain::Done| {
        done.effect.verb == Verb::Backup
            && done.verified
            && surely_within(&effect.resource, &done.effect.resource, &state.places)
    };
    let backup = state.done.iter().rev().find(covers)?;
    let changed_since = state.done.iter().rev().take_while(|d| d.seq > backup.seq).any(|d| {
        (d.effect.verb.writes() || d.effect.is_opaque())
            && (d.effect.is_opaque() || may_overlap(&d.effect.resource, &effect.resource, &state.places))
    });
    let location = backup.effect.attributes.get("location").map(ToString::to_string)?;
    (!changed_since).then_some(location)
}

/// For each effect: does the present request name it? What the person proposes or what repairs something they asked
/// for is named by that.
pub fn requested(state: &State, handling: &Handling, action: &Action) -> Vec<bool> {
    let own = match handling.proposal.by {
        Proposer::Person => true,
        Proposer::Model { .. } | Proposer::Repair { .. } => false,
    };
    action.effects.iter().map(|effect| own || request::names(&state.request, effect, &LEXICON)).collect()
}

impl State {
    /// Made by this session, or lies below something that was.
    pub fn made_here(&self, absolute: &str) -> bool {
        let mut path = absolute;
        loop {
            if self.made.contains(path) {
                return true;
            }
            match path.rsplit_once('/') {
                Some((parent, _)) if !parent.is_empty() => path = parent,
                Some(_) | None => return false,
            }
        }
    }
}
