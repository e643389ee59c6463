//! `find`: where it looks, which names it picks, and what it does with them.

use super::{scope::Scope, stream::Stream, walk::Walk, words::Arg};
use crate::{
    domain::{Extent, Resource, Verb},
    intake::paths,
};

/// Tests and options of `find` that take a value.
const VALUES: [&str; 35] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-lname",
    "-ilname",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-amin",
    "-cmin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-perm",
    "-maxdepth",
    "-mindepth",
    "-links",
    "-inum",
    "-samefile",
    "-fstype",
    "-printf",
    "-used",
    "-regextype",
];

/// What has been picked so far on the line.
struct Picked {
    /// Where the walk starts.
    bases: Vec<Arg>,
    /// The pattern of names, while it is sure that nothing else is picked.
    name: Option<String>,
    /// An `-o`, `!` or parenthesis: the tests no longer say what is picked.
    vague: bool,
}

impl Walk<'_> {
    pub(super) fn find(&mut self, args: &[Arg], scope: &mut Scope) -> Stream {
        let is_expression = |arg: &Arg| {
            arg.start().starts_with('-') && arg.start().len() > 2 || matches!(arg.text(), Some("(" | ")" | "!" | ","))
        };
        let at = args.iter().position(is_expression).unwrap_or(args.len());
        let (bases, expression) = args.split_at_checked(at).unwrap_or((args, &[]));
        let mut bases: Vec<Arg> =
            bases.iter().filter(|a| !matches!(a.start(), "-H" | "-L" | "-P")).cloned().collect();
        if bases.is_empty() {
            bases.push(Arg::known("."));
        }
        let vague = expression.iter().any(|a| matches!(a.text(), Some("-o" | "-or" | "!" | "-not" | "(" | ",")));
        let mut picked = Picked { bases, name: None, vague };
        let mut acts = false;
        let mut rest = expression.iter();
        while let Some(arg) = rest.next() {
            match arg.text() {
                Some("-name") => picked.name = rest.next().and_then(name_pattern).or(picked.name),
                Some("-delete") => {
                    acts = true;
                    for found in self.found(&picked, scope) {
                        self.possibly(|walk| walk.act(Verb::Delete, &found, false, scope));
                    }
                }
                Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                    acts = true;
                    let command: Vec<&Arg> =
                        rest.by_ref().take_while(|a| !matches!(a.text(), Some(";" | "+"))).collect();
                    for found in self.found(&picked, scope) {
                        let words: Vec<Arg> = command.iter().map(|arg| arg.with("{}", &found)).collect();
                        self.possibly(|walk| {
                            walk.dispatch_program(&words, &[], &mut scope.clone(), Stream::default())
                        });
                    }
                }
                Some("-fprint" | "-fprint0" | "-fls") => {
                    if let Some(file) = rest.next() {
                        self.write(Verb::Overwrite, file, scope);
                    }
                }
                Some("-fprintf") => {
                    if let Some(file) = rest.next() {
                        self.write(Verb::Overwrite, file, scope);
                    }
                    rest.next();
                }
                Some("-files0-from") => picked.bases = vec![rest.next().map_or_else(Arg::hole, |_| Arg::hole())],
                Some(option) if VALUES.contains(&option) => {
                    rest.next();
                }
                Some(_) | None => {}
            }
        }
        let found = self.found(&picked, scope);
        if !acts {
            for base in &picked.bases {
                self.act(Verb::List, base, true, scope);
            }
        }
        Stream::names(found)
    }

    /// What the tests so far let through, as sets of paths.
    fn found(&mut self, picked: &Picked, scope: &Scope) -> Vec<Arg> {
        picked.bases.iter().map(|base| self.found_below(base, picked, scope)).collect()
    }

    fn found_below(&mut self, base: &Arg, picked: &Picked, scope: &Scope) -> Arg {
        let (around, cwd) = (self.ask.around, scope.cwd.clone());
        let below = match base {
            Arg::Known(name) => match self.absolute(name, scope) {
                Some(absolute) => around.places.absolute(&absolute),
                None => return Arg::hole(),
            },
            Arg::Pattern(glob) => {
                return match cwd {
                    Some(cwd) => Arg::Set(paths::pattern(around, &cwd, &format!("{glob}/**"))),
                    None => Arg::hole(),
                };
            }
            Arg::Set(set) => {
                return match &set.extent {
                    Extent::One(name) => Arg::Set(Resource::subtree(name)),
                    Extent::Subtree(_) | Extent::Glob(_) | Extent::Any => Arg::Set(set.clone()),
                };
            }
            Arg::Unknown { .. } => return Arg::hole(),
        };
        match &picked.name {
            Some(name) if !picked.vague => Arg::Set(paths::pattern(around, &below, &format!("**/{name}"))),
            Some(_) | None => Arg::Set(Resource::subtree(around.places.canonical(&below))),
        }
    }
}

/// A pattern for one component, in the form that resources use.
fn name_pattern(arg: &Arg) -> Option<String> {
    let text = arg.text()?;
    (!text.contains('/')).then(|| text.replace('{', "\\{").replace('}', "\\}"))
}
