//! Appending: one batch, one transaction, one new head.

use super::{
    chain::Row,
    database::{self, Doing, damaged, failed, insert, last, last_of},
    lock::{AppendLock, SessionLock},
    place::Store,
    reader::Reader,
    seal::Seal,
};
use crate::domain::{Digest, Event, Moment, Record, Seq, Stream};
use crate::ports::{Entry, Log, LogError};
use rusqlite::{TransactionBehavior, params};
use std::collections::BTreeMap;

/// A log open to append to one session (or none) and to the library.
#[derive(Debug)]
pub struct Writer {
    reader: Reader,
    lock: Option<SessionLock>,
    turns: AppendLock,
    seal: Seal,
    /// `PRAGMA synchronous` as it stands: FULL or NORMAL.
    full: bool,
}

/// An event before it has a place in the log.
struct Draft {
    stream: Stream,
    json: String,
    /// As it will be read, so that what is folded now is what a replay folds.
    event: Event,
}

impl Writer {
    pub(super) fn open(store: &Store, lock: Option<SessionLock>) -> Result<Writer, LogError> {
        let turns = AppendLock::create(&store.state)?;
        let seal = store.seal(true)?;
        let db = {
            let _mine = turns.wait()?;
            let fresh = std::fs::metadata(store.path()).map_or(true, |meta| meta.len() == 0);
            // Heads without a log: it was removed, and an empty one in its place must not pass for it.
            if fresh && let Some(fault) = seal.settle(Default::default(), |_| None)? {
                return Err(damaged(&store.path(), &fault.to_string()));
            }
            let db = database::open_to_write(store)?;
            let end = last(&db).map_err(|e| failed(&store.path(), Doing::Reading, &e))?;
            if let Some(fault) = seal.settle(end, |seq| database::digest_at(&db, seq))? {
                return Err(damaged(&store.path(), &fault.to_string()));
            }
            db
        };
        let reader = Reader::over(db, store.clone());
        let mut writer = Writer { reader, lock, turns, seal, full: true };
        writer.set_durability(true, true)?;
        Ok(writer)
    }

    /// The same log, for what only reads.
    pub const fn reader(&self) -> &Reader {
        &self.reader
    }

    fn set_durability(&mut self, full: bool, force: bool) -> Result<(), LogError> {
        if full != self.full || force {
            let mode = if full { "full" } else { "normal" };
            let set = self.reader.db.pragma_update(None, "synchronous", mode);
            set.map_err(|e| self.reader.failed(Doing::Writing, &e))?;
            self.full = full;
        }
        Ok(())
    }

    /// Invariant *one writer a session*.
    fn owns(&self, stream: &Stream) -> Result<(), LogError> {
        match (stream, &self.lock) {
            (Stream::Library, _) => Ok(()),
            (Stream::Session(id), Some(lock)) if lock.session == *id => Ok(()),
            (Stream::Session(id), Some(_) | None) => Err(LogError::Write {
                path: self.reader.path().display().to_string(),
                why: format!("session {id} is not the one that was opened for writing; nothing was written"),
            }),
        }
    }

    /// What cannot be read back is not written: it would make the whole session unreadable.
    fn draft(&self, entry: &Entry) -> Result<Draft, LogError> {
        self.owns(&entry.stream)?;
        let why = |e: String| LogError::Write {
            path: self.reader.path().display().to_string(),
            why: format!("the event `{}` would not read back ({e}); nothing was written", entry.event.name()),
        };
        let json = serde_json::to_string(&entry.event).map_err(|e| why(e.to_string()))?;
        let event: Event = serde_json::from_str(&json).map_err(|e| why(e.to_string()))?;
        if event != entry.event {
            return Err(why("it reads as something else".into()));
        }
        Ok(Draft { stream: entry.stream.clone(), json, event })
    }
}

/// Gives drafts their places after the events that are there.
fn chained(
    at: Moment,
    drafts: &[Draft],
    mut end: (Seq, Digest),
    last_of: impl Fn(&str) -> rusqlite::Result<(Seq, Digest)>,
) -> rusqlite::Result<Vec<Row>> {
    let mut heads: BTreeMap<String, Digest> = BTreeMap::new();
    let mut rows = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let stream = draft.stream.to_string();
        let prev = match heads.get(&stream) {
            Some(digest) => *digest,
            None => last_of(&stream)?.1,
        };
        let mut row = Row {
            seq: Seq(end.0.0 + 1),
            stream,
            at,
            name: draft.event.name().to_owned(),
            json: draft.json.clone(),
            prev,
            log: end.1,
            digest: Digest::default(),
        };
        row.digest = row.computed();
        end = (row.seq, row.digest);
        heads.insert(row.stream.clone(), row.digest);
        rows.push(row);
    }
    Ok(rows)
}

impl Log for Writer {
    fn append(&mut self, at: Moment, batch: &[Entry]) -> Result<Vec<Record>, LogError> {
        let drafts = batch.iter().map(|entry| self.draft(entry)).collect::<Result<Vec<_>, _>>()?;
        if drafts.is_empty() {
            return Ok(Vec::new());
        }
        let durable = batch.iter().any(|entry| entry.event.is_durable());
        self.set_durability(durable, false)?;
        let path = self.reader.path();
        let write = |e: rusqlite::Error| failed(&path, Doing::Writing, &e);

        let _mine = self.turns.wait()?;
        let tx = self.reader.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(write)?;
        let end = last(&tx).map_err(write)?;
        if !self.seal.is_live(end)
            && let Some(fault) = self.seal.settle(end, |seq| database::digest_at(&tx, seq))?
        {
            return Err(damaged(&path, &fault.to_string()));
        }
        let rows = chained(at, &drafts, end, |stream| last_of(&tx, stream)).map_err(write)?;
        rows.iter().try_for_each(|row| insert(&tx, row)).map_err(write)?;
        let end = rows.last().map_or(end, |row| (row.seq, row.digest));
        let head = self.seal.prepare(end, durable)?;
        tx.commit().map_err(write)?;
        if let Err(e) = head.publish() {
            // The batch is in the log; the next one finds the head beside its place and puts it right.
            tracing::warn!("the head of the log could not be put in its place: {e}");
        }
        let record =
            |(draft, row): (Draft, Row)| Record { seq: row.seq, stream: draft.stream, at, event: draft.event };
        Ok(drafts.into_iter().zip(rows).map(record).collect())
    }

    fn read(&self, stream: &Stream) -> Result<Vec<Record>, LogError> {
        self.reader.read(stream)
    }

    fn head(&self, stream: &Stream) -> Result<(Seq, Digest), LogError> {
        self.reader.head(stream)
    }

    fn keep_blob(&mut self, body: &[u8]) -> Result<Digest, LogError> {
        let digest = Digest::of(body);
        let keep = || {
            let mut statement = self
                .reader
                .db
                .prepare_cached("INSERT INTO blob (digest, body) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
            statement.execute(params![&digest.0, body])
        };
        keep().map_err(|e| self.reader.failed(Doing::Writing, &e))?;
        Ok(digest)
    }

    fn blob(&self, digest: Digest) -> Result<Option<Vec<u8>>, LogError> {
        self.reader.blob(digest)
    }
}
