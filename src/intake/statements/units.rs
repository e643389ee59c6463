//! A sentence taken apart into units: each has one demand, what it speaks of, and the clauses that hang on it
//! (`before …`, `without …`, `except …`). Which demand it is and what follows from it is in `read`.

use super::{
    items::{Item, Object, Placed},
    lexicon::{Cue, Form},
};

/// One demand with what hangs on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Unit {
    pub core: Vec<Placed>,
    pub tails: Vec<Tail>,
    /// What stands before a colon or dash: what the units after it speak of.
    pub topic: Vec<Placed>,
}

/// A clause that hangs on a demand, without the word it begins with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tail {
    pub joint: Cue,
    pub items: Vec<Placed>,
}

impl Unit {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Placed> {
        self.core.iter().chain(self.tails.iter().flat_map(|t| &t.items))
    }

    pub(crate) fn has(&self, cue: Cue) -> bool {
        self.core.iter().any(|p| p.is_cue(cue))
    }

    pub(crate) fn tail(&self, joints: &[Cue]) -> Option<&Tail> {
        self.tails.iter().find(|t| joints.contains(&t.joint))
    }
}

/// Begins a clause that hangs on another.
pub(crate) const fn is_joint(cue: Cue) -> bool {
    matches!(
        cue,
        Cue::Before
            | Cue::After
            | Cue::OnlyAfter
            | Cue::Without
            | Cue::Unless
            | Cue::Until
            | Cue::Except
            | Cue::If
            | Cue::While
            | Cue::Reason
    )
}

/// Makes a clause a demand.
pub(crate) const fn is_demand(cue: Cue) -> bool {
    matches!(
        cue,
        Cue::Ban
            | Cue::BanThing
            | Cue::KeepOut
            | Cue::StaysHere
            | Cue::Alone
            | Cue::Leave
            | Cue::OffLimits
            | Cue::Banned
            | Cue::Ask
            | Cue::Show
            | Cue::Permit
            | Cue::Permitted
            | Cue::Relax
            | Cue::Only
            | Cue::StayIn
            | Cue::ReadOnly
            | Cue::Most
            | Cue::Revoke
            | Cue::MakeIt
            | Cue::SameFor
            | Cue::OnlyAfter
    )
}

fn is_separator(item: &Item) -> bool {
    matches!(item, Item::Comma | Item::Semicolon | Item::Colon | Item::Dash | Item::Join | Item::But)
}

/// Items between two separators.
struct Segment<'a> {
    /// `None` for the first.
    before: Option<&'a Item>,
    separator: Option<&'a Placed>,
    items: &'a [Placed],
}

impl Segment<'_> {
    /// The demand, and whether something that counts stands before it.
    fn demand(&self) -> Option<(usize, bool)> {
        let mut subject = false;
        for (n, placed) in self.items.iter().enumerate() {
            match &placed.item {
                Item::Cue(cue) if is_demand(*cue) => return Some((n, subject)),
                Item::Cue(cue) if is_joint(*cue) => return None,
                Item::Object(_) | Item::Act { .. } => subject = true,
                _ => {}
            }
        }
        None
    }

    /// `…, reading does not`: says of something else that the demand before does not hold for it.
    fn is_contrast(&self) -> bool {
        let last = self.items.iter().rev().find(|p| p.item != Item::Filler);
        matches!(last.map(|p| &p.item), Some(Item::Cue(Cue::DoesNot)))
            || self.items.len() > 1 && last.is_some_and(|p| p.is_cue(Cue::Ban))
    }

    fn is_tail(&self) -> bool {
        let first = self.items.iter().find(|p| !matches!(p.item, Item::Filler));
        matches!(first.map(|p| &p.item), Some(Item::Cue(cue)) if is_joint(*cue))
    }

    fn is_instruction(&self) -> bool {
        self.items.iter().any(|p| matches!(p.item, Item::Act { form: Form::Base, .. }))
    }

    fn is_unknown(&self) -> bool {
        let first = self.items.iter().find(|p| !matches!(p.item, Item::Filler));
        matches!(first.map(|p| &p.item), Some(Item::Object(Object::Unknown(_))))
    }
}

/// What has been gathered for the unit in the making.
#[derive(Default)]
struct Gathered {
    items: Vec<Placed>,
    demand: bool,
    instruction: bool,
    /// Only clauses that hang on something still to come.
    hanging: bool,
    colon: bool,
}

impl Gathered {
    fn take(&mut self, segment: &Segment<'_>) {
        if let Some(separator) = segment.separator.filter(|_| !self.items.is_empty()) {
            self.items.push(separator.clone());
        }
        let first = self.items.is_empty();
        self.items.extend(segment.items.iter().cloned());
        self.demand |= segment.demand().is_some();
        self.instruction |= segment.is_instruction();
        self.hanging = segment.is_tail() && (first || self.hanging);
        self.colon |= matches!(segment.before, Some(Item::Colon));
    }
}

/// Takes a sentence's items apart.
pub(crate) fn units(items: &[Placed]) -> Vec<Unit> {
    let segments = segments(items);
    let joined_later: Vec<bool> = joins_after(&segments);
    let mut units = Vec::new();
    let mut topic: Vec<Placed> = Vec::new();
    let mut now = Gathered::default();
    for (segment, joined) in segments.iter().zip(joined_later) {
        if now.items.is_empty() {
            now.take(segment);
            continue;
        }
        match verdict(&now, segment, joined) {
            Next::Same => now.take(segment),
            Next::Skip => {}
            Next::New => {
                let done = std::mem::take(&mut now);
                if done.demand || done.instruction && !names_topic(segment, &done) {
                    units.push(unit(done.items, &topic));
                } else if names_topic(segment, &done) {
                    topic = nominal(done.items);
                }
                now.take(segment);
            }
        }
    }
    units.push(unit(now.items, &topic));
    units
}

fn names_topic(next: &Segment<'_>, done: &Gathered) -> bool {
    let led = matches!(next.before, Some(Item::Colon | Item::Dash));
    led && !done.demand
}

/// What is told of a topic is no part of it.
fn nominal(mut items: Vec<Placed>) -> Vec<Placed> {
    let told = items.iter().position(|p| matches!(p.item, Item::Act { form: Form::Past | Form::Third, .. }));
    items.truncate(told.unwrap_or(items.len()));
    items
}

enum Next {
    Same,
    New,
    /// A clause of its own that demands nothing.
    Skip,
}

fn verdict(now: &Gathered, segment: &Segment<'_>, joined_later: bool) -> Next {
    let hard = matches!(segment.before, Some(Item::Semicolon | Item::But | Item::Dash | Item::Colon));
    let join = matches!(segment.before, Some(Item::Join));
    match segment.demand() {
        _ if now.hanging && !hard => Next::Same,
        _ if now.demand && segment.is_contrast() => Next::Skip,
        Some((_, _)) if hard => Next::New,
        Some((_, true)) if !now.demand && !now.instruction => Next::Same,
        Some(_) => Next::New,
        None if segment.is_tail() => Next::Same,
        None if matches!(segment.before, Some(Item::Colon)) && now.demand => Next::Same,
        None if matches!(segment.before, Some(Item::Semicolon)) && now.colon && now.demand => Next::Same,
        None if hard => Next::New,
        None if join => Next::Same,
        None if segment.is_instruction() && now.demand && !joined_later && now.items.iter().any(is_object) => {
            Next::Skip
        }
        None if segment.is_unknown() && now.demand && !joined_later => Next::Skip,
        None => Next::Same,
    }
}

fn is_object(placed: &Placed) -> bool {
    matches!(&placed.item, Item::Object(object) if *object != Object::Any)
}

fn segments(items: &[Placed]) -> Vec<Segment<'_>> {
    let mut out = Vec::new();
    let mut separator: Option<&Placed> = None;
    for part in items.split_inclusive(|p| is_separator(&p.item)) {
        let (body, next) = match part.split_last() {
            Some((last, body)) if is_separator(&last.item) => (body, Some(last)),
            _ => (part, None),
        };
        if !body.is_empty() {
            out.push(Segment { before: separator.map(|s| &s.item), separator, items: body });
            separator = next;
        } else {
            // `, and` separates once; the heavier of the two counts
            separator = match (separator, next) {
                (Some(s), Some(n)) if matches!(s.item, Item::Comma) => Some(n),
                (Some(s), Some(_)) => Some(s),
                (s, n) => s.or(n),
            };
        }
    }
    out
}

/// For each segment: a later one is joined by `and` or `or` before the next demand.
fn joins_after(segments: &[Segment<'_>]) -> Vec<bool> {
    let mut later = false;
    let mut out: Vec<bool> = segments
        .iter()
        .rev()
        .map(|segment| {
            let here = later;
            later = match segment.demand() {
                Some(_) => false,
                None => later || matches!(segment.before, Some(Item::Join)),
            };
            here
        })
        .collect();
    out.reverse();
    out
}

/// Divides a unit's items into core and tails. A tail in front ends at the comma.
fn unit(items: Vec<Placed>, topic: &[Placed]) -> Unit {
    let mut unit = Unit { topic: topic.to_vec(), ..Unit::default() };
    let mut open: Option<Tail> = None;
    for placed in items {
        let spoken = unit.core.iter().any(|p| !matches!(p.item, Item::Filler | Item::Comma | Item::Join | Item::But));
        match &placed.item {
            // `while I am away`: no reason, a part of what the clause says
            Item::Cue(Cue::Reason) if open.as_ref().is_some_and(|tail| tail.items.is_empty()) => {
                if let Some(tail) = &mut open {
                    tail.items.push(Placed { item: Item::Filler, ..placed });
                }
            }
            Item::Cue(cue) if is_joint(*cue) => {
                unit.tails.extend(open.take());
                open = Some(Tail { joint: *cue, items: Vec::new() });
            }
            Item::Comma | Item::Colon | Item::Dash | Item::Semicolon if open.is_some() && !spoken => {
                unit.tails.extend(open.take());
            }
            _ => match &mut open {
                Some(tail) => tail.items.push(placed),
                None => unit.core.push(placed),
            },
        }
    }
    unit.tails.extend(open);
    unit
}
