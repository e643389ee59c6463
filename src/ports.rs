//! What the driver needs from outside, as traits: model, tools, world, log, clock. The adapters live in rooms of
//! their own (`model`, `tools`, `store`); pure rooms know none of this.

use crate::domain::{
    Digest, Facts, Moment, Outcome, Prompt, ProposalId, Query, Record, Reply, Seq, SessionId, Stream, ToolSpec,
    event::Sandbox,
};
use crate::policy::clearance::Clearance;
use futures::future::BoxFuture;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// A piece of a reply while it is still coming in. Never logged: the whole reply is.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    Text(String),
    Reasoning(String),
    /// A tool call is being written: its name, and the bytes of arguments so far.
    Call {
        name: String,
        bytes: usize,
    },
    /// The attempt failed and will be repeated after `seconds`.
    Retrying {
        why: String,
        seconds: f64,
    },
    /// What came so far is void: a new attempt starts.
    Restarted,
}

/// Why a model gave no reply. The text says what to do where there is something to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    #[error("no model is configured (set OPENAI_BASE_URL or OPENAI_API_KEY, or `[model]` in the config file)")]
    NotConfigured,
    #[error("the model is not set up right: {0}")]
    Misconfigured(String),
    #[error("the endpoint refused: {0}")]
    Refused(String),
    #[error("no usable answer after {attempts} attempts: {why}")]
    GaveUp { attempts: u32, why: String },
    #[error("the script has ended")]
    ScriptEnded,
    #[error("cancelled")]
    Cancelled,
}

/// A source of replies.
pub trait Model: Send + Sync {
    /// Name for the screen and the log.
    fn name(&self) -> String;
    /// Its replies are simulated and are labelled so.
    fn is_simulated(&self) -> bool;
    /// One reply to `prompt`; pieces go to `deltas` as they come. Ends soon after `cancel`.
    fn reply<'a>(
        &'a self,
        prompt: Prompt,
        deltas: UnboundedSender<Delta>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;
}

/// Executes what was cleared, and nothing else.
pub trait Tools: Send + Sync {
    /// What the model may be offered.
    fn specs(&self) -> Vec<ToolSpec>;
    fn sandbox(&self) -> Sandbox;
    /// Runs the action in `clearance`. Facts are checked again first; on drift nothing runs and the outcome is
    /// `Failed` with the reason. Ends soon after `cancel`, with whatever it started ended too.
    fn execute<'a>(&'a self, clearance: Clearance, cancel: CancellationToken) -> BoxFuture<'a, Outcome>;
    /// The whole output of an execution whose outcome holds only its two ends, once.
    fn take_body(&self, proposal: ProposalId) -> Option<Vec<u8>>;
}

/// Reads facts: in-process or by fixed read-only commands, capped in time and size, without network.
pub trait World: Send + Sync {
    /// One answer for each query; what cannot be told is `Fact::Unavailable`. Blocking.
    fn read(&self, queries: &[Query]) -> Facts;
}

pub use crate::domain::event::Entry;

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("the log `{path}` was written by a newer weal (format {found}, this one knows {known})")]
    Newer { path: String, found: i64, known: i64 },
    #[error("the log `{path}` is damaged: {why}")]
    Damaged { path: String, why: String },
    #[error("session {0} is open in another weal (process {1})")]
    Locked(SessionId, u32),
    #[error("the log `{path}` cannot be written: {why}")]
    Write { path: String, why: String },
    #[error("the log `{path}` cannot be read: {why}")]
    Read { path: String, why: String },
    #[error("no session `{0}` in this workspace (see `weal log list`)")]
    NoSession(String),
}

/// The append-only log of one workspace.
pub trait Log: Send {
    /// Appends a batch in one transaction, each event chained to the one before in its stream; durable against
    /// power loss when one of them `is_durable`. On error nothing of the batch is in the log.
    fn append(&mut self, at: Moment, batch: &[Entry]) -> Result<Vec<Record>, LogError>;
    /// All records of a stream, in order.
    fn read(&self, stream: &Stream) -> Result<Vec<Record>, LogError>;
    /// Digest of the last event of a stream and its sequence number.
    fn head(&self, stream: &Stream) -> Result<(Seq, Digest), LogError>;
    /// Keeps a body that is too long for its event; content-addressed, so storing twice is storing once.
    fn keep_blob(&mut self, body: &[u8]) -> Result<Digest, LogError>;
    fn blob(&self, digest: Digest) -> Result<Option<Vec<u8>>, LogError>;
}

pub trait Clock: Send + Sync {
    fn now(&self) -> Moment;
}
