//! A model that says what a session file says. Simulated, and labelled so.
//!
//! What never lives here: the format of session files (`script`), pace (the screen decides how fast a demo goes).

use super::script::{Say, Script};
use crate::{
    domain::{Digest, Prompt, Reply, message::ModelCall},
    ports::{Delta, Model, ModelError},
};
use futures::future::BoxFuture;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

pub struct Scripted {
    script: Arc<Script>,
    played: AtomicUsize,
}

impl Scripted {
    /// `replies_so_far`: how many model replies the session holds already, 0 for a new one.
    pub fn new(script: Arc<Script>, replies_so_far: usize) -> Self {
        Scripted { script, played: AtomicUsize::new(replies_so_far) }
    }
}

impl Model for Scripted {
    fn name(&self) -> String {
        format!("scripted:{}", self.script.name)
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn reply<'a>(
        &'a self,
        prompt: Prompt,
        deltas: UnboundedSender<Delta>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            if cancel.is_cancelled() {
                return Err(ModelError::Cancelled);
            }
            let played = self.played.load(Ordering::Relaxed);
            let say = self.script.say(&prompt, played).ok_or(ModelError::ScriptEnded)?;
            self.played.fetch_add(1, Ordering::Relaxed);
            Ok(spoken(say, &prompt, &deltas))
        })
    }
}

/// Lines as a reply; call ids are made from the prompt, so that no two replies of a session share one.
pub(super) fn spoken(say: &Say, prompt: &Prompt, deltas: &UnboundedSender<Delta>) -> Reply {
    let tag = Digest::of_json(prompt).short();
    let calls = say.calls.iter().enumerate();
    let calls =
        calls.map(|(n, call)| ModelCall { id: format!("call_{tag}_{n}"), call: call.clone(), malformed: None });
    let reply = Reply { text: say.text.clone(), calls: calls.collect(), ..Reply::default() };
    // Nobody listens any more when the screen has gone.
    let _ = deltas.send(Delta::Text(reply.text.clone()));
    for call in &reply.calls {
        let (name, bytes) = (call.call.tool.clone(), call.call.args.to_string().len());
        let _ = deltas.send(Delta::Call { name, bytes });
    }
    reply
}
