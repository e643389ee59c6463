//! A place in the workspace: a handle of the directory that holds it, and its name there.
//!
//! Invariant *what was audited is what is touched*: a path is resolved once, the way facts resolve it, and the
//! handle is then reached part by part without following a link. Whoever swaps a directory for a link afterwards
//! gets an error, and whoever renames one moves the handle along; neither leads out of the workspace.

use super::{ToolError, world::paths};
use crate::domain::Places;
use cap_std::fs::{Dir, Metadata};
use rustix::fs::{Mode, OFlags};
use std::{
    io,
    os::fd::AsFd as _,
    path::{Component, Path, PathBuf},
};

/// Whether a link that the path itself names is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// Reading and writing go to what it leads to.
    Followed,
    /// Moving and deleting act on the link.
    Itself,
}

/// The workspace as tools act on it.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) places: Places,
    /// Absolute, resolved.
    root: PathBuf,
    dir: Dir,
}

impl Ground {
    /// `root` is absolute and resolved.
    pub(super) fn open(root: &Path, home: &Path) -> io::Result<Ground> {
        let dir = Dir::open_ambient_dir(root, cap_std::ambient_authority())?;
        let text = |p: &Path| p.to_str().map(str::to_owned).ok_or_else(|| io::Error::other("not UTF-8"));
        let places = Places { workspace: text(root)?, home: text(home)? };
        Ok(Ground { places, root: root.to_owned(), dir })
    }

    /// The place that `given` names. What is missing of its parents is missing in the place too.
    pub(super) fn place(&self, given: &str, last: Last) -> Result<Place, ToolError> {
        let absolute = self.absolute(given)?;
        let failed = |why: io::Error| ToolError::io(given, &why);
        let resolved = match (last, absolute.parent(), absolute.file_name()) {
            (Last::Itself, Some(parent), Some(name)) => paths::resolve(parent).map_err(failed)?.join(name),
            _ => paths::resolve(&absolute).map_err(failed)?,
        };
        let inner = resolved.strip_prefix(&self.root).map_err(|_| ToolError::Outside(given.to_owned()))?;
        let mut parts: Vec<PathBuf> = inner.components().map(|c| PathBuf::from(c.as_os_str())).collect();
        let Some(name) = parts.pop() else {
            let dir = self.dir.try_clone().map_err(failed)?;
            return Ok(Place {
                given: given.to_owned(),
                inner: PathBuf::from("."),
                dir,
                missing: vec![],
                name: ".".into(),
            });
        };
        let mut dir = self.dir.try_clone().map_err(failed)?;
        let mut missing = Vec::new();
        for part in parts {
            if missing.is_empty() {
                match enter(&dir, &part) {
                    Ok(next) => dir = next,
                    Err(e) if e.kind() == io::ErrorKind::NotFound => missing.push(part),
                    Err(e) => return Err(failed(e)),
                }
            } else {
                missing.push(part);
            }
        }
        Ok(Place { given: given.to_owned(), inner: inner.to_owned(), dir, missing, name })
    }

    fn absolute(&self, given: &str) -> Result<PathBuf, ToolError> {
        if given.is_empty() || given.contains('\0') {
            return Err(ToolError::Arguments(format!("`{given}` is no path")));
        }
        // Folded as text, `link/..` would be another place than the one the kernel goes to.
        if Path::new(given).components().any(|c| c == Component::ParentDir) {
            return Err(ToolError::Upwards(given.to_owned()));
        }
        let absolute = PathBuf::from(self.places.absolute(given));
        Ok(absolute)
    }

    /// The directory the handle was opened on is still the one the path leads to.
    pub(super) fn is_in_place(&self) -> bool {
        let key = |m: &Metadata| {
            use cap_std::fs::MetadataExt as _;
            (m.dev(), m.ino())
        };
        let now = Dir::open_ambient_dir(&self.root, cap_std::ambient_authority()).and_then(|d| d.dir_metadata());
        matches!((now, self.dir.dir_metadata()), (Ok(now), Ok(then)) if key(&now) == key(&then))
    }
}

/// Opens a directory below `dir`, never through a link.
pub(super) fn enter(dir: &Dir, name: &Path) -> io::Result<Dir> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let fd = rustix::fs::openat(dir.as_fd(), name, flags, Mode::empty())?;
    Ok(Dir::from_std_file(std::fs::File::from(fd)))
}

/// Opens a regular file below `dir`, never through a link and never one that would block.
pub(super) fn open_file(dir: &Dir, name: &Path) -> io::Result<std::fs::File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::openat(dir.as_fd(), name, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

#[derive(Debug)]
pub(super) struct Place {
    /// As the call named it, for messages.
    given: String,
    /// Relative to the workspace, resolved; `.` for itself.
    pub(super) inner: PathBuf,
    dir: Dir,
    /// Parents that are not there.
    missing: Vec<PathBuf>,
    pub(super) name: PathBuf,
}

impl Place {
    pub(super) fn is_root(&self) -> bool {
        self.name.as_os_str() == "."
    }

    /// The directory that holds it, if it is there.
    pub(super) fn holder(&self) -> Result<&Dir, ToolError> {
        if self.missing.is_empty() { Ok(&self.dir) } else { Err(ToolError::Missing(self.given.clone())) }
    }

    /// The directory that holds it, made where it is missing.
    pub(super) fn make_holder(&self) -> Result<Dir, ToolError> {
        let mut dir = self.dir.try_clone().map_err(|e| self.failed(&e))?;
        for part in &self.missing {
            match dir.create_dir(part) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(self.failed(&e)),
            }
            dir = enter(&dir, part).map_err(|e| self.failed(&e))?;
        }
        Ok(dir)
    }

    /// What is there, no link followed; `None` where nothing is.
    pub(super) fn metadata(&self) -> Result<Option<Metadata>, ToolError> {
        let Ok(dir) = self.holder() else { return Ok(None) };
        match dir.symlink_metadata(&self.name) {
            Ok(meta) => Ok(Some(meta)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(self.failed(&e)),
        }
    }

    pub(super) fn existing(&self) -> Result<Metadata, ToolError> {
        self.metadata()?.ok_or_else(|| ToolError::Missing(self.given.clone()))
    }

    pub(super) fn open_dir(&self) -> Result<Dir, ToolError> {
        enter(self.holder()?, &self.name).map_err(|e| self.failed(&e))
    }

    pub(super) fn open_file(&self) -> Result<std::fs::File, ToolError> {
        open_file(self.holder()?, &self.name).map_err(|e| self.failed(&e))
    }

    pub(super) fn failed(&self, why: &io::Error) -> ToolError {
        ToolError::io(&self.given, why)
    }

    pub(super) fn given(&self) -> &str {
        &self.given
    }
}
