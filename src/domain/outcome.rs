//! What came of an action that ran, and the session's memory of what was really done.

use super::{
    effect::Effect,
    id::{Digest, Moment, ProposalId, Seq, Turn},
};
use serde::{Deserialize, Serialize};

/// How an execution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Succeeded,
    Failed,
    TimedOut,
    Cancelled,
    /// The process died between intent and outcome: it may have happened.
    Unknown,
}

impl Status {
    pub const fn word(self) -> &'static str {
        match self {
            Status::Succeeded => "succeeded",
            Status::Failed => "failed",
            Status::TimedOut => "timed out",
            Status::Cancelled => "cancelled",
            Status::Unknown => "may have happened",
        }
    }
}

/// Output, short or shortened: the whole body lies in the blob table under `digest`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OutputText {
    pub head: String,
    /// Empty when `head` is everything.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
    pub bytes: u64,
    pub digest: Digest,
}

impl OutputText {
    /// As it is given to the model and shown: head, a line that says what is missing, tail.
    pub fn shown(&self) -> String {
        if self.tail.is_empty() {
            return self.head.clone();
        }
        let missing = self.bytes.saturating_sub((self.head.len() + self.tail.len()) as u64);
        format!("{}\n… {missing} bytes left out …\n{}", self.head, self.tail)
    }
}

/// A backup that was made and compared with its source file by file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// What was backed up, as the effect names it.
    pub source: String,
    /// Where it lies, outside of the workspace.
    pub location: String,
    pub files: u64,
    pub bytes: u64,
    /// Digest of the manifest (path and SHA-256 of each file).
    pub manifest: Digest,
    /// Every file of the copy was read back and equals its source.
    pub verified: bool,
}

/// The end of one execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    pub output: OutputText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<Backup>,
    /// A unified diff of what a write changed, for the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    pub millis: u64,
}

impl Outcome {
    /// An outcome without exit code, backup or diff.
    pub fn plain(status: Status, text: impl Into<String>, millis: u64) -> Self {
        let head = text.into();
        let output =
            OutputText { bytes: head.len() as u64, digest: Digest::of(head.as_bytes()), tail: String::new(), head };
        Outcome { status, exit: None, output, backup: None, diff: None, millis }
    }
}

/// One executed effect: what prerequisites and limits are judged by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    pub proposal: ProposalId,
    pub turn: Turn,
    pub seq: Seq,
    pub at: Moment,
    pub tool: String,
    pub effect: Effect,
    /// Of a backup: it was compared with its source. True for other effects that succeeded.
    pub verified: bool,
}
