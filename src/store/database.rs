//! The file itself: format, tables, and what SQLite's errors mean to a person.

use super::{
    chain::Row,
    place::{Store, private_file, sync_dir, unwritable},
};
use crate::domain::{Digest, Moment, Seq};
use crate::ports::LogError;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};
use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

/// `PRAGMA application_id`: "weal".
const APPLICATION: i64 = 0x7765_616c;
/// `PRAGMA user_version` that this program reads and writes.
pub(super) const FORMAT: i64 = 1;

/// The tables of format 1, word for word as SQLite gives them back. `event` is the log; the indexes and everything that
/// may be added beside them can be dropped and made again.
const TABLES: [&str; 4] = [
    "CREATE TABLE event (seq INTEGER PRIMARY KEY, stream TEXT NOT NULL, at INTEGER NOT NULL, offset INTEGER NOT NULL, \
     name TEXT NOT NULL, json TEXT NOT NULL, prev BLOB NOT NULL, log BLOB NOT NULL, digest BLOB NOT NULL) STRICT",
    "CREATE INDEX event_by_stream ON event (stream, seq)",
    "CREATE INDEX event_by_name ON event (name, stream, seq)",
    "CREATE TABLE blob (digest BLOB PRIMARY KEY, body BLOB NOT NULL) STRICT",
];

pub(super) const COLUMNS: &str = "seq, stream, at, offset, name, json, prev, log, digest";

/// What was being done when SQLite failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Reading,
    Writing,
}

/// An error of SQLite as an error of the log at `path`.
pub(super) fn failed(path: &Path, doing: Doing, error: &rusqlite::Error) -> LogError {
    use ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, PermissionDenied,
        ReadOnly, SystemIoFailure,
    };
    let shown = path.display().to_string();
    let hint = match error.sqlite_error_code() {
        Some(DatabaseCorrupt | NotADatabase) => return damaged(path, &error.to_string()),
        Some(DiskFull) => "the disk is full: free some space",
        Some(SystemIoFailure) => "look whether the disk is full or failing",
        Some(ReadOnly | PermissionDenied | CannotOpen) => "make the file and its directory writable for you",
        Some(DatabaseBusy | DatabaseLocked) => "another program holds the database: close it",
        Some(_) | None => "this should not happen; please report it",
    };
    match doing {
        Doing::Reading => LogError::Read { path: shown, why: format!("{error}; {hint}, then repeat") },
        Doing::Writing => {
            LogError::Write { path: shown, why: format!("{error}; nothing was written: {hint}, then repeat") }
        }
    }
}

/// The log is not what was written, and nothing is done to it.
pub(super) fn damaged(path: &Path, why: &str) -> LogError {
    let why = format!(
        "{why}; nothing was changed (`weal log verify` shows what is wrong; to start afresh, move this directory and its \
         namesake in the state directory away)"
    );
    LogError::Damaged { path: path.display().to_string(), why }
}

/// Opens the file to write; makes it if there is none.
pub(super) fn open_to_write(store: &Store) -> Result<Connection, LogError> {
    let path = store.path();
    if !path.try_exists().map_err(|e| unwritable(&path, &e))? {
        private_file().create_new(true).open(&path).map_err(|e| unwritable(&path, &e))?;
        sync_dir(&store.data).map_err(|e| unwritable(&store.data, &e))?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(&path, flags).map_err(|e| failed(&path, Doing::Writing, &e))?;
    prepare(&db, &path)?;
    let write = |e| failed(&path, Doing::Writing, &e);
    if db.is_readonly("main").map_err(write)? {
        return Err(failed(
            &path,
            Doing::Writing,
            &rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(8), None),
        ));
    }
    if version(&db, &path)? == 0 {
        create(&db).map_err(write)?;
    }
    check_tables(&db, &path)?;
    Ok(db)
}

/// Opens the file to read; `None` where there is none.
pub(super) fn open_to_read(path: &Path) -> Result<Option<Connection>, LogError> {
    let read = |e| failed(path, Doing::Reading, &e);
    match fs::metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(LogError::Read { path: path.display().to_string(), why: e.to_string() }),
        Ok(meta) if meta.len() == 0 => return Ok(None),
        Ok(_) => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let mut db = Connection::open_with_flags(path, flags).map_err(read)?;
    let cannot = |e: &rusqlite::Error| {
        matches!(
            e.sqlite_error_code(),
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
        )
    };
    if db.query_row("SELECT 1 FROM sqlite_schema", [], |_| Ok(())).optional().is_err_and(|e| cannot(&e))
        && !beside(path, "-wal").exists()
    {
        // Reading a WAL database wants a file beside it. Where none can be made, and none is, nobody can be writing.
        let address = format!("file:{}?immutable=1", percent_encoded(path));
        db = Connection::open_with_flags(address, flags).map_err(read)?;
    }
    prepare(&db, path)?;
    if version(&db, path)? == 0 {
        return Ok(None);
    }
    check_tables(&db, path)?;
    Ok(Some(db))
}

/// A database that holds nothing, for a log that was never written.
pub(super) fn empty() -> Result<Connection, rusqlite::Error> {
    let db = Connection::open_in_memory()?;
    create(&db)?;
    Ok(db)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn percent_encoded(path: &Path) -> String {
    use std::{fmt::Write, os::unix::ffi::OsStrExt};
    path.as_os_str().as_bytes().iter().fold(String::new(), |mut text, b| {
        if b.is_ascii_alphanumeric() || b"/-_.".contains(b) {
            text.push(char::from(*b));
        } else {
            let _ = write!(text, "%{b:02X}");
        }
        text
    })
}

fn prepare(db: &Connection, path: &Path) -> Result<(), LogError> {
    db.busy_timeout(Duration::from_secs(10)).map_err(|e| failed(path, Doing::Reading, &e))?;
    db.set_prepared_statement_cache_capacity(32);
    Ok(())
}

/// The format of the file: 0 when it is still empty.
fn version(db: &Connection, path: &Path) -> Result<i64, LogError> {
    let pragma = |name| db.pragma_query_value(None, name, |r| r.get::<_, i64>(0));
    let read = |e| failed(path, Doing::Reading, &e);
    let (application, found) = (pragma("application_id").map_err(read)?, pragma("user_version").map_err(read)?);
    let shown = || path.display().to_string();
    match (application, found) {
        (0, 0) => {
            let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0)).map_err(read)?;
            if tables == 0 { Ok(0) } else { Err(damaged(path, "it is some other program's database")) }
        }
        (APPLICATION, found) if found > FORMAT => Err(LogError::Newer { path: shown(), found, known: FORMAT }),
        (APPLICATION, FORMAT) => Ok(FORMAT),
        _ => Err(damaged(path, "it is some other program's database")),
    }
}

fn create(db: &Connection) -> Result<(), rusqlite::Error> {
    db.pragma_update(None, "journal_mode", "wal")?;
    db.pragma_update(None, "synchronous", "full")?;
    let tables = TABLES.join(";\n");
    db.execute_batch(&format!(
        "BEGIN IMMEDIATE;\n{tables};\nPRAGMA application_id = {APPLICATION};\nPRAGMA user_version = {FORMAT};\nCOMMIT;"
    ))
}

/// A trigger or a view in the log would lie to every query: the tables are exactly ours, or nothing is read.
fn check_tables(db: &Connection, path: &Path) -> Result<(), LogError> {
    let read = |e| failed(path, Doing::Reading, &e);
    let mut query = db
        .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name <> 'sqlite_stat1' ORDER BY rowid")
        .map_err(read)?;
    let found = query.query_map([], |r| r.get::<_, String>(0)).map_err(read)?;
    let found: Vec<String> = found.collect::<Result<_, _>>().map_err(read)?;
    if found == TABLES { Ok(()) } else { Err(damaged(path, "its tables are not those of a log")) }
}

/// A row of `SELECT {COLUMNS}`.
pub(super) fn row(r: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let at = Moment { millis: r.get(2)?, offset: r.get(3)? };
    Ok(Row {
        seq: seq(r.get(0)?),
        stream: r.get(1)?,
        at,
        name: r.get(4)?,
        json: r.get(5)?,
        prev: Digest(r.get(6)?),
        log: Digest(r.get(7)?),
        digest: Digest(r.get(8)?),
    })
}

/// Sequence numbers are positive; SQLite's are signed.
pub(super) fn seq(n: i64) -> Seq {
    Seq(u64::try_from(n).unwrap_or(0))
}

/// The same back.
pub(super) fn integer(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

/// The last event of the log; zeros when it is empty.
pub(super) fn last(db: &Connection) -> rusqlite::Result<(Seq, Digest)> {
    let mut query = db.prepare_cached("SELECT seq, digest FROM event ORDER BY seq DESC LIMIT 1")?;
    let found = query.query_row([], |r| Ok((seq(r.get(0)?), Digest(r.get(1)?)))).optional()?;
    Ok(found.unwrap_or_default())
}

/// The last event of one stream; zeros when it is empty.
pub(super) fn last_of(db: &Connection, stream: &str) -> rusqlite::Result<(Seq, Digest)> {
    let mut query = db.prepare_cached("SELECT seq, digest FROM event WHERE stream = ?1 ORDER BY seq DESC LIMIT 1")?;
    let found = query.query_row([stream], |r| Ok((seq(r.get(0)?), Digest(r.get(1)?)))).optional()?;
    Ok(found.unwrap_or_default())
}

pub(super) fn digest_at(db: &Connection, at: Seq) -> Option<Digest> {
    let mut query = db.prepare_cached("SELECT digest FROM event WHERE seq = ?1").ok()?;
    query.query_row([integer(at)], |r| r.get(0)).ok().map(Digest)
}

pub(super) fn insert(db: &Connection, row: &Row) -> rusqlite::Result<()> {
    let mut statement = db.prepare_cached(
        "INSERT INTO event (seq, stream, at, offset, name, json, prev, log, digest) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    let (prev, log, digest) = (&row.prev.0, &row.log.0, &row.digest.0);
    statement.execute(params![
        integer(row.seq),
        row.stream,
        row.at.millis,
        row.at.offset,
        row.name,
        row.json,
        prev,
        log,
        digest
    ])?;
    Ok(())
}
