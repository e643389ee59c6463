//! What an event is bound to, and what does not fit together. Pure over rows: no database here.

use crate::domain::{Digest, Event, Moment, Record, Seq, Stream};
use std::{collections::BTreeMap, fmt};

/// One event as it lies in the log, text and digests untouched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub seq: Seq,
    /// As written: `library` or `session/<id>`.
    pub stream: String,
    pub at: Moment,
    /// The event's tag, for finding it without reading all events.
    pub name: String,
    /// The event, exactly as it was digested.
    pub json: String,
    /// Digest of the event before it in its stream; zeros for the first.
    pub prev: Digest,
    /// Digest of the event before it in the log; zeros for the first.
    pub log: Digest,
    pub digest: Digest,
}

impl Row {
    /// What `digest` must be: everything else of the row goes into it.
    pub fn computed(&self) -> Digest {
        let number = |n: i64| n.to_le_bytes();
        Digest::of_parts([
            b"weal event 1".as_slice(),
            &self.seq.0.to_le_bytes(),
            self.stream.as_bytes(),
            &self.prev.0,
            &self.log.0,
            &number(self.at.millis),
            &number(self.at.offset.into()),
            self.json.as_bytes(),
        ])
    }

    /// The name beside the event is the one in it. The tag is written first, so there is nothing to parse.
    fn is_named_right(&self) -> bool {
        let rest = self.json.strip_prefix("{\"event\":\"").and_then(|r| r.strip_prefix(self.name.as_str()));
        rest.is_some_and(|r| r.starts_with('"'))
    }

    /// The event for folds; checks its digest first, so that nothing that was changed is ever folded.
    pub fn record(&self) -> Result<Record, Fault> {
        let fault = |flaw| Fault { seq: Some(self.seq), stream: Some(self.stream.clone()), flaw };
        if self.computed() != self.digest {
            return Err(fault(Flaw::Changed));
        }
        let event: Event =
            serde_json::from_str(&self.json).map_err(|e| fault(Flaw::Unreadable { why: e.to_string() }))?;
        Ok(Record { seq: self.seq, stream: Stream::from(self.stream.clone()), at: self.at, event })
    }
}

/// Something that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The event it shows at.
    pub seq: Option<Seq>,
    /// `None` where it cannot be told which stream is hit.
    pub stream: Option<String>,
    pub flaw: Flaw,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// The content does not fit its digest.
    Changed,
    /// No events from here up to and including `to`.
    Gap { to: Seq },
    /// It does not follow the event before it in the log: one of the two was replaced, inserted or moved.
    LogLink,
    /// It does not follow the event before it in its stream: one between them was removed, or one of the two replaced.
    StreamLink,
    /// No event in it, as far as this version can tell.
    Unreadable { why: String },
    /// The events from here up to and including `to` were sealed and are gone.
    Cut { to: Seq },
    /// The event here is not the one that was sealed: the log was rewritten up to it.
    Rewritten,
    /// The events from here up to and including `to` are behind the sealed end: appended by something without the key.
    Unsealed { to: Seq },
    /// A head file does not carry the right HMAC, or is none.
    HeadForged { file: String },
    /// A head file (or the key) is not there although the log was written.
    HeadMissing { file: String },
    /// A kept body does not have the digest it is filed under.
    Blob { digest: Digest },
    /// SQLite's own integrity check.
    Database { why: String },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.seq.unwrap_or_default();
        match (&self.flaw, &self.stream) {
            (Flaw::Gap { to } | Flaw::Cut { to } | Flaw::Unsealed { to }, _) if *to > from => {
                write!(f, "events {from} to {to}: ")?;
            }
            (_, Some(stream)) => write!(f, "event {from} in {stream}: ")?,
            (_, None) if self.seq.is_some() => write!(f, "event {from}: ")?,
            (_, None) => {}
        }
        match &self.flaw {
            Flaw::Changed => f.write_str("changed after it was written (its digest does not fit)"),
            Flaw::Gap { .. } => f.write_str("removed"),
            Flaw::LogLink => f.write_str("does not follow the event before it: replaced, inserted or moved"),
            Flaw::StreamLink => {
                f.write_str("does not follow the event before it in its stream: one was removed or replaced")
            }
            Flaw::Unreadable { why } => write!(f, "holds no event that can be read ({why})"),
            Flaw::Cut { .. } => f.write_str("cut off the end of the log"),
            Flaw::Rewritten => f.write_str("not the event that was sealed: the log was rewritten up to here"),
            Flaw::Unsealed { .. } => f.write_str("appended by something other than weal (not sealed)"),
            Flaw::HeadForged { file } => {
                write!(f, "the head `{file}` was not written by weal (its HMAC does not fit)")
            }
            Flaw::HeadMissing { file } => write!(f, "`{file}` is missing: whether the end was cut cannot be told"),
            Flaw::Blob { digest } => write!(f, "the kept body {} was changed", digest.short()),
            Flaw::Database { why } => write!(f, "the database is damaged: {why}"),
        }
    }
}

/// What a check of the log found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// Events of the stream in question (of all streams, if all were asked for).
    pub events: u64,
    /// The last of them.
    pub head: Option<(Seq, Digest)>,
    /// In the order of the log. Empty: every event is as it was written, and none is missing.
    pub faults: Vec<Fault>,
    /// Nothing wrong, but worth knowing.
    pub notes: Vec<String>,
}

impl Verification {
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Walks rows in their order and notes what does not fit.
#[derive(Debug, Default)]
pub(super) struct Walk {
    last: (Seq, Digest),
    heads: BTreeMap<String, (Seq, Digest, u64)>,
    pub faults: Vec<Fault>,
}

impl Walk {
    pub fn take(&mut self, row: &Row) {
        let (last, log) = self.last;
        let mut note = |flaw| self.faults.push(Fault { seq: Some(row.seq), stream: Some(row.stream.clone()), flaw });
        if row.computed() != row.digest || !row.is_named_right() {
            note(Flaw::Changed);
        }
        // After a gap the links cannot fit; the gap says so.
        if row.seq.0 == last.0 + 1 && row.log != log {
            note(Flaw::LogLink);
        }
        let (prev, count) = self.heads.get(&row.stream).map_or_else(Default::default, |(_, d, n)| (*d, *n));
        if row.prev != prev {
            note(Flaw::StreamLink);
        }
        self.step(row.seq);
        self.last = (row.seq, row.digest);
        self.heads.insert(row.stream.clone(), (row.seq, row.digest, count + 1));
    }

    /// A row that cannot even be read as one.
    pub fn unreadable(&mut self, seq: Seq, digest: Digest, why: String) {
        self.faults.push(Fault { seq: Some(seq), stream: None, flaw: Flaw::Unreadable { why } });
        self.step(seq);
        self.last = (seq, digest);
    }

    fn step(&mut self, seq: Seq) {
        let due = Seq(self.last.0.0 + 1);
        if seq > due {
            let flaw = Flaw::Gap { to: Seq(seq.0 - 1) };
            self.faults.push(Fault { seq: Some(due), stream: None, flaw });
        }
    }

    /// How many events a stream has, and its last; of the whole log for `None`.
    pub fn extent(&self, stream: Option<&str>) -> (u64, Option<(Seq, Digest)>) {
        match stream {
            None => {
                let count = self.heads.values().map(|(_, _, n)| n).sum();
                (count, (count > 0).then_some(self.last))
            }
            Some(stream) => self.heads.get(stream).map_or((0, None), |(seq, digest, n)| (*n, Some((*seq, *digest)))),
        }
    }
}
