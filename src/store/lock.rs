//! Who may write: one process a session, one batch at a time. Locks are the kernel's (`flock`), so a dead owner has none.

use super::place::{private_file, unwritable};
use crate::domain::SessionId;
use crate::ports::LogError;
use std::{
    fs::{File, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// The right to append to one session.
#[derive(Debug)]
pub(super) struct SessionLock {
    pub session: SessionId,
    _held: File,
}

impl SessionLock {
    pub fn acquire(state: &Path, session: &SessionId) -> Result<SessionLock, LogError> {
        let path = path(state, session).ok_or_else(|| LogError::NoSession(session.to_string()))?;
        let mut file = private_file().create(true).truncate(false).open(&path).map_err(|e| unwritable(&path, &e))?;
        // `owner` holds a lock for an instant: one refusal says little, refusals for a while say that somebody is there.
        match locked_within(&file, Duration::from_millis(100)) {
            Ok(true) => {}
            Ok(false) => return Err(LogError::Locked(session.clone(), pid_in(&mut file))),
            Err(e) => return Err(unwritable(&path, &e)),
        }
        let pid = std::process::id().to_string();
        let written = file.set_len(0).and_then(|()| file.write_all(pid.as_bytes()));
        written.map_err(|e| unwritable(&path, &e))?;
        Ok(SessionLock { session: session.clone(), _held: file })
    }
}

/// The process that holds the lock of `session`.
pub(super) fn owner(state: &Path, session: &SessionId) -> Option<u32> {
    let mut file = File::open(path(state, session)?).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(pid_in(&mut file)),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

/// A session's name becomes a file name: anything but a plain word is no session of ours.
fn path(state: &Path, session: &SessionId) -> Option<PathBuf> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let ok = !session.0.is_empty() && session.0.len() <= 64 && session.0.chars().all(plain);
    ok.then(|| state.join(format!("{session}.lock")))
}

/// The owner writes its number after locking, so for an instant there may be none: 0.
fn pid_in(file: &mut File) -> u32 {
    let mut text = String::new();
    let _ = file.take(16).read_to_string(&mut text);
    text.trim().parse().unwrap_or(0)
}

/// Orders the batches of all processes, and with them the heads they seal.
#[derive(Debug)]
pub(super) struct AppendLock {
    path: PathBuf,
    file: File,
}

impl AppendLock {
    /// A process that was stopped while it appended must not stop all others without a word.
    const PATIENCE: Duration = Duration::from_secs(10);

    pub fn create(state: &Path) -> Result<AppendLock, LogError> {
        let path = state.join("append.lock");
        let file = private_file().create(true).truncate(false).open(&path).map_err(|e| unwritable(&path, &e))?;
        Ok(AppendLock { path, file })
    }

    /// For readers: `None` where nobody ever appended.
    pub fn find(state: &Path) -> Option<AppendLock> {
        let path = state.join("append.lock");
        File::open(&path).ok().map(|file| AppendLock { path, file })
    }

    pub fn wait(&self) -> Result<Held<'_>, LogError> {
        match locked_within(&self.file, Self::PATIENCE) {
            Ok(true) => Ok(Held(&self.file)),
            Ok(false) => Err(LogError::Write {
                path: self.path.display().to_string(),
                why: "another weal has been appending for 10 seconds; nothing was written: look whether it is stopped, \
                      then repeat"
                    .into(),
            }),
            Err(e) => Err(unwritable(&self.path, &e)),
        }
    }
}

/// While it lives nobody else appends.
#[derive(Debug)]
pub(super) struct Held<'a>(&'a File);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

fn locked_within(file: &File, patience: Duration) -> io::Result<bool> {
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(e)) => return Err(e),
            Err(TryLockError::WouldBlock) if start.elapsed() >= patience => return Ok(false),
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_micros(200)),
        }
    }
}
