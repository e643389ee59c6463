//! Copying and moving: which name each source gets at the destination.

use super::commands::attribute;
use super::{
    options::Sorted,
    scope::Scope,
    table::{Flag, Role},
    walk::Walk,
    words::Arg,
};
use crate::domain::{Extent, PathKind, Resource, Verb};

impl Walk<'_> {
    /// `cp`, `mv`, `ln`, `install`: sources to the last operand or to the value of a destination option.
    pub(super) fn transfer(&mut self, role: Role, sorted: &Sorted<'_>, operands: &[Arg], scope: &mut Scope) {
        let named = sorted.values.iter().find(|(_, role, _)| *role == Role::Destination).map(|(_, _, arg)| arg);
        let (sources, destination, into) = match (named, operands) {
            (Some(directory), sources) => (sources, directory, true),
            (None, [sources @ .., destination]) if !sources.is_empty() => {
                let many = sources.len() > 1 || sources.iter().any(|s| !matches!(s, Arg::Known(_)));
                let into = self.is_directory(destination, scope) || many;
                (sources, destination, into && !sorted.flag("-T"))
            }
            (None, _) => return,
        };
        for source in sources {
            let targets = self.targets(source, destination, into, scope);
            let (verb, tree) =
                if role == Role::MoveSource { (Verb::Move, true) } else { (Verb::Copy, sorted.has(Flag::Tree)) };
            let to = targets.shown();
            self.act_with(verb, source, tree, scope, &attribute("to", to));
            if sorted.has(Flag::Keep) {
                self.act(Verb::Create, &targets, false, scope);
            } else {
                self.land(&targets, tree, scope);
            }
            self.carry_labels(source, &targets, scope);
        }
    }

    /// Names at the destination.
    fn targets(&self, source: &Arg, destination: &Arg, into: bool, scope: &Scope) -> Arg {
        if !into {
            return destination.clone();
        }
        let Some(directory) = destination.text().map(|d| d.trim_end_matches('/')) else { return destination.clone() };
        let directory = if directory.is_empty() && destination.start().starts_with('/') { "" } else { directory };
        let base = |path: &str| path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        match source {
            Arg::Known(name) => match base(name).as_str() {
                // The content of a directory: any name may come.
                "." | ".." | "" => Arg::Known(format!("{directory}/")),
                name => Arg::Known(format!("{directory}/{name}")),
            },
            Arg::Pattern(glob) => Arg::Pattern(format!("{}/{}", crate::intake::paths::quote(directory), base(glob))),
            Arg::Set(Resource {
                extent: Extent::Glob(_) | Extent::Subtree(_) | Extent::One(_) | Extent::Any,
                ..
            })
            | Arg::Unknown { .. } => match self.absolute(directory, scope) {
                Some(absolute) => Arg::Set(Resource::glob(format!(
                    "{}/*",
                    crate::intake::paths::quote(&self.ask.around.places.canonical(&absolute))
                ))),
                None => Arg::hole(),
            },
        }
    }

    /// Something arrives at `targets` and may replace what is there.
    fn land(&mut self, targets: &Arg, tree: bool, scope: &Scope) {
        let seen = targets.text().and_then(|name| self.place(name, scope));
        match seen {
            // A tree that is merged into an existing one replaces what has the same names.
            Some(place) if tree && place.is(PathKind::Directory) => {
                self.possibly(|walk| walk.act(Verb::Overwrite, targets, true, scope));
            }
            Some(place) if place.is(PathKind::Directory) => self.act(Verb::Modify, targets, false, scope),
            Some(_) | None => self.write(Verb::Overwrite, targets, scope),
        }
    }

    fn carry_labels(&mut self, source: &Arg, target: &Arg, scope: &Scope) {
        let (Some(from), Some(to)) = (source.text(), target.text()) else { return };
        let (Some(from), Some(to)) = (self.absolute(from, scope), self.absolute(to, scope)) else { return };
        let places = &self.ask.around.places;
        let (from, to) = (Resource::path(places.canonical(&from)).to_string(), places.canonical(&to));
        self.carry(&[from], &to);
    }
}
