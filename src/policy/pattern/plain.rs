//! The quick answer for what most patterns and operands are: one path, or one with everything below it. Both are
//! told by a prefix; what a prefix cannot tell goes to the automaton.

use super::{letters::Base, steps::Step};
use crate::domain::{Extent, Places, Resource};
use std::cmp::Ordering;

/// What follows the literal head of a path pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// Nothing: it is one path.
    Nothing,
    /// Everything below.
    Tree,
    /// Something that has to be matched.
    Glob,
}

/// The literal head of a path pattern, in the place it starts from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Head {
    base: Base,
    literal: String,
    tail: Tail,
}

/// A path in two pieces, absolute when joined by `/`; the root is two empty ones.
#[derive(Clone, Copy)]
struct Path<'a> {
    base: &'a str,
    rest: &'a str,
}

impl<'a> Path<'a> {
    fn bytes(self) -> impl Iterator<Item = u8> + 'a {
        let slash = if self.rest.is_empty() { "" } else { "/" };
        self.base.bytes().chain(slash.bytes()).chain(self.rest.bytes())
    }
}

impl Head {
    pub(super) fn of(steps: &[Step], base: Base, places: &Places) -> Head {
        let steps = steps.get(base.of(places).chars().count()..).unwrap_or_default();
        let mut literal = String::new();
        let mut tail = Tail::Nothing;
        for (nth, step) in steps.iter().enumerate() {
            match step {
                Step::Char('/') if nth == 0 => {}
                Step::Char(c) => literal.push(*c),
                Step::Deep if nth + 2 == steps.len() => {
                    tail = Tail::Tree;
                    break;
                }
                Step::Deep | Step::Single { .. } | Step::Class(_, _) | Step::Run { .. } => {
                    tail = Tail::Glob;
                    break;
                }
            }
        }
        Head { base, literal, tail }
    }

    /// Whether the operand may meet the pattern (`wide`), or surely lies in it; `None` if the head cannot tell.
    pub(super) fn answers(&self, operand: &Resource, places: &Places, wide: bool) -> Option<bool> {
        let (name, tree) = match &operand.extent {
            Extent::One(name) => (name.as_str(), false),
            Extent::Subtree(name) => (name.as_str(), true),
            Extent::Glob(_) | Extent::Any => return None,
        };
        let (base, rest) = pieces(name)?;
        let same = base == self.base;
        let under = |base: Base| if same { "" } else { base.of(places) };
        let ours = Path { base: under(self.base), rest: &self.literal };
        let theirs = Path { base: under(base), rest };
        let is_glob = self.tail == Tail::Glob;
        match compared(ours, theirs) {
            Lengths::Apart => Some(false),
            _ if is_glob && self.literal.is_empty() => None,
            Lengths::Differ(Ordering::Greater, _) if is_glob && tree => None,
            Lengths::Same | Lengths::Differ(Ordering::Less, _) if is_glob => None,
            Lengths::Same => Some(wide || !tree || self.tail == Tail::Tree),
            Lengths::Differ(Ordering::Less, next) => Some(self.tail == Tail::Tree && next == b'/'),
            Lengths::Differ(_, next) => Some(wide && tree && next == b'/'),
        }
    }
}

/// Where a canonical name starts from and what follows; `None` if it is not written as canonical names are.
fn pieces(name: &str) -> Option<(Base, &str)> {
    match name {
        "." => Some((Base::Workspace, "")),
        "~" => Some((Base::Home, "")),
        "/" => Some((Base::Root, "")),
        name if name.starts_with("./") || name.ends_with('/') || name.is_empty() => None,
        name => Some(match name.strip_prefix('/') {
            Some(rest) => (Base::Root, rest),
            None => name.strip_prefix("~/").map_or((Base::Workspace, name), |rest| (Base::Home, rest)),
        }),
    }
}

enum Lengths {
    /// They differ in a letter.
    Apart,
    Same,
    /// One is the beginning of the other; with the first letter that the shorter one lacks.
    Differ(Ordering, u8),
}

fn compared(ours: Path<'_>, theirs: Path<'_>) -> Lengths {
    let (mut ours, mut theirs) = (ours.bytes(), theirs.bytes());
    loop {
        match (ours.next(), theirs.next()) {
            (Some(a), Some(b)) if a == b => {}
            (Some(_), Some(_)) => return Lengths::Apart,
            (None, None) => return Lengths::Same,
            (Some(next), None) => return Lengths::Differ(Ordering::Greater, next),
            (None, Some(next)) => return Lengths::Differ(Ordering::Less, next),
        }
    }
}
