//! The world: facts read from it, and the execution of what was cleared.
//!
//! [`Toolbox`] is the only door: it consumes a clearance, looks whether the world still is what the audit saw, and
//! runs the call. What never lives here: judging. No tool asks whether it may; each keeps to what it was given.

pub mod backup;
mod capture;
mod fs;
mod place;
pub mod sandbox;
pub mod scratch;
mod shell;
mod specs;
pub mod world;

use crate::domain::{Digest, Outcome, ProposalId, Query, Reversibility, Status, ToolSpec, event::Sandbox};
use crate::policy::clearance::Clearance;
use crate::ports::{Tools, World as _};
use capture::Capture;
use futures::future::BoxFuture;
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;
use world::{Caps, RealWorld};

pub use specs::specs;

/// Where the tools act and what they keep.
#[derive(Debug, Clone)]
pub struct Config {
    pub workspace: PathBuf,
    pub home: PathBuf,
    /// Outside of the workspace.
    pub backups: PathBuf,
    /// Outside of the workspace.
    pub trash: PathBuf,
    /// Where the private directory of this session's children is made.
    pub temp: PathBuf,
    /// The weal executable, to be started again as supervisor.
    pub helper: PathBuf,
    /// weal's own directories: no child reads or writes there.
    pub protected: Vec<PathBuf>,
    /// Of a command that names none.
    pub timeout: Duration,
    /// Between asking a command to end and ending it.
    pub grace: Duration,
    /// Bytes of output that an outcome holds.
    pub output_cap: usize,
    /// `PATH` of children.
    pub path: String,
    /// This process's environment; children get a few names of it.
    pub inherited: BTreeMap<String, String>,
    /// Confine children where the kernel can.
    pub sandbox: bool,
}

/// Why a call came to nothing. Messages go to the model as they are.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    #[error("there is no tool `{0}` (the tools are listed in the request)")]
    Unknown(String),
    #[error("the arguments do not fit the tool: {0}")]
    Arguments(String),
    #[error(
        "`{0}` lies outside of the workspace, and fs tools never leave it (a shell command can, when it is approved)"
    )]
    Outside(String),
    #[error("`{0}` goes upwards with `..` (name the path as it is from the workspace)")]
    Upwards(String),
    #[error("`{0}` is not there")]
    Missing(String),
    #[error("`{path}`: {why}")]
    Refused { path: String, why: String },
    #[error("cancelled")]
    Cancelled,
}

impl ToolError {
    fn io(path: &str, why: &io::Error) -> Self {
        ToolError::Refused { path: path.to_owned(), why: why.to_string() }
    }

    fn refused(path: &str, why: impl Into<String>) -> Self {
        ToolError::Refused { path: path.to_owned(), why: why.into() }
    }

    const fn status(&self) -> Status {
        match self {
            ToolError::Cancelled => Status::Cancelled,
            ToolError::Unknown(_)
            | ToolError::Arguments(_)
            | ToolError::Outside(_)
            | ToolError::Upwards(_)
            | ToolError::Missing(_)
            | ToolError::Refused { .. } => Status::Failed,
        }
    }
}

/// Why the tools cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("the {what} `{path}` cannot be used: {why}")]
pub struct SetupError {
    what: &'static str,
    path: String,
    why: String,
}

/// The tools of one session.
pub struct Toolbox {
    files: Arc<fs::Files>,
    shell: shell::Shell,
    world: Arc<RealWorld>,
    sandbox: Sandbox,
    output_cap: usize,
    /// Outputs that were too long for their outcome, until they are taken.
    bodies: Mutex<BTreeMap<ProposalId, Vec<u8>>>,
    private: PathBuf,
}

impl Toolbox {
    /// Opens the workspace and makes the directories that are missing. Blocking.
    pub fn new(config: Config) -> Result<Toolbox, SetupError> {
        let workspace = usable("workspace", &config.workspace, false)?;
        let home = config.home.canonicalize().unwrap_or_else(|_| config.home.clone());
        let backups = usable("backup directory", &config.backups, true)?;
        let trash = usable("trash directory", &config.trash, true)?;
        let temp = usable("temporary directory", &config.temp, false)?;
        let private = usable("private directory", &temp.join(format!("weal-{}", unique())), true)?;
        let ground = place::Ground::open(&workspace, &home).map_err(|e| setup("workspace", &workspace, &e))?;
        let mut hidden = vec![backups.clone(), trash.clone()];
        hidden.extend(config.protected.iter().map(|p| world::paths::resolve(p).unwrap_or_else(|_| p.clone())));
        let env = sandbox::scrubbed(&config.inherited, &config.path, &home, &private);
        let world = Arc::new(RealWorld::new(workspace, env.clone(), Caps::default()));
        let sandbox = if config.sandbox {
            sandbox::probe()
        } else {
            Sandbox::None { why: "switched off in the configuration".into() }
        };
        let reach = sandbox::Reach { places: ground.places.clone(), hidden, private: private.clone() };
        let shell = shell::Shell {
            helper: config.helper,
            bash: world.find("bash").unwrap_or_else(|| "/bin/bash".into()),
            reach: matches!(sandbox, Sandbox::Landlock { .. }).then_some(reach),
            workspace: ground.places.workspace.clone().into(),
            env,
            timeout: config.timeout,
            grace: config.grace,
        };
        let files = Arc::new(fs::Files { ground, backups, trash });
        let bodies = Mutex::default();
        Ok(Toolbox { files, shell, world, sandbox, output_cap: config.output_cap, bodies, private })
    }

    /// The world as this session's children see it.
    pub fn world(&self) -> Arc<RealWorld> {
        Arc::clone(&self.world)
    }

    async fn run(&self, clearance: Clearance, cancel: CancellationToken) -> Outcome {
        let started = Instant::now();
        let mut output = Capture::new(self.output_cap);
        let ended = match self.drifted(&clearance).await {
            _ if cancel.is_cancelled() => Err(ToolError::Cancelled),
            Some(what) => Err(ToolError::Refused {
                path: clearance.action().call.tool.clone(),
                why: format!("the world changed since the audit: {what} (nothing ran; propose it anew)"),
            }),
            None => self.dispatch(&clearance, &cancel, &mut output).await,
        };
        let ended = ended.unwrap_or_else(|why| {
            output.push(why.to_string().as_bytes());
            Ended { status: why.status(), ..Ended::default() }
        });
        let (output, body) = output.finish();
        if let Some(body) = body {
            self.bodies.lock().unwrap_or_else(PoisonError::into_inner).insert(clearance.proposal(), body);
        }
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let Ended { status, exit, backup, diff } = ended;
        Outcome { status, exit, output, backup, diff, millis }
    }

    /// What is no longer as it was audited.
    async fn drifted(&self, clearance: &Clearance) -> Option<String> {
        if !self.files.ground.is_in_place() {
            return Some("the workspace is another directory".to_owned());
        }
        let looks = clearance.action().effects.iter().all(|e| e.reversibility == Reversibility::ReadOnly);
        let audited = clearance.facts().clone();
        let world = self.world();
        let look = tokio::task::spawn_blocking(move || {
            let queries: Vec<Query> = audited.0.keys().cloned().collect();
            world::drift(&audited, &world.read(&queries), looks)
        });
        look.await.unwrap_or_else(|_| Some("looking at it failed".to_owned()))
    }

    async fn dispatch(
        &self,
        clearance: &Clearance,
        cancel: &CancellationToken,
        output: &mut Capture,
    ) -> Result<Ended, ToolError> {
        let action = clearance.action();
        match action.call.tool.as_str() {
            "shell_exec" => self.shell.exec(&action.call, &action.effects, cancel, output).await,
            tool if tool.starts_with("fs_") => {
                let (files, call, cancel) = (Arc::clone(&self.files), action.call.clone(), cancel.clone());
                let work = tokio::task::spawn_blocking(move || files.run(&call, &cancel));
                let answer = work.await.map_err(|e| ToolError::refused(tool, e.to_string()))??;
                output.push(answer.text.as_bytes());
                let status = if answer.ok { Status::Succeeded } else { Status::Failed };
                Ok(Ended { status, exit: None, backup: answer.backup, diff: answer.diff })
            }
            tool => Err(ToolError::Unknown(tool.to_owned())),
        }
    }
}

/// How a dispatch ended, output apart.
struct Ended {
    status: Status,
    exit: Option<i32>,
    backup: Option<crate::domain::Backup>,
    diff: Option<String>,
}

impl Default for Ended {
    fn default() -> Self {
        Ended { status: Status::Failed, exit: None, backup: None, diff: None }
    }
}

impl Tools for Toolbox {
    fn specs(&self) -> Vec<ToolSpec> {
        specs::specs()
    }

    fn sandbox(&self) -> Sandbox {
        self.sandbox.clone()
    }

    fn execute<'a>(&'a self, clearance: Clearance, cancel: CancellationToken) -> BoxFuture<'a, Outcome> {
        Box::pin(self.run(clearance, cancel))
    }

    fn take_body(&self, proposal: ProposalId) -> Option<Vec<u8>> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner).remove(&proposal)
    }
}

impl Drop for Toolbox {
    fn drop(&mut self) {
        // Children's temporary files; whoever cannot remove them leaves them to the system.
        let _ = std::fs::remove_dir_all(&self.private);
    }
}

/// The resolved path of a directory that is there, made for its owner alone where `make` says so.
fn usable(what: &'static str, path: &Path, make: bool) -> Result<PathBuf, SetupError> {
    use std::os::unix::fs::DirBuilderExt as _;
    if make {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|e| setup(what, path, &e))?;
    }
    let resolved = path.canonicalize().map_err(|e| setup(what, path, &e))?;
    if resolved.is_dir() { Ok(resolved) } else { Err(setup(what, path, &io::ErrorKind::NotADirectory.into())) }
}

fn setup(what: &'static str, path: &Path, why: &io::Error) -> SetupError {
    SetupError { what, path: path.display().to_string(), why: why.to_string() }
}

/// A name nobody else uses.
fn unique() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

fn digest_of(mut from: impl io::Read) -> io::Result<Digest> {
    let mut hash = <sha2::Sha256 as sha2::Digest>::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut chunk)?;
        match chunk.get(..read) {
            Some(part) if !part.is_empty() => sha2::Digest::update(&mut hash, part),
            _ => return Ok(Digest(sha2::Digest::finalize(hash).into())),
        }
    }
}
