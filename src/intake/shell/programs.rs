//! Commands that run other text: shells, scripts, `eval`, `trap`, `xargs`, and programs whose own language can run
//! commands or write files (`sed`, `awk`, `tar`, `dd`).

use super::{
    commands::{Call, attribute},
    options::sort,
    scope::Scope,
    stream::{Content, Stream},
    table::{Flag, Role},
    walk::Walk,
    words::Arg,
};
use crate::domain::{Effect, Kind, Resource, Verb};

/// Names in a `#!` line of scripts that are read.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "ksh", "zsh"];

impl Walk<'_> {
    /// `bash -c text`, `bash file`, `… | bash`.
    pub(super) fn shell(&mut self, call: &Call<'_>, scope: &mut Scope, input: Stream) -> Stream {
        let mut inline = false;
        let mut stdin = false;
        let mut args = call.args;
        while let Some((first, rest)) = args.split_first() {
            let start = first.start();
            if !(start.starts_with('-') || start.starts_with('+')) || start.len() < 2 {
                if start == "-" {
                    args = rest;
                }
                break;
            }
            args = rest;
            match start {
                "--" => break,
                "--help" | "--version" => return Stream::unknown(),
                "--rcfile" | "--init-file" => {
                    self.opaque(call.name, "a start-up file is read first");
                    args = args.get(1..).unwrap_or_default();
                }
                long if long.starts_with("--") => {}
                short => {
                    inline |= short.contains('c');
                    stdin |= short.contains('s');
                    if short.ends_with(['o', 'O']) {
                        args = args.get(1..).unwrap_or_default();
                    }
                }
            }
        }
        let mut child = scope.clone();
        child.functions.clear();
        match (inline, args.split_first()) {
            (true, Some((text, rest))) => {
                // The first argument after the text is `$0`.
                child.args = rest.get(1..).unwrap_or_default().to_vec();
                match text.text() {
                    Some(text) => self.run(text, &mut child, input),
                    None => {
                        self.opaque_program(call.name, None, "the text that the shell runs cannot be told");
                        Stream::unknown()
                    }
                }
            }
            (false, Some((file, rest))) if !stdin => self.script(file, rest, scope, input),
            (true, None) => Stream::default(),
            (false, _) => {
                child.args = args.to_vec();
                self.run_input(call.name, &mut child, input)
            }
        }
    }

    /// A shell that reads its program from its input.
    fn run_input(&mut self, name: &str, scope: &mut Scope, input: Stream) -> Stream {
        match input.content {
            Content::Nothing => Stream::default(),
            Content::Text(text) => self.run(&text, scope, Stream::default()),
            Content::Names(_) | Content::Unknown => {
                let why = if input.foreign {
                    "the shell runs text that comes over the network"
                } else {
                    "the shell runs text that cannot be told"
                };
                self.opaque_program(name, None, why);
                Stream::unknown()
            }
        }
    }

    /// `./x.sh`, `bash x.sh`: reads the script where it is one for a shell.
    pub(super) fn script(&mut self, file: &Arg, args: &[Arg], scope: &mut Scope, input: Stream) -> Stream {
        let Some(absolute) = file.text().and_then(|name| self.absolute(name, scope)) else {
            self.opaque_program(&file.shown(), None, "which script runs cannot be told");
            return Stream::unknown();
        };
        let name = self.ask.around.places.canonical(&absolute);
        if self.is_remote() {
            self.opaque_program(&name, None, "a script on another machine is not read");
            return Stream::unknown();
        }
        let (text, digest) = self.ask.text(&absolute);
        match text.filter(|text| is_shell_script(text)) {
            Some(text) => {
                self.push(Effect::new(Verb::Execute, Resource::named(Kind::Program, &name)));
                let mut child = scope.clone();
                child.functions.clear();
                child.args = args.to_vec();
                self.run(&text, &mut child, input)
            }
            None => {
                self.opaque_program(&name, digest, "a program that weal does not read");
                Stream::unknown()
            }
        }
    }

    /// `source file`: like a script, but in this shell.
    pub(super) fn source(&mut self, args: &[Arg], scope: &mut Scope, input: Stream) -> Stream {
        let Some((file, rest)) = args.split_first() else { return Stream::default() };
        let Some(absolute) = file.text().and_then(|name| self.absolute(name, scope)).filter(|_| !self.is_remote())
        else {
            self.opaque_program(&file.shown(), None, "which script is read cannot be told");
            return Stream::unknown();
        };
        let name = self.ask.around.places.canonical(&absolute);
        let (text, digest) = self.ask.text(&absolute);
        let Some(text) = text else {
            self.opaque_program(&name, digest, "a script that could not be read");
            scope.tainted = Some(format!("`{name}` was sourced"));
            return Stream::unknown();
        };
        self.push(Effect::new(Verb::Execute, Resource::named(Kind::Program, &name)));
        let caller = (!rest.is_empty()).then(|| std::mem::replace(&mut scope.args, rest.to_vec()));
        let out = self.run(&text, scope, input);
        if let Some(caller) = caller {
            scope.args = caller;
        }
        out
    }

    pub(super) fn eval(&mut self, args: &[Arg], scope: &mut Scope, input: Stream) -> Stream {
        match args.iter().map(Arg::text).collect::<Option<Vec<_>>>() {
            Some(texts) => {
                let line = texts.join(" ");
                self.run(&line, scope, input)
            }
            None => {
                self.opaque_program("eval", None, "the text that `eval` runs cannot be told");
                scope.tainted = Some("`eval` ran text that cannot be told".to_owned());
                Stream::unknown()
            }
        }
    }

    /// `trap 'line' EXIT`: certain at the exit, possible for other signals.
    pub(super) fn trap(&mut self, args: &[Arg], scope: &mut Scope) -> Stream {
        let mut operands = args.iter().filter(|a| a.start() != "--");
        let Some(first) = operands.next() else { return Stream::default() };
        if first.start().starts_with('-') || first.text() == Some("") {
            return Stream::default();
        }
        let certain = operands.any(|signal| matches!(signal.text(), Some("EXIT" | "0")));
        match first.text() {
            Some(line) if certain => self.run(line, &mut scope.clone(), Stream::default()),
            Some(line) => self.possibly(|walk| walk.run(line, &mut scope.clone(), Stream::default())),
            None => {
                self.opaque_program("trap", None, "the text that `trap` runs cannot be told");
                Stream::default()
            }
        };
        Stream::default()
    }

    /// `python x.py`, `python -c code`, `… | python`: none of their code is read. `None` for asking about itself.
    pub(super) fn interpreter(&mut self, call: &Call<'_>, scope: &mut Scope, input: &Stream) -> Option<Stream> {
        let sorted = sort(call.tool, call.args);
        if sorted.asks_for_help() || sorted.has(Flag::Dry) {
            return None;
        }
        let inline = sorted.values.iter().any(|(_, role, _)| *role == Role::Inline);
        match sorted.operands.first().filter(|file| file.text() != Some("-")) {
            _ if inline => {
                self.opaque_program(call.name, None, &format!("code given to `{}` is not read", call.name))
            }
            Some(file) => self.foreign_program(call.name, file, scope),
            None if input.content == Content::Nothing => {}
            None => self.opaque_program(
                call.name,
                None,
                &format!("`{}` runs what it is fed, which is not read", call.name),
            ),
        }
        Some(Stream { sources: input.sources.clone(), ..Stream::unknown() })
    }

    /// A program in a language that is not read; its digest is known where the file is.
    pub(super) fn foreign_program(&mut self, runner: &str, file: &Arg, scope: &Scope) {
        let absolute = file.text().filter(|_| !self.is_remote()).and_then(|name| self.absolute(name, scope));
        match absolute {
            Some(absolute) => {
                let (_, digest) = self.ask.text(&absolute);
                let name = self.ask.around.places.canonical(&absolute);
                self.opaque_program(&name, digest, &format!("`{runner}` runs a program that weal does not read"));
            }
            None => {
                self.opaque_program(&file.shown(), None, &format!("`{runner}` runs a program that cannot be told"));
            }
        }
    }

    /// `xargs cmd`: the command with the names from its input.
    pub(super) fn xargs(&mut self, call: &Call<'_>, scope: &mut Scope, input: Stream) -> Stream {
        let sorted = sort(call.tool, call.args);
        if sorted.asks_for_help() {
            return Stream::unknown();
        }
        let names = match &input.content {
            _ if sorted.value("-a").is_some() => vec![Arg::hole()],
            Content::Nothing => Vec::new(),
            Content::Names(names) => names.clone(),
            Content::Text(text) => text.split_whitespace().map(Arg::known).collect(),
            Content::Unknown => vec![Arg::hole()],
        };
        for (_, role, file) in &sorted.values {
            if *role == Role::Read {
                self.act(Verb::Read, file, false, scope);
            }
        }
        if sorted.operands.is_empty() {
            return Stream::names(names);
        }
        let replaced = sorted.value("-I").and_then(Arg::text).or(sorted.flag("-i").then_some("{}"));
        let feed = Stream { content: Content::Nothing, ..input };
        match replaced {
            None => {
                let words: Vec<Arg> = sorted.operands.iter().cloned().chain(names).collect();
                self.possibly(|walk| walk.dispatch_program(&words, &[], &mut scope.clone(), feed))
            }
            Some(mark) => {
                for name in &names {
                    let words: Vec<Arg> = sorted.operands.iter().map(|arg| arg.with(mark, name)).collect();
                    self.possibly(|walk| walk.dispatch_program(&words, &[], &mut scope.clone(), feed.clone()));
                }
                Stream::unknown()
            }
        }
    }

    /// A `sed` script may write files and run commands; `None` when it does neither.
    pub(super) fn sed(&mut self, call: &Call<'_>, scope: &mut Scope) -> Option<Stream> {
        let sorted = sort(call.tool, call.args);
        let mut scripts: Vec<&Arg> =
            sorted.values.iter().filter(|(name, _, _)| *name == "-e").map(|(_, _, arg)| arg).collect();
        if !sorted.no_first() {
            scripts.extend(sorted.operands.first());
        }
        if sorted.value("-f").is_some() {
            self.opaque(call.name, "a script file of `sed` is not read");
        }
        for script in scripts {
            let Some(text) = script.text() else { continue };
            for deed in sed_deeds(text) {
                match deed {
                    SedDeed::Runs => self.opaque_program(call.name, None, "the `sed` script runs commands"),
                    SedDeed::Writes(file) => self.write(Verb::Overwrite, &Arg::known(file), scope),
                }
            }
        }
        None
    }

    /// An `awk` program may run commands and write files; `None` when it does neither.
    pub(super) fn awk(&mut self, call: &Call<'_>, _scope: &mut Scope) -> Option<Stream> {
        let sorted = sort(call.tool, call.args);
        if sorted.value("-f").is_none()
            && let Some(program) = sorted.operands.first()
        {
            match program.text() {
                Some(text) if awk_is_tame(text) => {}
                Some(_) => self.opaque_program(call.name, None, "the `awk` program may run commands or write files"),
                None => self.opaque_program(call.name, None, "the `awk` program cannot be told"),
            }
        }
        None
    }

    pub(super) fn dd(&mut self, args: &[Arg], scope: &mut Scope) -> Stream {
        for arg in args {
            match arg.start().split_once('=').map(|(name, _)| name) {
                Some(name @ "if") => self.act(Verb::Read, &arg.without(name.len() + 1), false, scope),
                Some(name @ "of") => self.write(Verb::Overwrite, &arg.without(name.len() + 1), scope),
                Some(_) | None => {}
            }
        }
        Stream::unknown()
    }

    /// `tar`: the first argument may be options without a dash; `-x` writes what nobody has listed.
    pub(super) fn tar(&mut self, call: &Call<'_>, scope: &mut Scope, input: &Stream) -> Option<Stream> {
        let mut args = call.args.to_vec();
        if let Some(first) = args.first_mut()
            && !first.start().starts_with('-')
            && let Some(text) = first.text()
        {
            *first = Arg::Known(format!("-{text}"));
        }
        let sorted = sort(call.tool, &args);
        if sorted.asks_for_help() {
            return None;
        }
        for (_, role, value) in &sorted.values {
            if *role == Role::Script {
                // `--checkpoint-action=exec=line`, `--to-command=line`, `--use-compress-program=line`.
                let start = value.start();
                let line = if start.starts_with("exec=") { value.without("exec=".len()) } else { value.clone() };
                let tame = ["dot", "echo", "bell", "ttyout", "sleep", "totals", "wait"];
                if !tame.iter().any(|t| start.starts_with(t)) {
                    match line.text() {
                        Some(line) => {
                            self.run(line, &mut scope.clone(), Stream::unknown());
                        }
                        None => self.opaque(call.name, "a command line in an argument cannot be told"),
                    }
                }
            }
        }
        let before = self.reads();
        let archive = sorted.value("-f").cloned();
        let mut inner = scope.clone();
        if let Some(directory) = sorted.value("-C") {
            inner.cwd = directory.text().and_then(|name| self.absolute(name, scope));
        }
        if sorted.flag("-x") {
            if let Some(archive) = &archive {
                self.act(Verb::Read, archive, false, scope);
            }
            if sorted.flag("-O") {
                return Some(Stream::unknown());
            }
            let content = attribute("what", archive.map_or_else(|| "-".to_owned(), |a| a.shown()));
            if sorted.has(Flag::Keep) {
                self.act_with(Verb::Create, &Arg::known("."), true, &inner, &content);
            } else {
                self.possibly(|walk| walk.act_with(Verb::Overwrite, &Arg::known("."), true, &inner, &content));
            }
        } else if sorted.flag("-t") {
            if let Some(archive) = &archive {
                self.act(Verb::Read, archive, false, scope);
            }
        } else {
            for operand in &sorted.operands {
                self.act(Verb::Read, operand, true, &inner);
                if sorted.flag("--remove-files") {
                    self.act(Verb::Delete, operand, true, &inner);
                }
            }
            if let Some(archive) = &archive {
                let verb = if sorted.flag("-r") { Verb::Modify } else { Verb::Overwrite };
                self.write(verb, archive, scope);
            }
        }
        let mut sources = self.read_since(before);
        sources.extend(input.sources.iter().cloned());
        Some(Stream { sources, ..Stream::unknown() })
    }
}

impl Arg {
    /// The argument with every `mark` in it replaced by `name`.
    pub(super) fn with(&self, mark: &str, name: &Arg) -> Arg {
        match (self, name) {
            (Arg::Known(text), name) if text == mark => name.clone(),
            (Arg::Known(text), Arg::Known(name)) if !mark.is_empty() && text.contains(mark) => {
                Arg::Known(text.replace(mark, name))
            }
            (Arg::Known(text), _) => match text.split_once(mark) {
                Some((prefix, _)) if !mark.is_empty() => Arg::Unknown { prefix: prefix.to_owned(), empty: None },
                Some(_) | None => self.clone(),
            },
            (Arg::Pattern(_) | Arg::Set(_) | Arg::Unknown { .. }, _) => self.clone(),
        }
    }
}

fn is_shell_script(text: &str) -> bool {
    let Some(line) = text.strip_prefix("#!") else { return !text.contains('\0') };
    let line = line.lines().next().unwrap_or_default();
    let mut words = line.split_whitespace().map(|w| w.rsplit('/').next().unwrap_or(w));
    let program = words.next().unwrap_or_default();
    let program = if program == "env" { words.find(|w| !w.starts_with('-')).unwrap_or_default() } else { program };
    SHELLS.contains(&program)
}

#[derive(Debug, PartialEq)]
enum SedDeed<'s> {
    Runs,
    Writes(&'s str),
}

/// Commands of a sed script that reach outside: `e`, `w file`, `s/…/…/e`, `s/…/…/w file`.
fn sed_deeds(script: &str) -> Vec<SedDeed<'_>> {
    let mut deeds = Vec::new();
    for line in script.lines() {
        let mut rest = line;
        while let Some(at) = rest.find(|c: char| !c.is_whitespace() && !matches!(c, ';' | '{' | '}')) {
            rest = after_address(rest.get(at..).unwrap_or_default());
            let Some(command) = rest.chars().next() else { break };
            rest = rest.get(command.len_utf8()..).unwrap_or_default();
            match command {
                'e' => deeds.push(SedDeed::Runs),
                'w' | 'W' => deeds.push(SedDeed::Writes(rest.trim())),
                's' | 'y' => {
                    rest = after_parts(rest);
                    let flags = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).len();
                    let (flags, after) = rest.split_at_checked(flags).unwrap_or((rest, ""));
                    if flags.contains('e') {
                        deeds.push(SedDeed::Runs);
                    }
                    if let Some(at) = flags.find('w') {
                        let name = rest.get(at + 1..).unwrap_or_default();
                        deeds.push(SedDeed::Writes(name.trim()));
                        rest = "";
                    } else {
                        rest = after;
                    }
                }
                _ => {}
            }
            // Text, labels and file names run to the end of the line.
            if matches!(command, 'e' | 'w' | 'W' | 'a' | 'i' | 'c' | 'r' | 'R' | '#' | ':') {
                break;
            }
        }
    }
    deeds
}

/// Skips `12,/re/!`.
fn after_address(text: &str) -> &str {
    let mut rest = text;
    loop {
        let trimmed =
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | '!' | '~' | '+' | ' '));
        rest = match trimmed.strip_prefix('/') {
            Some(regex) => after_delimiter(regex, '/').trim_start_matches(['I', 'M']),
            None => return trimmed,
        };
    }
}

fn after_delimiter(text: &str, delimiter: char) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == delimiter => return text.get(at + c.len_utf8()..).unwrap_or_default(),
            _ => {}
        }
    }
    ""
}

/// Skips `/old/new/`.
fn after_parts(text: &str) -> &str {
    let Some(delimiter) = text.chars().next() else { return text };
    let rest = text.get(delimiter.len_utf8()..).unwrap_or_default();
    after_delimiter(after_delimiter(rest, delimiter), delimiter)
}

/// No `system(…)`, no pipe, no file written: looked for outside of strings and (roughly) regular expressions.
fn awk_is_tame(program: &str) -> bool {
    let mut code = String::new();
    let mut chars = program.chars();
    while let Some(c) = chars.next() {
        if c != '"' {
            code.push(c);
            continue;
        }
        code.push('"');
        while let Some(c) = chars.next() {
            match c {
                '\\' => {
                    chars.next();
                }
                '"' => break,
                _ => {}
            }
        }
        code.push('"');
    }
    let dense: String = code.split_whitespace().collect::<Vec<_>>().join(" ").replace("||", "");
    let pipes =
        dense.contains("| \"") || dense.contains("|\"") || dense.contains("| getline") || dense.contains("|getline");
    let writes = ["> \"", ">\"", ">> ", ">>\""].iter().any(|sign| dense.contains(sign)) && dense.contains("print");
    !(dense.contains("system(") || dense.contains("system (") || dense.contains("@load") || pipes || writes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_scripts_that_reach_outside() {
        for (script, want) in [
            ("s/a/b/g", vec![]),
            ("s|write|e|", vec![]),
            ("1,/x w/d", vec![]),
            ("s/a/b/e", vec![SedDeed::Runs]),
            ("1e date", vec![SedDeed::Runs]),
            ("s/a/b/gw out.txt", vec![SedDeed::Writes("out.txt")]),
            ("/x/w y", vec![SedDeed::Writes("y")]),
            ("a we write", vec![]),
            ("$!N;s/\\n/ /;P;D", vec![]),
        ] {
            assert_eq!(sed_deeds(script), want, "{script}");
        }
    }

    #[test]
    fn awk_programs_that_reach_outside() {
        for (program, tame) in [
            ("{print $1}", true),
            ("$1 > 5 {print \"a > b\"}", true),
            ("/a|b/ {n++} END {print n}", true),
            ("{system(\"rm \" $1)}", false),
            ("{print | \"sh\"}", false),
            ("{print $1 > \"out\"}", false),
            ("BEGIN{\"date\" | getline d}", false),
        ] {
            assert_eq!(awk_is_tame(program), tame, "{program}");
        }
    }
}
