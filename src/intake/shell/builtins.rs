//! Builtins of the shell and small filters whose output can be told: `cd`, `export`, `read`, `echo`, `printf`, `base64 -d`,
//! `basename`, `mktemp`. They change what the shell knows, hardly ever the world.

use super::{
    commands::{Call, is_name},
    scope::{Scope, Value, changes_commands},
    stream::{Content, Stream},
    walk::Walk,
    words::{Arg, ansi_c},
};
use crate::domain::{PathKind, Resource, Verb};

impl Walk<'_> {
    pub(super) fn cd(&mut self, call: &Call<'_>, scope: &mut Scope) -> Stream {
        if call.name == "popd" {
            // The stack of directories is not kept.
            scope.enter(None);
            return Stream::default();
        }
        let target = call.args.iter().find(|a| !a.start().starts_with('-') || a.start() == "-");
        let cwd = match target {
            None if call.args.iter().any(|a| a.start().starts_with('+')) => None,
            None => Some(self.ask.around.places.home.clone()),
            Some(arg) => match arg.text() {
                Some("-") => scope.old.clone(),
                Some(name) => self.absolute(name, scope),
                None => None,
            },
        };
        let made = self.effects.iter().any(|e| e.verb.writes() || e.verb == Verb::Copy || e.is_opaque());
        let cwd = cwd.and_then(|path| match self.place(&path, scope) {
            // Not there, and nothing before could have made it: what follows runs somewhere else.
            Some(place) if place.is(PathKind::Missing) && !made => None,
            // Where a link leads, relative names lead too.
            Some(place) if place.is_link() => Some(self.ask.around.places.absolute(&place.target)),
            Some(_) | None if path.split('/').any(|part| part == "..") => {
                Some(self.ask.around.places.absolute(&path))
            }
            Some(_) | None => Some(path),
        });
        scope.enter(cwd);
        Stream::default()
    }

    /// `export`, `declare`, `readonly` and, inside functions, `local`.
    pub(super) fn declare(&mut self, call: &Call<'_>, local: bool, scope: &mut Scope) -> Stream {
        for arg in call.args {
            // A bare or computed `PATH=…` in an argument.
            if let Some((name, _)) = arg.start().split_once('=')
                && is_name(name)
                && !call.declared.iter().any(|(n, _)| n == name)
            {
                let value = arg.without(name.len() + 1);
                self.holds(name, &value);
                scope.set(name, Value::One(value));
            }
        }
        let option = |sign| call.args.iter().any(|a| a.start().starts_with('-') && a.start().contains(sign));
        if option('f') && (call.name == "export" || option('x')) {
            scope.tainted = Some("a function goes on to the programs that are started".to_owned());
        }
        for (name, value) in call.declared {
            if local && let Some(frame) = self.locals.last_mut() {
                frame.push((name.clone(), scope.vars.get(name).cloned()));
            }
            scope.set(name, value.clone());
        }
        Stream::unknown()
    }

    /// `read a b`: names out of the input.
    pub(super) fn read_into(&mut self, args: &[Arg], scope: &mut Scope, input: &Stream) -> Stream {
        let names: Vec<&str> = args.iter().filter_map(Arg::text).filter(|a| is_name(a)).collect();
        for (at, name) in names.iter().enumerate() {
            let value = match &input.content {
                Content::Names(list) if at == 0 && names.len() == 1 => Arg::any_of(list),
                Content::Text(text) if at == 0 && names.len() == 1 => {
                    let lines: Vec<Arg> = text.lines().map(Arg::known).collect();
                    Arg::any_of(&lines)
                }
                Content::Names(_) | Content::Text(_) | Content::Nothing | Content::Unknown => Arg::hole(),
            };
            self.holds(name, &value);
            if !changes_commands(name) {
                scope.vars.insert((*name).to_owned(), Value::One(value));
            }
        }
        Stream::default()
    }
}

pub(super) fn echo(args: &[Arg]) -> Stream {
    let options = args.iter().take_while(|a| {
        a.text().is_some_and(|t| {
            t.len() > 1 && t.starts_with('-') && t.chars().skip(1).all(|c| matches!(c, 'n' | 'e' | 'E'))
        })
    });
    let options: Vec<&str> = options.filter_map(Arg::text).collect();
    let escapes = options.iter().any(|o| o.contains('e'));
    let words = args.get(options.len()..).unwrap_or_default();
    match words.iter().map(Arg::text).collect::<Option<Vec<_>>>() {
        Some(texts) => {
            let text = texts.join(" ");
            Stream::text(format!("{}\n", if escapes { ansi_c(&text) } else { text }))
        }
        None => Stream::names(words.to_vec()),
    }
}

/// Only formats made of text and `%s` are followed.
pub(super) fn printf(args: &[Arg]) -> Stream {
    let Some((format, values)) = args.split_first() else { return Stream::default() };
    let Some(format) = format.text() else { return Stream::unknown() };
    let texts: Option<Vec<&str>> = values.iter().map(Arg::text).collect();
    let format = ansi_c(format);
    let parts: Vec<&str> = format.split("%s").collect();
    let holes = parts.len().saturating_sub(1);
    if parts.iter().any(|p| p.contains('%')) {
        return Stream::unknown();
    }
    let Some(texts) = texts else {
        return if format.trim_end() == "%s" { Stream::names(values.to_vec()) } else { Stream::unknown() };
    };
    let mut out = String::new();
    let mut values = texts.into_iter().peekable();
    loop {
        for (at, part) in parts.iter().enumerate() {
            out.push_str(part);
            if at < holes {
                out.push_str(values.next().unwrap_or_default());
            }
        }
        if holes == 0 || values.peek().is_none() {
            return Stream::text(out);
        }
    }
}

/// `cat` without operands.
pub(super) fn pass_through(call: &Call<'_>, input: &Stream) -> Option<Stream> {
    let plain = call.args.iter().all(|a| a.start().starts_with('-'));
    plain.then(|| input.clone())
}

/// `base64 -d` of text that is known.
pub(super) fn decode(call: &Call<'_>, input: &Stream) -> Option<Stream> {
    let decodes = call.args.iter().any(|a| matches!(a.text(), Some("-d" | "-D" | "--decode")));
    let (Content::Text(text), true, 1) = (&input.content, decodes, call.args.len()) else { return None };
    let mut bits = 0_u32;
    let mut count = 0;
    let mut bytes = Vec::new();
    for c in text.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'=') {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(six)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    String::from_utf8(bytes).ok().map(Stream::text)
}

/// `basename x`, `dirname x`.
pub(super) fn path_part(call: &Call<'_>) -> Option<Stream> {
    let [Arg::Known(path)] = call.args else { return None };
    let path = path.trim_end_matches('/');
    let (dir, base) = path.rsplit_once('/').map_or((".", path), |(d, b)| (if d.is_empty() { "/" } else { d }, b));
    Some(Stream::text(if call.name == "dirname" { dir } else { base }))
}

/// A fresh name in the directory for temporary files.
pub(super) fn mktemp(args: &[Arg]) -> Stream {
    let own = args
        .iter()
        .any(|a| !a.start().starts_with('-') || a.start().starts_with("-p") || a.start().contains("tmpdir"));
    if own { Stream::unknown() } else { Stream::names(vec![Arg::Set(Resource::glob("/tmp/tmp.*"))]) }
}
