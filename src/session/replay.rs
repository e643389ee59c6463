//! A recorded session judged again: from the recorded facts and law, does every action still mean the same, and does
//! the audit still say the same?

use super::{
    State, advance,
    understand::{self, Understood},
};
use crate::domain::{Event, ProposalId, Record, Seq};

/// A place where today's reading differs from the recorded one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    pub seq: Seq,
    pub proposal: ProposalId,
    pub what: String,
}

impl std::fmt::Display for Drift {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "event {}, {}: {}", self.seq, self.proposal, self.what)
    }
}

/// What was judged again, and what came out differently.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rejudged {
    pub verdicts: usize,
    pub drifts: Vec<Drift>,
}

/// Judges every verdict of `records` again.
pub fn rejudge<'a>(records: impl IntoIterator<Item = &'a Record>) -> Rejudged {
    let mut state = State::new();
    let mut result = Rejudged::default();
    for record in records {
        if let Some((proposal, what)) = differs(&state, &record.event, &mut result.verdicts) {
            result.drifts.push(Drift { seq: record.seq, proposal, what });
        }
        state.apply(record);
    }
    result
}

fn differs(state: &State, event: &Event, verdicts: &mut usize) -> Option<(ProposalId, String)> {
    match event {
        Event::ActionUnderstood { proposal, action } => {
            let handling = state.handlings.get(proposal)?;
            match understand::action(state, handling) {
                Understood::Known(now) if now == *action => None,
                Understood::Known(now) => {
                    let list = |a: &crate::domain::Action| {
                        a.effects.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
                    };
                    Some((*proposal, format!("understood as [{}], recorded as [{}]", list(&now), list(action))))
                }
                Understood::Need(_) => Some((*proposal, "more facts are needed than were recorded".to_owned())),
            }
        }
        Event::ActionAudited { proposal, audit, requested, at } => {
            *verdicts += 1;
            let handling = state.handlings.get(proposal)?;
            let action = handling.action.as_ref()?;
            let now = advance::audit_of(state, handling, action, requested, *at);
            let (was, is) = (audit.decision.word(), now.decision.word());
            let text = match (now.decision == audit.decision, now == *audit) {
                (true, true) => return None,
                (false, _) => format!("judged {is}, recorded {was}"),
                (true, false) => format!("judged {is} as recorded, for other reasons"),
            };
            Some((*proposal, text))
        }
        _ => None,
    }
}
