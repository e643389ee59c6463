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
        // What is yet to be made is made in the deepest directory that is there.
        let holder = path.ancestors().skip(1).find(|p| p.exists()).filter(|p| self.may_hold(p)).map(Path::to_owned);
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

    #[test]
    fn the_write_set_is_what_the_effects_write() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for made in ["home/work/a", "home/weal", "srv"] {
            std::fs::create_dir_all(root.join(made)).unwrap();
        }
        let text = |name: &str| root.join(name).display().to_string();
        let reach = Reach {
            places: Places { workspace: text("home/work"), home: text("home") },
            hidden: vec![root.join("home/weal")],
            private: "/private".into(),
        };
        let opaque = Effect { certainty: Certainty::Opaque, ..Effect::new(Verb::Execute, Resource::path("x.py")) };
        let create = |name: &str| Effect::new(Verb::Create, Resource::path(name));
        let branch = Effect::new(Verb::Create, Resource::named(Kind::Branch, "main"));
        let (srv, none): (String, [&str; 0]) = (text("srv/x"), []);
        for (effect, write, remove) in [
            (Effect::new(Verb::Read, Resource::path("a")), &none[..], &none[..]),
            (Effect::new(Verb::Delete, Resource::subtree("a/b")), &none, &["home/work/a"]),
            (Effect::new(Verb::Delete, Resource::glob("a/*.log")), &none, &["home/work/a"]),
            (create("a/b/c"), &["home/work/a"], &none),
            (create("a"), &["home/work", "home/work/a"], &none),
            (create(&srv), &["srv"], &none),
            (create("~/x"), &none, &none),
            (create("~/weal/x"), &none, &none),
            (opaque, &["home/work"], &none),
            (branch, &["home/work"], &none),
        ] {
            let to = reach.of(std::slice::from_ref(&effect));
            let want = |names: &[&str]| names.iter().map(|n| root.join(n)).collect::<Vec<_>>();
            assert_eq!(to.write.get(1..), Some(&want(write)[..]), "{effect}");
            assert_eq!(to.remove, want(remove), "{effect}");
        }
    }
}
