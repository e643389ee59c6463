//! What happened, in the order in which a person reads it. The screen draws these items; each names the log
//! sequence it comes from, so that the eye (and a key) can go from a sign to its place.

use crate::domain::{ProposalId, RuleId, Seq, Turn};

/// One thing to read.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub seq: Seq,
    pub turn: Turn,
    pub what: Entry,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A user turn, with the constraints that were found in it.
    User { text: String, rules: Vec<RuleId> },
    /// The model's words.
    Agent { text: String, simulated: bool },
    /// A proposal; all else about it is in `State::handlings`.
    Action(ProposalId),
    /// The conversation up to here is given to the model as a summary.
    Compacted { from: Turn, to: Turn, tokens_before: u64, tokens_after: u64 },
    /// Something about the session: latch, failure, interruption, resume.
    Note { sign: NoteSign, text: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteSign {
    Info,
    Problem,
    Latch,
    Law,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    pub items: Vec<Item>,
}

impl Timeline {
    pub fn push(&mut self, seq: Seq, turn: Turn, what: Entry) {
        self.items.push(Item { seq, turn, what });
    }

    /// The latest user turn's item, to note what was found in it.
    pub fn latest_user(&mut self) -> Option<&mut Vec<RuleId>> {
        self.items.iter_mut().rev().find_map(|item| match &mut item.what {
            Entry::User { rules, .. } => Some(rules),
            Entry::Agent { .. } | Entry::Action(_) | Entry::Compacted { .. } | Entry::Note { .. } => None,
        })
    }
}
