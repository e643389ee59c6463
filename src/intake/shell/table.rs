//! Command-line tools as data: what the tables under `assets/commands/` may say of a tool, and reading them. Says
//! nothing about any single tool; a tool that no table describes is opaque.
//!
//! An operand or an option's value has a role (the words of [`Role`] in kebab case, or `<verb> <kind>`), a flag has
//! one of the meanings of [`Flag`] (`operands:<role>` changes the operands' role). One key holds every spelling.
//! `examples` are lines with all effects they must have, in order; a test runs them.

use crate::domain::{Kind, Verb};
use serde::{Deserialize, Deserializer, de};
use std::{collections::BTreeMap, sync::LazyLock};

/// What a tool does with one operand or with the value of one option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing: a pattern, a number, a format.
    Text,
    Read,
    /// A file that names more operands.
    OperandsFrom,
    List,
    /// Created when missing, else only its time stamp or tail changes.
    Touch,
    /// Created when missing, else its content is replaced.
    Write,
    Modify,
    Delete,
    /// Gone from its place, kept elsewhere.
    Move,
    MakeDirectory,
    /// Copied or moved to the destination, which is the last operand or an option's value.
    CopySource,
    MoveSource,
    Destination,
    /// The tool works there.
    Directory,
    /// What it makes of itself lands there.
    Into,
    /// A line for a shell.
    Script,
    /// From here on: a command with its arguments.
    Command,
    /// A file with code, or code itself, in a language that weal does not read.
    Program,
    Inline,
    /// The pattern or script that otherwise is the first operand, or a file that holds it.
    Expression,
    ExpressionFile,
    /// A URL or `[user@]host[:…]` to which a request goes.
    Url,
    /// Sent out: a file, or `@file`, or the text itself.
    SendFile,
    SendAt,
    /// Any other verb on a named thing.
    On(Verb, Kind),
}

/// What a flag changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    /// Operands mean whole trees.
    Tree,
    /// Nothing happens (dry run, help).
    Dry,
    /// The first operand's special role falls away.
    NoFirst,
    /// What is lost is lost without a question.
    Force,
    /// The operands' role becomes this.
    Operands(Role),
    /// What happens cannot be told.
    Opaque,
    Escalates,
    /// Nothing that exists is replaced.
    Keep,
    Mark,
}

/// Tools (or their subcommands) that need code of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Special {
    Echo,
    Printf,
    Cd,
    Pwd,
    Assign,
    Local,
    Read,
    Unset,
    Set,
    Eval,
    Source,
    Trap,
    Exec,
    Shell,
    Interpreter,
    Test,
    Find,
    Xargs,
    Sed,
    Awk,
    Dd,
    Cat,
    Base64,
    PathPart,
    Mktemp,
    Tar,
    Curl,
    Remote,
    Rsync,
    GitPush,
    GitClone,
    GitCheckout,
    GitRestore,
    GitReset,
    GitClean,
    GitBranch,
    GitStash,
    GitRemove,
    GitRefs,
    Applet,
}

/// An effect that a tool has whatever its operands are: `modify path:.git`, `request host:*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fixed {
    pub verb: Verb,
    pub resource: crate::domain::Resource,
}

/// What a tool prints, if that can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Output {
    #[default]
    Unknown,
    Nothing,
    /// Some or all lines of its input, unchanged.
    Filter,
    /// One word that is no path (a number, a date).
    Word,
}

/// One tool or subcommand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Tool {
    names: Vec<String>,
    /// Lines and the effects that they must have, checked by a test.
    examples: BTreeMap<String, Vec<String>>,
    /// Options with a value, `"-o --output" = "write"`; every spelling in one key.
    options: BTreeMap<String, Role>,
    /// Options without a value.
    flags: BTreeMap<String, Flag>,
    /// Options with a value of no consequence.
    values: Vec<String>,
    /// Options without a value that only the tool's own code looks at.
    marks: Vec<String>,
    /// Roles of the first operands, one by one.
    pub first: Vec<Role>,
    /// Role of the others.
    pub operands: Option<Role>,
    /// Role of the last one, where there are at least two.
    pub last: Option<Role>,
    /// Operands always mean whole trees.
    pub tree: bool,
    /// The operand where none is given; `*` for any.
    pub implied: Option<String>,
    pub effects: Vec<Fixed>,
    pub output: Output,
    pub special: Option<Special>,
    /// Options end at the first operand.
    pub leading: bool,
    /// `NAME=value` operands in front of the command are assignments.
    pub assigns: bool,
    /// The command runs as somebody else.
    pub escalates: bool,
    /// What it does depends on files that weal does not read.
    pub opaque: bool,
    /// Subcommands; every spelling in one key.
    pub sub: BTreeMap<String, Tool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    command: Vec<Tool>,
}

/// All tools by name.
#[derive(Debug, Default)]
pub(super) struct Tools {
    tools: Vec<Tool>,
    by_name: BTreeMap<String, usize>,
    pub examples: BTreeMap<String, Vec<String>>,
}

impl Tools {
    pub fn parse(texts: &[&str]) -> Result<Self, toml::de::Error> {
        let mut tools = Tools::default();
        for text in texts {
            tools.add(toml::from_str(text)?)?;
        }
        Ok(tools)
    }

    fn add(&mut self, file: File) -> Result<(), toml::de::Error> {
        for mut tool in file.command {
            for name in std::mem::take(&mut tool.names) {
                if self.by_name.insert(name.clone(), self.tools.len()).is_some() {
                    return Err(de::Error::custom(format!("`{name}` is described twice")));
                }
            }
            self.examples.extend(std::mem::take(&mut tool.examples));
            self.tools.push(tool);
        }
        Ok(())
    }

    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(*self.by_name.get(name)?)
    }
}

/// The tables that ship with weal.
pub(super) const SHIPPED: [&str; 12] = [
    include_str!("../../../assets/commands/archives.toml"),
    include_str!("../../../assets/commands/containers.toml"),
    include_str!("../../../assets/commands/databases.toml"),
    include_str!("../../../assets/commands/git.toml"),
    include_str!("../../../assets/commands/interpreters.toml"),
    include_str!("../../../assets/commands/network.toml"),
    include_str!("../../../assets/commands/packages.toml"),
    include_str!("../../../assets/commands/reading.toml"),
    include_str!("../../../assets/commands/shell.toml"),
    include_str!("../../../assets/commands/system.toml"),
    include_str!("../../../assets/commands/wrappers.toml"),
    include_str!("../../../assets/commands/writing.toml"),
];

/// Were a shipped table broken (a test parses them) every command would be unknown, hence opaque.
pub(super) static TOOLS: LazyLock<Tools> = LazyLock::new(|| Tools::parse(&SHIPPED).unwrap_or_default());

/// How an option is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spec {
    Value(Role),
    Flag(Flag),
}

impl Tool {
    pub fn subcommand(&self, name: &str) -> Option<&Tool> {
        self.sub.iter().find(|(key, _)| key.split(' ').any(|k| k == name)).map(|(_, tool)| tool)
    }

    /// The option spelt `name` (dashes included) or abbreviated to it: its first spelling and meaning.
    pub fn option(&self, name: &str) -> Option<(&str, Spec)> {
        self.spelt(|spelling| spelling == name).or_else(|| {
            let long = name.starts_with("--") && name.len() > 3;
            if long { self.spelt(|spelling| spelling.starts_with(name)) } else { None }
        })
    }

    fn spelt(&self, is: impl Fn(&str) -> bool) -> Option<(&str, Spec)> {
        let any = |key: &str| key.split(' ').any(&is);
        let options = self.options.iter().map(|(key, role)| (key.as_str(), Spec::Value(*role)));
        let flags = self.flags.iter().map(|(key, flag)| (key.as_str(), Spec::Flag(*flag)));
        let values = self.values.iter().map(|key| (key.as_str(), Spec::Value(Role::Text)));
        let marks = self.marks.iter().map(|key| (key.as_str(), Spec::Flag(Flag::Mark)));
        options
            .chain(flags)
            .chain(values)
            .chain(marks)
            .find(|(key, _)| any(key))
            .map(|(key, spec)| (key.split(' ').next().unwrap_or(key), spec))
    }
}

/// `verb kind`.
fn verb_on_kind(text: &str) -> Option<(Verb, Kind)> {
    let (verb, kind) = text.split_once(' ')?;
    Some((Verb::from_word(verb)?, Kind::from_word(kind)?))
}

impl Role {
    fn parse(text: &str) -> Option<Role> {
        Some(match text {
            "text" => Role::Text,
            "read" => Role::Read,
            "operands-from" => Role::OperandsFrom,
            "list" => Role::List,
            "touch" => Role::Touch,
            "write" => Role::Write,
            "modify" => Role::Modify,
            "delete" => Role::Delete,
            "move" => Role::Move,
            "make-directory" => Role::MakeDirectory,
            "copy-source" => Role::CopySource,
            "move-source" => Role::MoveSource,
            "destination" => Role::Destination,
            "directory" => Role::Directory,
            "into" => Role::Into,
            "script" => Role::Script,
            "command" => Role::Command,
            "program" => Role::Program,
            "inline" => Role::Inline,
            "expression" => Role::Expression,
            "expression-file" => Role::ExpressionFile,
            "url" => Role::Url,
            "send-file" => Role::SendFile,
            "send-at" => Role::SendAt,
            _ => {
                let (verb, kind) = verb_on_kind(text)?;
                Role::On(verb, kind)
            }
        })
    }
}

impl Flag {
    fn parse(text: &str) -> Option<Flag> {
        Some(match text {
            "tree" => Flag::Tree,
            "dry" => Flag::Dry,
            "no-first" => Flag::NoFirst,
            "force" => Flag::Force,
            "opaque" => Flag::Opaque,
            "escalates" => Flag::Escalates,
            "keep" => Flag::Keep,
            _ => Flag::Operands(Role::parse(text.strip_prefix("operands:")?)?),
        })
    }
}

impl Fixed {
    fn parse(text: &str) -> Option<Fixed> {
        let (verb, resource) = text.split_once(' ')?;
        let Ok(resource) = resource.parse();
        Some(Fixed { verb: Verb::from_word(verb)?, resource })
    }
}

macro_rules! deserialize_by_parse {
    ($($type:ty),*) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = String::deserialize(d)?;
                <$type>::parse(&text)
                    .ok_or_else(|| de::Error::custom(format!("`{text}` is no {}", stringify!($type).to_lowercase())))
            }
        }
    )*};
}

deserialize_by_parse!(Role, Flag, Fixed);
