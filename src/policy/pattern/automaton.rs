//! Globs as small automata, and the three questions asked of them.
//!
//! A glob without alternatives is a row of steps; state `n` means that `n` steps are done. A step leads to the next
//! state or back to its own, so every run goes forward, which keeps the searches below short and simple.

use super::{
    letters::{Base, Class},
    steps::{Row, Step, Steps, glob_text, picks},
};
use crate::domain::{Extent, Kind, Places, Resource};

/// Most states of a pattern that are looked at together, most pairs of states of two, and most situations that a
/// containment may need.
const STATES: usize = 256;
const PAIRS: usize = 8192;
const SITUATIONS: usize = 192;

/// Every choice of the operand's alternatives is held.
pub(super) fn all_held(operand: &Resource, held: impl Fn(u32) -> bool) -> bool {
    picks(operand).is_some_and(|picks| (0..picks).all(held))
}

/// Gives a resource as a machine to `f`; `None` when it is too long.
pub(super) fn collected<T>(
    resource: &Resource,
    places: &Places,
    pick: u32,
    f: impl FnOnce(Option<&Machine<'_>>) -> T,
) -> T {
    let steps = Steps::of_name(resource, places, pick);
    let base = steps.base();
    let mut row = Row::new();
    match row.fill(steps) {
        Some(steps) => f(Some(&Machine::new(steps, glob_text(resource), resource.kind, base))),
        None => f(None),
    }
}

/// A row of steps with what is needed to read it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Machine<'a> {
    steps: &'a [Step],
    /// What classes point into.
    text: &'a str,
    kind: Kind,
    base: Base,
    /// The letter before the first step was a `/`: neither the end of a path nor a second `/` can follow.
    slash: bool,
}

impl<'a> Machine<'a> {
    pub(super) const fn new(steps: &'a [Step], text: &'a str, kind: Kind, base: Base) -> Self {
        Machine { steps, text, kind, base, slash: false }
    }

    pub(super) fn meets(&self, operand: &Resource, places: &Places) -> bool {
        let Some(picks) = picks(operand) else { return true };
        (0..picks).any(|pick| {
            let mut steps = Steps::of_name(operand, places, pick);
            let Some(rest) = self.beyond_common(&mut steps, places) else { return false };
            if matches!(operand.extent, Extent::One(_)) {
                return rest.takes(steps).unwrap_or(true);
            }
            let mut row = Row::new();
            let operand = row.fill(steps).map(|steps| Machine { steps, text: glob_text(operand), ..rest });
            operand.is_none_or(|operand| rest.shares(&operand))
        })
    }

    /// Holds what `operand` means under one choice of its alternatives.
    pub(super) fn holds(&self, operand: &Resource, places: &Places, pick: u32) -> bool {
        let mut steps = Steps::of_name(operand, places, pick);
        let Some(rest) = self.beyond_common(&mut steps, places) else { return false };
        if matches!(operand.extent, Extent::One(_)) {
            return rest.takes(steps).unwrap_or(false);
        }
        let mut row = Row::new();
        let operand = row.fill(steps).map(|steps| Machine { steps, text: glob_text(operand), ..rest });
        operand.is_some_and(|operand| rest.contains(&operand))
    }

    /// What is left of the machine, and of the operand, behind the letters that both start with; `None` if they
    /// differ in a letter before either has a choice.
    fn beyond_common(&self, operand: &mut Steps<'_>, places: &Places) -> Option<Machine<'a>> {
        let mut done = 0;
        if self.base == operand.base() {
            operand.skip_base();
            done = self.base.of(places).chars().count();
        }
        loop {
            let ours = match self.steps.get(done) {
                Some(Step::Char(c)) => Some(*c),
                _ => None,
            };
            let Some(ours) = ours else { break };
            match operand.next() {
                Some(Step::Char(c)) if c == ours => done += 1,
                Some(Step::Char(_)) => return None,
                other => {
                    operand.give_back(other);
                    break;
                }
            }
        }
        let (common, steps) = self.steps.split_at_checked(done)?;
        Some(Machine { steps, slash: common.last() == Some(&Step::Char('/')) && self.is_path(), ..*self })
    }

    /// Some name is taken by both machines, which may belong to different texts.
    pub(super) fn overlaps(&self, other: &Machine<'_>) -> bool {
        self.kind == other.kind && self.shares(other)
    }

    fn is_path(&self) -> bool {
        self.kind == Kind::Path
    }

    fn class(&self, from: u32, to: u32) -> Class<'a> {
        Class::new(self.text.get(from as usize..to as usize).unwrap_or_default())
    }

    fn folds_case(&self) -> bool {
        matches!(self.kind, Kind::Host | Kind::Mail | Kind::Contact)
    }

    /// The state that letter `c` leads to from `state`.
    fn after(&self, state: usize, c: char) -> Option<usize> {
        let (taken, stays) = match *self.steps.get(state)? {
            Step::Char(own) => (own == c, false),
            Step::Single { crosses } => (crosses || c != '/', false),
            Step::Run { crosses } => (crosses || c != '/', true),
            Step::Deep => (c == '/', false),
            Step::Class(_, _) if self.is_path() && c == '/' => (false, false),
            Step::Class(from, to) if self.folds_case() => (self.class(from, to).has_folded(c), false),
            Step::Class(from, to) => (self.class(from, to).has(c), false),
        };
        taken.then_some(if stays { state } else { state + 1 })
    }

    /// The state that can be reached from `state` without a letter.
    fn free(&self, state: usize) -> Option<usize> {
        match self.steps.get(state)? {
            Step::Run { .. } => Some(state + 1),
            Step::Deep => Some(state + 2),
            Step::Char(_) | Step::Single { .. } | Step::Class(_, _) => None,
        }
    }

    /// Adds `state` and all that can be reached from it without a letter.
    fn enter(&self, states: &mut States, mut state: usize) {
        while !states.has(state) {
            states.add(state);
            match self.free(state) {
                Some(free) => state = free,
                None => return,
            }
        }
    }

    fn start(&self) -> Option<States> {
        let mut states = States::default();
        self.enter(&mut states, 0);
        (self.steps.len() < STATES).then_some(states)
    }

    fn advance(&self, states: &States, c: char) -> States {
        let mut next = States::default();
        states.each(|state| {
            if let Some(after) = self.after(state, c) {
                self.enter(&mut next, after);
            }
        });
        next
    }

    /// Takes this one name, given as its letters. `None` if it is too long to say.
    fn takes(&self, name: impl Iterator<Item = Step>) -> Option<bool> {
        let mut states = self.start()?;
        for step in name {
            match step {
                Step::Char(c) => states = self.advance(&states, c),
                Step::Single { .. } | Step::Class(_, _) | Step::Run { .. } | Step::Deep => return None,
            }
            if states.is_empty() {
                return Some(false);
            }
        }
        Some(states.has(self.steps.len()))
    }

    /// A name exists that both take. Pairs of states are visited in order: no step leads backwards.
    fn shares(&self, other: &Machine<'_>) -> bool {
        let width = other.steps.len() + 1;
        let pairs = (self.steps.len() + 1) * width;
        if pairs > PAIRS {
            return true;
        }
        let mut reached = Bits([0_u64; 2 * PAIRS / 64]);
        let place = |ours: usize, theirs: usize, slash: bool| 2 * (ours * width + theirs) + usize::from(slash);
        reached.add(place(0, 0, self.slash));
        for ours in 0..=self.steps.len() {
            for theirs in 0..width {
                // A letter may lead from a pair to itself, with or without the `/`.
                for slash in [true, false, true] {
                    if !reached.has(place(ours, theirs, slash)) {
                        continue;
                    }
                    if let Some(free) = self.free(ours) {
                        reached.add(place(free, theirs, slash));
                    }
                    if let Some(free) = other.free(theirs) {
                        reached.add(place(ours, free, slash));
                    }
                    let mut visit = |c: char| {
                        if self.is_path() && slash && c == '/' {
                            return;
                        }
                        if let (Some(a), Some(b)) = (self.after(ours, c), other.after(theirs, c)) {
                            reached.add(place(a, b, self.is_path() && c == '/'));
                        }
                    };
                    match (self.steps.get(ours), other.steps.get(theirs)) {
                        (None, _) | (_, None) => {}
                        (Some(Step::Char(c)), _) | (_, Some(Step::Char(c))) => visit(*c),
                        _ => {
                            common_bounds(self.folds_case(), &mut visit);
                            self.bounds(ours, &mut visit);
                            other.bounds(theirs, &mut visit);
                        }
                    }
                }
            }
        }
        // A path does not end in `/`.
        reached.has(place(self.steps.len(), other.steps.len(), false))
    }

    /// Every name that `inner` takes is taken. All situations that `inner` can be in are visited, each with the
    /// states this machine could then be in.
    fn contains(&self, inner: &Machine<'_>) -> bool {
        let Some(start) = self.start() else { return false };
        let mut known = Situations::new();
        known.add(Situation { inner: 0, slash: self.slash, ours: start });
        let mut at = 0;
        while let Some(&now) = known.get(at) {
            at += 1;
            let Situation { inner: state, slash, ours } = now;
            if state == inner.steps.len() && !slash && !ours.has(self.steps.len()) {
                return false;
            }
            if let Some(free) = inner.free(state) {
                known.add(Situation { inner: free, ..now });
            }
            let mut visit = |c: char| {
                if self.is_path() && slash && c == '/' {
                    return;
                }
                if let Some(after) = inner.after(state, c) {
                    let slash = self.is_path() && c == '/';
                    known.add(Situation { inner: after, slash, ours: self.advance(&ours, c) });
                }
            };
            common_bounds(self.folds_case(), &mut visit);
            inner.bounds(state, &mut visit);
            ours.each(|own| self.bounds(own, &mut visit));
            if known.is_over_budget() {
                return false;
            }
        }
        true
    }

    /// Letters at which what a state takes may change. Between two of them all letters are alike, so that trying
    /// these is trying all.
    fn bounds(&self, state: usize, visit: &mut impl FnMut(char)) {
        let fold = self.folds_case();
        let mut visit = |c: char| visit(if fold { c.to_ascii_lowercase() } else { c });
        match self.steps.get(state) {
            Some(Step::Char(c)) => visit(*c),
            Some(Step::Class(from, to)) => {
                for (low, high) in self.class(*from, *to).ranges {
                    visit(low);
                    if let Some(next) = successor(high) {
                        visit(next);
                    }
                    if fold && let Some(next) = successor(high.to_ascii_lowercase()) {
                        visit(next);
                    }
                }
            }
            Some(Step::Single { .. } | Step::Run { .. } | Step::Deep) | None => {}
        }
    }
}

/// Bounds that every machine has.
fn common_bounds(folds_case: bool, visit: &mut impl FnMut(char)) {
    visit('\0');
    visit('/');
    visit('0');
    if folds_case {
        visit('a');
        visit('{');
    }
}

/// The next letter, over the gap of the surrogates.
fn successor(c: char) -> Option<char> {
    match c {
        '\u{D7FF}' => Some('\u{E000}'),
        c => char::from_u32(c as u32 + 1),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bits<const N: usize>([u64; N]);

type States = Bits<{ STATES / 64 }>;

impl Default for States {
    fn default() -> Self {
        Bits([0; STATES / 64])
    }
}

impl<const N: usize> Bits<N> {
    fn add(&mut self, bit: usize) {
        if let Some(word) = self.0.get_mut(bit / 64) {
            *word |= 1 << (bit % 64);
        }
    }

    fn has(&self, bit: usize) -> bool {
        self.0.get(bit / 64).is_some_and(|word| word & (1 << (bit % 64)) != 0)
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn each(&self, mut f: impl FnMut(usize)) {
        for (nth, word) in self.0.iter().enumerate() {
            let mut word = *word;
            while word != 0 {
                f(nth * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
    }
}

/// What has been read of the inner set so far, and where that may have led.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Situation {
    inner: usize,
    /// As in [`Machine`].
    slash: bool,
    ours: States,
}

/// Situations found so far, each once.
struct Situations {
    found: [Situation; SITUATIONS],
    count: usize,
}

impl Situations {
    fn new() -> Self {
        let none = Situation { inner: 0, slash: false, ours: States::default() };
        Situations { found: [none; SITUATIONS], count: 0 }
    }

    fn add(&mut self, situation: Situation) {
        if self.found.iter().take(self.count).any(|s| *s == situation) {
            return;
        }
        if let Some(slot) = self.found.get_mut(self.count) {
            *slot = situation;
        }
        self.count += 1;
    }

    fn get(&self, at: usize) -> Option<&Situation> {
        self.found.get(..self.count.min(SITUATIONS))?.get(at)
    }

    const fn is_over_budget(&self) -> bool {
        self.count > SITUATIONS
    }
}
