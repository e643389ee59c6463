//! From audited effects to the narrowest walls that let them happen.
//!
//! Landlock's grain is the directory: to make, replace or remove an entry one must be allowed to write in the
//! directory that holds it. So the reach of an understood action is the directories its effects write in, that of an
//! action nobody understands the workspace, and that of one that only reads nothing but its own temporary directory.

use super::Confine;
use crate::domain::{Effect, Extent, Kind, Places, Reversibility, Verb, resource::is_glob_char};
use std::path::{Path, PathBuf};

/// What the walls are built around. Paths are absolute and resolved.
#[derive(Debug, Clone)]
pub struct Reach {
    pub places: Places,
    /// weal's own directories.
    pub hidden: Vec<PathBuf>,
    /// Temporary files of this session's children.
    pub private: PathBuf,
}

impl Reach {
    pub(in crate::tools) fn of(&self, effects: &[Effect]) -> Confine {
        let wide = !effects.iter().all(is_understood);
        let mut to = Confine {
            write: vec![self.private.clone()],
            remove: Vec::new(),
            hidden: self.hidden.clone(),
            network: effects.iter().any(needs_network),
            shared_memory: wide,
        };
        if wide {
            to.write.push(self.workspace().to_owned());
        }
        for effect in effects.iter().filter(|e| e.verb.writes() && e.resource.kind == Kind::Path) {
            self.add(effect, &mut to);
        }
        to
    }

    fn workspace(&self) -> &Path {
        Path::new(&self.places.workspace)
    }

    fn add(&self, effect: &Effect, to: &mut Confine) {
        let Some(base) = base_of(&effect.resource.extent) else { return };
        let path = PathBuf::from(self.places.absolute(&base));
        if self.hidden.iter().any(|h| path.starts_with(h)) && !path.starts_with(self.workspace()) {
            return;
        }
        let holder = path.parent().map(Path::to_owned).filter(|p| self.may_hold(p));
        let places = holder.into_iter().chain(path.exists().then_some(path));
        match effect.verb {
            Verb::Delete => to.remove.extend(places),
            _ => to.write.extend(places),
        }
    }

    /// Outside the workspace a directory as a whole is opened only where that is no more than one meant: never one
    /// that holds the home, the workspace or weal's own directories.
    fn may_hold(&self, holder: &Path) -> bool {
        let home = Path::new(&self.places.home);
        let keeps = |inner: &Path| inner.starts_with(holder);
        holder.starts_with(self.workspace())
            || !(keeps(home) || keeps(self.workspace()) || self.hidden.iter().any(|h| keeps(h)))
    }
}

/// Every file it writes is named by its effects.
fn is_understood(effect: &Effect) -> bool {
    let named = effect.resource.kind == Kind::Path && effect.resource.extent != Extent::Any;
    let only_files = effect.verb.writes() || matches!(effect.verb, Verb::Copy | Verb::Backup);
    !effect.is_opaque() && (effect.reversibility == Reversibility::ReadOnly || named && only_files)
}

fn needs_network(effect: &Effect) -> bool {
    let speaks = matches!(effect.verb, Verb::Request | Verb::Send | Verb::Publish | Verb::Install | Verb::Pay);
    speaks || effect.is_opaque() || matches!(effect.resource.kind, Kind::Host | Kind::Remote)
}

/// The deepest directory or file that holds everything meant.
fn base_of(extent: &Extent) -> Option<String> {
    match extent {
        Extent::One(name) | Extent::Subtree(name) => Some(name.clone()),
        Extent::Glob(glob) => {
            let literal = glob.split(is_glob_char).next().unwrap_or_default();
            let (base, _) = literal.rsplit_once('/').unwrap_or((".", ""));
            // The entries that match lie in `base`, so `base` holds them as a parent does.
            Some(format!("{}/_", if base.is_empty() { "" } else { base }))
        }
        Extent::Any => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Certainty, Resource};

    fn reach() -> Reach {
        Reach {
            places: Places { workspace: "/home/ann/work".into(), home: "/home/ann".into() },
            hidden: vec!["/home/ann/.local/share/weal".into()],
            private: "/tmp/private".into(),
        }
    }

    fn set(effects: &[Effect]) -> (Vec<String>, Vec<String>) {
        let to = reach().of(effects);
        let text = |paths: Vec<PathBuf>| paths.iter().map(|p| p.display().to_string()).collect();
        (text(to.write.into_iter().skip(1).collect()), text(to.remove))
    }

    #[test]
    fn the_write_set_is_what_the_effects_write() {
        let opaque = Effect { certainty: Certainty::Opaque, ..Effect::new(Verb::Execute, Resource::path("x.py")) };
        let some = |w: &[&str], r: &[&str]| {
            let own = |l: &[&str]| l.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
            (own(w), own(r))
        };
        for (effects, want) in [
            (vec![Effect::new(Verb::Read, Resource::path("a"))], some(&[], &[])),
            (vec![Effect::new(Verb::Delete, Resource::subtree("a/b"))], some(&[], &["/home/ann/work/a"])),
            (vec![Effect::new(Verb::Delete, Resource::glob("a/*.log"))], some(&[], &["/home/ann/work/a"])),
            (vec![Effect::new(Verb::Create, Resource::path("/srv/x"))], some(&["/srv"], &[])),
            (vec![Effect::new(Verb::Create, Resource::path("~/x"))], some(&[], &[])),
            (vec![Effect::new(Verb::Create, Resource::path("~/.local/share/weal/x"))], some(&[], &[])),
            (vec![opaque], some(&["/home/ann/work"], &[])),
            (vec![Effect::new(Verb::Create, Resource::named(Kind::Branch, "main"))], some(&["/home/ann/work"], &[])),
        ] {
            assert_eq!(set(&effects), want, "{effects:?}");
        }
    }
}
