//! The steps of a glob: what its letters, with the `/` and stars among them, ask of a name.

use super::letters::{Base, Letter, Letters, Written, readable};
use crate::domain::{Extent, Kind, Places, Resource};

/// Most steps of an operand that is a set, beyond what it has in common with a pattern.
const MOST: usize = 128;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Step {
    Char(char),
    /// Any one letter; a `/` only if it `crosses`.
    Single {
        crosses: bool,
    },
    Class(u32, u32),
    /// Any number of letters, none too.
    Run {
        crosses: bool,
    },
    /// Skips itself and the crossing run that follows it, or takes a `/`: `(/…)?`, the meaning of `/**`.
    Deep,
}

/// The steps of a resource under one choice of alternatives, one at a time.
#[derive(Debug, Clone)]
pub(super) struct Steps<'a> {
    letters: Letters<'a>,
    base: Base,
    is_path: bool,
    /// Everything below belongs to it as well.
    tail: bool,
    /// The step that follows the one just given.
    next: Option<Step>,
    /// A step that was given back.
    back: Option<Step>,
}

impl<'a> Steps<'a> {
    /// Of a pattern in a rule.
    pub(super) fn of_pattern(set: &'a Resource, places: &'a Places, pick: u32) -> Self {
        Steps::of(set, places, pick, Written::InRule)
    }

    /// Of the canonical name of an operand.
    pub(super) fn of_name(resource: &'a Resource, places: &'a Places, pick: u32) -> Self {
        Steps::of(resource, places, pick, Written::AsName)
    }

    fn of(resource: &'a Resource, places: &'a Places, pick: u32, written: Written) -> Self {
        let is_path = resource.kind == Kind::Path;
        let (base, letters) = Letters::of(resource, places, pick, written);
        let tail = match &resource.extent {
            Extent::Subtree(_) => true,
            Extent::Any => is_path,
            Extent::One(_) | Extent::Glob(_) => false,
        };
        Steps { letters, base, is_path, tail, next: None, back: None }
    }

    pub(super) const fn base(&self) -> Base {
        self.base
    }

    /// Goes on behind the base.
    pub(super) fn skip_base(&mut self) {
        self.letters.skip_base();
    }

    /// Puts a step back in front.
    pub(super) fn give_back(&mut self, step: Option<Step>) {
        self.back = step;
    }

    fn stars(&mut self) -> usize {
        let mut count = 0;
        loop {
            let mut ahead = self.letters.clone();
            if ahead.next() != Some(Letter::Star) {
                return count;
            }
            self.letters = ahead;
            count += 1;
        }
    }

    fn deep(&mut self) -> Step {
        self.next = Some(Step::Run { crosses: true });
        Step::Deep
    }

    /// What a `/` means by what follows it; nothing, if it is doubled or the last.
    fn slash(&mut self) -> Option<Step> {
        let mut ahead = self.clone();
        let stars = ahead.stars();
        match (stars, ahead.letters.clone().next()) {
            (0, None | Some(Letter::Plain('/'))) => None,
            (2, None | Some(Letter::Plain('/'))) => {
                *self = ahead;
                Some(self.deep())
            }
            _ => Some(Step::Char('/')),
        }
    }
}

impl Iterator for Steps<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if let Some(step) = self.back.take().or_else(|| self.next.take()) {
            return Some(step);
        }
        loop {
            let step = match self.letters.next() {
                None if std::mem::take(&mut self.tail) => self.deep(),
                None => return None,
                Some(Letter::Plain('/')) if self.is_path => match self.slash() {
                    Some(step) => step,
                    None => continue,
                },
                Some(Letter::Plain(c)) => Step::Char(c),
                Some(Letter::Single) => Step::Single { crosses: !self.is_path },
                Some(Letter::Class(from, to)) => Step::Class(from, to),
                Some(Letter::Star) => Step::Run { crosses: self.stars() > 0 || !self.is_path },
            };
            return Some(step);
        }
    }
}

/// In how many ways the alternatives of a resource can be chosen; `None` for a glob that cannot be read.
pub(super) fn picks(resource: &Resource) -> Option<u32> {
    match &resource.extent {
        Extent::Glob(glob) => readable(glob).ok(),
        Extent::One(_) | Extent::Subtree(_) | Extent::Any => Some(1),
    }
}

/// What the classes among a resource's steps point into.
pub(super) fn glob_text(resource: &Resource) -> &str {
    match &resource.extent {
        Extent::Glob(glob) => glob,
        Extent::One(_) | Extent::Subtree(_) | Extent::Any => "",
    }
}

/// Steps on the stack.
pub(super) struct Row([Step; MOST]);

impl Row {
    pub(super) const fn new() -> Self {
        Row([Step::Deep; MOST])
    }

    /// `None` if they are too many.
    pub(super) fn fill(&mut self, mut steps: impl Iterator<Item = Step>) -> Option<&[Step]> {
        let mut count = 0;
        for (slot, step) in self.0.iter_mut().zip(&mut steps) {
            *slot = step;
            count += 1;
        }
        if steps.next().is_some() { None } else { self.0.get(..count) }
    }
}
