//! A simulated agent that forgets the way long contexts make agents forget, so that what the audit stops can be
//! rehearsed without an endpoint. It knows a safe and an unsafe plan for one scenario and takes the safe one if it
//! recalls the constraint: the person's words must stand in the prompt it was really given, and are then recalled with
//! probability p₀·2^(−distance in tokens / half-life).
//!
//! Pure: the reply depends on prompt, seed and session file alone, so a retry says the same again.
//! What never lives here: anything the audit may rely on.

use super::{
    script::{Now, Say, Script},
    scripted::spoken,
};
use crate::{
    domain::{Digest, Message, Prompt, RawCall, Reply, Role, message::tokens_of_len},
    ports::{Delta, Model, ModelError},
};
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// A task with a constraint that an inattentive agent would break.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    pub name: String,
    /// Words of the request that set the task; one of them is enough.
    pub cues: Vec<String>,
    /// The person's words that must be recalled.
    pub constraint: String,
    /// The chance to recall words that stand at the very end of the prompt.
    pub p0: f64,
    /// Tokens over which the chance halves.
    pub half_life: f64,
    pub safe: Plan,
    pub risky: Plan,
}

/// Calls that are proposed one after the other, what is said with the first, and after the last.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub say: String,
    pub calls: Vec<RawCall>,
    pub done: String,
}

impl Scenario {
    pub fn is_cued(&self, request: &str) -> bool {
        let request = plain(request);
        self.cues.iter().any(|cue| request.contains(&plain(cue)))
    }

    /// Tokens between the last mention of the constraint and the end of the prompt; `None` if there is none.
    /// A tool message of this turn that cites it (a receipt) is as near as can be.
    pub fn distance(&self, prompt: &Prompt) -> Option<u64> {
        let words = plain(&self.constraint);
        let mut after = 0;
        let mut this_turn = true;
        for message in prompt.messages.iter().rev() {
            this_turn &= message.role != Role::User;
            let text = plain(&message.text);
            match text.rfind(&words) {
                Some(_) if this_turn && message.role == Role::Tool => return Some(0),
                Some(at) => return Some(tokens_of_len(after + text.len() - at - words.len())),
                None => after += len(message),
            }
        }
        None
    }

    /// The chance that the constraint is recalled.
    pub fn chance(&self, prompt: &Prompt) -> f64 {
        let halvings = self.distance(prompt).map(|tokens| tokens as f64 / self.half_life);
        halvings.map_or(0.0, |halvings| self.p0 * (-halvings).exp2())
    }

    /// One draw for each seed, scenario, constraint and turn, in [0, 1).
    fn draw(&self, prompt: &Prompt, said: &str, seed: u64) -> f64 {
        let turn = prompt.messages.iter().filter(|m| m.role == Role::User).count() as u64;
        let (seed, turn) = (seed.to_le_bytes(), turn.to_le_bytes());
        let parts = [&seed, self.name.as_bytes(), self.constraint.as_bytes(), &turn, said.as_bytes()];
        let Digest([a, b, c, d, ..]) = Digest::of_parts(parts);
        f64::from(u32::from_le_bytes([a, b, c, d])) / 2_f64.powi(32)
    }

    fn say(&self, prompt: &Prompt, now: &Now, seed: u64) -> Say {
        let recalled = self.draw(prompt, now.said, seed) < self.chance(prompt);
        let plan = if recalled { &self.safe } else { &self.risky };
        let since = prompt.messages.iter().rev().take_while(|m| m.role != Role::User);
        let tried: Vec<&RawCall> = since.flat_map(|m| &m.calls).map(|c| &c.call).collect();
        match plan.calls.iter().find(|call| !tried.contains(call)) {
            Some(call) => {
                let begins = !plan.calls.iter().any(|call| tried.contains(&call));
                Say { text: if begins { plan.say.clone() } else { String::new() }, calls: vec![call.clone()] }
            }
            None if now.was_denied => {
                Say { text: "That was denied, and I know no other way.".to_owned(), calls: Vec::new() }
            }
            None => Say { text: plan.done.clone(), calls: Vec::new() },
        }
    }
}

fn len(message: &Message) -> usize {
    message.text.len() + message.calls.iter().map(|c| c.call.args.to_string().len() + 16).sum::<usize>() + 8
}

/// Case, spacing and the shape of quotation marks do not matter to a memory.
fn plain(text: &str) -> String {
    let text = text.to_lowercase().replace(['“', '”'], "\"").replace(['‘', '’'], "'");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The agent of one session file that has a scenario.
pub struct Rehearsal {
    script: Arc<Script>,
    scenario: Scenario,
    seed: u64,
}

impl Rehearsal {
    /// `None` if the session file has no scenario.
    pub fn new(script: Arc<Script>, seed: u64) -> Option<Self> {
        let scenario = script.rehearsal.clone()?;
        Some(Rehearsal { script, scenario, seed })
    }

    fn say(&self, prompt: &Prompt) -> Say {
        let Some(now) = Now::of(prompt) else { return self.lost() };
        if self.scenario.is_cued(now.said) {
            return self.scenario.say(prompt, &now, self.seed);
        }
        let played = prompt.messages.iter().filter(|m| m.role == Role::Assistant).count();
        self.script.say(prompt, played).cloned().unwrap_or_else(|| self.lost())
    }

    fn lost(&self) -> Say {
        let cues: Vec<String> = self.scenario.cues.iter().map(|cue| format!("“{cue}”")).collect();
        let text = format!("I am a simulated agent and only rehearse requests with {}.", cues.join(" or "));
        Say { text, calls: Vec::new() }
    }
}

impl Model for Rehearsal {
    fn name(&self) -> String {
        format!("rehearsal:{}", self.scenario.name)
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
            Ok(spoken(&self.say(&prompt), &prompt, &deltas))
        })
    }
}
