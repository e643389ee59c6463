//! Backups: a copy outside the workspace with a manifest, true only when it was compared with its source.
//!
//! `BACKUPS/<name>/content/…` holds the copy under the path it has in the workspace, `manifest.json` beside it what
//! every file must be. Neither is in reach of the agent.

use super::{
    ToolError, digest_of,
    fs::{Answer, Tally, TreeError, copy_tree, counted, names},
    place::{Ground, Last, Place, enter, open_file},
    unique,
};
use crate::domain::{Backup, Digest};
use cap_std::fs::{Dir, PermissionsExt as _};
use serde::{Deserialize, Serialize};
use std::{
    io,
    path::{Path, PathBuf},
};
use tokio_util::sync::CancellationToken;

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Relative to the workspace; `.` for itself.
    pub source: PathBuf,
    /// In the order of a walk with sorted names.
    pub entries: Vec<Entry>,
}

/// One file, directory or link; `path` is relative to the workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    File { path: String, mode: u32, bytes: u64, sha256: Digest },
    Directory { path: String, mode: u32 },
    Link { path: String, to: String },
}

/// Copies the file or tree that `given` names, then reads copy and source again and compares them. Blocking.
pub(super) fn make(
    ground: &Ground,
    backups: &Path,
    given: &str,
    cancel: &CancellationToken,
) -> Result<Answer, ToolError> {
    let place = ground.place(given, Last::Followed)?;
    place.existing()?;
    let location = backups.join(unique());
    let made = copy(&place, &location, cancel).and_then(|tally| Ok((tally, seal(&place, &location)?)));
    let (tally, (manifest, verified)) = made.map_err(|e| {
        // Half a backup is none.
        let _ = std::fs::remove_dir_all(&location);
        e.of(&place)
    })?;
    let said = if verified { "compared with the original and equal" } else { "NOT equal to the original" };
    let (files, bytes) = (counted(tally.files, "file"), counted(tally.bytes, "byte"));
    let backup = Backup {
        source: place.inner.display().to_string(),
        location: location.display().to_string(),
        files: tally.files,
        bytes: tally.bytes,
        manifest,
        verified,
    };
    let text = format!("backed up `{given}` ({files}, {bytes}), {said}");
    Ok(Answer { ok: verified, text, diff: None, backup: Some(backup) })
}

fn copy(place: &Place, location: &Path, cancel: &CancellationToken) -> Result<Tally, TreeError> {
    let content = location.join("content");
    let holder = content.join(place.inner.parent().unwrap_or(Path::new("")));
    std::fs::create_dir_all(&holder)?;
    let to = Dir::open_ambient_dir(&holder, cap_std::ambient_authority())?;
    let from = place.holder().map_err(|e| io::Error::other(e.to_string()))?;
    let mut tally = Tally::default();
    copy_tree(from, &place.name, &to, &place.name, cancel, &mut tally)?;
    Ok(tally)
}

/// Writes the manifest of the copy; true where the source is the same.
fn seal(place: &Place, location: &Path) -> Result<(Digest, bool), TreeError> {
    let holder = place.holder().map_err(|e| io::Error::other(e.to_string()))?;
    let manifest = Manifest { source: place.inner.clone(), entries: copied(location, &place.inner)? };
    let text = serde_json::to_vec_pretty(&manifest).map_err(io::Error::other)?;
    std::fs::write(location.join("manifest.json"), &text)?;
    let source = survey(holder, &place.name, &place.inner)?;
    Ok((Digest::of(&text), source == manifest.entries))
}

/// Whether the backup at `location` still is what its manifest says, and its source in `workspace` too.
pub fn verify(location: &Path, workspace: &Path) -> io::Result<bool> {
    let manifest: Manifest =
        serde_json::from_slice(&std::fs::read(location.join("manifest.json"))?).map_err(io::Error::other)?;
    let root = Dir::open_ambient_dir(workspace, cap_std::ambient_authority())?;
    let same = |entries: Result<Vec<Entry>, TreeError>| match entries {
        Ok(entries) => Ok(entries == manifest.entries),
        Err(TreeError::Io(e)) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(TreeError::Io(e)) => Err(e),
        Err(TreeError::Special(_) | TreeError::Cancelled) => Ok(false),
    };
    Ok(same(copied(location, &manifest.source))? && same(below(&root, &manifest.source))?)
}

fn copied(location: &Path, inner: &Path) -> Result<Vec<Entry>, TreeError> {
    let content = Dir::open_ambient_dir(location.join("content"), cap_std::ambient_authority())?;
    below(&content, inner)
}

/// Surveys `inner` as it lies below `root`.
fn below(root: &Dir, inner: &Path) -> Result<Vec<Entry>, TreeError> {
    let mut dir = root.try_clone()?;
    let parts: Vec<_> = inner.components().collect();
    let (name, parents) = parts.split_last().ok_or_else(|| io::Error::other("an empty path"))?;
    for part in parents {
        dir = enter(&dir, Path::new(part.as_os_str()))?;
    }
    survey(&dir, Path::new(name.as_os_str()), inner)
}

/// Every file, directory and link from `name` down, read to its last byte.
fn survey(dir: &Dir, name: &Path, shown: &Path) -> Result<Vec<Entry>, TreeError> {
    let meta = dir.symlink_metadata(name)?;
    let (path, mode) = (text(shown), meta.permissions().mode() & 0o7777);
    if meta.is_symlink() {
        return Ok(vec![Entry::Link { path, to: text(&dir.read_link_contents(name)?) }]);
    }
    if meta.is_file() {
        let sha256 = digest_of(open_file(dir, name)?)?;
        return Ok(vec![Entry::File { path, mode, bytes: meta.len(), sha256 }]);
    }
    if !meta.is_dir() {
        return Err(TreeError::Special(path));
    }
    let inner = enter(dir, name)?;
    let mut entries = vec![Entry::Directory { path, mode }];
    for entry in names(&inner)? {
        entries.extend(survey(&inner, &entry, &shown.join(&entry))?);
    }
    Ok(entries)
}

/// A name as text; bytes that are none are escaped.
fn text(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.to_owned(),
        None => std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).escape_ascii().to_string(),
    }
}
