//! Where a workspace's log lies, and files and directories that nobody else can read.

use super::{
    lock::{self, SessionLock},
    reader::Reader,
    seal::{self, Seal},
    writer::Writer,
};
use crate::domain::{Digest, SessionId};
use crate::ports::LogError;
use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::{
        ffi::OsStrExt,
        fs::{DirBuilderExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
};

/// Name of a workspace's directories: readable, and unique by its canonical path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkspaceKey(String);

impl WorkspaceKey {
    /// Of an existing directory; links are resolved, so that one place has one log.
    pub fn of(workspace: &Path) -> io::Result<WorkspaceKey> {
        let canonical = fs::canonicalize(workspace)?;
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let name: String = canonical.file_name().unwrap_or_default().to_string_lossy().chars().map(plain).collect();
        let name = name.trim_matches('-').chars().take(32).collect::<String>();
        let name = if name.is_empty() { "workspace" } else { &name };
        let digest = Digest::of(canonical.as_os_str().as_bytes()).to_string();
        Ok(WorkspaceKey(format!("{name}-{}", digest.get(..12).unwrap_or_default())))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The places of one workspace's log.
#[derive(Debug, Clone)]
pub struct Store {
    pub(super) data: PathBuf,
    pub(super) state: PathBuf,
    /// Where the key lies; one for all workspaces.
    root: PathBuf,
    /// Names this run of the machine; empty where the system does not tell.
    pub(super) boot: String,
}

impl Store {
    /// `data` and `state` are the program's own directories, shared by all workspaces. Creates nothing.
    pub fn at(data: &Path, state: &Path, workspace: &Path) -> Result<Store, LogError> {
        let key = WorkspaceKey::of(workspace).map_err(|e| LogError::Read {
            path: workspace.display().to_string(),
            why: format!("the workspace is not there: {e}"),
        })?;
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned();
        Ok(Store { data: data.join(key.as_str()), state: state.join(key.as_str()), root: state.to_owned(), boot })
    }

    /// The database file.
    pub fn path(&self) -> PathBuf {
        self.data.join("log.db")
    }

    /// What else belongs to the workspace and outlives its sessions (backups, trash) lies beside the database.
    pub fn directory(&self) -> &Path {
        &self.data
    }

    /// Opens the log to append to `session` and to the library. Nobody else can open `session` so until the writer is
    /// dropped or its process has ended, in whatever way.
    pub fn open_writer(&self, session: &SessionId) -> Result<Writer, LogError> {
        self.prepare()?;
        let lock = SessionLock::acquire(&self.state, session)?;
        Writer::open(self, Some(lock))
    }

    /// Opens the log to append to the library alone (a rule added from the command line).
    pub fn open_library(&self) -> Result<Writer, LogError> {
        self.prepare()?;
        Writer::open(self, None)
    }

    /// Opens the log to read; changes nothing. A log that was never written reads as empty.
    pub fn open_reader(&self) -> Result<Reader, LogError> {
        Reader::open(self)
    }

    /// The key for the digests of redacted secrets, made on first use.
    pub fn redaction_key(&self) -> Result<[u8; 32], LogError> {
        self.prepare()?;
        Ok(seal::load_key(&self.root).map_err(|e| unwritable(&self.root, &e))?.derived(b"redaction"))
    }

    /// The process that has `session` open for writing, if one has.
    pub fn owner(&self, session: &SessionId) -> Option<u32> {
        lock::owner(&self.state, session)
    }

    /// The seal with its key; without one (never used, or removed) where `create` is not asked for.
    pub(super) fn seal(&self, create: bool) -> Result<Seal, LogError> {
        let key = if create { seal::load_key(&self.root).map(Some) } else { seal::find_key(&self.root) };
        let key = key.map_err(|e| unwritable(&self.root, &e))?;
        Ok(Seal::new(self.state.clone(), key, self.boot.clone()))
    }

    fn prepare(&self) -> Result<(), LogError> {
        [&self.data, &self.state]
            .into_iter()
            .try_for_each(|dir| make_private_dir(dir).map_err(|e| unwritable(dir, &e)))
    }
}

/// The error for a place that cannot be written, with what to do about it.
pub(super) fn unwritable(path: &Path, error: &io::Error) -> LogError {
    let hint = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => "free some space",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "make its directory writable for you, or choose another one (XDG_DATA_HOME, XDG_STATE_HOME)"
        }
        _ => "check the disk",
    };
    LogError::Write {
        path: path.display().to_string(),
        why: format!("{error}; nothing was written: {hint}, then repeat"),
    }
}

/// Creates `dir` with its parents, for this user alone; an existing one is left as it is.
pub(super) fn make_private_dir(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Options for files of this user alone.
pub(super) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}

/// Makes the names in a directory durable.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
