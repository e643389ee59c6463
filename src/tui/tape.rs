//! Records with a cursor: live is a replay whose cursor is at the end.

use crate::{domain::Record, session::State};

/// How many states are kept along the way, so that going back folds only a part of the log again.
const KEPT: usize = 8;
/// Going back in single steps is common: one state is kept so far before the cursor.
const NEAR: usize = 256;

/// All records of a session and the state at one place of them.
#[derive(Debug, Clone, Default)]
pub struct Tape {
    records: Vec<Record>,
    /// How many records `state` has taken in.
    cursor: usize,
    state: State,
    kept: Vec<(usize, State)>,
    /// Somebody went back: states are kept from now on. A live session never pays for them.
    travelled: bool,
}

/// Where to move the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seek {
    By(isize),
    Start,
    End,
}

impl Tape {
    pub fn new(records: Vec<Record>) -> Tape {
        let mut tape = Tape { records, ..Tape::default() };
        tape.seek(Seek::End);
        tape
    }

    /// Adds what was just recorded. A cursor at the end stays at the end; one in the past stays where it is.
    pub fn push(&mut self, record: Record) {
        if self.at_end() {
            self.state.apply(&record);
            self.cursor += 1;
        }
        self.records.push(record);
    }

    pub const fn state(&self) -> &State {
        &self.state
    }

    pub fn at_end(&self) -> bool {
        self.cursor == self.records.len()
    }

    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub const fn cursor(&self) -> usize {
        self.cursor
    }

    /// The record that was taken in last.
    pub fn latest(&self) -> Option<&Record> {
        self.cursor.checked_sub(1).and_then(|last| self.records.get(last))
    }

    pub fn seek(&mut self, to: Seek) {
        let target = match to {
            Seek::By(by) => self.cursor.saturating_add_signed(by).min(self.records.len()),
            Seek::Start => self.records.len().min(1),
            Seek::End => self.records.len(),
        };
        if target < self.cursor {
            self.travelled = true;
            let before = self.kept.iter().filter(|(at, _)| *at <= target).max_by_key(|(at, _)| *at);
            (self.cursor, self.state) = before.cloned().unwrap_or_else(|| (0, State::new()));
        }
        let stride = (self.records.len() / KEPT).max(NEAR);
        let near = target.saturating_sub(NEAR);
        while self.cursor < target {
            let Some(record) = self.records.get(self.cursor) else { break };
            self.state.apply(record);
            self.cursor += 1;
            let due = self.cursor.is_multiple_of(stride) || (self.cursor == near && target < self.records.len());
            if due && self.travelled && self.kept.iter().all(|(at, _)| *at != self.cursor) {
                self.keep(stride);
            }
        }
    }

    /// Keeps the present state, and of those off the stride only the latest two.
    fn keep(&mut self, stride: usize) {
        self.kept.push((self.cursor, self.state.clone()));
        let odd: Vec<usize> = self.kept.iter().map(|(at, _)| *at).filter(|at| !at.is_multiple_of(stride)).collect();
        if let Some(oldest) = odd.len().checked_sub(3).and_then(|i| odd.get(i)) {
            self.kept.retain(|(at, _)| at != oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::samples;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn any_way_to_a_place_leads_to_the_same_state(moves in prop::collection::vec(-900isize..900, 1..8)) {
            let records = samples::long(1200);
            let mut tape = Tape::new(records.clone());
            for by in moves {
                tape.seek(Seek::By(by));
                let fresh = State::replay(&records[..tape.cursor()]);
                prop_assert_eq!(&tape.state().timeline, &fresh.timeline);
                prop_assert_eq!(&tape.state().handlings, &fresh.handlings);
                prop_assert_eq!(tape.state().last, fresh.last);
            }
        }
    }

    #[test]
    fn what_arrives_moves_only_a_cursor_at_the_end() {
        let records = samples::long(20);
        let mut tape = Tape::new(records[..10].to_vec());
        tape.push(records[10].clone());
        assert_eq!((tape.cursor(), tape.at_end()), (11, true));
        tape.seek(Seek::By(-1));
        tape.push(records[11].clone());
        assert_eq!((tape.cursor(), tape.at_end()), (10, false));
        tape.seek(Seek::End);
        assert_eq!(tape.state().last, records[11].seq);
    }
}
