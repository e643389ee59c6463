//! What an effect touches: a kind and a canonical name, or a set of names.
//!
//! Text form, the same in rules, log and on screen: `records/2019` (a path), `records/**` (that path and all
//! below it), `*.log` (a glob), `host:example.org`, `mail:*`. A `*`, `?`, `[`, `{` or `\` that belongs to a name is
//! escaped with `\`. Paths are canonical: links resolved, `..` folded, relative to the workspace where they lie in
//! it (`.` is the workspace itself), `~/…` where they lie in the home directory, absolute elsewhere.

use super::id::serde_as_text;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{fmt, str::FromStr};

/// What kind of thing a resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Path,
    Mail,
    Contact,
    Event,
    Device,
    Account,
    Table,
    Database,
    Host,
    Branch,
    Remote,
    Repository,
    Process,
    Service,
    Container,
    Package,
    Secret,
    Program,
    Tool,
    Setting,
    /// A thing known only by name.
    Thing,
}

impl Kind {
    pub const ALL: [Kind; 21] = [
        Kind::Path,
        Kind::Mail,
        Kind::Contact,
        Kind::Event,
        Kind::Device,
        Kind::Account,
        Kind::Table,
        Kind::Database,
        Kind::Host,
        Kind::Branch,
        Kind::Remote,
        Kind::Repository,
        Kind::Process,
        Kind::Service,
        Kind::Container,
        Kind::Package,
        Kind::Secret,
        Kind::Program,
        Kind::Tool,
        Kind::Setting,
        Kind::Thing,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Kind::Path => "path",
            Kind::Mail => "mail",
            Kind::Contact => "contact",
            Kind::Event => "event",
            Kind::Device => "device",
            Kind::Account => "account",
            Kind::Table => "table",
            Kind::Database => "database",
            Kind::Host => "host",
            Kind::Branch => "branch",
            Kind::Remote => "remote",
            Kind::Repository => "repository",
            Kind::Process => "process",
            Kind::Service => "service",
            Kind::Container => "container",
            Kind::Package => "package",
            Kind::Secret => "secret",
            Kind::Program => "program",
            Kind::Tool => "tool",
            Kind::Setting => "setting",
            Kind::Thing => "thing",
        }
    }

    pub fn from_word(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|k| k.word() == word)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How much of a kind is meant. Names are stored unescaped in `One` and `Subtree`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extent {
    /// Exactly this name.
    One(String),
    /// This path and everything below it.
    Subtree(String),
    /// Every name that the glob matches.
    Glob(String),
    /// Any name at all: nothing is known of which.
    Any,
}

/// A kind with an extent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource {
    pub kind: Kind,
    pub extent: Extent,
}

impl Resource {
    pub fn path(name: impl Into<String>) -> Self {
        Resource { kind: Kind::Path, extent: Extent::One(name.into()) }
    }
    pub fn subtree(name: impl Into<String>) -> Self {
        Resource { kind: Kind::Path, extent: Extent::Subtree(name.into()) }
    }
    pub fn glob(pattern: impl Into<String>) -> Self {
        Resource { kind: Kind::Path, extent: Extent::Glob(pattern.into()) }
    }
    pub fn named(kind: Kind, name: impl Into<String>) -> Self {
        Resource { kind, extent: Extent::One(name.into()) }
    }
    pub const fn any(kind: Kind) -> Self {
        Resource { kind, extent: Extent::Any }
    }

    /// The name as the world knows it, where exactly one name or one subtree is meant.
    pub fn name(&self) -> Option<&str> {
        match &self.extent {
            Extent::One(name) | Extent::Subtree(name) => Some(name),
            Extent::Glob(_) | Extent::Any => None,
        }
    }
}

/// Characters with a meaning in globs.
pub fn is_glob_char(c: char) -> bool {
    matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\')
}

fn write_escaped(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    for c in name.chars() {
        if is_glob_char(c) {
            f.write_str("\\")?;
        }
        write!(f, "{c}")?;
    }
    Ok(())
}

fn unescaped(text: &str) -> Option<String> {
    let mut name = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => name.push(chars.next()?),
            c if is_glob_char(c) => return None,
            c => name.push(c),
        }
    }
    Some(name)
}

/// The kind named before the first `:`, if that word is a kind.
fn split_kind(text: &str) -> Option<(Kind, &str)> {
    let (word, rest) = text.split_once(':')?;
    Kind::from_word(word).map(|kind| (kind, rest))
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match &self.extent {
            Extent::One(name) | Extent::Subtree(name) | Extent::Glob(name) => name.as_str(),
            Extent::Any => "",
        };
        let any_path = self.kind == Kind::Path && self.extent == Extent::Any;
        if self.kind != Kind::Path || any_path || split_kind(text).is_some() {
            write!(f, "{}:", self.kind)?;
        }
        match &self.extent {
            Extent::One(name) => write_escaped(f, name),
            Extent::Subtree(name) if name == "." => f.write_str("./**"),
            Extent::Subtree(name) => {
                write_escaped(f, name.trim_end_matches('/'))?;
                f.write_str("/**")
            }
            Extent::Glob(glob) => f.write_str(glob),
            Extent::Any => f.write_str("*"),
        }
    }
}

impl FromStr for Resource {
    type Err = std::convert::Infallible;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, rest) = split_kind(text).unwrap_or((Kind::Path, text));
        let explicit = rest.len() != text.len();
        if rest == "*" && (kind != Kind::Path || explicit) {
            return Ok(Resource::any(kind));
        }
        let subtree = rest.strip_suffix("/**").filter(|_| kind == Kind::Path);
        let extent = match (subtree.map(unescaped), unescaped(rest)) {
            (Some(Some(base)), _) if base.is_empty() => Extent::Subtree("/".into()),
            (Some(Some(base)), _) => Extent::Subtree(base),
            (_, Some(name)) => Extent::One(name),
            (_, None) => Extent::Glob(rest.to_owned()),
        };
        Ok(Resource { kind, extent })
    }
}

serde_as_text!(Resource);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips() {
        for (text, want) in [
            ("records/2019", Resource::path("records/2019")),
            ("records/**", Resource::subtree("records")),
            ("/**", Resource::subtree("/")),
            ("./**", Resource::subtree(".")),
            ("*.log", Resource::glob("*.log")),
            ("a\\*b", Resource::path("a*b")),
            ("path:host:x", Resource::path("host:x")),
            ("host:example.org", Resource::named(Kind::Host, "example.org")),
            ("mail:*", Resource::any(Kind::Mail)),
            ("path:*", Resource::any(Kind::Path)),
            ("*", Resource::glob("*")),
        ] {
            assert_eq!(text.parse::<Resource>().unwrap(), want, "{text}");
            assert_eq!(want.to_string(), text);
        }
    }
}
