//! Globs as small automata, and the three questions asked of them.
//!
//! A glob without alternatives is a row of steps; state `n` means that `n` steps are done. A step leads to the next
//! state or back to its own, so every run goes forward, which keeps the searches below short and simple.

use super::letters::{Base, Class, Letter, Letters, Written, readable};
use crate::domain::{Extent, Kind, Places, Resource};

/// Most steps of an operand, most states of a pattern that are looked at together, most pairs of the two, and most
/// situations a containment may need.
const STEPS: usize = 128;
const STATES: usize = 256;
const PAIRS: usize = 8192;
const SITUATIONS: usize = 192;

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
    pub(super) fn of(resource: &'a Resource, places: &'a Places, pick: u32, written: Written) -> Self {
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
    let steps = Steps::of(resource, places, pick, Written::AsName);
    let base = steps.base;
    let mut row = Row::new();
    match row.fill(steps) {
        Some(steps) => f(Some(&Machine::new(steps, glob_text(resource), resource.kind, base))),
        None => f(None),
    }
}

fn glob_text(resource: &Resource) -> &str {
    match &resource.extent {
        Extent::Glob(glob) => glob,
        Extent::One(_) | Extent::Subtree(_) | Extent::Any => "",
    }
}

/// Steps on the stack.
struct Row([Step; STEPS]);

impl Row {
    const fn new() -> Self {
        Row([Step::Deep; STEPS])
    }

    fn fill(&mut self, mut steps: impl Iterator<Item = Step>) -> Option<&[Step]> {
        let mut count = 0;
        for (slot, step) in self.0.iter_mut().zip(&mut steps) {
            *slot = step;
            count += 1;
        }
        if steps.next().is_some() { None } else { self.0.get(..count) }
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
            let mut steps = Steps::of(operand, places, pick, Written::AsName);
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
        let mut steps = Steps::of(operand, places, pick, Written::AsName);
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
        if self.base == operand.base {
            operand.letters.skip_base();
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
                    operand.back = other;
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

    fn close(&self, mut states: States) -> States {
        for state in 0..self.steps.len() {
            if let (true, Some(free)) = (states.has(state), self.free(state)) {
                states.add(free);
            }
        }
        states
    }

    fn start(&self) -> Option<States> {
        let mut states = States::default();
        states.add(0);
        (self.steps.len() < STATES).then(|| self.close(states))
    }

    fn advance(&self, states: &States, c: char) -> States {
        let mut next = States::default();
        states.each(|state| {
            if let Some(after) = self.after(state, c) {
                next.add(after);
            }
        });
        self.close(next)
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
                // Twice, as a `/` may lead from a pair to itself.
                for slash in [false, true, false, true] {
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
                    common_bounds(self.folds_case(), &mut visit);
                    self.bounds(ours, &mut visit);
                    other.bounds(theirs, &mut visit);
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
