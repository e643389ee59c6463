//! One command with its arguments to effects: functions, builtins, programs by table. The single tools that need more
//! than a table are in `find`, `git`, `network`, `programs` and `copy`.

use super::{
    builtins,
    options::{Sorted, sort},
    scope::{Scope, Value},
    stream::{Content, Stream},
    table::{Fixed, Flag, Output, Role, Special, TOOLS, Tool},
    walk::Walk,
    words::Arg,
};
use crate::domain::{Attributes, Effect, Extent, Kind, PathKind, Resource, Reversibility, Verb};

/// Where the system keeps its programs: a path into one of them is as good as the bare name.
const SYSTEM: [&str; 9] = [
    "/bin/",
    "/usr/bin/",
    "/sbin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
    "/opt/local/bin/",
    "/snap/bin/",
];

/// Commands that the shell itself runs.
const BUILTINS: [&str; 38] = [
    ".", ":", "[", "alias", "bg", "break", "builtin", "cd", "command", "continue", "declare", "dirs", "disown",
    "echo", "eval", "exec", "exit", "export", "false", "fg", "hash", "jobs", "local", "popd", "printf", "pushd",
    "pwd", "read", "readonly", "return", "set", "shift", "shopt", "source", "test", "trap", "true", "type",
];

/// Builtins that compute operands, or take the name of an array's element, whose index they compute.
const COMPUTING: [&str; 14] = [
    "let",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "unset",
    "test",
    "[",
    "read",
    "mapfile",
    "readarray",
    "wait",
    "getopts",
];

/// Everything that a tool's code may look at.
pub(super) struct Call<'t> {
    pub name: &'t str,
    pub tool: &'t Tool,
    pub args: &'t [Arg],
    pub declared: &'t [(String, Value)],
}

impl Walk<'_> {
    /// Runs the command `words` of a line, in which a function goes before a program. Whether it still does when the
    /// line gets here is seldom certain, so where a program has that name too, both are told.
    pub(super) fn dispatch(
        &mut self,
        words: &[Arg],
        declared: &[(String, Value)],
        scope: &mut Scope,
        input: Stream,
    ) -> Stream {
        let function = words.split_first().and_then(|(first, args)| {
            let name = first.text()?;
            Some((name, args, scope.functions.get(name)?.clone()))
        });
        let Some((name, args, function)) = function else {
            return self.dispatch_program(words, declared, scope, input);
        };
        let sure = function.sure && !is_program(name);
        if let ([body], true) = (function.bodies.as_slice(), sure) {
            return self.call(name, body, args, scope, input);
        }
        self.possibly(|walk| {
            let before = scope.clone();
            let mut worlds = Vec::new();
            let mut out = Stream::unknown();
            for body in &function.bodies {
                let mut world = before.clone();
                out = out.then(walk.call(name, body, args, &mut world, input.clone()));
                worlds.push(world);
            }
            if !sure {
                let mut world = before;
                out = out.then(walk.dispatch_program(words, declared, &mut world, input));
                worlds.push(world);
            }
            if let Some(world) = worlds.into_iter().reduce(Scope::or) {
                *scope = world;
            }
            Stream { content: Content::Unknown, ..out }
        })
    }

    /// Runs the program or builtin `words`: what `command`, `env`, `xargs` and their like start. Functions do not count.
    pub(super) fn dispatch_program(
        &mut self,
        words: &[Arg],
        declared: &[(String, Value)],
        scope: &mut Scope,
        input: Stream,
    ) -> Stream {
        let Some((first, args)) = words.split_first() else { return Stream::default() };
        let Arg::Known(word) = first else {
            self.opaque(&first.shown(), "which command runs cannot be told");
            // `$SUDO rm x` with nothing in SUDO runs `rm`.
            if matches!(first, Arg::Unknown { empty: Some(empty), .. } if empty.is_empty()) {
                self.possibly(|walk| walk.deeper(|walk| walk.dispatch(args, declared, scope, input)));
            }
            return Stream::unknown();
        };
        if word.is_empty() {
            return Stream::default();
        }
        self.deeper(|walk| walk.program(word, args, declared, scope, input))
    }

    fn program(
        &mut self,
        word: &str,
        args: &[Arg],
        declared: &[(String, Value)],
        scope: &mut Scope,
        input: Stream,
    ) -> Stream {
        let name = bare(word);
        if name.contains('/') {
            return self.script(&Arg::known(word), args, scope, input);
        }
        if COMPUTING.contains(&name) || name == "printf" && args.first().is_some_and(|a| a.start().starts_with("-v"))
        {
            for arg in args {
                self.subscript(arg);
            }
        }
        if !BUILTINS.contains(&name) {
            if let Some(why) = scope.tainted.clone() {
                self.opaque_program(name, None, &format!("{why}: `{name}` may be another program"));
            } else if let Some(path) = self.own_program(word) {
                // What the table says of the name does not hold for a program from here; its text may tell.
                return self.script(&Arg::Known(path), args, scope, input);
            }
        }
        match TOOLS.get(name) {
            Some(tool) => self.tool(&Call { name, tool, args, declared }, scope, input),
            None => match self.ask.command(word).filter(|_| !self.is_remote()) {
                Some((path, _)) => self.script(&Arg::Known(path), args, scope, input),
                None => {
                    self.opaque_program(name, None, &format!("what `{name}` does is not known"));
                    Stream::unknown()
                }
            },
        }
    }

    /// Where `word` leads, if that is a place where the agent may have written.
    fn own_program(&mut self, word: &str) -> Option<String> {
        if self.is_remote() {
            return None;
        }
        let (path, _) = self.ask.command(word)?;
        self.ask.in_workspace(&path).then_some(path)
    }

    /// A tool or one of its subcommands.
    pub(super) fn tool(&mut self, call: &Call<'_>, scope: &mut Scope, input: Stream) -> Stream {
        if !call.tool.sub.is_empty() {
            return self.subcommand(call, scope, input);
        }
        if let Some(special) = call.tool.special
            && let Some(out) = self.special(special, call, scope, &input)
        {
            return out;
        }
        let sorted = sort(call.tool, call.args);
        if sorted.asks_for_help() || sorted.has(Flag::Dry) {
            return Stream::unknown();
        }
        self.generic(call, &sorted, scope, input)
    }

    fn subcommand(&mut self, call: &Call<'_>, scope: &mut Scope, input: Stream) -> Stream {
        let sorted = sort(call.tool, call.args);
        let mut inner = scope.clone();
        self.enter_directory(&sorted, &mut inner);
        self.option_values(call, &sorted, &mut inner, &input);
        if sorted.has(Flag::Opaque) {
            self.opaque_program(call.name, None, "an option changes what it runs");
        }
        let Some((first, rest)) = sorted.operands.split_first() else { return Stream::unknown() };
        let Some(name) = first.text() else {
            self.opaque_program(call.name, None, "which subcommand runs cannot be told");
            return Stream::unknown();
        };
        if let Some(out) = self.git_alias(call, &sorted, name, rest, &mut inner) {
            return out;
        }
        match call.tool.subcommand(name) {
            Some(tool) => {
                let full = format!("{} {name}", call.name);
                self.tool(&Call { name: &full, tool, args: rest, declared: call.declared }, &mut inner, input)
            }
            None => {
                let why = format!("what `{} {name}` does is not known", call.name);
                self.opaque_program(call.name, None, &why);
                Stream::unknown()
            }
        }
    }

    /// What the table says.
    pub(super) fn generic(
        &mut self,
        call: &Call<'_>,
        sorted: &Sorted<'_>,
        scope: &mut Scope,
        input: Stream,
    ) -> Stream {
        let tool = call.tool;
        let mut inner = scope.clone();
        self.enter_directory(sorted, &mut inner);
        let scope =
            if sorted.values.iter().any(|(_, role, _)| *role == Role::Directory) { &mut inner } else { scope };
        if tool.escalates || sorted.has(Flag::Escalates) {
            self.push(Effect::new(Verb::Escalate, Resource::named(Kind::Program, call.name)));
        }
        if tool.opaque || sorted.has(Flag::Opaque) {
            self.opaque_program(call.name, None, &format!("what `{}` runs is not read", call.name));
        }
        let into = sorted.values.iter().find(|(_, role, _)| *role == Role::Into).map(|(_, _, arg)| arg);
        let mut lands = scope.clone();
        if let Some(into) = into {
            lands.cwd = into.text().and_then(|name| self.absolute(name, scope));
        }
        for Fixed { verb, resource } in &tool.effects {
            self.fixed(*verb, resource, &lands);
        }
        let before = self.reads();
        self.option_values(call, sorted, scope, &input);
        let operands = &with_implied(tool, sorted);
        if tool.leading && tool.operands == Some(Role::Command) {
            return self.wrapped(call, operands, scope, input);
        }
        self.roles(call, sorted, operands, scope, &input);
        let mut sources = self.read_since(before);
        sources.extend(input.sources.iter().cloned());
        let content = match tool.output {
            Output::Unknown => Content::Unknown,
            Output::Nothing => Content::Nothing,
            // Naming operands means it reads those instead of its input.
            Output::Filter if sources.len() == input.sources.len() => match input.content {
                Content::Names(names) => Content::Names(names),
                Content::Nothing => Content::Nothing,
                Content::Text(_) | Content::Unknown => Content::Unknown,
            },
            Output::Filter => Content::Unknown,
            Output::Word if call.args.iter().any(|a| a.shown().contains(['/', ' ', '…'])) => Content::Unknown,
            Output::Word => Content::Names(vec![Arg::Pattern("*".to_owned())]),
        };
        Stream { content, sources, foreign: input.foreign }
    }

    /// Runs the command behind a wrapper (`env X=1 nice -n 5 cmd`).
    fn wrapped(&mut self, call: &Call<'_>, operands: &[Arg], scope: &mut Scope, input: Stream) -> Stream {
        let mut rest = operands.get(call.tool.first.len()..).unwrap_or_default();
        let mut inner = scope.clone();
        while let (true, Some(first)) = (call.tool.assigns, rest.first()) {
            let Some((name, _)) = first.start().split_once('=').filter(|(name, _)| is_name(name)) else { break };
            let value = first.without(name.len() + 1);
            self.holds(name, &value);
            inner.set(name, Value::One(value));
            rest = rest.get(1..).unwrap_or_default();
        }
        self.dispatch_program(rest, &[], &mut inner, input)
    }

    fn roles(&mut self, call: &Call<'_>, sorted: &Sorted<'_>, operands: &[Arg], scope: &mut Scope, input: &Stream) {
        let tool = call.tool;
        let first = if sorted.no_first() { &[] } else { tool.first.as_slice() };
        let (given, mut rest) = operands.split_at_checked(first.len()).unwrap_or((operands, &[]));
        for (arg, role) in given.iter().zip(first) {
            self.apply(call, *role, arg, sorted, scope, input);
        }
        let changed = sorted.flags.iter().rev().find_map(|(_, flag)| match flag {
            Flag::Operands(role) => Some(*role),
            Flag::Tree
            | Flag::Dry
            | Flag::NoFirst
            | Flag::Force
            | Flag::Opaque
            | Flag::Escalates
            | Flag::Keep
            | Flag::Mark => None,
        });
        let role = changed.or(tool.operands).unwrap_or(Role::Text);
        if matches!(role, Role::CopySource | Role::MoveSource) {
            return self.transfer(role, sorted, rest, scope);
        }
        if let (Some(last), [many @ .., end]) = (tool.last, rest)
            && !many.is_empty()
        {
            self.apply(call, last, end, sorted, scope, input);
            rest = many;
        }
        for arg in rest {
            self.apply(call, role, arg, sorted, scope, input);
        }
    }

    fn option_values(&mut self, call: &Call<'_>, sorted: &Sorted<'_>, scope: &mut Scope, input: &Stream) {
        for (_, role, value) in &sorted.values {
            if !matches!(role, Role::Directory | Role::Destination) {
                self.apply(call, *role, value, sorted, scope, input);
            }
        }
    }

    fn enter_directory(&mut self, sorted: &Sorted<'_>, scope: &mut Scope) {
        for (_, role, value) in &sorted.values {
            if *role == Role::Directory {
                scope.cwd = value.text().and_then(|name| self.absolute(name, scope));
            }
        }
    }

    fn apply(
        &mut self,
        call: &Call<'_>,
        role: Role,
        arg: &Arg,
        sorted: &Sorted<'_>,
        scope: &mut Scope,
        input: &Stream,
    ) {
        let tree = call.tool.tree || sorted.has(Flag::Tree);
        match role {
            Role::Text
            | Role::Expression
            | Role::Into
            | Role::Directory
            | Role::Destination
            | Role::CopySource
            | Role::MoveSource
            | Role::Command => {}
            Role::Read | Role::ExpressionFile => self.act(Verb::Read, arg, tree, scope),
            Role::OperandsFrom => {
                self.act(Verb::Read, arg, false, scope);
                if let Some(role) = call.tool.operands.filter(|role| *role != Role::OperandsFrom) {
                    self.apply(call, role, &Arg::hole(), sorted, scope, input);
                }
            }
            Role::List => self.act(Verb::List, arg, tree, scope),
            Role::Touch => self.write(Verb::Modify, arg, scope),
            Role::Write => self.write(Verb::Overwrite, arg, scope),
            Role::Modify => self.act(Verb::Modify, arg, tree, scope),
            Role::Move => self.act(Verb::Move, arg, tree, scope),
            Role::Delete => self.act(Verb::Delete, arg, tree, scope),
            Role::MakeDirectory => self.make_directory(arg, scope),
            Role::Script => match arg.text() {
                Some(line) => {
                    self.run(line, &mut scope.clone(), input.clone());
                }
                None => self.opaque(call.name, "a command line in an argument cannot be told"),
            },
            Role::Program => self.foreign_program(call.name, arg, scope),
            Role::Inline => {
                let why = format!("code given to `{}` is not read", call.name);
                self.opaque_program(call.name, None, &why);
            }
            Role::Url => {
                let host = super::network::host(arg);
                self.push(Effect::new(Verb::Request, host.clone()));
                self.sends(&host, &input.sources);
            }
            Role::SendFile | Role::SendAt => self.act(Verb::Read, arg, false, scope),
            Role::On(verb, kind) => {
                let resource = arg.text().map_or(Resource::any(kind), |name| Resource::named(kind, name));
                let mut effect = Effect::new(verb, resource);
                if sorted.has(Flag::Force) {
                    effect = effect.with("force", true);
                }
                self.push(effect.clone());
                if (verb, kind) == (Verb::Request, Kind::Host) {
                    self.sends(&effect.resource, &input.sources);
                }
            }
        }
    }

    fn make_directory(&mut self, arg: &Arg, scope: &Scope) {
        let exists =
            arg.text().is_some_and(|name| self.place(name, scope).is_some_and(|p| p.is(PathKind::Directory)));
        if !exists {
            self.act(Verb::Create, arg, false, scope);
        }
    }

    /// An effect of the table: its paths lie in the directory where the tool works.
    pub(super) fn fixed(&mut self, verb: Verb, resource: &Resource, scope: &Scope) {
        match (resource.kind, &resource.extent) {
            (Kind::Path, Extent::One(name)) => self.act(verb, &Arg::known(name), false, scope),
            (Kind::Path, Extent::Subtree(name)) => self.act(verb, &Arg::known(name), true, scope),
            (Kind::Path, Extent::Glob(glob)) => self.act(verb, &Arg::Pattern(glob.clone()), false, scope),
            _ => self.push(Effect::new(verb, resource.clone())),
        }
    }

    fn special(&mut self, special: Special, call: &Call<'_>, scope: &mut Scope, input: &Stream) -> Option<Stream> {
        Some(match special {
            Special::Echo => builtins::echo(call.args),
            Special::Printf => builtins::printf(call.args),
            Special::Cd => self.cd(call, scope),
            Special::Pwd => scope.cwd.clone().map_or_else(Stream::unknown, Stream::text),
            Special::Assign => self.declare(call, false, scope),
            Special::Local => self.declare(call, true, scope),
            Special::Read => {
                self.option_values(call, &sort(call.tool, call.args), scope, input);
                self.read_into(call.args, scope, input)
            }
            Special::Unset => {
                for arg in call.args {
                    match arg.text() {
                        Some(name) if is_name(name) => scope.set(name, Value::Unset),
                        _ => {}
                    }
                    if let Some(function) = arg.text().and_then(|name| scope.functions.get_mut(name)) {
                        function.sure = false;
                    }
                }
                Stream::default()
            }
            Special::Set => {
                let operands: Vec<Arg> =
                    call.args.iter().skip_while(|a| a.start() != "--").skip(1).cloned().collect();
                if call.args.iter().any(|a| a.text() == Some("--")) {
                    scope.args = operands;
                }
                Stream::unknown()
            }
            Special::Eval => self.eval(call.args, scope, input.clone()),
            Special::Source => self.source(call.args, scope, input.clone()),
            Special::Trap => self.trap(call.args, scope),
            Special::Exec => self.wrapped_after_options(call, scope, input.clone()),
            Special::Shell => self.shell(call, scope, input.clone()),
            Special::Interpreter => return self.interpreter(call, scope, input),
            Special::Test => Stream::default(),
            Special::Find => self.find(call.args, scope),
            Special::Xargs => self.xargs(call, scope, input.clone()),
            Special::Sed => return self.sed(call, scope),
            Special::Awk => return self.awk(call, scope),
            Special::Dd => self.dd(call.args, scope),
            Special::Cat => {
                // Pagers take commands of their own: `less +'!line'`.
                let runs = |start: &str| {
                    start
                        .strip_prefix('+')
                        .is_some_and(|c| !matches!(c, "F" | "G") && !c.bytes().all(|b| b.is_ascii_digit()))
                };
                if call.args.iter().any(|arg| runs(arg.start())) {
                    self.opaque_program(call.name, None, "an argument is a command to the pager");
                }
                return builtins::pass_through(call, input);
            }
            Special::Base64 => return builtins::decode(call, input),
            Special::PathPart => return builtins::path_part(call),
            Special::Mktemp => builtins::mktemp(call.args),
            Special::Tar => return self.tar(call, scope, input),
            Special::Curl => return self.fetch(call, scope, input),
            Special::Remote => return self.remote_shell(call, scope, input),
            Special::Rsync => return self.remote_copy(call, scope),
            Special::Applet => match call.args.split_first() {
                Some((first, rest)) => {
                    let words: Vec<Arg> = std::iter::once(first).chain(rest).cloned().collect();
                    self.dispatch_program(&words, &[], scope, input.clone())
                }
                None => Stream::unknown(),
            },
            Special::GitPush
            | Special::GitClone
            | Special::GitCheckout
            | Special::GitRestore
            | Special::GitReset
            | Special::GitClean
            | Special::GitBranch
            | Special::GitStash
            | Special::GitRemove
            | Special::GitRefs => return self.git(special, call, scope),
        })
    }

    fn wrapped_after_options(&mut self, call: &Call<'_>, scope: &mut Scope, input: Stream) -> Stream {
        let sorted = sort(call.tool, call.args);
        // `command -v x` only asks.
        if sorted.has(Flag::Dry) {
            return Stream::names(vec![Arg::Pattern("*".to_owned())]);
        }
        self.dispatch_program(&sorted.operands, call.declared, scope, input)
    }
}

/// The name of a program that is told by its path in the system.
fn bare(word: &str) -> &str {
    SYSTEM.iter().find_map(|dir| word.strip_prefix(dir)).unwrap_or(word)
}

/// Whether `word` runs something where it is no function.
fn is_program(word: &str) -> bool {
    word.contains('/') || BUILTINS.contains(&word) || TOOLS.get(word).is_some()
}

/// A variable's name.
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Attributes with one entry.
pub(super) fn attribute(name: &str, value: impl Into<crate::domain::Scalar>) -> Attributes {
    Attributes::from([(name.to_owned(), value.into())])
}

/// An effect that cannot be had back.
pub(super) fn for_good(mut effect: Effect) -> Effect {
    effect.reversibility = Reversibility::Irreversible;
    effect
}

/// The operands, and where none is left after the leading ones, what the tool takes instead: what its row says, or for
/// a recursive search the present directory.
fn with_implied(tool: &Tool, sorted: &Sorted<'_>) -> Vec<Arg> {
    let leading = if sorted.no_first() { 0 } else { tool.first.len() };
    let mut operands = sorted.operands.to_vec();
    let searches = sorted.has(Flag::Tree) && tool.operands == Some(Role::Read);
    let implied = tool.implied.as_deref().or(searches.then_some("."));
    if operands.len() <= leading
        && let Some(name) = implied
    {
        operands.push(if name == "*" { Arg::component() } else { Arg::known(name) });
    }
    operands
}
