//! The event log on disk: SQLite, hash-chained, one file a workspace. Reads, appends, proves; never decides and never
//! interprets more of an event than its name, except for the few folds that list sessions before one is open.
//!
//! ```text
//! <data>/<workspace key>/log.db               events and blobs (WAL)
//! <state>/<workspace key>/head.json           sequence and digest of the last event known to survive a power cut
//! <state>/<workspace key>/head.live.json      the same of the very last event, worth something until the machine restarts
//! <state>/<workspace key>/<session>.lock      held by the one writer of a session
//! <state>/<workspace key>/append.lock         held while a batch is appended
//! <state>/key                                 the secret behind the heads' HMAC and behind redaction
//! ```
//!
//! # What verification can and cannot promise
//!
//! Every event carries the digest of its whole content, of the event before it in its stream and of the event before it
//! in the log; the end of the log is sealed under a key that lies outside of it. So whoever can write the log but not
//! read the key (a sandboxed child, a damaged disk, a sync tool, somebody with an editor) cannot change, remove, insert,
//! reorder, cut off or append an event without [`Reader::verify`] naming it.
//!
//! Somebody with *the same user rights* can read the key, and so can: rewrite the log from any event on and seal it
//! again; put back an older log together with its older heads; delete log and state together, which looks like a
//! workspace that was never used. After a restart of the machine the events after the last durable one can be cut off, and
//! it looks like a power cut (reported as a note). Whoever needs more must keep a copy of `head.json` where that user
//! cannot write. The agent's children do not have those rights: keeping them out is the work of the sandbox.

mod chain;
mod database;
mod export;
mod lock;
mod place;
mod reader;
mod seal;
mod sessions;
mod writer;

#[cfg(test)]
mod tests;

pub use chain::{Fault, Flaw, Row, Verification};
pub use export::{export_lines, import_lines};
pub use place::{Store, WorkspaceKey};
pub use reader::Reader;
pub use sessions::{SessionState, SessionSummary};
pub use writer::Writer;
