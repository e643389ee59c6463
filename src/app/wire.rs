//! One place where adapters are put together: from configuration to a driver.

use super::{config::Config, core_rules, dirs::Dirs};
use crate::agent::{Driver, Feed, vault::Vault};
use crate::domain::{
    Moment, Prompt, Record, Reply, SessionId, Stream,
    event::{CoreRule, Opening},
};
use crate::model::{openai, rehearsal::Rehearsal, script::Script, scripted::Scripted};
use crate::ports::{Clock, Delta, Log, Model, ModelError, Tools};
use crate::session::{Input, State};
use crate::store::Store;
use crate::tools::{self, Toolbox};
use anyhow::{Context, Result, bail};
use futures::future::BoxFuture;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, RwLock},
    time::Duration,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What the program knows before a session is open.
pub struct House {
    pub dirs: Dirs,
    pub config: Config,
    pub core: Vec<CoreRule>,
}

/// Who answers.
pub enum Voice {
    Endpoint(Box<openai::Config>),
    Script(Arc<Script>),
    Rehearsal(Arc<Script>),
    Nobody,
}

/// An open session, ready to run.
pub struct Session {
    pub driver: Driver,
    pub feed: mpsc::UnboundedReceiver<Feed>,
    pub model: Arc<Switch>,
    /// What its log held before.
    pub history: Vec<Record>,
}

impl House {
    pub fn open() -> Result<House> {
        let dirs = Dirs::from_env()?;
        let config = super::config::load(&dirs)?;
        let core = core_rules::load(&dirs)?;
        Ok(House { dirs, config, core })
    }

    pub fn store(&self, workspace: &Path) -> Result<Store> {
        Ok(Store::at(&self.dirs.data, &self.dirs.state, workspace)?)
    }

    /// The configured endpoint; asks it which models it has where none is named.
    pub async fn endpoint(&self) -> Result<Voice> {
        let Voice::Endpoint(mut config) = self.unnamed_endpoint() else { return Ok(Voice::Nobody) };
        if self.config.model.name.is_none() {
            let names = openai::discover(&config).await?;
            let first =
                names.first().context("the endpoint names no model; set OPENAI_MODEL or `name` under `[model]`")?;
            config.model.clone_from(first);
        }
        Ok(Voice::Endpoint(config))
    }

    /// The configured endpoint, with the configured model name or one that most servers take for their only model.
    pub fn unnamed_endpoint(&self) -> Voice {
        if !self.config.has_endpoint() {
            return Voice::Nobody;
        }
        let model = &self.config.model;
        let url = model.base_url.as_deref().unwrap_or("https://api.openai.com/v1");
        let mut config = openai::Config::new(url, model.name.as_deref().unwrap_or("default"));
        config.api_key = model.api_key.as_deref().and_then(openai::ApiKey::new);
        config.temperature = model.temperature;
        config.idle_timeout = Duration::from_secs(model.idle_seconds);
        config.max_attempts = model.attempts;
        Voice::Endpoint(Box::new(config))
    }

    /// A new session in `workspace`.
    pub fn begin(&self, workspace: &Path, voice: Voice, scratch: bool) -> Result<Session> {
        let session = SessionId(uuid::Uuid::now_v7().to_string());
        let store = self.store(workspace)?;
        let writer = store.open_writer(&session)?;
        let reader = writer.reader();
        // a script says itself how soon its history is compacted
        let memory = match &voice {
            Voice::Script(script) | Voice::Rehearsal(script) => script.context_budget,
            Voice::Endpoint(_) | Voice::Nobody => None,
        };
        let (model, simulated) = speaker(voice, 0)?;
        let toolbox = self.toolbox(workspace)?;
        let opening = Opening {
            session,
            workspace: workspace.display().to_string(),
            home: self.dirs.home.display().to_string(),
            model: model.name(),
            simulated,
            scratch,
            sandbox: toolbox.sandbox(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            core: self.core.clone(),
            next_constraint: reader.next_constraint()?,
            latched: reader.latched()?,
            context_budget: memory.unwrap_or(self.config.model.context),
        };
        let library = writer.read(&Stream::Library)?;
        let key = store.redaction_key()?;
        let mut session = self.assemble(Box::new(writer), model, toolbox, library, key);
        session.driver.take(Input::Open(Box::new(opening)))?;
        Ok(session)
    }

    /// A session of this workspace again, exactly where its log ends.
    pub fn resume(&self, workspace: &Path, id: &SessionId, voice: Voice, go_on: bool) -> Result<Session> {
        let store = self.store(workspace)?;
        let writer = store.open_writer(id)?;
        let mut records = writer.read(&Stream::Library)?;
        records.extend(writer.read(&Stream::Session(id.clone()))?);
        records.sort_by_key(|r| r.seq);
        let opened = |r: &Record| matches!(r.event, crate::domain::Event::SessionOpened(_));
        if !records.iter().any(opened) {
            bail!("session `{id}` has no beginning in the log; `weal log verify` tells what is wrong");
        }
        let replies = records.iter().filter(|r| matches!(r.event, crate::domain::Event::ModelReplied { .. })).count();
        let (model, _) = speaker(voice, replies)?;
        let toolbox = self.toolbox(workspace)?;
        let key = store.redaction_key()?;
        let mut session = self.assemble(Box::new(writer), model, toolbox, records, key);
        session.driver.take(Input::Resume { version: env!("CARGO_PKG_VERSION").to_owned(), go_on })?;
        Ok(session)
    }

    fn toolbox(&self, workspace: &Path) -> Result<Toolbox> {
        let store = self.store(workspace)?;
        let helper = std::env::current_exe().context("weal cannot find its own executable")?;
        let config = tools::Config {
            workspace: workspace.to_owned(),
            home: self.dirs.home.clone(),
            backups: store.directory().join("backups"),
            trash: store.directory().join("trash"),
            temp: std::env::temp_dir(),
            helper,
            protected: self.dirs.own(),
            timeout: self.config.tools.timeout(),
            grace: GRACE,
            output_cap: OUTPUT,
            path: std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned()),
            inherited: std::env::vars().collect(),
            sandbox: self.config.tools.sandbox,
        };
        Ok(Toolbox::new(config)?)
    }

    fn assemble(
        &self,
        log: Box<dyn Log>,
        model: Arc<dyn Model>,
        toolbox: Toolbox,
        history: Vec<Record>,
        key: [u8; 32],
    ) -> Session {
        let state = State::replay(&history);
        let (feed, watched) = mpsc::unbounded_channel();
        let switch = Arc::new(Switch(RwLock::new(model)));
        let world = toolbox.world();
        let clock = Arc::new(SystemClock);
        let driver = Driver::new(log, switch.clone(), Arc::new(toolbox), world, clock, Vault::new(key), state, feed);
        Session { driver, feed: watched, model: switch, history }
    }

    /// A new directory for a demo's world.
    pub fn scratch(&self, given: Option<&Path>, script: &Script) -> Result<PathBuf> {
        let dir = match given {
            Some(dir) => dir.to_owned(),
            // not below weal's own directories: those are out of the agent's reach
            None => {
                let id = uuid::Uuid::now_v7().simple().to_string();
                let tail = id.get(id.len().saturating_sub(8)..).unwrap_or_default();
                std::env::temp_dir().join(format!("weal-{}-{tail}", script.name))
            }
        };
        tools::scratch::build(&dir, &script.files())?;
        super::dirs::workspace(Some(&dir))
    }
}

/// The model behind a voice, and whether it is simulated.
pub fn speaker(voice: Voice, replies_so_far: usize) -> Result<(Arc<dyn Model>, bool)> {
    Ok(match voice {
        Voice::Endpoint(config) => (Arc::new(openai::OpenAi::new(*config)?), false),
        Voice::Script(script) => (Arc::new(Scripted::new(script, replies_so_far)), true),
        Voice::Rehearsal(script) => {
            let name = script.name.clone();
            let model = Rehearsal::new(script, SEED).with_context(|| format!("`{name}` has no rehearsal in it"))?;
            (Arc::new(model), true)
        }
        Voice::Nobody => (Arc::new(Nobody), false),
    })
}

/// Between asking a command to end and ending it.
const GRACE: Duration = Duration::from_secs(2);
/// Bytes of output that an event holds; the whole of a longer one lies beside the log.
const OUTPUT: usize = 16 * 1024;

/// Of the rehearsal's draws: the same rehearsal goes the same way.
const SEED: u64 = 7;

/// Nobody is configured to answer.
struct Nobody;

impl Model for Nobody {
    fn name(&self) -> String {
        "none".to_owned()
    }
    fn is_simulated(&self) -> bool {
        false
    }
    fn reply<'a>(
        &'a self,
        _: Prompt,
        _: mpsc::UnboundedSender<Delta>,
        _: CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async { Err(ModelError::NotConfigured) })
    }
}

/// A model that can be exchanged while a session is open: a demo that is taken over goes on with the endpoint.
pub struct Switch(RwLock<Arc<dyn Model>>);

impl Switch {
    pub fn set(&self, model: Arc<dyn Model>) {
        if let Ok(mut current) = self.0.write() {
            *current = model;
        }
    }

    pub fn current(&self) -> Arc<dyn Model> {
        match self.0.read() {
            Ok(current) => current.clone(),
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }
}

impl Model for Switch {
    fn name(&self) -> String {
        self.current().name()
    }
    fn is_simulated(&self) -> bool {
        self.current().is_simulated()
    }
    fn reply<'a>(
        &'a self,
        prompt: Prompt,
        deltas: mpsc::UnboundedSender<Delta>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        let model = self.current();
        Box::pin(async move { model.reply(prompt, deltas, cancel).await })
    }
}

pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let now = jiff::ZonedDateTime::now();
        Moment { millis: now.timestamp().as_millisecond(), offset: now.offset().seconds() / 60 }
    }
}
