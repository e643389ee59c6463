//! The supervisor of one command: starts it, waits, and ends everything below it.
//!
//! It is not confined itself, so under the sandbox no process below it can signal it.

use super::{CHILD, Report, Spec, descendants};
use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitOptions, WaitStatus},
};
use std::{
    io::{BufRead as _, Read as _, Write as _},
    os::unix::process::CommandExt as _,
    process::{Command, ExitCode, Stdio},
    sync::mpsc::{Receiver, Sender, channel},
    time::{Duration, Instant},
};

/// After SIGKILL: how long to go on before giving up.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks at what is still alive.
const LOOK: Duration = Duration::from_millis(20);

enum Note {
    /// The input closed: weal wants the end, or is gone.
    Stop,
    Exited(WaitStatus),
    /// No child and no orphan is left.
    Alone,
}

pub(super) fn watch() -> ExitCode {
    let report = supervise().unwrap_or_else(|why| Report::Refused { why });
    let line = serde_json::to_string(&report).unwrap_or_default();
    let _ = writeln!(std::io::stderr(), "{line}");
    ExitCode::SUCCESS
}

fn supervise() -> Result<Report, String> {
    // A session of its own: no terminal, and no key pressed there reaches anything below.
    let _ = rustix::process::setsid();
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own)).map_err(|e| format!("cannot adopt orphans: {e}"))?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|e| e.to_string())?;
    let spec: Spec = serde_json::from_str(&line).map_err(|e| e.to_string())?;

    let pid = start(&line)?;
    let (notes, inbox) = channel();
    let stop = notes.clone();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().by_ref(), &mut std::io::sink());
        let _ = stop.send(Note::Stop);
    });
    std::thread::spawn(move || collect(pid, &notes));

    let mut status = match inbox.recv() {
        Ok(Note::Exited(status)) => Some(status),
        Ok(Note::Stop | Note::Alone) | Err(_) => None,
    };
    let leftover = if status.is_some() { descendants(own).len() } else { 0 };
    let alive = end_all(own, Duration::from_millis(spec.grace_millis), &inbox, &mut status);
    Ok(Report::Ended {
        exit: status.and_then(WaitStatus::exit_status),
        signal: status.and_then(WaitStatus::terminating_signal),
        leftover,
        alive,
    })
}

/// Starts the second stage in a process group of its own and hands it the spec.
fn start(spec: &str) -> Result<Pid, String> {
    let mut child = Command::new("/proc/self/exe")
        .args([CHILD, "run"])
        .env_clear()
        .process_group(0)
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|e| format!("the second stage could not be started: {e}"))?;
    if let Some(mut pipe) = child.stdin.take() {
        pipe.write_all(spec.as_bytes()).map_err(|e| format!("the second stage took no orders: {e}"))?;
    }
    Ok(Pid::from_child(&child))
}

/// Collects every child and orphan that ends.
fn collect(main: Pid, notes: &Sender<Note>) {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == main => drop(notes.send(Note::Exited(status))),
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return drop(notes.send(Note::Alone)),
        }
    }
}

/// Ends everything below, gently first; says how many would not.
fn end_all(own: Pid, grace: Duration, inbox: &Receiver<Note>, status: &mut Option<WaitStatus>) -> usize {
    signal_all(own, Signal::TERM);
    if alone_within(grace, inbox, status) {
        return 0;
    }
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        signal_all(own, Signal::KILL);
        if alone_within(LOOK, inbox, status) {
            return 0;
        }
    }
    descendants(own).len()
}

fn signal_all(own: Pid, signal: Signal) {
    for pid in descendants(own) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

fn alone_within(time: Duration, inbox: &Receiver<Note>, status: &mut Option<WaitStatus>) -> bool {
    let started = Instant::now();
    loop {
        match inbox.recv_timeout(time.saturating_sub(started.elapsed())) {
            Ok(Note::Alone) => return true,
            Ok(Note::Exited(how)) => *status = Some(how),
            Ok(Note::Stop) => {}
            Err(_) => return false,
        }
    }
}
