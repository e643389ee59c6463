//! What a shell knows at one moment of a line: directory, variables, functions, arguments. A subshell gets a copy.

use super::words::Arg;
use brush_parser::ast;
use std::{collections::BTreeMap, rc::Rc};

/// A variable's value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Unset,
    One(Arg),
    Many(Vec<Arg>),
}

/// All that a name was defined as: which definition holds is not followed.
#[derive(Debug, Clone, Default)]
pub(super) struct Function {
    pub bodies: Vec<Rc<ast::FunctionDefinition>>,
    /// One of them holds; otherwise the name may still mean a program.
    pub sure: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Scope {
    /// Absolute; `None` after a `cd` to a place that cannot be told.
    pub cwd: Option<String>,
    pub old: Option<String>,
    pub vars: BTreeMap<String, Value>,
    pub functions: BTreeMap<String, Function>,
    /// `$1`, `$2`, …
    pub args: Vec<Arg>,
    /// Why commands may not be what their names say (`PATH` was set, …).
    pub tainted: Option<String>,
}

impl Scope {
    pub fn new(cwd: &str) -> Self {
        Scope {
            cwd: Some(cwd.to_owned()),
            old: None,
            vars: BTreeMap::new(),
            functions: BTreeMap::new(),
            args: Vec::new(),
            tainted: None,
        }
    }

    pub fn set(&mut self, name: &str, value: Value) {
        let quiet = matches!(&value, Value::One(Arg::Known(text)) if QUIET.contains(&text.as_str()));
        if changes_commands(name) && !(quiet && (name.ends_with("PAGER") || name.ends_with("EDITOR"))) {
            self.tainted = Some(format!("`{name}` was set"));
        }
        self.vars.insert(name.to_owned(), value);
    }

    /// Puts a hidden variable back.
    pub fn restore(&mut self, name: &str, value: Option<Value>) {
        match value {
            Some(value) => self.vars.insert(name.to_owned(), value),
            None => self.vars.remove(name),
        };
    }

    /// After a branch that may not have been taken: what it changed may be as it was before.
    pub fn blur(&mut self, before: &Scope) {
        if self.cwd != before.cwd {
            self.cwd = None;
        }
        for (name, value) in &mut self.vars {
            let old = before.vars.get(name);
            if old == Some(value) {
                continue;
            }
            *value = match (old, &*value) {
                (Some(Value::One(old)), Value::One(new)) => Value::One(Arg::any_of(&[old.clone(), new.clone()])),
                _ => Value::One(Arg::Unknown { prefix: String::new(), empty: Some(String::new()) }),
            };
        }
    }

    /// Things are as here or as in `other`.
    pub fn or(mut self, other: Scope) -> Scope {
        for name in other.vars.keys() {
            self.vars.entry(name.clone()).or_insert(Value::Unset);
        }
        self.blur(&other);
        for (name, function) in other.functions {
            self.functions.entry(name).or_insert(Function { sure: false, ..function });
        }
        self.tainted = self.tainted.or(other.tainted);
        self
    }

    pub fn enter(&mut self, cwd: Option<String>) {
        self.old = std::mem::replace(&mut self.cwd, cwd);
    }
}

/// Pagers and editors that do nothing.
const QUIET: [&str; 5] = ["", "cat", "true", ":", "less"];

/// Variables that decide which code a command word runs.
pub(super) fn changes_commands(name: &str) -> bool {
    const PREFIXES: [&str; 4] = ["LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG"];
    const NAMES: [&str; 34] = [
        "PATH",
        "ENV",
        "BASH_ENV",
        "SHELLOPTS",
        "BASHOPTS",
        "PROMPT_COMMAND",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "PERL5OPT",
        "NODE_OPTIONS",
        "RUBYOPT",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "GIT_EDITOR",
        "GIT_SEQUENCE_EDITOR",
        "GIT_ASKPASS",
        "SSH_ASKPASS",
        "MANPAGER",
        "LESSOPEN",
        "LESSCLOSE",
        "VISUAL",
        "BROWSER",
        "FCEDIT",
        "PERL5LIB",
        "RUBYLIB",
        "RSYNC_RSH",
        "TAR_OPTIONS",
        "JAVA_TOOL_OPTIONS",
        "MAKEFLAGS",
        "PAGER",
        "EDITOR",
        "RUSTC_WRAPPER",
    ];
    PREFIXES.iter().any(|p| name.starts_with(p)) || NAMES.contains(&name)
}
