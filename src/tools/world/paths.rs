//! What is at a path: links resolved, content counted and stamped.

use super::{Caps, is_missing, unavailable};
use crate::domain::{Digest, Fact, PathKind};
use sha2::Digest as _;
use std::{
    fs::Metadata,
    io,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Component, Path, PathBuf},
    time::Instant,
};

/// Links followed before it is taken for a loop, as the kernel does.
const LINKS: usize = 40;

/// `path` (absolute) with every link resolved and `..` taken physically. What does not exist is kept as it is: the
/// deepest existing parent is resolved, the rest appended.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut left: Vec<PathBuf> = parts(path);
    let mut at = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = left.pop() {
        if part.as_os_str() == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&part);
        match next.symlink_metadata() {
            Ok(meta) if meta.is_symlink() => {
                links += 1;
                if links > LINKS {
                    return Err(io::Error::other("too many links"));
                }
                let target = next.read_link()?;
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                left.extend(parts(&target));
            }
            Ok(_) => at = next,
            Err(e) if is_missing(&e) => at = next,
            Err(e) => return Err(e),
        }
    }
    Ok(at)
}

/// The parts of a path that move, last first.
fn parts(path: &Path) -> Vec<PathBuf> {
    let moving = path.components().filter(|c| matches!(c, Component::Normal(_) | Component::ParentDir));
    moving.rev().map(|c| PathBuf::from(c.as_os_str())).collect()
}

/// The fact about `path` (absolute).
pub(super) fn look(path: &Path, caps: &Caps) -> Fact {
    let resolved = match resolve(path) {
        Ok(resolved) => resolved,
        Err(e) => return unavailable(&e.to_string()),
    };
    let Some(name) = resolved.to_str().map(str::to_owned) else { return unavailable("the name is not UTF-8") };
    let link = path.symlink_metadata().is_ok_and(|m| m.is_symlink());
    let meta = match resolved.symlink_metadata() {
        Ok(meta) => meta,
        Err(e) if is_missing(&e) => {
            let kind = if link { PathKind::DanglingLink } else { PathKind::Missing };
            return found(name, kind, link, Count::default());
        }
        Err(e) => return unavailable(&e.to_string()),
    };
    if !meta.is_dir() {
        let kind = if meta.is_file() { PathKind::File } else { PathKind::Special };
        let mut count = Count::default();
        count.add(Path::new(""), &meta);
        return found(name, kind, link, count);
    }
    match count_below(&resolved, &meta, caps) {
        Ok(count) => found(name, PathKind::Directory, link, count),
        Err(e) => unavailable(&e.to_string()),
    }
}

fn found(resolved: String, kind: PathKind, link: bool, count: Count) -> Fact {
    let Count { files, bytes, capped, hash, seen } = count;
    let stamp = if seen == 0 { Digest::default() } else { Digest(hash.finalize().into()) };
    Fact::Path { resolved, kind, link, files, bytes, capped, stamp, made_here: false }
}

#[derive(Default)]
struct Count {
    files: u64,
    bytes: u64,
    seen: u64,
    capped: bool,
    hash: sha2::Sha256,
}

impl Count {
    fn add(&mut self, name: &Path, meta: &Metadata) {
        self.seen += 1;
        if !meta.is_dir() {
            self.files += 1;
            self.bytes += meta.len();
        }
        let name = name.as_os_str().as_bytes();
        self.hash.update((name.len() as u64).to_le_bytes());
        self.hash.update(name);
        let inode = [meta.dev(), meta.ino(), meta.size(), meta.mode().into()];
        let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
        inode.iter().for_each(|n| self.hash.update(n.to_le_bytes()));
        times.iter().for_each(|n| self.hash.update(n.to_le_bytes()));
    }
}

/// Counts in the order of names, so that the same tree has the same stamp. When a cap ends it the stamp is of the
/// directory itself only: where counting stopped depends on the day.
fn count_below(root: &Path, meta: &Metadata, caps: &Caps) -> io::Result<Count> {
    let started = Instant::now();
    let mut count = Count::default();
    count.add(Path::new(""), meta);
    let mut queue = vec![root.to_owned()];
    while let Some(dir) = queue.pop() {
        let mut entries = std::fs::read_dir(&dir)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        let mut below = Vec::new();
        for entry in entries {
            if count.files >= caps.files || started.elapsed() > caps.time {
                let (files, bytes) = (count.files, count.bytes);
                let mut whole = Count { files, bytes, capped: true, ..Count::default() };
                whole.add(Path::new(""), meta);
                return Ok(whole);
            }
            let meta = match entry.metadata() {
                Ok(meta) => meta,
                // Gone since the directory was read: the stamp tells next time.
                Err(e) if is_missing(&e) => continue,
                Err(e) => return Err(e),
            };
            let path = entry.path();
            count.add(path.strip_prefix(root).unwrap_or(&path), &meta);
            if meta.is_dir() {
                below.push(path);
            }
        }
        queue.extend(below.into_iter().rev());
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::symlink};

    #[test]
    fn links_are_resolved_and_missing_tails_kept() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/deep")).unwrap();
        symlink(root.join("a/deep"), root.join("abs")).unwrap();
        symlink("a/deep", root.join("rel")).unwrap();
        symlink("nowhere/x", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        for (given, want) in [
            ("abs/new/x", "a/deep/new/x"),
            ("rel/../y", "a/y"),
            ("dangling", "nowhere/x"),
            ("./a/./deep", "a/deep"),
            ("missing/../a", "a"),
        ] {
            assert_eq!(resolve(&root.join(given)).unwrap(), root.join(want), "{given}");
        }
        assert!(resolve(&root.join("loop")).is_err());
    }

    #[test]
    fn a_stamp_changes_with_any_content_and_only_then() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("d/e")).unwrap();
        fs::write(root.join("d/e/f"), "one").unwrap();
        let stamp = || match look(&root.join("d"), &Caps::default()) {
            Fact::Path { stamp, files, .. } => (stamp, files),
            other => panic!("{other:?}"),
        };
        let first = stamp();
        assert_eq!(first, stamp());
        fs::write(root.join("d/e/f"), "two").unwrap();
        let second = stamp();
        assert_ne!(first.0, second.0);
        fs::rename(root.join("d/e/f"), root.join("d/e/g")).unwrap();
        assert_ne!(second.0, stamp().0);
        assert_eq!(stamp().1, 1);
    }

    #[test]
    fn counting_stops_at_the_cap() {
        let dir = tempfile::tempdir().unwrap();
        (0..20).for_each(|n| fs::write(dir.path().join(n.to_string()), "x").unwrap());
        let caps = Caps { files: 7, ..Caps::default() };
        match look(dir.path(), &caps) {
            Fact::Path { files, bytes, capped, .. } => assert_eq!((files, bytes, capped), (7, 7, true)),
            other => panic!("{other:?}"),
        }
    }
}
