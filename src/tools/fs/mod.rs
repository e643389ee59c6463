//! The `fs_*` tools: each acts on places of the workspace, through handles, and on nothing else.

mod read;
mod tree;
mod write;

pub(super) use read::names;
pub(super) use tree::{Tally, TreeError, copy_tree};

use super::{ToolError, backup, place::Ground};
use crate::domain::{Backup, RawCall};
use serde::{Deserialize, de::DeserializeOwned};
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

#[derive(Debug)]
pub(super) struct Files {
    pub(super) ground: Ground,
    pub(super) backups: PathBuf,
    pub(super) trash: PathBuf,
}

/// What a tool says.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) ok: bool,
    pub(super) text: String,
    pub(super) diff: Option<String>,
    pub(super) backup: Option<Backup>,
}

impl Answer {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Answer { ok: true, text: text.into(), diff: None, backup: None }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnePath {
    path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TwoPaths {
    from: String,
    to: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    path: String,
    offset: Option<u64>,
    limit: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Write {
    path: String,
    content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    path: String,
    old: String,
    new: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    pattern: String,
    path: Option<String>,
}

impl Files {
    /// Blocking.
    pub(super) fn run(&self, call: &RawCall, cancel: &CancellationToken) -> Result<Answer, ToolError> {
        match call.tool.as_str() {
            "fs_list" => self.list(&arguments::<OnePath>(call)?.path),
            "fs_read" => {
                let Read { path, offset, limit } = arguments(call)?;
                self.read(&path, offset.unwrap_or(1), limit.unwrap_or(u64::MAX))
            }
            "fs_write" => {
                let Write { path, content } = arguments(call)?;
                self.write(&path, &content)
            }
            "fs_edit" => {
                let Edit { path, old, new } = arguments(call)?;
                self.edit(&path, &old, &new)
            }
            "fs_move" => {
                let TwoPaths { from, to } = arguments(call)?;
                self.rename(&from, &to)
            }
            "fs_copy" => {
                let TwoPaths { from, to } = arguments(call)?;
                self.copy(&from, &to, cancel)
            }
            "fs_delete" => self.delete(&arguments::<OnePath>(call)?.path, cancel),
            "fs_search" => {
                let Search { pattern, path } = arguments(call)?;
                self.search(&pattern, path.as_deref().unwrap_or("."), cancel)
            }
            "fs_backup" => backup::make(&self.ground, &self.backups, &arguments::<OnePath>(call)?.path, cancel),
            tool => Err(ToolError::Unknown(tool.to_owned())),
        }
    }
}

pub(super) fn arguments<T: DeserializeOwned>(call: &RawCall) -> Result<T, ToolError> {
    T::deserialize(&call.args).map_err(|e| ToolError::Arguments(format!("`{}`: {e}", call.tool)))
}

fn going_on(cancel: &CancellationToken) -> Result<(), ToolError> {
    if cancel.is_cancelled() { Err(ToolError::Cancelled) } else { Ok(()) }
}

/// `3 files`, `1 file`.
pub(super) fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
