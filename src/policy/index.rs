//! Finds the rules that could speak about an effect without asking each of them.
//!
//! Every rule is filed under conditions of which at least one must hold for its guard not to be false: a tool, a
//! place in the tree of paths, the name of another resource; failing those, only its verbs. So a lookup gives a
//! superset of the rules that speak, never less (the laws compare it with asking every rule).
//!
//! What never lives here: meaning. Whether a rule speaks is decided in `eval`.

use super::{
    check::{Check, Test},
    lang::ast::VerbClass,
    pattern::{Ends, Pattern, is_elsewhere},
};
use crate::domain::{Effect, Extent, Kind, Places, Resource, Verb, resource::is_glob_char};
use std::{borrow::Cow, collections::BTreeMap};

/// A rule's place in the law, and the verbs it could speak about.
#[derive(Debug, Clone, Copy)]
struct Entry {
    rule: usize,
    verbs: Verbs,
}

/// Rules filed by what must hold for them to speak.
#[derive(Debug, Default)]
pub struct Index {
    tools: BTreeMap<String, Vec<Entry>>,
    paths: Tree,
    names: BTreeMap<Kind, Names>,
    others: BTreeMap<Verb, Vec<Entry>>,
}

/// Names are filed in small letters: some kinds compare without case, and for the others that costs a few candidates
/// more.
#[derive(Debug, Default)]
struct Names {
    exact: BTreeMap<String, Vec<Entry>>,
    /// With what the names of the set begin and end with.
    sets: Vec<(String, String, Entry)>,
}

/// A node for each directory that a pattern names. The entries of a node are of patterns that lie at or below it.
#[derive(Debug, Default)]
struct Tree {
    here: Vec<Entry>,
    below: BTreeMap<String, Tree>,
}

impl Index {
    pub fn file(&mut self, rule: usize, check: &Check) {
        let entry = Entry { rule, verbs: Verbs::of(check) };
        let Some(Keys { keys, .. }) = Keys::of(check) else {
            for verb in Verb::ALL.into_iter().filter(|v| entry.verbs.has(*v)) {
                self.others.entry(verb).or_default().push(entry);
            }
            return;
        };
        for key in keys {
            match key {
                Key::Tool(tool) => self.tools.entry(tool).or_default().push(entry),
                Key::Path(path) => segments(&path).fold(&mut self.paths, Tree::child).here.push(entry),
                Key::Name(kind, name) => {
                    self.names.entry(kind).or_default().exact.entry(name).or_default().push(entry);
                }
                Key::Set(kind, head, tail) => self.names.entry(kind).or_default().sets.push((head, tail, entry)),
            }
        }
    }

    /// Calls `found` with every rule that could speak about `effect`, some of them more than once. Not for opaque
    /// effects: whatever is asked of those is unknown.
    pub fn each(&self, tool: &str, effect: &Effect, places: &Places, found: &mut impl FnMut(usize)) {
        let mut give = |entries: &[Entry]| {
            entries.iter().filter(|e| e.verbs.has(effect.verb)).for_each(|e| found(e.rule));
        };
        self.tools.get(tool).into_iter().chain(self.others.get(&effect.verb)).for_each(|list| give(list));
        if effect.resource.kind == Kind::Path {
            self.paths.each(&effect.resource, places, &mut give);
        } else if let Some(names) = self.names.get(&effect.resource.kind) {
            names.each(&effect.resource, &mut give);
        }
    }
}

impl Names {
    fn each(&self, resource: &Resource, give: &mut impl FnMut(&[Entry])) {
        match &resource.extent {
            Extent::One(name) => {
                let name = lowercase(name);
                self.exact.get(name.as_ref()).into_iter().for_each(|list| give(list));
                for (head, tail, entry) in &self.sets {
                    if name.ends_with(tail.as_str()) && name.starts_with(head.as_str()) {
                        give(std::slice::from_ref(entry));
                    }
                }
            }
            Extent::Subtree(_) | Extent::Glob(_) | Extent::Any => {
                self.exact.values().for_each(|list| give(list));
                self.sets.iter().for_each(|(_, _, entry)| give(std::slice::from_ref(entry)));
            }
        }
    }
}

fn lowercase(name: &str) -> Cow<'_, str> {
    let plain = name.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase());
    if plain { Cow::Borrowed(name) } else { Cow::Owned(name.chars().flat_map(char::to_lowercase).collect()) }
}

impl Tree {
    fn child(&mut self, name: &str) -> &mut Tree {
        self.below.entry(name.to_owned()).or_default()
    }

    fn each(&self, resource: &Resource, places: &Places, give: &mut impl FnMut(&[Entry])) {
        let (text, whole) = match &resource.extent {
            _ if is_elsewhere(resource) => return self.all(give),
            Extent::One(name) => (name.as_str(), true),
            Extent::Subtree(name) => (name.as_str(), false),
            Extent::Glob(glob) => (glob_head(glob), false),
            Extent::Any => ("/", false),
        };
        let (base, rest) = match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => (places.home.as_str(), rest),
            _ if text.starts_with('/') => ("", text),
            _ => (places.workspace.as_str(), text),
        };
        let mut node = self;
        give(&node.here);
        for segment in segments(base).chain(segments(rest)) {
            match node.below.get(segment) {
                Some(child) => node = child,
                None => return,
            }
            give(&node.here);
        }
        if !whole {
            node.below.values().for_each(|child| child.all(give));
        }
    }

    fn all(&self, give: &mut impl FnMut(&[Entry])) {
        give(&self.here);
        self.below.values().for_each(|child| child.all(give));
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|s| !s.is_empty() && *s != ".")
}

/// What every name that `glob` takes starts with, in whole segments; `/` where that cannot be told.
fn glob_head(glob: &str) -> &str {
    let Some(first) = glob.find(is_glob_char) else { return glob };
    let head = glob.get(..first).and_then(|h| h.rfind('/')).and_then(|slash| glob.get(..slash));
    match head {
        Some("") => "/",
        Some(head) => head,
        None if glob.starts_with(['*', '?', '[']) && !glob.starts_with("**") => ".",
        None if first > 0 && !glob.starts_with('~') => ".",
        None => "/",
    }
}

/// One condition that must hold for a rule to speak.
enum Key {
    Tool(String),
    /// The operand shares a name with something at or below this absolute path.
    Path(String),
    /// The operand has this name, or is a set.
    Name(Kind, String),
    /// The operand's name begins and ends so, or it is a set.
    Set(Kind, String, String),
}

/// Conditions of which one must hold, and how few effects meet them (more is fewer).
struct Keys {
    keys: Vec<Key>,
    rarity: usize,
}

impl Keys {
    /// `None` where nothing can be said.
    fn of(check: &Check) -> Option<Keys> {
        match check {
            Check::Always | Check::Not(_) => None,
            Check::Is(test) => Keys::of_test(test),
            Check::All(parts) => parts.iter().filter_map(Keys::of).max_by_key(|k| k.rarity),
            Check::AnyOf(parts) => {
                let mut all = Keys { keys: Vec::new(), rarity: usize::MAX };
                for part in parts {
                    let mut part = Keys::of(part)?;
                    all.keys.append(&mut part.keys);
                    all.rarity = all.rarity.min(part.rarity);
                }
                Some(all)
            }
        }
    }

    fn of_test(test: &Test) -> Option<Keys> {
        match test {
            Test::Tool(tool) => Some(Keys { keys: vec![Key::Tool(tool.clone())], rarity: 100 }),
            Test::Resource(named) => Some(Keys::of_pattern(&named.pattern)),
            Test::Intent(_)
            | Test::DataScope(_)
            | Test::Compare { .. }
            | Test::Effect(_)
            | Test::Recipient(_)
            | Test::Reversible
            | Test::Requested
            | Test::Broken(_) => None,
        }
    }

    fn of_pattern(pattern: &Pattern) -> Keys {
        let kind = pattern.kind();
        let mut all = Keys { keys: Vec::new(), rarity: usize::MAX };
        for Ends { head, tail, closed } in pattern.ends() {
            let (key, rarity) = if kind == Kind::Path {
                let cut = if closed { head.len() } else { head.rfind('/').unwrap_or(0) };
                let path = head.get(..cut).unwrap_or_default().to_owned();
                let depth = segments(&path).count();
                (Key::Path(path), depth)
            } else if closed {
                (Key::Name(kind, lowercase(&head).into_owned()), 50)
            } else {
                (Key::Set(kind, lowercase(&head).into_owned(), lowercase(&tail).into_owned()), 3)
            };
            all.keys.push(key);
            all.rarity = all.rarity.min(rarity);
        }
        all
    }
}

/// A set of verbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Verbs(u32);

impl Verbs {
    const ALL: Verbs = Verbs(u32::MAX);

    const fn has(self, verb: Verb) -> bool {
        self.0 & (1 << verb as u8) != 0
    }

    /// Verbs of effects for which `check` could be other than false, opaque effects aside.
    fn of(check: &Check) -> Verbs {
        match check {
            Check::Is(Test::Effect(class)) => Verbs::of_class(*class),
            Check::Not(inner) => match inner.as_ref() {
                Check::Is(Test::Effect(class)) => Verbs(!Verbs::of_class(*class).0),
                Check::Always | Check::Is(_) | Check::Not(_) | Check::All(_) | Check::AnyOf(_) => Verbs::ALL,
            },
            Check::Always | Check::Is(_) => Verbs::ALL,
            Check::All(parts) => Verbs(parts.iter().fold(u32::MAX, |all, part| all & Verbs::of(part).0)),
            Check::AnyOf(parts) => Verbs(parts.iter().fold(0, |all, part| all | Verbs::of(part).0)),
        }
    }

    fn of_class(class: VerbClass) -> Verbs {
        Verbs(Verb::ALL.into_iter().filter(|v| class.covers(*v)).fold(0, |all, v| all | 1 << v as u8))
    }
}
