//! What goes between the cockpit and the rest of the program: feeds in, intents out, settings at the start.

use crate::{
    domain::{Record, SessionId},
    ports::Delta,
    session::{Handling, Input},
};

/// What the person wants done outside of the cockpit.
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// For the session.
    Input(Box<Input>),
    Demo(DemoControl),
    OpenSession(SessionId),
    StartDemo(String),
    StartRehearsal,
    Quit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoControl {
    Step,
    Run,
    Pause,
    Faster,
    Slower,
    /// The person types: the session is theirs from here on.
    TakeOver,
}

/// What the cockpit is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Feed {
    /// Something was recorded.
    Record(Box<Record>),
    /// A piece of the reply that is coming in.
    Draft(Delta),
    Demo(DemoStatus),
    /// One line about something that is not in the log.
    Notice(String),
    /// Another session is shown from here on.
    Open(Mode),
    /// The program ends.
    Close,
}

/// Where a playing demo is.
#[derive(Debug, Clone, PartialEq)]
pub struct DemoStatus {
    pub name: String,
    pub step: usize,
    pub steps: usize,
    pub running: bool,
    pub speed: f64,
    /// What the next step is, in a few words.
    pub next: Option<String>,
}

/// What is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Mode {
    /// No session yet.
    Start(Start),
    /// A session, with what its log holds so far.
    Live {
        records: Vec<Record>,
    },
    Demo {
        status: DemoStatus,
        records: Vec<Record>,
    },
    /// A recorded session, to be looked at.
    Replay {
        records: Vec<Record>,
    },
}

/// What the start screen offers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Start {
    pub sessions: Vec<SessionLine>,
    /// Name and one line.
    pub demos: Vec<(String, String)>,
    pub rehearsal: bool,
}

/// A session of this directory.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionLine {
    pub id: SessionId,
    /// When it was last written to, in the person's words.
    pub when: String,
    pub turns: u32,
    /// Its latest request.
    pub about: String,
    /// Questions that wait in it.
    pub waiting: usize,
}

/// Is there a model, and if not, what would make one?
#[derive(Debug, Clone, PartialEq)]
pub enum Endpoint {
    Configured { words: String },
    Missing { how: String },
}

/// What the cockpit starts with.
#[derive(Debug, Clone)]
pub struct Settings {
    pub mode: Mode,
    /// The directory, as the person would write it.
    pub workspace: String,
    pub endpoint: Endpoint,
    /// A built-in theme's name.
    pub theme: String,
    /// The person's own themes: name and text.
    pub themes: Vec<(String, String)>,
    /// The person's own keymap: file name and text.
    pub keymap: Option<(String, String)>,
    pub no_color: bool,
    pub ascii: bool,
    /// The scope that `approve_session` would grant, in words; `None` where it is not offered.
    pub session_scope: fn(&Handling) -> Option<String>,
}
