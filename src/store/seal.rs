//! The end of the log, written down outside of it under a key, so that a cut tail shows.
//!
//! Two heads, since two promises: `head.json` is made durable together with a durable batch; `head.live.json` follows
//! every batch without waiting for the disk and counts only until the machine restarts (the events it names may be lost in
//! a power cut, and then so may it). Both are written beside their place before the batch is committed and renamed after it;
//! a process that dies in between leaves a head that fits under its other name.

use super::{
    chain::{Fault, Flaw},
    place::{private_file, sync_dir, unwritable},
};
use crate::domain::{Digest, Seq};
use crate::ports::LogError;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

const DURABLE: &str = "head.json";
const LIVE: &str = "head.live.json";

/// Random bytes known to this user alone, as many as an HMAC-SHA256 takes without hashing them first.
#[derive(Clone)]
pub(super) struct Key([u8; 64]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    fn mac(&self, text: &[u8]) -> Hmac<Sha256> {
        let mut mac = <Hmac<Sha256> as KeyInit>::new(&self.0.into());
        mac.update(text);
        mac
    }

    /// A key for another purpose; nothing about this one follows from it.
    pub fn derived(&self, purpose: &[u8]) -> [u8; 32] {
        self.mac(purpose).finalize().into_bytes().into()
    }
}

/// The key in `dir`, made if there is none.
pub(super) fn load_key(dir: &Path) -> io::Result<Key> {
    if let Some(key) = find_key(dir)? {
        return Ok(key);
    }
    let mut bytes = [0; 64];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    // A link appears whole or not at all, and never over a key that somebody else made meanwhile.
    let fresh = dir.join(format!("key.{}", Digest::of(&bytes).short()));
    write_file(&fresh, &bytes, true)?;
    let linked = fs::hard_link(&fresh, dir.join("key"));
    fs::remove_file(&fresh)?;
    match find_key(dir)? {
        Some(key) => sync_dir(dir).map(|()| key),
        None => Err(linked.err().unwrap_or_else(|| io::Error::other("the key vanished"))),
    }
}

/// The key in `dir`, if there is one.
pub(super) fn find_key(dir: &Path) -> io::Result<Option<Key>> {
    match fs::read(dir.join("key")) {
        Ok(bytes) => match bytes.try_into() {
            Ok(bytes) => Ok(Some(Key(bytes))),
            Err(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "the file `key` there is no key of 64 bytes")),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// The end of the log at some time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    seq: Seq,
    digest: Digest,
    /// The run of the machine in which it was written.
    boot: String,
    /// HMAC-SHA256 over the other fields.
    hmac: Digest,
}

impl Head {
    fn text(&self, file: &str) -> Vec<u8> {
        format!("weal head 1\n{file}\n{}\n{}\n{}", self.seq, self.digest, self.boot).into_bytes()
    }
}

/// What a head file holds.
enum Found {
    Missing,
    Forged,
    Head(Head),
}

/// The heads of one workspace.
#[derive(Debug)]
pub(super) struct Seal {
    dir: PathBuf,
    /// `None` for a reader where there is no key.
    key: Option<Key>,
    boot: String,
}

/// Heads that lie beside their places until the batch is committed.
#[must_use]
pub(super) struct Prepared<'a>(&'a Seal, &'static [&'static str]);

impl Prepared<'_> {
    /// Puts the heads in their places.
    pub fn publish(self) -> io::Result<()> {
        self.1.iter().try_for_each(|name| fs::rename(self.0.next(name), self.0.dir.join(name)))
    }
}

/// How the heads and the end of the log fit together.
#[derive(Debug, Default)]
pub(super) struct Judgement {
    pub faults: Vec<Fault>,
    pub notes: Vec<String>,
}

impl Seal {
    pub fn new(dir: PathBuf, key: Option<Key>, boot: String) -> Seal {
        Seal { dir, key, boot }
    }

    /// Writes the heads for a log that will end with `last`; nothing counts before `publish`.
    pub fn prepare(&self, last: (Seq, Digest), durable: bool) -> Result<Prepared<'_>, LogError> {
        let names: &[&str] = if durable { &[LIVE, DURABLE] } else { &[LIVE] };
        for name in names {
            let path = self.next(name);
            let head = self.signed(name, last).ok_or_else(|| io::Error::other("no key"));
            let written = head.and_then(|h| write_file(&path, &serde_json::to_vec(&h)?, *name == DURABLE));
            written.map_err(|e| unwritable(&path, &e))?;
        }
        Ok(Prepared(self, names))
    }

    /// Invariant *never seal over a cut*: before a log that ends with `last` is appended to, its end must be the one that
    /// was sealed; the fault is given if it is not. A head that a dying process left behind is put right.
    pub fn settle(
        &self,
        last: (Seq, Digest),
        digest_at: impl Fn(Seq) -> Option<Digest>,
    ) -> Result<Option<Fault>, LogError> {
        if let Some(fault) = self.judge(last, digest_at).faults.into_iter().next() {
            return Ok(Some(fault));
        }
        if self.is_live(last) {
            return Ok(None);
        }
        let published = self.prepare(last, true)?.publish();
        published.map(|()| None).map_err(|e| unwritable(&self.dir, &e))
    }

    /// The log, which ends with `last`, was sealed so in this run of the machine: there is nothing to settle.
    pub fn is_live(&self, last: (Seq, Digest)) -> bool {
        matches!(self.read(LIVE, LIVE), Found::Head(live) if (live.seq, live.digest) == last && live.boot == self.boot)
    }

    /// Whether the log, which ends with `last`, ends where it was sealed.
    pub fn judge(&self, last: (Seq, Digest), digest_at: impl Fn(Seq) -> Option<Digest>) -> Judgement {
        let mut judgement = Judgement::default();
        let (durable, live) = (self.read(DURABLE, DURABLE), self.read(LIVE, LIVE));
        if matches!((&durable, &live), (Found::Missing, Found::Missing)) && last.0 == Seq(0) {
            return judgement;
        }
        if self.key.is_none() {
            let flaw = Flaw::HeadMissing { file: "key".into() };
            judgement.faults.push(Fault { seq: None, stream: None, flaw });
            return judgement;
        }
        let ours = |head: &Found| matches!(head, Found::Head(h) if !self.boot.is_empty() && h.boot == self.boot);
        let this_boot = ours(&durable) || ours(&live);
        self.judge_head(DURABLE, &durable, true, last, &digest_at, &mut judgement);
        self.judge_head(LIVE, &live, this_boot, last, &digest_at, &mut judgement);
        self.judge_rest([&durable, &live], this_boot, last, &mut judgement);
        judgement
    }

    /// One head against the log; what would be a fault is only noted where `binding` is false.
    fn judge_head(
        &self,
        name: &str,
        head: &Found,
        binding: bool,
        last: (Seq, Digest),
        digest_at: &impl Fn(Seq) -> Option<Digest>,
        into: &mut Judgement,
    ) {
        let file = || self.dir.join(name).display().to_string();
        let (seq, flaw) = match head {
            Found::Missing => (None, Flaw::HeadMissing { file: file() }),
            Found::Forged => (None, Flaw::HeadForged { file: file() }),
            Found::Head(h) if h.seq > last.0 => (Some(Seq(last.0.0 + 1)), Flaw::Cut { to: h.seq }),
            Found::Head(h) if h.seq.0 > 0 && digest_at(h.seq) != Some(h.digest) => (Some(h.seq), Flaw::Rewritten),
            Found::Head(_) => return,
        };
        let fault = Fault { seq, stream: None, flaw };
        if binding {
            into.faults.push(fault);
        } else {
            into.notes.push(format!(
                "{fault} (as after a power cut: the machine was restarted, no event that was durable is missing)"
            ));
        }
    }

    /// Events behind the last head: a head that fits lies beside its place if a process died, none after a power cut.
    fn judge_rest(&self, heads: [&Found; 2], this_boot: bool, last: (Seq, Digest), into: &mut Judgement) {
        let sealed = heads.iter().filter_map(|h| match h {
            Found::Head(h) => Some(h.seq),
            Found::Missing | Found::Forged => None,
        });
        let Some(sealed) = sealed.max().filter(|s| *s < last.0) else { return };
        let fits =
            |name| matches!(self.read(&format!("{name}.next"), name), Found::Head(h) if (h.seq, h.digest) == last);
        if fits(LIVE) || fits(DURABLE) {
            return;
        }
        let fault = Fault { seq: Some(Seq(sealed.0 + 1)), stream: None, flaw: Flaw::Unsealed { to: last.0 } };
        if this_boot {
            into.faults.push(fault);
        } else {
            into.notes.push(format!("{fault} (or their head was lost in a power cut)"));
        }
    }

    fn next(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.next"))
    }

    fn signed(&self, name: &str, (seq, digest): (Seq, Digest)) -> Option<Head> {
        let mut head = Head { seq, digest, boot: self.boot.clone(), hmac: Digest::default() };
        head.hmac = Digest(self.key.as_ref()?.mac(&head.text(name)).finalize().into_bytes().into());
        Some(head)
    }

    /// The head in `file`, signed as `name`.
    fn read(&self, file: &str, name: &str) -> Found {
        let bytes = match fs::read(self.dir.join(file)) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Found::Missing,
            Err(_) => return Found::Forged,
        };
        let Some(key) = &self.key else { return Found::Forged };
        match serde_json::from_slice::<Head>(&bytes) {
            Ok(h) if key.mac(&h.text(name)).verify_slice(&h.hmac.0).is_ok() => Found::Head(h),
            Ok(_) | Err(_) => Found::Forged,
        }
    }
}

fn write_file(path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
    let mut file = private_file().create(true).truncate(true).open(path)?;
    file.write_all(bytes)?;
    if durable { file.sync_all() } else { Ok(()) }
}
