//! Inputs in, events to the log, log to the state, commands to the world. Append first, then apply, then act.

use super::vault::Vault;
use crate::domain::{Outcome, ProposalId, Record, Reply, Status, ToolSpec};
use crate::intake::secrets::Unredactable;
use crate::ports::{Clock, Delta, Entry, Log, LogError, Model, ModelError, Tools, World};
use crate::session::{
    Command, Desk, Input, Phase, State, Step, advance, advance::clearance, advance::prompt_of, decide,
};
use futures::future::BoxFuture;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What those who watch are told.
#[derive(Debug, Clone, PartialEq)]
pub enum Feed {
    Record(Box<Record>),
    Draft(Delta),
}

/// Why a driver came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Nothing is under way and nobody sends inputs any more.
    Idle,
    /// A person is waited for, and none is there.
    WaitsForPerson,
    Closed,
}

#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("{0}; nothing of this step was recorded or done")]
    Redaction(#[from] Unredactable),
}

/// The adapters a driver works with.
pub struct Driver {
    pub log: Box<dyn Log>,
    pub model: Arc<dyn Model>,
    pub tools: Arc<dyn Tools>,
    pub world: Arc<dyn World>,
    pub clock: Arc<dyn Clock>,
    pub vault: Vault,
    pub specs: Vec<ToolSpec>,
    pub state: State,
    pub feed: mpsc::UnboundedSender<Feed>,
    busy: Option<Busy>,
}

/// How long something that was cancelled may take to end.
const STOPPING: std::time::Duration = std::time::Duration::from_secs(5);

/// What is under way outside. At most one thing at a time.
struct Busy {
    cancel: CancellationToken,
    result: BoxFuture<'static, Input>,
    /// What a reply says so far; empty for anything else.
    draft: Arc<Mutex<String>>,
}

impl Busy {
    fn with(cancel: CancellationToken, result: BoxFuture<'static, Input>) -> Self {
        Busy { cancel, result, draft: Arc::default() }
    }
}

impl Driver {
    #[expect(clippy::too_many_arguments, reason = "the composition root names every adapter once")]
    pub fn new(
        log: Box<dyn Log>,
        model: Arc<dyn Model>,
        tools: Arc<dyn Tools>,
        world: Arc<dyn World>,
        clock: Arc<dyn Clock>,
        vault: Vault,
        state: State,
        feed: mpsc::UnboundedSender<Feed>,
    ) -> Self {
        let specs = tools.specs();
        Driver { log, model, tools, world, clock, vault, specs, state, feed, busy: None }
    }

    /// Runs until `inputs` ends and nothing more can happen without it.
    pub async fn run(&mut self, inputs: &mut mpsc::UnboundedReceiver<Input>) -> Result<Ended, DriverError> {
        let mut open = true;
        loop {
            self.pump()?;
            if self.state.closed {
                return Ok(Ended::Closed);
            }
            match (&mut self.busy, open) {
                (None, false) => {
                    let waits = self.state.phase() == Phase::Waiting;
                    return Ok(if waits { Ended::WaitsForPerson } else { Ended::Idle });
                }
                (Some(busy), _) => {
                    tokio::select! {
                        biased;
                        input = inputs.recv(), if open => match input {
                            Some(input) => self.take(input)?,
                            None => open = false,
                        },
                        input = &mut busy.result => {
                            self.busy = None;
                            self.take(input)?;
                        }
                    }
                }
                (None, true) => match inputs.recv().await {
                    Some(input) => self.take(input)?,
                    None => open = false,
                },
            }
        }
    }

    /// One input: decided, recorded, applied, acted upon.
    pub fn take(&mut self, input: Input) -> Result<(), DriverError> {
        if let Input::ToolFinished { proposal, .. } = &input
            && let Some(body) = self.tools.take_body(*proposal)
        {
            let text = String::from_utf8_lossy(&body);
            let clean = self.vault.redact_text(&text);
            self.log.keep_blob(if clean == text { &body } else { clean.as_bytes() })?;
        }
        let input = match input {
            Input::UserTurn { text, pasted } => Input::UserTurn { text: self.vault.redact_text(&text), pasted },
            other => other,
        };
        if matches!(input, Input::Interrupt { .. }) {
            self.keep_draft()?;
        }
        let step = decide(&self.state, input, self.desk());
        self.carry_out(step)
    }

    /// What the person has read of a reply that is broken off stays, marked as cut.
    fn keep_draft(&mut self) -> Result<(), DriverError> {
        let draft = self.busy.as_ref().map(|busy| busy.draft.lock().unwrap_or_else(PoisonError::into_inner).clone());
        match draft {
            Some(text) if self.state.calling && !text.trim().is_empty() => {
                let reply = Reply { text: format!("{}\n\n[cut off here]", text.trim_end()), ..Reply::default() };
                let step = decide(&self.state, Input::ModelReplied { reply }, self.desk());
                self.carry_out(step)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Ends what is under way and records what came of it.
    pub async fn stop(&mut self, why: &str) -> Result<(), DriverError> {
        self.take(Input::Interrupt { why: why.to_owned() })?;
        if let Some(busy) = self.busy.take()
            && let Ok(input) = tokio::time::timeout(STOPPING, busy.result).await
        {
            self.take(input)?;
        }
        Ok(())
    }

    /// As far as the state itself leads, unless something is under way.
    fn pump(&mut self) -> Result<(), DriverError> {
        while self.busy.is_none() {
            let step = advance(&self.state, self.desk());
            if step.is_empty() {
                break;
            }
            self.carry_out(step)?;
        }
        Ok(())
    }

    fn desk(&self) -> Desk<'_> {
        Desk { now: self.clock.now(), tools: &self.specs }
    }

    fn carry_out(&mut self, step: Step) -> Result<(), DriverError> {
        self.record(step.events)?;
        for command in step.commands {
            self.order(command);
        }
        Ok(())
    }

    fn record(&mut self, entries: Vec<Entry>) -> Result<(), DriverError> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut batch = Vec::with_capacity(entries.len());
        for entry in entries {
            let event = self.vault.redact(&entry.event)?;
            batch.push(Entry { stream: entry.stream, event });
        }
        let records = self.log.append(self.clock.now(), &batch)?;
        for record in records {
            self.state.apply(&record);
            let _ = self.feed.send(Feed::Record(Box::new(record)));
        }
        Ok(())
    }

    fn order(&mut self, command: Command) {
        match command {
            Command::CallModel => self.call_model(),
            Command::ReadFacts { proposal, queries } => {
                let world = Arc::clone(&self.world);
                let read = tokio::task::spawn_blocking(move || world.read(&queries));
                let result = async move { Input::FactsRead { proposal, facts: read.await.unwrap_or_default() } };
                self.busy = Some(Busy::with(CancellationToken::new(), Box::pin(result)));
            }
            Command::Execute { proposal } => self.execute(proposal),
            Command::Cancel => {
                if let Some(busy) = &self.busy {
                    busy.cancel.cancel();
                }
            }
        }
    }

    fn call_model(&mut self) {
        let prompt = prompt_of(&self.state, self.desk());
        let (model, cancel) = (Arc::clone(&self.model), CancellationToken::new());
        let (deltas, mut drafts) = mpsc::unbounded_channel();
        let feed = self.feed.clone();
        let draft: Arc<Mutex<String>> = Arc::default();
        let so_far = Arc::clone(&draft);
        tokio::spawn(async move {
            while let Some(delta) = drafts.recv().await {
                let mut text = so_far.lock().unwrap_or_else(PoisonError::into_inner);
                match &delta {
                    Delta::Text(piece) => text.push_str(piece),
                    Delta::Restarted => text.clear(),
                    Delta::Reasoning(_) | Delta::Call { .. } | Delta::Retrying { .. } => {}
                }
                drop(text);
                let _ = feed.send(Feed::Draft(delta));
            }
        });
        let token = cancel.clone();
        let result = async move {
            match model.reply(prompt, deltas, token).await {
                Ok(reply) => Input::ModelReplied { reply },
                Err(ModelError::Cancelled) => Input::ModelFailed { error: "cancelled".to_owned() },
                Err(error) => Input::ModelFailed { error: error.to_string() },
            }
        };
        self.busy = Some(Busy { cancel, result: Box::pin(result), draft });
    }

    fn execute(&mut self, proposal: ProposalId) {
        let pass = self.state.handlings.get(&proposal).and_then(clearance);
        let (tools, cancel) = (Arc::clone(&self.tools), CancellationToken::new());
        let token = cancel.clone();
        let result: BoxFuture<'static, Input> = match pass.map(|p| p.reveal(self.vault.known())) {
            Some(Ok(pass)) => Box::pin(async move {
                let outcome = tools.execute(pass, token).await;
                Input::ToolFinished { proposal, outcome }
            }),
            Some(Err(lost)) => {
                let text =
                    format!("{lost} was known only to a process that has ended; propose this anew with the secret");
                let outcome = Outcome::plain(Status::Failed, text, 0);
                Box::pin(async move { Input::ToolFinished { proposal, outcome } })
            }
            None => {
                let outcome = Outcome::plain(Status::Failed, "no clearance for this action", 0);
                Box::pin(async move { Input::ToolFinished { proposal, outcome } })
            }
        };
        self.busy = Some(Busy::with(cancel, result));
    }
}

/// An event that a headless run prints: one line of JSON.
pub fn line(record: &Record) -> String {
    serde_json::to_string(record).unwrap_or_else(|e| format!("{{\"error\":\"{e}\"}}"))
}
