//! What was read from the world for one action before its audit, by question asked.
//!
//! `intake(call, facts)` either knows enough or names the queries it needs; the driver answers them and asks
//! again. Facts are recorded, so a replay never looks at the world.

use super::id::{Digest, serde_as_text};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{collections::BTreeMap, fmt, str::FromStr};

/// A question to the world. The text form (`path records/2019`) is its key in JSON.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Query {
    /// What is at this path? Absolute, or relative to the workspace.
    Path(String),
    /// Which paths does this glob match?
    Glob(String),
    /// Where does this command word lead, on the PATH a child would get?
    Command(String),
    /// The value of an environment variable as a child would see it.
    Env(String),
    /// The text of a (script) file, capped.
    Text(String),
    /// The state of the git work tree that holds this path.
    Git(String),
    /// What else is known of a thing outside of files: a scene, a device, a tool.
    State(String),
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, what) = match self {
            Query::Path(p) => ("path", p),
            Query::Glob(g) => ("glob", g),
            Query::Command(c) => ("command", c),
            Query::Env(e) => ("env", e),
            Query::Text(t) => ("text", t),
            Query::Git(g) => ("git", g),
            Query::State(s) => ("state", s),
        };
        write!(f, "{word} {what}")
    }
}

impl FromStr for Query {
    type Err = super::id::BadId;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (word, what) = text.split_once(' ').unwrap_or((text, ""));
        let what = what.to_owned();
        Ok(match word {
            "path" => Query::Path(what),
            "glob" => Query::Glob(what),
            "command" => Query::Command(what),
            "env" => Query::Env(what),
            "text" => Query::Text(what),
            "git" => Query::Git(what),
            "state" => Query::State(what),
            _ => return Err(super::id::BadId(text.to_owned())),
        })
    }
}

serde_as_text!(Query);

/// What a path turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathKind {
    Missing,
    File,
    Directory,
    /// A link whose target does not exist.
    DanglingLink,
    /// Device, socket, pipe.
    Special,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Fact {
    Path {
        /// Absolute, every link resolved (for a missing path: of its deepest existing parent, plus the rest).
        resolved: String,
        kind: PathKind,
        /// The path itself is a link; deleting it deletes the link, writing goes to `resolved`.
        #[serde(default)]
        link: bool,
        /// Files below a directory (1 for a file), up to the cap.
        #[serde(default)]
        files: u64,
        #[serde(default)]
        bytes: u64,
        /// Counting stopped at the cap: `files` and `bytes` are lower bounds.
        #[serde(default)]
        capped: bool,
        /// Changes whenever the content may have changed (size, mtime, inode of all that was counted).
        #[serde(default)]
        stamp: Digest,
        /// Made by this session and nothing in it is older. Filled in from the session's own record.
        #[serde(default)]
        made_here: bool,
    },
    Glob {
        paths: Vec<String>,
        #[serde(default)]
        capped: bool,
    },
    Command {
        /// Absolute path of the program, or `None` where there is none (a builtin is decided by intake).
        path: Option<String>,
        /// Digest of the program file, when it lies in the workspace (a script the agent could have changed).
        #[serde(default)]
        digest: Option<Digest>,
    },
    Env {
        value: Option<String>,
    },
    Text {
        text: Option<String>,
        #[serde(default)]
        digest: Digest,
    },
    Git {
        /// Root of the work tree, or `None` outside of one.
        root: Option<String>,
        /// Paths (relative to the root) with changes that no commit holds.
        #[serde(default)]
        dirty: Vec<String>,
        /// What git does not track, ignored files included.
        #[serde(default)]
        untracked: Vec<String>,
        #[serde(default)]
        branch: Option<String>,
        #[serde(default)]
        capped: bool,
    },
    State {
        value: super::effect::Scalar,
    },
    /// The world was asked and could not say (no permission, time-out, not looked at).
    Unavailable {
        why: String,
    },
}

/// All answers so far for one action.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Facts(pub BTreeMap<Query, Fact>);

impl Facts {
    pub fn get(&self, query: &Query) -> Option<&Fact> {
        self.0.get(query)
    }

    pub fn digest(&self) -> Digest {
        Digest::of_json(self)
    }
}
