//! Reading and proving. Nothing here writes.

use super::{
    chain::{Fault, Flaw, Row, Verification, Walk},
    database::{self, COLUMNS, Doing, damaged, failed, last, last_of, row, seq},
    export::export_lines,
    lock::AppendLock,
    place::Store,
};
use crate::domain::{Digest, Event, Record, Seq, SessionId, Stream};
use crate::ports::LogError;
use rusqlite::{Connection, OptionalExtension};
use std::path::PathBuf;

/// A log open to read.
#[derive(Debug)]
pub struct Reader {
    pub(super) db: Connection,
    pub(super) store: Store,
}

impl Reader {
    pub(super) fn over(db: Connection, store: Store) -> Reader {
        Reader { db, store }
    }

    pub(super) fn open(store: &Store) -> Result<Reader, LogError> {
        let path = store.path();
        let db = match database::open_to_read(&path)? {
            Some(db) => db,
            None => database::empty().map_err(|e| failed(&path, Doing::Reading, &e))?,
        };
        Ok(Reader::over(db, store.clone()))
    }

    /// The database file.
    pub fn path(&self) -> PathBuf {
        self.store.path()
    }

    pub(super) fn failed(&self, doing: Doing, error: &rusqlite::Error) -> LogError {
        failed(&self.path(), doing, error)
    }

    pub(super) fn reading<T>(&self, result: rusqlite::Result<T>) -> Result<T, LogError> {
        result.map_err(|e| self.failed(Doing::Reading, &e))
    }

    /// All events of a stream in order. One that is not as it was written, or does not follow the one before, is an
    /// error, so that nothing which was tampered with becomes a state.
    pub fn read(&self, stream: &Stream) -> Result<Vec<Record>, LogError> {
        let mut prev = Digest::default();
        let in_its_place = |row: &Row| {
            if row.prev != prev {
                let fault = Fault { seq: Some(row.seq), stream: Some(row.stream.clone()), flaw: Flaw::StreamLink };
                return Err(damaged(&self.path(), &fault.to_string()));
            }
            prev = row.digest;
            self.sound(row)
        };
        self.rows(stream)?.iter().map(in_its_place).collect()
    }

    pub(super) fn sound(&self, row: &Row) -> Result<Record, LogError> {
        row.record().map_err(|fault| damaged(&self.path(), &fault.to_string()))
    }

    /// The same, unread and unchecked.
    pub fn rows(&self, stream: &Stream) -> Result<Vec<Row>, LogError> {
        let query = format!("SELECT {COLUMNS} FROM event WHERE stream = ?1 ORDER BY seq");
        self.reading(
            self.db.prepare_cached(&query).and_then(|mut q| q.query_map([stream.to_string()], row)?.collect()),
        )
    }

    /// The events of some names, of one stream or of all, in the order of the log.
    pub(super) fn named(&self, names: &[&str], stream: Option<&Stream>) -> Result<Vec<Record>, LogError> {
        let mut rows: Vec<Row> = Vec::new();
        for name in names {
            let query = format!(
                "SELECT {COLUMNS} FROM event WHERE name = ?1 AND (?2 IS NULL OR stream = ?2)
                 ORDER BY stream, seq"
            );
            let all = |mut q: rusqlite::CachedStatement<'_>| -> rusqlite::Result<Vec<Row>> {
                q.query_map((name, stream.map(ToString::to_string)), row)?.collect()
            };
            rows.extend(self.reading(self.db.prepare_cached(&query).and_then(all))?);
        }
        rows.sort_by_key(|row| row.seq);
        rows.iter().map(|row| self.sound(row)).collect()
    }

    /// Last event of a stream: sequence number and digest, zeros when it is empty.
    pub fn head(&self, stream: &Stream) -> Result<(Seq, Digest), LogError> {
        self.reading(last_of(&self.db, &stream.to_string()))
    }

    pub fn blob(&self, digest: Digest) -> Result<Option<Vec<u8>>, LogError> {
        let query = self.db.prepare_cached("SELECT body FROM blob WHERE digest = ?1");
        let body = query.and_then(|mut q| q.query_row([&digest.0], |r| r.get::<_, Vec<u8>>(0)).optional());
        match self.reading(body)? {
            Some(body) if Digest::of(&body) != digest => Err(damaged(
                &self.path(),
                &Fault { seq: None, stream: None, flaw: Flaw::Blob { digest } }.to_string(),
            )),
            body => Ok(body),
        }
    }

    /// A session with the law it ran under as JSON lines; see [`export_lines`].
    pub fn export(&self, session: &SessionId) -> Result<String, LogError> {
        let mut rows = self.rows(&Stream::Session(session.clone()))?;
        if rows.is_empty() {
            return Err(LogError::NoSession(session.to_string()));
        }
        let stream = Stream::Session(session.clone());
        let law = self.named(&["law_advanced"], Some(&stream))?.into_iter().filter_map(|record| match record.event {
            Event::LawAdvanced { sequence, .. } => Some(sequence),
            _ => None,
        });
        let law = law.max().unwrap_or_default();
        rows.extend(self.rows(&Stream::Library)?.into_iter().take_while(|row| row.seq <= law));
        rows.sort_by_key(|row| row.seq);
        Ok(export_lines(&rows))
    }

    /// Checks the whole log, or rather: that `stream` (all, for `None`) is as it was written. The walk is over
    /// all events either way, since only so an event that is missing from a stream shows.
    pub fn verify(&self, stream: Option<&Stream>) -> Result<Verification, LogError> {
        // One look at the database and the heads while nobody appends, so that they are of the same instant.
        let turns = AppendLock::find(&self.store.state);
        let mine = turns.as_ref().map(AppendLock::wait).transpose()?;
        let seen = self.reading(self.db.unchecked_transaction())?;
        let end = self.reading(last(&self.db))?;
        let heads = self.store.seal(false)?.judge(end, |seq| database::digest_at(&self.db, seq));
        drop(mine);

        let mut faults = self.integrity()?;
        let mut walk = self.walk()?;
        faults.append(&mut walk.faults);
        faults.extend(heads.faults);
        faults.extend(self.bad_blobs()?);
        self.reading(seen.finish())?;

        let name = stream.map(ToString::to_string);
        let (events, head) = walk.extent(name.as_deref());
        faults.retain(|f| name.is_none() || f.stream.is_none() || f.stream == name);
        Ok(Verification { events, head, faults, notes: heads.notes })
    }

    fn integrity(&self) -> Result<Vec<Fault>, LogError> {
        let ask = |mut q: rusqlite::Statement<'_>| -> rusqlite::Result<Vec<String>> {
            q.query_map([], |r| r.get(0))?.collect()
        };
        let said = self.reading(self.db.prepare("PRAGMA integrity_check(10)").and_then(ask))?;
        let bad = said.into_iter().filter(|line| line != "ok");
        Ok(bad.map(|why| Fault { seq: None, stream: None, flaw: Flaw::Database { why } }).collect())
    }

    fn walk(&self) -> Result<Walk, LogError> {
        let mut walk = Walk::default();
        let mut query = self.reading(self.db.prepare(&format!("SELECT {COLUMNS} FROM event ORDER BY seq")))?;
        let mut rows = self.reading(query.query([]))?;
        while let Some(found) = self.reading(rows.next())? {
            match row(found) {
                Ok(row) => walk.take(&row),
                Err(e) if e.sqlite_error_code().is_some() => return Err(self.failed(Doing::Reading, &e)),
                Err(e) => {
                    let digest = found.get(8).map(Digest).unwrap_or_default();
                    walk.unreadable(seq(found.get(0).unwrap_or(0)), digest, e.to_string());
                }
            }
        }
        Ok(walk)
    }

    fn bad_blobs(&self) -> Result<Vec<Fault>, LogError> {
        let mut query = self.reading(self.db.prepare("SELECT digest, body FROM blob ORDER BY digest"))?;
        let mut rows = self.reading(query.query([]))?;
        let mut faults = Vec::new();
        while let Some(found) = self.reading(rows.next())? {
            let digest = found.get(0).map(Digest).unwrap_or_default();
            if !found.get::<_, Vec<u8>>(1).is_ok_and(|body| Digest::of(&body) == digest) {
                faults.push(Fault { seq: None, stream: None, flaw: Flaw::Blob { digest } });
            }
        }
        Ok(faults)
    }
}
