//! Moving, copying and deleting files and whole trees.

use super::{Answer, Files, ToolError, counted, going_on, read::names};
use crate::tools::{
    place::{Last, Place, enter, open_file},
    unique,
};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _, PermissionsExt as _};
use rustix::fs::RenameFlags;
use std::{
    io,
    os::fd::AsFd as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};
use tokio_util::sync::CancellationToken;

impl Files {
    pub(super) fn rename(&self, from: &str, to: &str) -> Result<Answer, ToolError> {
        let source = self.ground.place(from, Last::Itself)?;
        let target = self.ground.place(to, Last::Itself)?;
        source.existing()?;
        self.ready(&source, &target)?;
        let dir = target.make_holder()?;
        put(source.holder()?, &source.name, &dir, &target)?;
        Ok(Answer::new(format!("moved `{from}` to `{to}`")))
    }

    pub(super) fn copy(&self, from: &str, to: &str, cancel: &CancellationToken) -> Result<Answer, ToolError> {
        let source = self.ground.place(from, Last::Followed)?;
        let target = self.ground.place(to, Last::Followed)?;
        source.existing()?;
        self.ready(&source, &target)?;
        let dir = target.make_holder()?;
        // Under another name first: a copy is seen whole or not at all.
        let draft = PathBuf::from(format!(".weal-{}", unique()));
        let mut copied = Tally::default();
        let made = copy_tree(source.holder()?, &source.name, &dir, &draft, cancel, &mut copied)
            .map_err(|e| e.of(&source))
            .and_then(|()| put(&dir, &draft, &dir, &target));
        if let Err(why) = made {
            let _ = remove_tree(&dir, &draft, &CancellationToken::new(), &mut Tally::default());
            return Err(why);
        }
        Ok(Answer::new(format!("copied `{from}` to `{to}` ({})", copied.words())))
    }

    pub(super) fn delete(&self, path: &str, cancel: &CancellationToken) -> Result<Answer, ToolError> {
        let place = self.ground.place(path, Last::Itself)?;
        if place.is_root() {
            return Err(ToolError::refused(path, "is the workspace itself"));
        }
        place.existing()?;
        let mut deleted = Tally::default();
        match remove_tree(place.holder()?, &place.name, cancel, &mut deleted) {
            Ok(()) => Ok(Answer::new(format!("deleted `{path}` ({})", deleted.words()))),
            Err(e) if deleted.files == 0 => Err(e.of(&place)),
            Err(e) => {
                let why = format!("{} ({} deleted before)", e.of(&place), deleted.words());
                Err(ToolError::refused(path, why))
            }
        }
    }

    /// Neither end is the workspace or lies in the other, and what the target holds is kept.
    fn ready(&self, source: &Place, target: &Place) -> Result<(), ToolError> {
        if source.is_root() || target.is_root() {
            return Err(ToolError::refused(source.given(), "the workspace itself is not moved or copied"));
        }
        if target.inner.starts_with(&source.inner) || source.inner.starts_with(&target.inner) {
            return Err(ToolError::refused(target.given(), "lies in the other path, or is the same"));
        }
        self.keep(target)
    }
}

/// Renames to `target`, of which `to` is the holder. What was not there when it was looked at is not replaced.
fn put(from: &Dir, name: &Path, to: &Dir, target: &Place) -> Result<(), ToolError> {
    let flags = if target.metadata()?.is_some() { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
    rustix::fs::renameat_with(from.as_fd(), name, to.as_fd(), &target.name, flags)
        .map_err(|e| target.failed(&e.into()))
}

/// Why a walk over a tree stopped.
#[derive(Debug)]
pub(crate) enum TreeError {
    Io(io::Error),
    /// Neither file, directory nor link.
    Special(String),
    Cancelled,
}

impl TreeError {
    pub(crate) fn of(self, place: &Place) -> ToolError {
        match self {
            TreeError::Io(e) => place.failed(&e),
            TreeError::Special(name) => {
                ToolError::refused(place.given(), format!("holds `{name}`, which is no regular file"))
            }
            TreeError::Cancelled => ToolError::Cancelled,
        }
    }
}

impl From<io::Error> for TreeError {
    fn from(e: io::Error) -> Self {
        TreeError::Io(e)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl Tally {
    fn words(&self) -> String {
        format!("{}, {}", counted(self.files, "file"), counted(self.bytes, "byte"))
    }
}

/// Copies a file, a link as a link, or a directory with all below it; `to` must not be there. Modes are kept.
pub(crate) fn copy_tree(
    from: &Dir,
    name: &Path,
    to: &Dir,
    new: &Path,
    cancel: &CancellationToken,
    tally: &mut Tally,
) -> Result<(), TreeError> {
    going_on(cancel).map_err(|_| TreeError::Cancelled)?;
    let meta = from.symlink_metadata(name)?;
    if meta.is_symlink() {
        to.symlink_contents(from.read_link_contents(name)?, new)?;
        tally.files += 1;
    } else if meta.is_dir() {
        if new.as_os_str() != "." {
            to.create_dir(new)?;
        }
        let (source, target) = (enter(from, name)?, enter(to, new)?);
        for entry in names(&source)? {
            copy_tree(&source, &entry, &target, &entry, cancel, tally)?;
        }
        // Last, so that a directory nobody may write to can be filled.
        let mode = std::fs::Permissions::from_mode(meta.permissions().mode());
        target.into_std_file().set_permissions(mode)?;
    } else if meta.is_file() {
        let mut source = open_file(from, name)?;
        let fresh = to.open_with(new, OpenOptions::new().write(true).create_new(true).mode(0o600))?;
        let mut target = fresh.into_std();
        tally.bytes += io::copy(&mut source, &mut target)?;
        target.set_permissions(source.metadata()?.permissions())?;
        tally.files += 1;
    } else {
        return Err(TreeError::Special(name.display().to_string()));
    }
    Ok(())
}

/// Removes a file, a link, or a directory with all below it.
fn remove_tree(dir: &Dir, name: &Path, cancel: &CancellationToken, tally: &mut Tally) -> Result<(), TreeError> {
    going_on(cancel).map_err(|_| TreeError::Cancelled)?;
    let meta = dir.symlink_metadata(name)?;
    if !meta.is_dir() {
        dir.remove_file(name)?;
        tally.files += 1;
        tally.bytes += meta.len();
        return Ok(());
    }
    let inner = enter(dir, name)?;
    for entry in names(&inner)? {
        remove_tree(&inner, &entry, cancel, tally)?;
    }
    Ok(dir.remove_dir(name)?)
}
