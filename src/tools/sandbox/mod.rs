//! Where children run: what they are told, what keeps them in, and what ends them.
//!
//! A command runs two processes below weal. `weal __child watch` is the supervisor: it leads a session of its own,
//! adopts every orphan below it and outlives all of them; it ends them when the command ends, and when its input
//! closes (a cancel, a time-out, the death of weal). `weal __child run` confines itself and becomes bash.
//!
//! Invariant *nothing outlives its call*: when the supervisor has ended, so has everything the command started.
//!
//! What never lives here: judging. The write set comes from effects that were audited elsewhere.

mod confine;
mod environment;
mod reach;
mod watch;

pub use environment::scrubbed;
pub use reach::Reach;

use rustix::process::{Pid, Resource, Rlimit};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    io::{Read as _, Write as _},
    os::fd::AsFd as _,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use crate::domain::event::Sandbox;

/// First argument of the hidden subcommand.
pub const CHILD: &str = "__child";
/// In the environment of every child, and of no other process.
pub const MARKER: &str = "WEAL_CHILD";
/// In the environment of the children of one call: its own name.
pub(super) const RUN: &str = "WEAL_RUN";

/// One command to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Spec {
    pub(super) shell: PathBuf,
    pub(super) command: String,
    pub(super) cwd: PathBuf,
    pub(super) env: BTreeMap<String, String>,
    /// `None` runs it unconfined.
    pub(super) confine: Option<Confine>,
    /// Between SIGTERM and SIGKILL.
    pub(super) grace_millis: u64,
}

/// What a confined command may reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Confine {
    /// May be written below.
    pub(super) write: Vec<PathBuf>,
    /// Entries may be removed below, nothing else.
    pub(super) remove: Vec<PathBuf>,
    /// Neither read nor written, whatever else is allowed.
    pub(super) hidden: Vec<PathBuf>,
    pub(super) network: bool,
    /// Shared memory, for programs of which nothing is known.
    pub(super) shared_memory: bool,
}

/// How a command ended, one JSON line on the supervisor's stderr.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    /// Nothing ran.
    Refused { why: String },
    Ended {
        exit: Option<i32>,
        signal: Option<i32>,
        /// Processes the command left behind, which were ended.
        leftover: usize,
        /// Processes that could not be ended.
        alive: usize,
    },
}

/// The whole of `weal __child STAGE`; to be called before anything else when the first argument is [`CHILD`].
pub fn child_main(stage: Option<&OsStr>) -> ExitCode {
    // Whatever weal itself was started with must not be inherited any further.
    close_fds::set_fds_cloexec(3, &[]);
    match stage.and_then(OsStr::to_str) {
        Some("watch") => watch::watch(),
        Some("run") => run(),
        _ => {
            eprintln!("`weal {CHILD}` is started by weal itself, never by hand");
            ExitCode::from(2)
        }
    }
}

/// Confines this process and becomes the shell. Returns only when that failed, and then nothing has run.
fn run() -> ExitCode {
    // stderr is the report's pipe until the shell takes its place.
    let report = std::io::stderr().as_fd().try_clone_to_owned();
    let why = become_shell();
    if let Ok(report) = report {
        let line = serde_json::to_string(&Report::Refused { why }).unwrap_or_default();
        let _ = writeln!(std::fs::File::from(report), "{line}");
    }
    ExitCode::from(125)
}

fn become_shell() -> String {
    let mut text = String::new();
    if let Err(why) = std::io::stdin().read_to_string(&mut text) {
        return why.to_string();
    }
    let spec: Spec = match serde_json::from_str(&text) {
        Ok(spec) => spec,
        Err(why) => return why.to_string(),
    };
    // A core dump is a file that no effect predicted.
    let _ = rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    if let Some(Err(why)) = spec.confine.as_ref().map(confine::confine) {
        return format!("the sandbox could not be set up: {why}");
    }
    let stderr = match std::io::stdout().as_fd().try_clone_to_owned() {
        Ok(fd) => Stdio::from(fd),
        Err(why) => return why.to_string(),
    };
    let failed = Command::new(&spec.shell)
        .args(["--noprofile", "--norc", "-c", &spec.command])
        .env_clear()
        .envs(&spec.env)
        .current_dir(&spec.cwd)
        .stdin(Stdio::null())
        .stderr(stderr)
        .exec();
    format!("`{}` could not be started in `{}`: {failed}", spec.shell.display(), spec.cwd.display())
}

/// What this machine offers, found out by trying it on a thread that ends at once.
pub fn probe() -> Sandbox {
    let nothing = Confine { write: vec![], remove: vec![], hidden: vec![], network: false, shared_memory: false };
    let tried = std::thread::Builder::new().name("sandbox probe".into()).spawn(move || confine::confine(&nothing));
    let result = tried.map_err(|e| e.to_string()).and_then(|t| t.join().map_err(|_| "the probe died".to_owned()));
    match result {
        Ok(Ok(abi)) => Sandbox::Landlock { abi },
        Ok(Err(why)) | Err(why) => Sandbox::None { why },
    }
}

/// Whether this process is, or descends from, a child of weal: then it may not touch the law.
///
/// A child can drop the marker from its own environment, but not from its ancestors', and its supervisor stays its
/// ancestor however it daemonises.
pub fn inside_child() -> bool {
    std::env::var_os(MARKER).is_some() || ancestors().into_iter().any(is_child)
}

fn is_child(pid: i32) -> bool {
    let proc = Path::new("/proc").join(pid.to_string());
    let cmdline = std::fs::read(proc.join("cmdline")).unwrap_or_default();
    if cmdline.split(|b| *b == 0).nth(1) == Some(CHILD.as_bytes()) {
        return true;
    }
    has_variable(pid, &format!("{MARKER}="))
}

/// Whether the environment a process was started with has an entry that starts so.
pub(super) fn has_variable(pid: i32, start: &str) -> bool {
    let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environ.split(|b| *b == 0).any(|entry| entry.starts_with(start.as_bytes()))
}

fn ancestors() -> Vec<i32> {
    let parents: BTreeMap<i32, i32> = processes().into_iter().map(|p| (p.pid, p.parent)).collect();
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut line = Vec::new();
    let mut at = own;
    while let Some(&parent) = parents.get(&at) {
        if parent <= 0 || line.contains(&parent) {
            break;
        }
        line.push(parent);
        at = parent;
    }
    line
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    /// Ended, and waits to be collected.
    zombie: bool,
}

/// Every process that can be seen.
pub(super) fn processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        // The name in parentheses may hold anything, spaces and parentheses too.
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        let state = fields.next()?;
        Some(Process { pid, parent: fields.next()?.parse().ok()?, zombie: matches!(state, "Z" | "X") })
    })
    .collect()
}

/// Living processes below `root`, however deep.
fn descendants(root: Pid) -> Vec<Pid> {
    let all = processes();
    let mut found = Vec::new();
    let mut queue = vec![root.as_raw_nonzero().get()];
    while let Some(parent) = queue.pop() {
        for child in all.iter().filter(|p| p.parent == parent) {
            queue.push(child.pid);
            found.extend(Pid::from_raw(child.pid).filter(|_| !child.zombie));
        }
    }
    found
}
