//! Constraints out of what a person says: prohibitions, prerequisites, approvals, limits, scopes, exceptions, and
//! operations on rules that exist. Deterministic, one turn at a time, from a lexicon that is data.
//!
//! ```text
//! turn ─ text ─► sentences ─ items ─► cues, acts, things ─ units ─► demands with their clauses ─ read, limits,
//!                                                             referents ─► drafts ─► statements under their words
//! ```
//!
//! What never happens here: guessing an object (words that name nothing known give a statement without a rule), and
//! loosening without one clear referent.

mod build;
mod clauses;
mod groups;
mod items;
mod lexicon;
mod limits;
mod names;
mod pattern;
mod read;
mod referents;
mod text;
mod units;

#[cfg(test)]
mod tests;

pub(crate) use groups::{Group, groups};
pub(crate) use items::{Item, Object, Placed, items};
pub use lexicon::Lexicon;
pub(crate) use lexicon::{Act, Cue, Form, Intent, Meaning};
pub(crate) use names::from_name;
pub(crate) use referents::below;
pub(crate) use text::{Sentence, Sort, Token};
pub(crate) use units::{Unit, is_demand, units};

use crate::domain::{Constraint, Scope, Span, Statement, Turn};
use groups::groups_of_any_form;
use read::{Draft, Reader};

/// What a person's turn says about what is allowed. `pasted` are the spans of `text` that were not typed: what is
/// found there is at most a draft. `known` are the constraints that the turn may speak of.
pub fn extract(turn: Turn, text: &str, pasted: &[Span], known: &[Constraint], lexicon: &Lexicon) -> Vec<Statement> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut places: Vec<Place> = Vec::new();
    let mut antecedent: Vec<Vec<Object>> = Vec::new();
    if is_foreign(text, lexicon) {
        return Vec::new();
    }
    for sentence in sentences(text, lexicon) {
        let items = directed(&sentence, lexicon);
        let mut before: Vec<Vec<Object>> = Vec::new();
        for unit in units(&items) {
            let reader =
                Reader { lexicon, antecedent: antecedent.clone(), before: before.clone(), tokens: &sentence.tokens };
            let found = statements_of(&reader, &unit, known, &mut drafts);
            let found_none = found.is_empty();
            if let Some(place) = place(&unit, &sentence) {
                places.extend(found.iter().map(|_| place));
                drafts.extend(found);
            }
            if found_none {
                before.clear();
            }
            for group in unit_groups(&unit) {
                if group.is_concrete() {
                    antecedent = group.lists.clone();
                }
                if group.has_things() && !found_none {
                    before = group.lists;
                }
            }
        }
    }
    let chars: Vec<char> = text.chars().collect();
    let quoted = places.iter().zip(drafts).map(|(place, draft)| statement(turn, &chars, pasted, *place, draft));
    let mut out: Vec<Statement> = Vec::new();
    for statement in quoted {
        // the same words can be found twice only side by side
        if !out.iter().rev().take(4).any(|same| *same == statement) {
            out.push(statement);
        }
    }
    out
}

/// Sentences of the person's own speech.
pub(crate) fn sentences(text: &str, lexicon: &Lexicon) -> Vec<Sentence> {
    text::sentences(text, &|word| lexicon.knows(word))
}

fn statements_of(reader: &Reader<'_>, unit: &Unit, known: &[Constraint], said: &mut [Draft]) -> Vec<Draft> {
    let limits = limits::read(reader, unit);
    if !limits.is_empty() {
        return limits;
    }
    match reader.refer(unit, known, said) {
        Some(found) => found,
        None => reader.read(unit),
    }
}

fn unit_groups(unit: &Unit) -> Vec<Group> {
    let mut groups = groups_of_any_form(&unit.core);
    groups.extend(groups_of_any_form(&unit.topic));
    groups.extend(unit.tails.iter().flat_map(|t| groups_of_any_form(&t.items)));
    groups
}

/// Where a statement stands and how long it holds.
#[derive(Debug, Clone, Copy)]
struct Place {
    span: Span,
    scope: Scope,
}

fn place(unit: &Unit, sentence: &Sentence) -> Option<Place> {
    let own =
        |p: &&Placed| p.to > sentence.lead && !matches!(p.item, Item::Comma | Item::Join | Item::But | Item::Dash);
    let bare = unit.core.iter().all(|p| !matches!(p.item, Item::Act { .. } | Item::Object(_)));
    let topic = if bare { unit.topic.as_slice() } else { &[] };
    let first = topic.iter().chain(unit.all()).filter(own).map(|p| p.from.max(sentence.lead)).min()?;
    let last = unit.all().filter(own).map(|p| p.to).max()?;
    // the joint of a tail in front belongs to the quote
    let lead_joint = unit.tails.iter().filter_map(|t| t.items.first()).map(|p| p.from).min();
    let first = match lead_joint {
        Some(tail) if tail == first && first > sentence.lead => joint_start(unit, sentence, first),
        _ => first,
    };
    let start = sentence.tokens.get(first)?.span.start;
    let end = sentence.tokens.get(last.checked_sub(1)?)?.span.end;
    let has = |cue: Cue| unit.topic.iter().chain(unit.all()).any(|p| p.is_cue(cue));
    let scope = if has(Cue::Always) {
        Scope::Always
    } else if has(Cue::Project) {
        Scope::Project
    } else if has(Cue::ThisTurn) {
        Scope::Turn
    } else {
        Scope::Session
    };
    Some(Place { span: Span { start, end }, scope })
}

/// The token at which the joint before token `first` begins.
fn joint_start(unit: &Unit, sentence: &Sentence, first: usize) -> usize {
    let bound = unit.core.iter().map(|p| p.to).filter(|to| *to <= first).max().unwrap_or(sentence.lead);
    let separates = |t: &Token| matches!(t.sort, Sort::Comma | Sort::Colon | Sort::Semicolon | Sort::Dash);
    let mut at = first;
    while at > bound.max(sentence.lead) && sentence.tokens.get(at - 1).is_some_and(|t| !separates(t)) {
        at -= 1;
    }
    at
}

fn statement(turn: Turn, chars: &[char], pasted: &[Span], place: Place, draft: Draft) -> Statement {
    let span = place.span;
    let quote: String = chars.get(span.start as usize..span.end as usize).unwrap_or_default().iter().collect();
    let foreign = pasted.iter().any(|p| p.start < span.end && span.start < p.end);
    let (rule, why) = match draft.rule {
        Ok(rule) => (Some(rule), None),
        Err(why) => (None, Some(why)),
    };
    let note = draft.note.or(why);
    let note = if foreign { Some("pasted: only a draft".to_owned()) } else { note };
    Statement {
        turn,
        span,
        quote,
        kind: draft.kind,
        op: draft.op,
        enforceable: rule.is_some(),
        rule,
        scope: draft.scope.unwrap_or(place.scope),
        confidence: if foreign { draft.confidence.min(0.3) } else { draft.confidence },
        targets: draft.targets,
        note,
    }
}

/// A turn that begins with somebody else's name in brackets is not the person's.
fn is_foreign(text: &str, lexicon: &Lexicon) -> bool {
    let Some((speaker, _)) = text.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return false;
    };
    let first = speaker.split_whitespace().next().unwrap_or_default().to_lowercase();
    speaker.len() < 40 && lexicon.is("speakers", &first)
}

/// The items of a sentence that are said to the agent as they are meant: no questions, hypotheses, reports.
fn directed(sentence: &Sentence, lexicon: &Lexicon) -> Vec<Placed> {
    let mut items = items(&sentence.tokens, lexicon);
    if is_question(sentence, &items, lexicon) || items.iter().any(|p| p.is_cue(Cue::Hypothetical)) {
        return Vec::new();
    }
    // `it is forbidden to …` gives no reason for anything before it
    let opening = items.iter_mut().find(|p| p.item != Item::Filler).filter(|p| p.is_cue(Cue::Reason));
    if let Some(placed) = opening {
        placed.item = Item::Filler;
    }
    loop {
        let report = items.iter().position(|p| p.is_cue(Cue::Reported));
        let demand = items.iter().position(|p| matches!(p.item, Item::Cue(cue) if is_demand(cue)));
        match (report, demand) {
            (Some(report), demand) if demand.is_none_or(|d| report < d) => {
                let hard = |p: &Placed| matches!(p.item, Item::But | Item::Semicolon | Item::Dash);
                let resume = items.iter().skip(report).position(hard).map(|n| report + n + 1);
                items = resume.and_then(|at| items.get(at..)).unwrap_or_default().to_vec();
            }
            _ => return items,
        }
    }
}

/// A question asks; but `could you never …?` and `never …, ok?` tell.
fn is_question(sentence: &Sentence, items: &[Placed], lexicon: &Lexicon) -> bool {
    let words: Vec<&str> = sentence.tokens.iter().skip(sentence.lead).map(|t| t.norm.as_str()).collect();
    let at = words.iter().position(|w| !lexicon.is("polite", w)).unwrap_or(0);
    let word = |n: usize| words.get(n).copied().unwrap_or_default();
    let (first, second) = (word(at), word(at + 1));
    if lexicon.is("requests", first) && second == "you" {
        let from = at + sentence.lead;
        let next = items.iter().find(|p| p.to > from && p.item != Item::Filler);
        return !matches!(next.map(|p| &p.item), Some(Item::Cue(cue)) if is_demand(*cue));
    }
    let inverted = lexicon.is("auxiliaries", first) && lexicon.is("askers", second);
    let mut back = sentence.tokens.iter().rev();
    let tagged = back.next().is_some_and(|t| lexicon.is("tags", &t.norm))
        && back.next().is_some_and(|t| matches!(t.sort, Sort::Comma | Sort::Dash));
    lexicon.is("question_words", first) || inverted || sentence.question && !tagged
}
