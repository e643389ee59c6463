//! A session as JSON lines, and back. Pure: text out of rows, records out of text.
//!
//! One event a line: `{"seq", "stream", "at", "prev", "log", "digest", "event"}`. Events of the library up to the last law the
//! session took are among them, so a replay needs nothing else. Digests are those of the log: every line proves itself and
//! its place in its stream. (A line missing at the very end does not show; the log it came from has heads for that.)

use super::chain::{Fault, Flaw, Row};
use crate::domain::{Digest, Moment, Record, Seq};
use crate::ports::LogError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize)]
struct Line {
    seq: Seq,
    stream: String,
    at: Moment,
    prev: Digest,
    log: Digest,
    digest: Digest,
    /// As it was digested, byte for byte.
    event: Box<RawValue>,
}

/// The rows as lines, in the order given.
pub fn export_lines(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        // An event that is no JSON (somebody tampered with the log) is exported as the text it is; importing it says so.
        let event = RawValue::from_string(row.json.clone())
            .or_else(|_| serde_json::value::to_raw_value(&row.json))
            .unwrap_or_else(|_| RawValue::NULL.to_owned());
        let Row { seq, stream, at, prev, log, digest, .. } = row;
        let line =
            Line { seq: *seq, stream: stream.clone(), at: *at, prev: *prev, log: *log, digest: *digest, event };
        text.push_str(&serde_json::to_string(&line).unwrap_or_default());
        text.push('\n');
    }
    text
}

/// Reads an export back. `name` is what the text is called in errors. Every line must carry its digest, follow the line
/// before it of its stream, and stand in the order of the log.
pub fn import_lines(name: &str, text: &str) -> Result<Vec<Record>, LogError> {
    let mut heads: BTreeMap<String, Digest> = BTreeMap::new();
    let mut last: Option<(Seq, Digest)> = None;
    let mut records = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let bad = |why: String| LogError::Damaged {
            path: name.to_owned(),
            why: format!("line {}: {why}; export the session again", number + 1),
        };
        let line: Line = serde_json::from_str(line).map_err(|e| bad(format!("no event of an export ({e})")))?;
        let row = Row {
            seq: line.seq,
            stream: line.stream,
            at: line.at,
            name: String::new(),
            json: line.event.get().to_owned(),
            prev: line.prev,
            log: line.log,
            digest: line.digest,
        };
        let record = row.record().map_err(|fault| bad(fault.to_string()))?;
        let fault = |flaw| Fault { seq: Some(row.seq), stream: Some(row.stream.clone()), flaw };
        if row.prev != heads.get(&row.stream).copied().unwrap_or_default() {
            return Err(bad(fault(Flaw::StreamLink).to_string()));
        }
        if let Some((seq, digest)) = last
            && (row.seq <= seq || (row.seq.0 == seq.0 + 1 && row.log != digest))
        {
            return Err(bad(fault(Flaw::LogLink).to_string()));
        }
        last = Some((row.seq, row.digest));
        heads.insert(row.stream, row.digest);
        records.push(record);
    }
    Ok(records)
}
