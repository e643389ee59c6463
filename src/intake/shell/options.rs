//! A command's arguments, sorted by its grammar into options and operands.

use super::{
    table::{Flag, Role, Spec, Tool},
    words::Arg,
};

/// Arguments after sorting.
#[derive(Debug, Default)]
pub(super) struct Sorted<'t> {
    /// Options with a value, by first spelling.
    pub values: Vec<(&'t str, Role, Arg)>,
    pub flags: Vec<(&'t str, Flag)>,
    pub operands: Vec<Arg>,
    /// Options of which the table knows nothing.
    pub others: Vec<String>,
}

impl Sorted<'_> {
    pub fn has(&self, flag: Flag) -> bool {
        self.flags.iter().any(|(_, f)| *f == flag)
    }

    pub fn flag(&self, name: &str) -> bool {
        self.flags.iter().any(|(n, _)| *n == name)
    }

    pub fn value(&self, name: &str) -> Option<&Arg> {
        self.values.iter().rev().find(|(n, _, _)| *n == name).map(|(_, _, arg)| arg)
    }

    /// The first operand has no role of its own: an option stands for it.
    pub fn no_first(&self) -> bool {
        let stands_in = |role: &Role| matches!(role, Role::Expression | Role::ExpressionFile | Role::Program);
        self.has(Flag::NoFirst) || self.values.iter().any(|(_, role, _)| stands_in(role))
    }

    /// The call only asks the tool about itself.
    pub fn asks_for_help(&self) -> bool {
        self.others.iter().any(|o| o == "--help" || o == "--version")
    }
}

pub(super) fn sort<'t>(tool: &'t Tool, args: &[Arg]) -> Sorted<'t> {
    let mut sorted = Sorted::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let start = arg.start();
        if start == "--" && arg.text().is_some() {
            break;
        }
        if !start.starts_with('-') || start == "-" {
            sorted.operands.push(arg.clone());
            if tool.leading {
                break;
            }
            continue;
        }
        let (name, attached) = match start.split_once('=') {
            Some((name, _)) if start.starts_with("--") => (name, Some(arg.without(name.len() + 1))),
            Some(_) | None => (start, None),
        };
        match tool.option(name) {
            Some((name, Spec::Flag(flag))) => sorted.flags.push((name, flag)),
            Some((name, Spec::Value(role))) => {
                if let Some(value) = attached.or_else(|| args.next().cloned()) {
                    sorted.values.push((name, role, value));
                }
            }
            None if start.starts_with("--") => sorted.others.push(name.to_owned()),
            None => cluster(tool, arg, &mut args, &mut sorted),
        }
    }
    sorted.operands.extend(args.cloned());
    sorted
}

/// `-rf`, `-n5`, `-ofile`.
fn cluster<'t>(tool: &'t Tool, arg: &Arg, args: &mut std::slice::Iter<'_, Arg>, sorted: &mut Sorted<'t>) {
    for (at, c) in arg.start().char_indices().skip(1) {
        match tool.option(&format!("-{c}")) {
            Some((name, Spec::Flag(flag))) => sorted.flags.push((name, flag)),
            Some((name, Spec::Value(role))) => {
                let rest = arg.without(at + c.len_utf8());
                let value = if rest == Arg::known("") { args.next().cloned() } else { Some(rest) };
                if let Some(value) = value {
                    sorted.values.push((name, role, value));
                }
                return;
            }
            None => sorted.others.push(format!("-{c}")),
        }
    }
}
