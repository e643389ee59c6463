//! Names of paths to canonical resources, by facts where there are some and by the letters where there are none.
//! Every question to the world passes through `Ask`, which remembers what was not yet answered.

use super::actions::Surroundings;
use crate::domain::{Digest, Fact, Facts, PathKind, Query, Resource, Scalar};
use std::collections::BTreeSet;

/// More questions than this about one action go unanswered.
const MAX_QUERIES: usize = 200;

/// The facts so far, and the questions they leave open.
pub(super) struct Ask<'a> {
    facts: &'a Facts,
    pub around: &'a Surroundings,
    /// Queries whose answer would help; a missing answer counts as `Unavailable` meanwhile.
    pub open: BTreeSet<Query>,
}

/// What is known of the thing behind a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    pub kind: PathKind,
    pub link: bool,
    pub files: u64,
    pub bytes: u64,
    pub capped: bool,
    pub made_here: bool,
}

/// A path after resolution.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    /// Canonical name by the letters alone; where the path is a link, of the link itself.
    pub given: String,
    /// Canonical name of what it leads to.
    pub target: String,
    /// `None` where the world could not say.
    pub seen: Option<Seen>,
}

impl Place {
    pub fn is(&self, kind: PathKind) -> bool {
        self.seen.as_ref().is_some_and(|s| s.kind == kind)
    }

    pub fn is_link(&self) -> bool {
        self.seen.as_ref().is_some_and(|s| s.link)
    }
}

impl<'a> Ask<'a> {
    pub fn new(facts: &'a Facts, around: &'a Surroundings) -> Self {
        Ask { facts, around, open: BTreeSet::new() }
    }

    fn fact(&mut self, query: Query) -> Option<&'a Fact> {
        let fact = self.facts.get(&query);
        if fact.is_none() && self.open.len() + self.facts.0.len() < MAX_QUERIES {
            self.open.insert(query);
        }
        fact
    }

    /// What lies at `absolute` (which may still hold `..`: a link in front of it matters to the world).
    pub fn place(&mut self, absolute: &str) -> Place {
        let places = &self.around.places;
        let given = places.canonical(absolute);
        let Some(Fact::Path { resolved, kind, link, files, bytes, capped, made_here, .. }) =
            self.fact(Query::Path(self.name_for_world(absolute)))
        else {
            return Place { target: given.clone(), given, seen: None };
        };
        let seen =
            Seen { kind: *kind, link: *link, files: *files, bytes: *bytes, capped: *capped, made_here: *made_here };
        let target = places.canonical(resolved);
        let given = if *link { self.link_itself(absolute) } else { target.clone() };
        Place { given, target, seen: Some(seen) }
    }

    /// A link's own name: its directory resolved, its last component kept.
    fn link_itself(&mut self, absolute: &str) -> String {
        let folded = self.around.places.absolute(absolute);
        let (parent, name) = folded.rsplit_once('/').unwrap_or(("", &folded));
        match self.fact(Query::Path(self.name_for_world(if parent.is_empty() { "/" } else { parent }))) {
            Some(Fact::Path { resolved, .. }) => self.around.places.canonical(&format!("{resolved}/{name}")),
            _ => self.around.places.canonical(&folded),
        }
    }

    /// The key under which the world knows a path: relative in the workspace, else absolute.
    fn name_for_world(&self, absolute: &str) -> String {
        if absolute.split('/').any(|part| part == "..") {
            return absolute.to_owned();
        }
        let canonical = self.around.places.canonical(absolute);
        if canonical.starts_with('~') { self.around.places.absolute(absolute) } else { canonical }
    }

    /// The canonical names that an absolute glob matches, or `None` where they are not known (all of them).
    pub fn glob(&mut self, absolute: &str) -> Option<Vec<String>> {
        let name = self.name_for_world(absolute);
        match self.fact(Query::Glob(name)) {
            Some(Fact::Glob { paths, capped: false }) => {
                Some(paths.iter().map(|p| self.around.places.absolute(p)).collect())
            }
            _ => None,
        }
    }

    /// `Some(None)`: known to be unset.
    pub fn env(&mut self, name: &str) -> Option<Option<String>> {
        match self.fact(Query::Env(name.to_owned())) {
            Some(Fact::Env { value }) => Some(value.clone()),
            _ => None,
        }
    }

    /// The text of a script and its digest. A descriptor's text would be that of another process.
    pub fn value(&mut self, query: Query) -> Option<Scalar> {
        match self.fact(query)? {
            Fact::State { value } => Some(value.clone()),
            _ => None,
        }
    }

    pub fn text(&mut self, absolute: &str) -> (Option<String>, Option<Digest>) {
        if absolute.starts_with("/dev/") || absolute.starts_with("/proc/") {
            return (None, None);
        }
        match self.fact(Query::Text(self.name_for_world(absolute))) {
            Some(Fact::Text { text, digest }) => (text.clone(), Some(*digest)),
            _ => (None, None),
        }
    }

    /// Absolute path and digest of a command word's program, if the world knows.
    pub fn command(&mut self, word: &str) -> Option<(String, Option<Digest>)> {
        match self.fact(Query::Command(word.to_owned())) {
            Some(Fact::Command { path: Some(path), digest }) => Some((path.clone(), *digest)),
            _ => None,
        }
    }

    /// The git work tree that holds `absolute`.
    pub fn git(&mut self, absolute: &str) -> Option<WorkTree> {
        match self.fact(Query::Git(self.name_for_world(absolute))) {
            Some(Fact::Git { root: Some(root), dirty, untracked, branch, capped }) => Some(WorkTree {
                root: self.around.places.absolute(root),
                dirty: dirty.clone(),
                untracked: untracked.clone(),
                branch: branch.clone(),
                capped: *capped,
            }),
            _ => None,
        }
    }

    /// Whether all of what lies at the canonical, resolved path `name` can be had back from a commit.
    pub fn is_committed(&mut self, name: &str) -> bool {
        let absolute = self.around.places.absolute(name);
        let Some(tree) = self.git(&absolute) else { return false };
        let Some(inside) = absolute.strip_prefix(&format!("{}/", tree.root)) else { return false };
        let git = inside == ".git" || inside.starts_with(".git/");
        !git && !tree.capped && !tree.dirty.iter().chain(&tree.untracked).any(|path| overlap(path, inside))
    }

    /// Inside the workspace: a place where the agent may have written.
    pub fn in_workspace(&self, absolute: &str) -> bool {
        let canonical = self.around.places.canonical(absolute);
        !canonical.starts_with('/') && !canonical.starts_with('~')
    }
}

/// State of a git work tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WorkTree {
    pub root: String,
    pub dirty: Vec<String>,
    pub untracked: Vec<String>,
    pub branch: Option<String>,
    pub capped: bool,
}

/// One of two relative paths is the other or lies in it.
pub(super) fn overlap(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim_end_matches('/'), b.trim_end_matches('/'));
    let under =
        |long: &str, short: &str| long.strip_prefix(short).is_some_and(|r| r.is_empty() || r.starts_with('/'));
    under(a, b) || under(b, a)
}

/// `name` as a shell in `cwd` takes it, not folded yet.
pub(super) fn join(cwd: &str, name: &str) -> String {
    if name.starts_with('/') { name.to_owned() } else { format!("{}/{name}", cwd.trim_end_matches('/')) }
}

/// A pattern below a directory, as a resource: the directory's own glob characters are quoted, `..` is folded.
pub(super) fn pattern(around: &Surroundings, cwd: &str, glob: &str) -> Resource {
    let absolute = if glob.starts_with('/') { glob.to_owned() } else { join(&quote(cwd), glob) };
    let canonical = around.places.canonical(&absolute);
    match canonical.strip_suffix("/**") {
        Some(base) if unquote(base).is_some() => Resource::subtree(unquote(base).unwrap_or_default()),
        _ if canonical == "**" => Resource::subtree("."),
        _ => unquote(&canonical).map_or_else(|| Resource::glob(canonical.clone()), Resource::path),
    }
}

/// `text` as a glob that matches just this text.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if crate::domain::resource::is_glob_char(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The one text that `glob` matches, unless it matches more.
pub(super) fn unquote(glob: &str) -> Option<String> {
    let mut out = String::with_capacity(glob.len());
    let mut chars = glob.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(chars.next()?),
            c if crate::domain::resource::is_glob_char(c) => return None,
            c => out.push(c),
        }
    }
    Some(out)
}
