//! From verb and argument to effects: resources resolved, facts and labels attached, numbers bounded. Knows paths and
//! facts, but no tool.

use super::{scope::Scope, words::Arg};
use crate::{
    domain::{Attributes, Certainty, Digest, Effect, Extent, Kind, PathKind, Program, Resource, Reversibility, Verb},
    intake::{
        labels::Labels,
        paths::{self, Ask, Place},
    },
};
use std::collections::BTreeSet;

const MAX_EFFECTS: usize = 1_000;
/// A glob that matches at most so many paths is told path by path.
const MAX_LISTED: usize = 50;

pub(in crate::intake) struct Emit<'a> {
    pub ask: Ask<'a>,
    pub effects: Vec<Effect>,
    pub programs: Vec<Program>,
    pub certainty: Certainty,
    pub chain: u16,
    /// Everything happens there, not here.
    pub remote: Option<Resource>,
    labels: Labels,
    seen: BTreeSet<(String, u16, u8)>,
    /// Canonical names that were read, in order.
    read: Vec<String>,
    full: bool,
}

impl<'a> Emit<'a> {
    pub fn new(ask: Ask<'a>) -> Self {
        let labels = ask.around.labels.clone();
        Emit {
            ask,
            effects: Vec::new(),
            programs: Vec::new(),
            certainty: Certainty::Certain,
            chain: 0,
            remote: None,
            labels,
            seen: BTreeSet::new(),
            read: Vec::new(),
            full: false,
        }
    }

    pub fn is_remote(&self) -> bool {
        self.remote.is_some()
    }

    pub fn is_full(&self) -> bool {
        self.full
    }

    pub fn reads(&self) -> usize {
        self.read.len()
    }

    pub fn read_since(&self, mark: usize) -> Vec<String> {
        self.read.get(mark..).unwrap_or_default().to_vec()
    }

    /// Adds one effect, with the labels of its resource and of `what` it sends.
    pub fn push(&mut self, mut effect: Effect) {
        if self.full {
            return;
        }
        if let (Some(there), true) = (&self.remote, effect.resource.kind != Kind::Host) {
            let what = effect.resource.to_string();
            effect.resource = there.clone();
            effect = effect.with("what", what);
        }
        effect.certainty = effect.certainty.max(self.certainty);
        effect.chain = self.chain;
        let places = &self.ask.around.places;
        let mut labels: BTreeSet<String> = effect.labels.drain(..).collect();
        labels.extend(self.labels.of(&effect.resource, places));
        if let (Some(what), false) = (effect.attributes.get("what"), self.remote.is_some()) {
            let Ok(what) = what.to_string().parse();
            labels.extend(self.labels.of(&what, places));
        }
        effect.labels = labels.into_iter().collect();
        if effect.verb == Verb::Read && effect.resource.kind == Kind::Path {
            self.read.push(effect.resource.to_string());
        }
        let key = format!("{effect} {:?}", effect.attributes);
        if !self.seen.insert((key, effect.chain, effect.certainty as u8)) {
            return;
        }
        if self.effects.len() >= MAX_EFFECTS {
            return self.give_up("the command has too many effects to be listed");
        }
        self.effects.push(effect);
    }

    /// The rest is not followed.
    pub fn give_up(&mut self, why: &str) {
        if !self.full {
            self.full = true;
            self.effects.push(Effect::new(Verb::Unknown, Resource::any(Kind::Program)).with("why", why));
        }
    }

    /// Something happens here that cannot be told.
    pub fn opaque(&mut self, what: &str, why: &str) {
        self.push(Effect::new(Verb::Unknown, Resource::named(Kind::Program, what)).with("why", why));
    }

    /// A program runs of which nothing is known but its name and, perhaps, its digest.
    pub fn opaque_program(&mut self, name: &str, digest: Option<Digest>, why: &str) {
        self.push(Effect::new(Verb::Execute, Resource::named(Kind::Program, name)));
        self.opaque(name, why);
        let program = Program { path: name.to_owned(), digest };
        if !self.programs.contains(&program) {
            self.programs.push(program);
        }
    }

    /// Absolute path of a plain argument, `..` not folded.
    pub(super) fn absolute(&self, name: &str, scope: &Scope) -> Option<String> {
        if name.starts_with('/') { Some(name.to_owned()) } else { Some(paths::join(scope.cwd.as_deref()?, name)) }
    }

    pub(super) fn place(&mut self, name: &str, scope: &Scope) -> Option<Place> {
        if self.is_remote() {
            return None;
        }
        let absolute = self.absolute(name, scope)?;
        Some(self.ask.place(&absolute))
    }

    /// `verb` on what `arg` names, with what the facts say of it. `tree`: with all that lies below.
    pub(super) fn act(&mut self, verb: Verb, arg: &Arg, tree: bool, scope: &Scope) {
        self.act_with(verb, arg, tree, scope, &Attributes::new());
    }

    pub(super) fn act_with(&mut self, verb: Verb, arg: &Arg, tree: bool, scope: &Scope, more: &Attributes) {
        let add = |mut effect: Effect| {
            effect.attributes.extend(more.clone());
            effect
        };
        if self.is_remote() {
            let (Some(there), what) = (self.remote.clone(), arg.shown()) else { return };
            let what = if tree { format!("{what}/**") } else { what };
            return self.push(add(Effect::new(verb, there).with("what", what)));
        }
        match arg {
            Arg::Known(name) if name.is_empty() => {}
            Arg::Known(name) if is_nowhere(name) => {}
            Arg::Known(name) => match self.absolute(name, scope) {
                Some(absolute) => {
                    let effect = self.on_path(verb, &absolute, tree);
                    self.push(add(effect));
                }
                None => self.on_unknown(verb, arg, "the directory in which it runs cannot be told"),
            },
            Arg::Pattern(glob) => self.on_glob(verb, glob, tree, scope, &add),
            Arg::Set(set) => {
                let set = if tree { with_tree(set) } else { set.clone() };
                self.push(add(Effect::new(verb, set)));
            }
            Arg::Unknown { prefix, empty } => {
                self.on_unknown(verb, arg, &format!("an operand (`{}`) cannot be told", arg.shown()));
                // `rm -rf "$DIR/"` with nothing in DIR.
                if let Some(empty) = empty.as_ref().filter(|e| prefix.is_empty() && !e.is_empty()) {
                    let worst =
                        if empty.contains('*') { Arg::Pattern(empty.clone()) } else { Arg::Known(empty.clone()) };
                    let before = std::mem::replace(&mut self.certainty, Certainty::Possible);
                    self.act_with(verb, &worst, tree, scope, more);
                    self.certainty = before;
                }
            }
        }
    }

    /// Reading something unknown is possible; changing it is opaque.
    fn on_unknown(&mut self, verb: Verb, _arg: &Arg, why: &str) {
        let mut effect = Effect::new(verb, Resource::any(Kind::Path)).with("why", why);
        effect.certainty = match verb {
            Verb::Read | Verb::List => Certainty::Possible,
            _ => Certainty::Opaque,
        };
        self.push(effect);
    }

    fn on_glob(&mut self, verb: Verb, glob: &str, tree: bool, scope: &Scope, add: &dyn Fn(Effect) -> Effect) {
        let Some(cwd) = scope.cwd.clone() else {
            if glob.starts_with('/') {
                let resource = paths::pattern(self.ask.around, "/", glob);
                return self.push(add(Effect::new(verb, if tree { with_tree(&resource) } else { resource })));
            }
            return self.on_unknown(verb, &Arg::hole(), "the directory in which it runs cannot be told");
        };
        let absolute = if glob.starts_with('/') { glob.to_owned() } else { paths::join(&paths::quote(&cwd), glob) };
        let resource = paths::pattern(self.ask.around, &cwd, glob);
        match self.ask.glob(&absolute) {
            Some(listed) if (1..=MAX_LISTED).contains(&listed.len()) => {
                for path in listed {
                    let effect = self.on_path(verb, &path, tree);
                    self.push(add(effect));
                }
            }
            Some(listed) if listed.is_empty() => {
                let mut effect = Effect::new(verb, resource).with("exists", false);
                if verb == Verb::Delete {
                    effect.reversibility = Reversibility::Reversible;
                }
                self.push(add(effect));
            }
            Some(listed) => {
                let effect = Effect::new(verb, if tree { with_tree(&resource) } else { resource });
                self.push(add(effect.with("files", listed.len() as f64)));
            }
            None => self.push(add(Effect::new(verb, if tree { with_tree(&resource) } else { resource }))),
        }
    }

    fn on_path(&mut self, verb: Verb, absolute: &str, tree: bool) -> Effect {
        let place = self.ask.place(absolute);
        // Deleting and moving take the link; through a trailing slash, and for all else, what it leads to.
        let itself = matches!(verb, Verb::Delete | Verb::Move) && place.is_link() && !absolute.ends_with('/');
        let name = if itself { &place.given } else { &place.target };
        let directory = place.is(PathKind::Directory);
        let resource = match &place.seen {
            Some(_) if tree && directory && !itself => Resource::subtree(name),
            Some(_) => Resource::path(name),
            None if tree => Resource::subtree(name),
            None => Resource::path(name),
        };
        let mut effect = describe(Effect::new(verb, resource), &place);
        if matches!(verb, Verb::Delete | Verb::Overwrite) {
            if place.is(PathKind::Missing) {
                // Nothing that was there before is lost.
                effect.reversibility = Reversibility::Reversible;
            } else if !itself && self.ask.is_committed(&place.target) {
                effect.reversibility = Reversibility::Reversible;
                effect = effect.with("committed", true);
            }
        }
        effect
    }

    /// `Overwrite` or `Modify` on a file that may not exist yet.
    pub(super) fn write(&mut self, verb: Verb, arg: &Arg, scope: &Scope) {
        self.write_with(verb, arg, scope, &Attributes::new());
    }

    pub(super) fn write_with(&mut self, verb: Verb, arg: &Arg, scope: &Scope, more: &Attributes) {
        let Arg::Known(name) = arg else { return self.write_some(verb, arg, scope, more) };
        if is_network_device(name) {
            return self.push(network_device(name));
        }
        let Some(place) = self.place(name, scope) else { return self.act_with(verb, arg, false, scope, more) };
        match place.seen.as_ref().map(|s| s.kind) {
            Some(PathKind::Missing | PathKind::DanglingLink) => {
                self.act_with(Verb::Create, arg, false, scope, more);
            }
            Some(PathKind::File | PathKind::Directory | PathKind::Special) => {
                self.act_with(verb, arg, false, scope, more);
            }
            // Nobody knows whether something is replaced.
            None => {
                let before = std::mem::replace(&mut self.certainty, Certainty::Possible);
                self.act_with(verb, arg, false, scope, more);
                self.certainty = before;
            }
        }
    }

    /// Files of which only a pattern is known: some of them may be there already.
    fn write_some(&mut self, verb: Verb, arg: &Arg, scope: &Scope, more: &Attributes) {
        let certainty = self.certainty;
        let verb = match arg {
            Arg::Pattern(glob) if !self.is_remote() => {
                let absolute = if glob.starts_with('/') {
                    Some(glob.clone())
                } else {
                    scope.cwd.as_ref().map(|cwd| paths::join(&paths::quote(cwd), glob))
                };
                match absolute.and_then(|glob| self.ask.glob(&glob)) {
                    Some(listed) if listed.is_empty() => Verb::Create,
                    Some(_) | None => {
                        self.certainty = Certainty::Possible;
                        verb
                    }
                }
            }
            Arg::Pattern(_) | Arg::Set(_) => {
                self.certainty = Certainty::Possible;
                verb
            }
            Arg::Known(_) | Arg::Unknown { .. } => verb,
        };
        self.act_with(verb, arg, false, scope, more);
        self.certainty = certainty;
    }

    /// The content of `from` is now also in `to`: so are its labels.
    pub fn carry(&mut self, from: &[String], to: &str) {
        for name in from {
            let Ok(resource) = name.parse();
            let labels = self.labels.of(&resource, &self.ask.around.places);
            self.labels.carry(to, &labels);
        }
    }

    /// Whether `arg` is known to be a directory.
    pub(super) fn is_directory(&mut self, arg: &Arg, scope: &Scope) -> bool {
        let Some(name) = arg.text() else { return false };
        name.ends_with('/')
            || name == "."
            || name == ".."
            || self.place(name, scope).is_some_and(|p| p.is(PathKind::Directory))
    }
}

/// What the facts say, as attributes.
pub(in crate::intake) fn describe(mut effect: Effect, place: &Place) -> Effect {
    let Some(seen) = &place.seen else { return effect };
    let exists = seen.kind != PathKind::Missing;
    effect = effect.with("exists", exists);
    if exists {
        effect = effect.with("files", seen.files as f64).with("bytes", seen.bytes as f64);
    }
    if seen.capped {
        effect = effect.with("capped", true);
    }
    if seen.made_here {
        effect = effect.with("made_here", true);
    }
    effect
}

/// The matches and all that lies below them.
fn with_tree(resource: &Resource) -> Resource {
    match &resource.extent {
        Extent::One(name) => Resource::subtree(name),
        Extent::Glob(glob) if !glob.ends_with("/**") => Resource::glob(format!("{glob}/**")),
        Extent::Subtree(_) | Extent::Glob(_) | Extent::Any => resource.clone(),
    }
}

/// Writing there or reading from there is nothing.
fn is_nowhere(name: &str) -> bool {
    matches!(
        name,
        "-" | "/dev/null"
            | "/dev/zero"
            | "/dev/full"
            | "/dev/random"
            | "/dev/urandom"
            | "/dev/stdin"
            | "/dev/stdout"
            | "/dev/stderr"
    ) || name.starts_with("/dev/fd/")
}

fn is_network_device(name: &str) -> bool {
    name.starts_with("/dev/tcp/") || name.starts_with("/dev/udp/")
}

fn network_device(name: &str) -> Effect {
    let host = name.split('/').nth(3).unwrap_or_default();
    Effect::new(Verb::Request, Resource::named(Kind::Host, host)).with("method", "socket")
}
