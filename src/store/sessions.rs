//! The few folds over a workspace that are needed before a session is open: which sessions there are, is the latch
//! engaged, which numbers are taken.

use super::{
    database::{self, COLUMNS},
    reader::Reader,
};
use crate::domain::{Event, Moment, Origin, ProposalId, Record, Seq, SessionId, Stream};
use crate::ports::LogError;
use rusqlite::OptionalExtension;

/// Whether a session goes on somewhere, and how it ended if not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// Open for writing in the process of this number.
    Running {
        pid: u32,
    },
    Closed,
    /// Its process ended without a word.
    Crashed,
}

impl SessionState {
    pub const fn word(self) -> &'static str {
        match self {
            SessionState::Running { .. } => "running",
            SessionState::Closed => "closed",
            SessionState::Crashed => "crashed",
        }
    }
}

/// One session in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    pub id: SessionId,
    pub opened: Moment,
    pub workspace: String,
    pub model: String,
    pub simulated: bool,
    /// The first thing that was asked for.
    pub request: Option<String>,
    pub turns: u32,
    /// The last event: where, when, what.
    pub last: (Seq, Moment, String),
    pub state: SessionState,
    /// Actions that were begun and of which no outcome is known: they may have happened.
    pub unfinished: Vec<ProposalId>,
}

impl Reader {
    /// All sessions of the workspace, the youngest first.
    pub fn sessions(&self) -> Result<Vec<SessionSummary>, LogError> {
        let mut sessions = Vec::new();
        for record in self.named(&["session_opened"], None)? {
            if let (Stream::Session(id), Event::SessionOpened(opening)) = (&record.stream, &record.event) {
                let said = self.said(&record.stream)?;
                let last = self.last_event(&record.stream)?;
                let request = said.first().map(|(_, text)| text.clone());
                let turns = said.last().map_or(0, |(turn, _)| *turn);
                sessions.push(SessionSummary {
                    id: id.clone(),
                    opened: record.at,
                    workspace: opening.workspace.clone(),
                    model: opening.model.clone(),
                    simulated: opening.simulated,
                    request,
                    turns,
                    state: self.state_of(id, &last.2),
                    last,
                    unfinished: self.unfinished(&record.stream)?,
                });
            }
        }
        sessions.sort_by_key(|s| std::cmp::Reverse(s.last.0));
        Ok(sessions)
    }

    /// The session a person means by its whole name, or by the end of it (as [`SessionId::short`] shows it) where that
    /// names one session only.
    pub fn session(&self, name: &str) -> Result<SessionId, LogError> {
        let mut found: Vec<SessionId> = Vec::new();
        for record in self.named(&["session_opened"], None)? {
            if let Stream::Session(id) = record.stream {
                if id.0 == name {
                    return Ok(id);
                }
                if name.len() >= 4 && id.0.ends_with(name) {
                    found.push(id);
                }
            }
        }
        match (found.pop(), found.is_empty()) {
            (Some(id), true) => Ok(id),
            (Some(_) | None, _) => Err(LogError::NoSession(name.to_owned())),
        }
    }

    /// Whether the risk latch of the workspace is engaged: the last word on it in the library stands. All of the library is
    /// read for it, links checked, and not just what is filed under the right names.
    pub fn latched(&self) -> Result<bool, LogError> {
        Ok(self.read(&Stream::Library)?.iter().fold(false, |latched, record| match record.event {
            Event::LatchEngaged { .. } => true,
            Event::LatchReleased { .. } => false,
            _ => latched,
        }))
    }

    /// The first number that no constraint of this workspace ever had.
    pub fn next_constraint(&self) -> Result<u32, LogError> {
        let number = |record: Record| match record.event {
            Event::ConstraintAdded { constraint } if constraint.id.origin == Origin::Said => constraint.id.number,
            _ => 0,
        };
        Ok(self.named(&["constraint_added"], None)?.into_iter().map(number).max().unwrap_or(0) + 1)
    }

    /// Turn and text of the first and the last thing the person said.
    fn said(&self, stream: &Stream) -> Result<Vec<(u32, String)>, LogError> {
        let mut ends = Vec::new();
        for order in ["ASC", "DESC"] {
            let query = format!(
                "SELECT {COLUMNS} FROM event WHERE name = 'user_said' AND stream = ?1 ORDER BY seq {order} LIMIT 1"
            );
            let found = self.db.prepare_cached(&query);
            let found = found.and_then(|mut q| q.query_row([stream.to_string()], database::row).optional());
            if let Some(row) = self.reading(found)?
                && let Event::UserSaid { turn, text, .. } = self.sound(&row)?.event
            {
                ends.push((turn.0, text));
            }
        }
        Ok(ends)
    }

    fn last_event(&self, stream: &Stream) -> Result<(Seq, Moment, String), LogError> {
        let query = "SELECT seq, at, offset, name FROM event WHERE stream = ?1 ORDER BY seq DESC LIMIT 1";
        let found = self.db.prepare_cached(query).and_then(|mut q| {
            q.query_row([stream.to_string()], |r| {
                let at = Moment { millis: r.get(1)?, offset: r.get(2)? };
                Ok((database::seq(r.get(0)?), at, r.get(3)?))
            })
        });
        self.reading(found)
    }

    fn state_of(&self, id: &SessionId, last: &str) -> SessionState {
        match self.store.owner(id) {
            Some(pid) => SessionState::Running { pid },
            None if last == "session_closed" => SessionState::Closed,
            None => SessionState::Crashed,
        }
    }

    fn unfinished(&self, stream: &Stream) -> Result<Vec<ProposalId>, LogError> {
        let mut open = Vec::new();
        for record in self.named(&["action_intended", "action_finished"], Some(stream))? {
            match record.event {
                Event::ActionIntended { proposal, .. } => open.push(proposal),
                Event::ActionFinished { proposal, .. } => open.retain(|p| *p != proposal),
                _ => {}
            }
        }
        Ok(open)
    }
}
