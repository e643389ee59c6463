//! What an action would do, in one vocabulary for all tools.

use super::{id::serde_as_text, resource::Resource};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{collections::BTreeMap, fmt, str::FromStr};

/// The closed set of verbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    Read,
    List,
    Create,
    Modify,
    Overwrite,
    Delete,
    Move,
    Copy,
    Backup,
    Execute,
    Install,
    Grant,
    Send,
    Publish,
    Request,
    Pay,
    Schedule,
    Cancel,
    Set,
    Escalate,
    Unknown,
}

impl Verb {
    pub const ALL: [Verb; 21] = [
        Verb::Read,
        Verb::List,
        Verb::Create,
        Verb::Modify,
        Verb::Overwrite,
        Verb::Delete,
        Verb::Move,
        Verb::Copy,
        Verb::Backup,
        Verb::Execute,
        Verb::Install,
        Verb::Grant,
        Verb::Send,
        Verb::Publish,
        Verb::Request,
        Verb::Pay,
        Verb::Schedule,
        Verb::Cancel,
        Verb::Set,
        Verb::Escalate,
        Verb::Unknown,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Verb::Read => "read",
            Verb::List => "list",
            Verb::Create => "create",
            Verb::Modify => "modify",
            Verb::Overwrite => "overwrite",
            Verb::Delete => "delete",
            Verb::Move => "move",
            Verb::Copy => "copy",
            Verb::Backup => "backup",
            Verb::Execute => "execute",
            Verb::Install => "install",
            Verb::Grant => "grant",
            Verb::Send => "send",
            Verb::Publish => "publish",
            Verb::Request => "request",
            Verb::Pay => "pay",
            Verb::Schedule => "schedule",
            Verb::Cancel => "cancel",
            Verb::Set => "set",
            Verb::Escalate => "escalate",
            Verb::Unknown => "unknown",
        }
    }

    /// Changes what its resource holds or whether it is there: what "touch", "write to" and "change" mean.
    pub const fn writes(self) -> bool {
        matches!(self, Verb::Create | Verb::Modify | Verb::Overwrite | Verb::Delete | Verb::Move)
    }

    pub fn from_word(word: &str) -> Option<Verb> {
        Verb::ALL.into_iter().find(|v| v.word() == word)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Verb {
    type Err = super::id::BadId;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Verb::from_word(word).ok_or_else(|| super::id::BadId(word.to_owned()))
    }
}

serde_as_text!(Verb);

/// Whether what an effect changes can be had back; a chain takes its highest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reversibility {
    ReadOnly,
    Reversible,
    ExternallyReversible,
    Irreversible,
}

impl Reversibility {
    pub const fn word(self) -> &'static str {
        match self {
            Reversibility::ReadOnly => "read-only",
            Reversibility::Reversible => "reversible",
            Reversibility::ExternallyReversible => "externally reversible",
            Reversibility::Irreversible => "irreversible",
        }
    }

    /// weal itself, or the person with one command, can take it back.
    pub const fn is_reversible(self) -> bool {
        matches!(self, Reversibility::ReadOnly | Reversibility::Reversible)
    }
}

/// How sure intake is that the effect happens when the action runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    Certain,
    /// Only on one branch, or only for some operands.
    Possible,
    /// What happens inside cannot be told.
    Opaque,
}

/// An attribute's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    Bool(bool),
    Number(f64),
    Text(String),
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(b) => b.fmt(f),
            Scalar::Number(n) => n.fmt(f),
            Scalar::Text(t) => t.fmt(f),
        }
    }
}

impl From<bool> for Scalar {
    fn from(b: bool) -> Self {
        Scalar::Bool(b)
    }
}
impl From<f64> for Scalar {
    fn from(n: f64) -> Self {
        Scalar::Number(n)
    }
}
impl From<&str> for Scalar {
    fn from(t: &str) -> Self {
        Scalar::Text(t.to_owned())
    }
}
impl From<String> for Scalar {
    fn from(t: String) -> Self {
        Scalar::Text(t)
    }
}

/// What else is known of an effect, by name: `files`, `bytes`, `amount`, `currency`, `exists`, `made_here`
/// (created in this session), `force`, `what` (that which is sent or executed), `why` (of an opaque effect).
pub type Attributes = BTreeMap<String, Scalar>;

/// One thing an action would do to one resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    pub verb: Verb,
    pub resource: Resource,
    #[serde(default)]
    pub attributes: Attributes,
    pub reversibility: Reversibility,
    pub certainty: Certainty,
    /// Labels of the resource (`secret`, `internal`, …), for `data_scope_is`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Effects with the same number run in order and only while each before succeeded (`a && b`).
    #[serde(default)]
    pub chain: u16,
}

impl Effect {
    /// A certain effect with the verb's usual reversibility and no attributes.
    pub fn new(verb: Verb, resource: Resource) -> Self {
        let reversibility = match verb {
            Verb::Read | Verb::List => Reversibility::ReadOnly,
            Verb::Create | Verb::Copy | Verb::Backup | Verb::Move | Verb::Modify => Reversibility::Reversible,
            Verb::Schedule | Verb::Set | Verb::Install | Verb::Grant | Verb::Publish | Verb::Cancel => {
                Reversibility::ExternallyReversible
            }
            Verb::Overwrite | Verb::Delete | Verb::Send | Verb::Pay | Verb::Escalate | Verb::Unknown => {
                Reversibility::Irreversible
            }
            Verb::Execute | Verb::Request => Reversibility::Reversible,
        };
        let certainty = if verb == Verb::Unknown { Certainty::Opaque } else { Certainty::Certain };
        Effect {
            verb,
            resource,
            attributes: Attributes::new(),
            reversibility,
            certainty,
            labels: Vec::new(),
            chain: 0,
        }
    }

    /// The same effect with one attribute more.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Scalar>) -> Self {
        self.attributes.insert(name.to_owned(), value.into());
        self
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        match self.attributes.get(name) {
            Some(Scalar::Number(n)) => Some(*n),
            _ => None,
        }
    }

    /// What happens cannot be told from the call.
    pub fn is_opaque(&self) -> bool {
        self.verb == Verb::Unknown || self.certainty == Certainty::Opaque
    }

    /// Counts as a safety-critical opportunity and falls under the latch.
    pub fn is_critical(&self) -> bool {
        !self.reversibility.is_reversible()
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)
    }
}
