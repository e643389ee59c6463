//! Session files: a workspace, what the person says turn by turn, what the agent answers and calls, how the person
//! decides. Played by `scripted`, used as a stage by `rehearsal`.
//!
//! ```toml
//! name = "tidy"
//! title = "A tidy folder"
//!
//! [[file]]                       # the workspace; with `count`, many files (see `template` for the holes)
//! path = "old/{n:03}.txt"
//! count = 40
//! text = "page {n} of {100..120}\n"
//!
//! [[step]]
//! user = "Remove old/."
//!
//! [[step]]                       # one reply of the model
//! agent = "I remove it."
//! [[step.call]]
//! tool = "shell_exec"
//! args = { command = "rm -rf old" }
//!
//! [[step]]                       # how the person answers what that reply proposes, if they are asked
//! person = "deny"                # or approve_once, approve_session, edit, repair_first, ask_human
//! feedback = "Not today."
//!
//! [[step]]                       # one reply, by what became of the call before it
//! if = "denied"
//! agent = "Then it stays."
//!
//! [[step]]
//! if = "approved"
//! agent = "It is gone."
//! ```
//!
//! What never lives here: writing the files of the workspace, and any IO but the embedded session files.

use super::{
    rehearsal::Scenario,
    template::{Template, TemplateError},
};
use crate::domain::{HumanDecision, Prompt, RawCall, Role};
use std::ops::Range;

mod read;

/// A session file, read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub name: String,
    pub title: String,
    pub about: String,
    /// Tokens the conversation may fill before it is compacted, where the session wants another number than usual.
    pub context_budget: Option<u64>,
    files: Vec<FileSpec>,
    pub turns: Vec<ScriptedTurn>,
    pub rehearsal: Option<Scenario>,
}

/// What the person says, and what follows until they speak again.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedTurn {
    pub user: String,
    /// One for each model call of the turn, in order.
    pub replies: Vec<ScriptedReply>,
}

/// One model call's answer, and the person's word on what it proposes.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedReply {
    pub line: Line,
    /// How the person answers every question that this reply's calls raise.
    pub answer: Option<HumanDecision>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    Always(Say),
    /// By whether something the model proposed just before was denied.
    Either {
        approved: Say,
        denied: Say,
    },
}

/// Text and calls of one reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Say {
    pub text: String,
    pub calls: Vec<RawCall>,
}

#[derive(Debug, Clone, PartialEq)]
enum FileSpec {
    One { path: String, text: String },
    Series { path: Template, text: Template, count: u64 },
}

/// A session file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("session file `{file}`, line {line}: {what} ({hint})")]
pub struct ScriptError {
    pub file: String,
    /// From 1.
    pub line: usize,
    pub what: String,
    pub hint: String,
}

impl Script {
    /// Reads a session file; `name` is what errors call it.
    pub fn parse(text: &str, name: &str) -> Result<Script, ScriptError> {
        read::script(text).map_err(|wrong| wrong.within(text, name))
    }

    /// The workspace: paths relative to its root, with their contents.
    pub fn files(&self) -> Vec<(String, String)> {
        self.files.iter().flat_map(FileSpec::files).collect()
    }

    pub fn user_turns(&self) -> impl Iterator<Item = &str> {
        self.turns.iter().map(|turn| turn.user.as_str())
    }

    /// How the person answers what reply number `reply` of turn number `turn` (both from 0) proposes.
    pub fn answer(&self, turn: usize, reply: usize) -> Option<&HumanDecision> {
        self.turns.get(turn)?.replies.get(reply)?.answer.as_ref()
    }

    /// What the script says to a prompt. The place is found by the last thing the person said and the replies since;
    /// `played`, the number of replies so far, only tells apart turns in which they say the same.
    pub fn say(&self, prompt: &Prompt, played: usize) -> Option<&Say> {
        let now = Now::of(prompt)?;
        let mut before = 0;
        let mut best: Option<((usize, usize), &ScriptedTurn)> = None;
        for turn in &self.turns {
            let extra = now.said.len().saturating_sub(turn.user.len());
            let off = (extra, (before + now.replies).abs_diff(played));
            if now.is_said(&turn.user) && best.is_none_or(|(least, _)| off < least) {
                best = Some((off, turn));
            }
            before += turn.replies.len();
        }
        let (_, turn) = best?;
        Some(match &turn.replies.get(now.replies)?.line {
            Line::Always(say) => say,
            Line::Either { denied, .. } if now.was_denied => denied,
            Line::Either { approved, .. } => approved,
        })
    }
}

/// Where a conversation stands: the person's last words and what came after them.
pub(super) struct Now<'a> {
    pub said: &'a str,
    /// Replies since.
    pub replies: usize,
    /// A receipt came after the last reply.
    pub was_denied: bool,
}

impl<'a> Now<'a> {
    pub fn of(prompt: &'a Prompt) -> Option<Self> {
        let last = prompt.messages.iter().rposition(|m| m.role == Role::User)?;
        let (said, since) = prompt.messages.get(last..)?.split_first()?;
        let replies = since.iter().filter(|m| m.role == Role::Assistant).count();
        let was_denied = since.iter().rev().take_while(|m| m.role != Role::Assistant).any(|m| m.is_receipt());
        Some(Now { said: said.text.trim(), replies, was_denied })
    }

    /// The prompt may put more around the words, never less.
    fn is_said(&self, user: &str) -> bool {
        self.said.ends_with(user) || self.said.starts_with(user)
    }
}

impl FileSpec {
    fn files(&self) -> Vec<(String, String)> {
        match self {
            FileSpec::One { path, text } => vec![(path.clone(), text.clone())],
            FileSpec::Series { path, text, count } => {
                let file = |n| {
                    let path = path.fill(n, "");
                    let text = text.fill(n, &path);
                    (path, text)
                };
                (1..=*count).map(file).collect()
            }
        }
    }
}

/// The sessions that come with the program: name and text.
pub fn bundled() -> &'static [(&'static str, &'static str)] {
    &[
        ("archive", include_str!("../../sessions/archive.toml")),
        ("quickstart", include_str!("../../sessions/quickstart.toml")),
        ("rehearsal", include_str!("../../sessions/rehearsal.toml")),
    ]
}

/// Something wrong at a place of the text.
struct Wrong {
    at: Range<usize>,
    what: String,
    hint: &'static str,
}

impl Wrong {
    fn new(at: Range<usize>, what: impl Into<String>, hint: &'static str) -> Self {
        Wrong { at, what: what.into(), hint }
    }

    fn within(self, text: &str, file: &str) -> ScriptError {
        let before = text.as_bytes().get(..self.at.start).unwrap_or(text.as_bytes());
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        ScriptError { file: file.to_owned(), line, what: self.what, hint: self.hint.to_owned() }
    }
}

impl TemplateError {
    fn at(self, at: Range<usize>) -> Wrong {
        Wrong::new(at, self.to_string(), "holes are filled where `count` is given")
    }
}
