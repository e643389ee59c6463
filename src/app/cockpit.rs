//! The screen and what is behind it: the cockpit draws and asks, the director opens sessions, plays demos and passes
//! inputs on.

use super::{
    demo::{self, next_turn, scripted_answer},
    log::when,
    wire::{House, Session, Switch, Voice, speaker},
};
use crate::agent;
use crate::domain::{Event, Prompt, Reply, Seq, SessionId};
use crate::model::script::Script;
use crate::ports::{Delta, Model, ModelError};
use crate::session::{Input, Phase, State};
use crate::tui::{self, DemoControl, DemoStatus, Endpoint, Feed, Intent, Mode, SessionLine, Settings, Start};
use anyhow::{Context, Result};
use futures::future::BoxFuture;
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// The cockpit in a directory, with its sessions to choose from.
pub async fn start(workspace: &Path) -> Result<()> {
    let house = House::open()?;
    let mode = Mode::Start(offers(&house, workspace)?);
    show(&house, workspace, mode, None).await
}

/// The cockpit on a demo.
pub async fn demo(house: &House, workspace: &Path, script: Arc<Script>) -> Result<()> {
    let (feeds, told) = mpsc::unbounded_channel();
    let mut director = Director::new(house, workspace, feeds);
    let mode = director.begin_demo(workspace, script)?;
    director.direct(told, mode).await
}

/// The cockpit on anything else.
pub async fn show(house: &House, workspace: &Path, mode: Mode, notice: Option<String>) -> Result<()> {
    let (feeds, told) = mpsc::unbounded_channel();
    let director = Director::new(house, workspace, feeds);
    if let Some(notice) = notice {
        director.notice(notice);
    }
    director.direct(told, mode).await
}

fn offers(house: &House, workspace: &Path) -> Result<Start> {
    let sessions = house.store(workspace)?.open_reader()?.sessions()?;
    let line = |s: crate::store::SessionSummary| SessionLine {
        about: s.request.clone().unwrap_or_default(),
        when: when(s.last.1),
        turns: s.turns,
        waiting: s.unfinished.len(),
        id: s.id,
    };
    let scripts = demo::scripts()?;
    let rehearsal = scripts.iter().any(|s| s.rehearsal.is_some());
    let demos = scripts.iter().filter(|s| s.rehearsal.is_none());
    let demos = demos.map(|s| (s.name.clone(), s.title.clone())).collect();
    Ok(Start { sessions: sessions.into_iter().map(line).collect(), demos, rehearsal })
}

fn settings(house: &House, workspace: &Path, mode: Mode) -> Settings {
    let endpoint = match (&house.config.model.base_url, &house.config.model.api_key) {
        (Some(url), _) => Endpoint::Configured { words: url.clone() },
        (None, Some(_)) => Endpoint::Configured { words: "OpenAI".to_owned() },
        (None, None) => Endpoint::Missing {
            how: format!(
                "set OPENAI_BASE_URL (any OpenAI-compatible server; a local one needs no key) or OPENAI_API_KEY, or write \
                 `[model]` with `base_url` into {}",
                house.dirs.config_file().display()
            ),
        },
    };
    let home = house.dirs.home.display().to_string();
    let path = workspace.display().to_string();
    let shown = path.strip_prefix(&home).map_or_else(|| path.clone(), |rest| format!("~{rest}"));
    let own = |name: &str| {
        let path = house.dirs.config.join(name);
        std::fs::read_to_string(&path).ok().map(|text| (path.display().to_string(), text))
    };
    let theme = house.config.screen.theme.clone();
    let themes = own(&format!("themes/{theme}.toml")).map(|(_, text)| (theme.clone(), text)).into_iter().collect();
    Settings {
        mode,
        workspace: shown,
        endpoint,
        theme,
        themes,
        keymap: own("keymap.toml"),
        no_color: std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()),
        ascii: house.config.screen.ascii,
        session_scope: |handling| handling.session_scope().map(|scope| scope.words),
    }
}

struct Director<'a> {
    house: &'a House,
    workspace: PathBuf,
    feeds: mpsc::UnboundedSender<Feed>,
    current: Option<Current>,
    playing: Option<Playing>,
}

/// The open session, run by a task of its own.
struct Current {
    inputs: mpsc::UnboundedSender<Input>,
    quit: CancellationToken,
    task: JoinHandle<()>,
    model: Arc<Switch>,
    feed: mpsc::UnboundedReceiver<agent::Feed>,
    /// Where the session stands, folded from what the driver recorded.
    state: State,
}

/// A demo under way.
struct Playing {
    script: Arc<Script>,
    pace: Arc<Pace>,
    step: usize,
    running: bool,
    speed: f64,
    /// Where the log stood when the last input was sent; until it has grown, that input is still on its way.
    sent: Option<Seq>,
    /// It ran until a question opened, and runs on when that is answered.
    held: bool,
}

impl Playing {
    /// A question is for the person: the demo waits for the answer.
    const fn heed(&mut self, event: &Event) {
        match event {
            Event::PersonAsked { .. } => {
                self.held |= self.running;
                self.running = false;
            }
            Event::PersonDecided { .. } => {
                self.running |= self.held;
                self.held = false;
            }
            _ => {}
        }
    }
}

impl<'a> Director<'a> {
    fn new(house: &'a House, workspace: &Path, feeds: mpsc::UnboundedSender<Feed>) -> Self {
        Director { house, workspace: workspace.to_owned(), feeds, current: None, playing: None }
    }

    fn notice(&self, text: impl Into<String>) {
        let _ = self.feeds.send(Feed::Notice(text.into()));
    }

    async fn direct(mut self, told: mpsc::UnboundedReceiver<Feed>, mode: Mode) -> Result<()> {
        let (intents, mut wanted) = mpsc::unbounded_channel();
        let settings = settings(self.house, &self.workspace, mode);
        let mut screen = tokio::spawn(tui::run(told, intents, settings));
        let shown = loop {
            let tick = self.next_tick();
            tokio::select! {
                ended = &mut screen => break ended,
                Some(intent) = wanted.recv() => self.want(intent).await,
                Some(told) = next_record(&mut self.current) => self.watch(told),
                () = tick => self.play_on(false),
            }
        };
        self.close().await;
        Ok(shown??)
    }

    /// What the person wants, as far as it is not the cockpit's own matter.
    async fn want(&mut self, intent: Intent) {
        let done = match intent {
            Intent::Input(input) => self.pass_on(*input).await,
            Intent::Demo(control) => {
                self.control(control).await;
                Ok(())
            }
            Intent::OpenSession(id) => self.reopen(&id).await,
            Intent::StartDemo(name) => self.start_demo(&name).await,
            Intent::StartRehearsal => self.start_rehearsal().await,
            Intent::Quit => {
                let _ = self.feeds.send(Feed::Close);
                Ok(())
            }
        };
        if let Err(error) = done {
            self.notice(format!("{error:#}"));
        }
    }

    /// An input goes to the session; the first one opens it.
    async fn pass_on(&mut self, input: Input) -> Result<()> {
        if self.current.is_none() {
            let voice = self.voice().await;
            let session = self.house.begin(&self.workspace, voice, false)?;
            let mode = Mode::Live { records: session.history.clone() };
            self.take_up(session, None);
            let _ = self.feeds.send(Feed::Open(mode));
        }
        if let Some(current) = &self.current {
            let _ = current.inputs.send(input);
        }
        Ok(())
    }

    /// The configured endpoint. One that cannot be asked for its models now is tried again when it is needed.
    async fn voice(&self) -> Voice {
        match self.house.endpoint().await {
            Ok(voice) => voice,
            Err(error) => {
                self.notice(format!("{error:#}"));
                self.house.unnamed_endpoint()
            }
        }
    }

    async fn reopen(&mut self, id: &SessionId) -> Result<()> {
        let voice = self.voice().await;
        self.close().await;
        let session = self.house.resume(&self.workspace, id, voice, false)?;
        let mode = Mode::Live { records: session.history.clone() };
        self.take_up(session, None);
        let _ = self.feeds.send(Feed::Open(mode));
        Ok(())
    }

    async fn start_demo(&mut self, name: &str) -> Result<()> {
        let script = Arc::new(demo::load(Some(name))?);
        let workspace = self.house.scratch(None, &script)?;
        self.close().await;
        let mode = self.begin_demo(&workspace, script)?;
        let _ = self.feeds.send(Feed::Open(mode));
        Ok(())
    }

    async fn start_rehearsal(&mut self) -> Result<()> {
        let script = demo::scripts()?.into_iter().find(|s| s.rehearsal.is_some());
        let script = Arc::new(script.context("no rehearsal is bundled")?);
        let workspace = self.house.scratch(None, &script)?;
        self.close().await;
        let session = self.house.begin(&workspace, Voice::Rehearsal(script.clone()), true)?;
        self.notice(format!("rehearsal in {}: {}", workspace.display(), script.about));
        let mode = Mode::Live { records: session.history.clone() };
        self.take_up(session, None);
        let _ = self.feeds.send(Feed::Open(mode));
        Ok(())
    }

    fn begin_demo(&mut self, workspace: &Path, script: Arc<Script>) -> Result<Mode> {
        let session = self.house.begin(workspace, demo::voice(&script), true)?;
        let records = session.history.clone();
        let pace = Arc::new(Pace::over(session.model.current()));
        session.model.set(pace.clone());
        self.take_up(
            session,
            Some(Playing { script, pace, step: 0, running: true, speed: 1.0, sent: None, held: false }),
        );
        Ok(Mode::Demo { status: self.status().unwrap_or_else(no_status), records })
    }

    fn take_up(&mut self, session: Session, playing: Option<Playing>) {
        let Session { mut driver, feed, model, history } = session;
        let (inputs, mut arriving) = mpsc::unbounded_channel();
        let quit = CancellationToken::new();
        let (token, feeds) = (quit.clone(), self.feeds.clone());
        let task = tokio::spawn(async move {
            let ended = tokio::select! {
                ended = driver.run(&mut arriving) => ended.map(|_| ()),
                () = token.cancelled() => driver.stop("weal was closed").await,
            };
            let closed = ended.and_then(|()| driver.take(Input::Close { why: "the person left".to_owned() }));
            if let Err(error) = closed {
                let _ = feeds.send(Feed::Notice(format!("{error}")));
            }
        });
        self.current = Some(Current { inputs, quit, task, model, feed, state: State::replay(&history) });
        self.playing = playing;
    }

    /// Ends the session that is open: what runs is ended and its outcome recorded.
    async fn close(&mut self) {
        self.playing = None;
        if let Some(current) = self.current.take() {
            current.quit.cancel();
            let _ = current.task.await;
        }
    }

    fn watch(&mut self, told: agent::Feed) {
        let feed = match told {
            agent::Feed::Record(record) => {
                if let Some(current) = &mut self.current {
                    current.state.apply(&record);
                }
                if let Some(playing) = &mut self.playing {
                    playing.heed(&record.event);
                }
                Feed::Record(record)
            }
            agent::Feed::Draft(delta) => Feed::Draft(delta),
        };
        let _ = self.feeds.send(feed);
        self.tell_status();
    }

    // The demo.

    async fn control(&mut self, control: DemoControl) {
        let Some(playing) = &mut self.playing else { return };
        match control {
            DemoControl::Step => {
                playing.running = false;
                self.play_on(true);
            }
            DemoControl::Run => playing.running = true,
            DemoControl::Pause => (playing.running, playing.held) = (false, false),
            DemoControl::Faster => playing.speed = (playing.speed * 2.0).min(16.0),
            DemoControl::Slower => playing.speed = (playing.speed / 2.0).max(0.25),
            DemoControl::TakeOver => return self.take_over().await,
        }
        self.tell_status();
    }

    /// From here on the session is the person's, with the endpoint where there is one.
    async fn take_over(&mut self) {
        let voice = self.voice().await;
        let words = match &voice {
            Voice::Nobody => "yours now; no endpoint is configured, so propose actions yourself with !command",
            Voice::Endpoint(_) | Voice::Script(_) | Voice::Rehearsal(_) => {
                "yours now; the endpoint answers from here on"
            }
        };
        let pace = self.playing.take().map(|p| p.pace);
        if let (Some(current), Ok((model, _))) = (&self.current, speaker(voice, 0)) {
            current.model.set(model);
            if pace.is_some_and(|p| p.waits()) {
                let _ = current.inputs.send(Input::Interrupt { why: "the demo was taken over".to_owned() });
            }
        }
        self.notice(words);
    }

    /// One step of the demo: the next reply, the next turn, or (only when asked for) the scripted person's answer.
    fn play_on(&mut self, asked: bool) {
        let (Some(playing), Some(current)) = (&mut self.playing, &self.current) else { return };
        if playing.sent == Some(current.state.last) {
            return;
        }
        let input = if playing.pace.waits() {
            playing.pace.let_one();
            playing.step += 1;
            None
        } else {
            match current.state.phase() {
                Phase::Waiting if asked => {
                    scripted_answer(&playing.script, &current.state).map(|(proposal, decision)| Input::Answer {
                        proposal,
                        decision,
                        approver: demo::SCRIPTED.to_owned(),
                    })
                }
                Phase::Idle => {
                    let next = next_turn(&playing.script, &current.state);
                    playing.step += usize::from(next.is_some());
                    playing.running &= next.is_some();
                    next.map(|text| Input::UserTurn { text, pasted: Vec::new() })
                }
                Phase::Waiting | Phase::Thinking | Phase::Working | Phase::Closed => None,
            }
        };
        if let Some(input) = input {
            playing.sent = Some(current.state.last);
            let _ = current.inputs.send(input);
        }
        self.tell_status();
    }

    fn next_tick(&self) -> BoxFuture<'static, ()> {
        let wait = self.playing.as_ref().filter(|p| p.running).zip(self.current.as_ref());
        match wait {
            Some((playing, current)) => Box::pin(tokio::time::sleep(pace_at(playing, &current.state))),
            None => Box::pin(std::future::pending()),
        }
    }

    fn status(&self) -> Option<DemoStatus> {
        let (playing, current) = (self.playing.as_ref()?, self.current.as_ref()?);
        let script = &playing.script;
        let steps = script.turns.iter().map(|t| 1 + t.replies.len()).sum();
        let next = match current.state.phase() {
            Phase::Waiting => Some("answer the question, or space: let the script answer".to_owned()),
            Phase::Idle => {
                next_turn(script, &current.state).map(|t| format!("you: {}", t.lines().next().unwrap_or_default()))
            }
            Phase::Thinking | Phase::Working => Some("the agent's next move".to_owned()),
            Phase::Closed => None,
        };
        let (name, running, speed) = (script.name.clone(), playing.running, playing.speed);
        Some(DemoStatus { name, step: playing.step.min(steps), steps, running, speed, next })
    }

    fn tell_status(&self) {
        if let Some(status) = self.status() {
            let _ = self.feeds.send(Feed::Demo(status));
        }
    }
}

fn no_status() -> DemoStatus {
    DemoStatus { name: String::new(), step: 0, steps: 0, running: false, speed: 1.0, next: None }
}

/// The beginning and the end of a demo are to be read; what lies between shows how long a history is.
fn pace_at(playing: &Playing, state: &State) -> Duration {
    const READ: u64 = 1_400;
    const SKIM: u64 = 90;
    let turns = playing.script.turns.len() as u32;
    let worth_reading = state.turn.0 <= 2 || state.turn.0 + 1 >= turns;
    let millis = if worth_reading { READ } else { SKIM };
    Duration::from_millis((millis as f64 / playing.speed) as u64)
}

async fn next_record(current: &mut Option<Current>) -> Option<agent::Feed> {
    match current {
        Some(current) => current.feed.recv().await,
        None => std::future::pending().await,
    }
}

/// A model that answers when it is let: what makes a demo step.
struct Pace {
    model: Arc<dyn Model>,
    permits: Semaphore,
    waits: AtomicBool,
}

impl Pace {
    fn over(model: Arc<dyn Model>) -> Self {
        Pace { model, permits: Semaphore::new(0), waits: AtomicBool::new(false) }
    }

    fn waits(&self) -> bool {
        self.waits.load(Ordering::Acquire)
    }

    fn let_one(&self) {
        self.waits.store(false, Ordering::Release);
        self.permits.add_permits(1);
    }
}

impl Model for Pace {
    fn name(&self) -> String {
        self.model.name()
    }
    fn is_simulated(&self) -> bool {
        self.model.is_simulated()
    }
    fn reply<'a>(
        &'a self,
        prompt: Prompt,
        deltas: mpsc::UnboundedSender<Delta>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            self.waits.store(true, Ordering::Release);
            tokio::select! {
                permit = self.permits.acquire() => permit.map_err(|_| ModelError::Cancelled)?.forget(),
                () = cancel.cancelled() => return Err(ModelError::Cancelled),
            }
            self.model.reply(prompt, deltas, cancel).await
        })
    }
}
