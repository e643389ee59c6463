//! `shell_exec`: weal's side of a command. The other side is `sandbox`.

use super::{
    Ended, ToolError,
    capture::Capture,
    fs::arguments,
    sandbox::{CHILD, RUN, Reach, Report, Spec, has_variable, processes},
    unique,
};
use crate::domain::{Effect, RawCall, Status};
use rustix::process::{Pid, Signal};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, ChildStdin, Command},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// No command runs longer, whatever it asks for.
const LONGEST: Duration = Duration::from_secs(3600);
/// How long a supervisor that was told to end may take beyond the grace before it is ended itself.
const PATIENCE: Duration = Duration::from_secs(8);

pub(super) struct Shell {
    pub(super) helper: PathBuf,
    pub(super) bash: PathBuf,
    /// `None`: children are not confined.
    pub(super) reach: Option<Reach>,
    pub(super) workspace: PathBuf,
    pub(super) env: BTreeMap<String, String>,
    pub(super) timeout: Duration,
    pub(super) grace: Duration,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exec {
    command: String,
    cwd: Option<String>,
    timeout_seconds: Option<u64>,
}

impl Shell {
    /// Runs the call; what it says goes to `output` as it comes. When this returns nothing of it is left.
    pub(super) async fn exec(
        &self,
        call: &RawCall,
        effects: &[Effect],
        cancel: &CancellationToken,
        output: &mut Capture,
    ) -> Result<Ended, ToolError> {
        let Exec { command, cwd, timeout_seconds } = arguments(call)?;
        let run = unique();
        let mut env = self.env.clone();
        env.insert(RUN.to_owned(), run.clone());
        let spec = Spec {
            shell: self.bash.clone(),
            command,
            cwd: self.workspace.join(cwd.as_deref().unwrap_or(".")),
            env,
            confine: self.reach.as_ref().map(|r| r.of(effects)),
            grace_millis: u64::try_from(self.grace.as_millis()).unwrap_or(u64::MAX),
        };
        let time = timeout_seconds.map_or(self.timeout, Duration::from_secs).min(LONGEST);
        let failed = |why: std::io::Error| ToolError::refused("shell_exec", format!("could not be started: {why}"));
        let mut running = Running::start(&self.helper, &spec, run).await.map_err(failed)?;
        let stopped = running.attend(Instant::now() + time, self.grace + PATIENCE, cancel, output).await;
        let report = running.end().await;
        self.judge(stopped, &report, &spec, output)
    }

    fn judge(
        &self,
        stopped: Option<Status>,
        report: &Report,
        spec: &Spec,
        output: &mut Capture,
    ) -> Result<Ended, ToolError> {
        let (exit, signal, leftover, alive) = match report {
            Report::Refused { why } => return Err(ToolError::refused("shell_exec", format!("did not run: {why}"))),
            Report::Ended { exit, signal, leftover, alive } => (*exit, *signal, *leftover, *alive),
        };
        let mut note = |text: String| output.push(format!("\n[weal: {text}]").as_bytes());
        if leftover > 0 {
            note(format!("{leftover} processes still ran when the command ended, and were ended"));
        }
        if alive > 0 {
            note(format!("{alive} processes could not be ended"));
        }
        if let Some(signal) = signal.filter(|_| stopped.is_none()) {
            note(format!("ended by signal {signal}"));
        }
        let status = stopped.unwrap_or(if exit == Some(0) { Status::Succeeded } else { Status::Failed });
        if let (Status::Failed, Some(confine)) = (status, &spec.confine)
            && output.says("ermission denied")
        {
            let below =
                |paths: &[PathBuf]| paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ");
            let network = if confine.network { "" } else { ", and no network" };
            let text = format!(
                "the sandbox let it write below {}; remove below {}{network}",
                below(&confine.write),
                if confine.remove.is_empty() { "nothing else".into() } else { below(&confine.remove) }
            );
            output.push(format!("\n[weal: {text}]").as_bytes());
        }
        Ok(Ended { status, exit, backup: None, diff: None })
    }
}

/// A supervisor and its pipes.
struct Running {
    child: Child,
    /// Closing it tells the supervisor to end everything.
    rein: Option<ChildStdin>,
    run: String,
}

impl Running {
    async fn start(helper: &Path, spec: &Spec, run: String) -> std::io::Result<Running> {
        let mut child = Command::new(helper)
            .args([CHILD, "watch"])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut rein = child.stdin.take();
        if let Some(rein) = &mut rein {
            let mut line = serde_json::to_vec(spec)?;
            line.push(b'\n');
            rein.write_all(&line).await?;
            rein.flush().await?;
        }
        Ok(Running { child, rein, run })
    }

    /// Takes in the output until its end. `Some` says why the command was stopped.
    async fn attend(
        &mut self,
        deadline: Instant,
        patience: Duration,
        cancel: &CancellationToken,
        output: &mut Capture,
    ) -> Option<Status> {
        let mut out = self.child.stdout.take()?;
        let mut stopped = None;
        let mut limit = deadline;
        let mut watched = true;
        let mut chunk = vec![0; 64 * 1024];
        loop {
            tokio::select! {
                read = out.read(&mut chunk) => match read {
                    Ok(n @ 1..) => output.push(chunk.get(..n).unwrap_or_default()),
                    Ok(0) | Err(_) => return stopped,
                },
                ended = self.child.wait(), if watched => {
                    watched = false;
                    // A supervisor that was killed leaves orphans, and those hold the pipe.
                    if !ended.is_ok_and(|status| status.success()) {
                        sweep(&self.run);
                    }
                }
                () = cancel.cancelled(), if stopped.is_none() => stopped = Some(Status::Cancelled),
                () = sleep_until(limit) => match stopped {
                    None => stopped = Some(Status::TimedOut),
                    Some(_) => return stopped,
                },
            }
            if stopped.is_some() && self.rein.take().is_some() {
                limit = Instant::now() + patience;
            }
        }
    }

    /// Waits for the supervisor. One that does not end, or ended without a word, is cleaned up after.
    async fn end(mut self) -> Report {
        self.rein = None;
        let mut said = String::new();
        let ended = async {
            if let Some(report) = &mut self.child.stderr {
                let _ = report.read_to_string(&mut said).await;
            }
            self.child.wait().await
        };
        if tokio::time::timeout(PATIENCE, ended).await.is_err() {
            let _ = self.child.kill().await;
        }
        let reports = said.lines().filter_map(|line| serde_json::from_str::<Report>(line).ok());
        // The second stage speaks first, and only when nothing ran.
        reports.into_iter().next().unwrap_or_else(|| {
            let leftover = sweep(&self.run);
            Report::Ended { exit: None, signal: None, leftover, alive: 0 }
        })
    }
}

/// Ends whatever still carries the marker of a run whose supervisor is gone; says how many there were. What was being
/// started while the others were found is found in the next round.
fn sweep(run: &str) -> usize {
    let mark = format!("{RUN}={run}");
    let mut ended: BTreeSet<i32> = BTreeSet::new();
    for _ in 0..SWEEPS {
        let marked: Vec<i32> =
            processes().into_iter().map(|p| p.pid).filter(|pid| has_variable(*pid, &mark)).collect();
        if marked.is_empty() {
            break;
        }
        for pid in marked.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        ended.extend(marked);
        std::thread::yield_now();
    }
    ended.len()
}

/// Rounds of a sweep; each looks at every process of the machine.
const SWEEPS: usize = 50;
