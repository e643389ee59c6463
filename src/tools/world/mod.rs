//! Facts: what is there, read in-process or by fixed read-only commands, capped in time and size.
//!
//! Invariant *looking runs nothing*: answering a query executes nothing that the workspace holds or configures.

mod git;
mod glob;
pub(super) mod paths;

use crate::domain::{Digest, Fact, Facts, PathKind, Query};
use crate::ports::World;
use std::{
    collections::BTreeMap,
    io::Read as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

/// Of the text of a script.
const TEXT_CAP: u64 = 256 * 1024;
/// Of a program in the workspace that is digested.
const PROGRAM_CAP: u64 = 64 * 1024 * 1024;

/// Where to stop counting and waiting.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    /// Entries counted below one directory.
    pub files: u64,
    /// Paths a glob may yield.
    pub matches: usize,
    /// For one query.
    pub time: Duration,
}

impl Default for Caps {
    fn default() -> Self {
        Caps { files: 200_000, matches: 10_000, time: Duration::from_secs(3) }
    }
}

/// The world as children of this session would see it.
#[derive(Debug, Clone)]
pub struct RealWorld {
    /// Absolute, resolved.
    workspace: PathBuf,
    env: BTreeMap<String, String>,
    caps: Caps,
}

impl RealWorld {
    /// `workspace` is absolute and resolved; `env` is what a child gets.
    pub fn new(workspace: PathBuf, env: BTreeMap<String, String>, caps: Caps) -> Self {
        RealWorld { workspace, env, caps }
    }

    /// One answer.
    pub fn answer(&self, query: &Query) -> Fact {
        match query {
            Query::Path(path) => paths::look(&self.absolute(path), &self.caps),
            Query::Glob(pattern) => glob::expand(&self.workspace, pattern, &self.caps),
            Query::Command(word) => self.command(word),
            Query::Env(name) => Fact::Env { value: self.env.get(name).cloned() },
            Query::Text(path) => text(&self.absolute(path)),
            Query::Git(path) => match self.find("git") {
                Some(git) if !git.starts_with(&self.workspace) => git::state(&git, &self.absolute(path), &self.caps),
                _ => unavailable("there is no git to ask"),
            },
            Query::State(_) => unavailable("no tool that knows such things is at hand"),
        }
    }

    fn absolute(&self, path: &str) -> PathBuf {
        self.workspace.join(path)
    }

    fn command(&self, word: &str) -> Fact {
        let Some(found) = self.find(word) else { return Fact::Command { path: None, digest: None } };
        let inside = |p: &Path| p.starts_with(&self.workspace);
        let held = inside(&found) || paths::resolve(&found).is_ok_and(|real| inside(&real));
        let digest =
            if held { read_capped(&found, PROGRAM_CAP).map(|b| Digest::of(&b)) } else { Ok(Digest::default()) };
        match (digest, found.to_str()) {
            (Ok(digest), Some(path)) => Fact::Command { path: Some(path.to_owned()), digest: held.then_some(digest) },
            (Err(why), _) => unavailable(&why),
            (_, None) => unavailable("the program's name is not UTF-8"),
        }
    }

    /// As a shell finds it: a word with a slash is a path, any other is looked for on the PATH.
    pub(super) fn find(&self, word: &str) -> Option<PathBuf> {
        let runs = |p: &PathBuf| p.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
        if word.is_empty() {
            return None;
        }
        if word.contains('/') {
            return Some(self.absolute(word).components().collect()).filter(runs);
        }
        let path = self.env.get("PATH").map(String::as_str).unwrap_or_default();
        path.split(':').map(|dir| self.absolute(dir).join(word)).find(runs)
    }
}

impl World for RealWorld {
    fn read(&self, queries: &[Query]) -> Facts {
        Facts(queries.iter().map(|q| (q.clone(), self.answer(q))).collect())
    }
}

fn unavailable(why: &str) -> Fact {
    Fact::Unavailable { why: why.to_owned() }
}

fn text(path: &Path) -> Fact {
    match path.metadata() {
        Err(e) if is_missing(&e) => return Fact::Text { text: None, digest: Digest::default() },
        Err(e) => return unavailable(&e.to_string()),
        Ok(meta) if !meta.is_file() => return unavailable("not a regular file"),
        Ok(_) => {}
    }
    match read_capped(path, TEXT_CAP) {
        Ok(bytes) => Fact::Text { digest: Digest::of(&bytes), text: String::from_utf8(bytes).ok() },
        Err(why) => unavailable(&why),
    }
}

fn read_capped(path: &Path, cap: u64) -> Result<Vec<u8>, String> {
    let file = std::fs::File::open(path).map_err(|e| e.to_string())?;
    let mut bytes = Vec::new();
    file.take(cap + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > cap { Err(format!("larger than {cap} bytes")) } else { Ok(bytes) }
}

fn is_missing(e: &std::io::Error) -> bool {
    matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// What of the facts behind an audit is no longer so; `None` when an action may run on them.
///
/// What could not be told then cannot have changed: the audit took it for the worst. An action that only `looks` is as
/// good on other contents, as long as every name leads where it led.
pub(super) fn drift(audited: &Facts, now: &Facts, looks: bool) -> Option<String> {
    audited.0.iter().find_map(|(query, was)| {
        let is = now.get(query)?;
        (!same(was, is, looks)).then(|| format!("`{query}` was {}, is now {}", in_words(was), in_words(is)))
    })
}

fn same(was: &Fact, is: &Fact, looks: bool) -> bool {
    match (was, is) {
        (Fact::Unavailable { .. }, _) => true,
        (
            Fact::Path { resolved: r1, kind: k1, link: l1, stamp: s1, .. },
            Fact::Path { resolved: r2, kind: k2, link: l2, stamp: s2, .. },
        ) => (r1, k1, l1) == (r2, k2, l2) && (looks || s1 == s2),
        (Fact::Text { digest: d1, .. }, Fact::Text { digest: d2, .. }) => d1 == d2,
        (was, is) => was == is,
    }
}

fn in_words(fact: &Fact) -> String {
    match fact {
        Fact::Path { resolved, kind, files, stamp, .. } => {
            let kind = match kind {
                PathKind::Missing => "missing",
                PathKind::File => "a file",
                PathKind::Directory => "a directory",
                PathKind::DanglingLink => "a dangling link",
                PathKind::Special => "a special file",
            };
            format!("{kind} at `{resolved}` ({files} files, content {})", stamp.short())
        }
        Fact::Glob { paths, .. } => format!("{} paths", paths.len()),
        Fact::Command { path, digest } => {
            let digest = digest.map(|d| format!(" ({})", d.short())).unwrap_or_default();
            format!("{}{digest}", path.as_deref().unwrap_or("no program"))
        }
        Fact::Env { value } => format!("{value:?}"),
        Fact::Text { digest, .. } => format!("text {}", digest.short()),
        Fact::Git { dirty, untracked, .. } => format!("{} dirty and {} untracked", dirty.len(), untracked.len()),
        Fact::State { value } => format!("`{value}`"),
        Fact::Unavailable { why } => format!("unknown ({why})"),
    }
}
