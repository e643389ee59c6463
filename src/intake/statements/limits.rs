//! Limits: how much or how often, over which window.

use super::{
    build::{Cond, Then},
    groups::{Group, groups_of_any_form},
    items::{Item, Object},
    lexicon::Cue,
    read::{Draft, Reader, draft, verb_conds},
    text::Token,
    units::Unit,
};
use crate::domain::{Op, StatementKind};

/// What a number counts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantity {
    pub value: f64,
    pub currency: Option<&'static str>,
    pub bytes: bool,
}

pub(crate) fn read(reader: &Reader<'_>, unit: &Unit) -> Vec<Draft> {
    let windowed = || unit.all().any(|p| matches!(&p.item, Item::Cue(cue) if named(*cue).is_some()));
    let under = |p: &super::items::Placed| {
        p.item == Item::Preposition
            && reader.tokens.get(p.from).is_some_and(|t| matches!(t.norm.as_str(), "under" | "below" | "within"))
    };
    let kept_under = unit.has(Cue::Leave) && unit.core.iter().any(under);
    let most = unit.has(Cue::Most)
        || unit.has(Cue::Only) && windowed()
        || kept_under
        || unit.has(Cue::Over) && unit.has(Cue::Ban);
    let numbers: Vec<usize> = numbers(reader, unit);
    let asks = unit.has(Cue::Ask) || unit.tails.iter().any(|t| reader.says_yes(t));
    let told = unit.all().any(|p| reader.tokens.get(p.from).is_some_and(|t| reader.lexicon.is("past", &t.norm)));
    if !most || asks || told || numbers.is_empty() {
        return Vec::new();
    }
    let group = limited(unit);
    let mut out = Vec::new();
    for (n, at) in numbers.iter().enumerate() {
        let until = numbers.get(n + 1).and_then(|next| unit.core.get(*next)).map_or(usize::MAX, |p| p.from);
        let window = window(reader, unit, *at, until);
        if let Some(token) = unit.core.get(*at)
            && let Some(quantity) = quantity(reader.tokens, token.from)
            && (n == 0 || window.is_some())
        {
            out.push(limit(reader, &group, &quantity, window));
        }
    }
    out
}

/// Numbers that are no part of a window (`in 24 hours`).
fn numbers(reader: &Reader<'_>, unit: &Unit) -> Vec<usize> {
    let hours = |at: usize| reader.tokens.get(at + 1).is_some_and(|t| is_time(&t.norm));
    let timed =
        |from: usize| reader.tokens.get(from).is_some_and(|t| t.norm.ends_with(['h', 'd', '%'])) || hours(from);
    let number = |p: &super::items::Placed| p.item == Item::Number && !timed(p.from);
    unit.core.iter().enumerate().filter(|(_, p)| number(p)).map(|(n, _)| n).collect()
}

fn is_time(word: &str) -> bool {
    matches!(word, "hours" | "hour" | "h" | "days" | "day" | "d" | "minutes" | "minute" | "weeks" | "percent")
}

/// The acts and things that are counted.
fn limited(unit: &Unit) -> Group {
    let mut found = groups_of_any_form(&unit.core);
    found.extend(unit.tails.iter().flat_map(|t| groups_of_any_form(&t.items)));
    found.extend(groups_of_any_form(&unit.topic));
    let acts = found.iter().flat_map(|g| g.acts.clone()).collect();
    let concrete = found.iter().find(|g| g.is_concrete()).cloned().unwrap_or_default();
    let counted = found.iter().find(|g| g.has_things()).cloned().unwrap_or_default();
    let strict = concrete
        .lists
        .iter()
        .flatten()
        .any(|o| matches!(o, Object::Resources(_) | Object::Label(_) | Object::Address(_)));
    let lists = match found.iter().all(|g| g.acts.is_empty()) {
        _ if strict => concrete.lists,
        true if concrete.lists.is_empty() => counted.lists,
        true => concrete.lists,
        false => Vec::new(),
    };
    Group { acts, lists, outside: false }
}

fn limit(reader: &Reader<'_>, group: &Group, quantity: &Quantity, window: Option<String>) -> Draft {
    let kind = StatementKind::Limit;
    let money = quantity.currency.is_some();
    let mut group = group.clone();
    let mail = group.lists.iter().flatten().any(|o| matches!(o, Object::Kind(k) if k == "mail"));
    let else_verb = if money {
        "pay"
    } else if mail && group.acts.is_empty() {
        group.lists.clear();
        "send"
    } else if group.acts.is_empty()
        && window.as_deref() == Some("call")
        && group.lists.iter().flatten().any(|o| *o == Object::Any)
    {
        "write"
    } else {
        ""
    };
    if group.acts.is_empty() && else_verb.is_empty() {
        return Draft::new(kind, Op::Add, Err("what is counted cannot be told".into()), 0.6);
    }
    let reach = match group.reach(reader.lexicon, if else_verb.is_empty() { "any" } else { else_verb }) {
        Ok(reach) => reach,
        Err(why) => return Draft::new(kind, Op::Add, Err(why), 0.6),
    };
    let attr = match (money, quantity.bytes) {
        (true, _) => "amount",
        (false, true) => "bytes",
        (false, false) if reach.verbs == ["delete"] => "files",
        (false, false) => "count",
    };
    let guard: Vec<Cond> = verb_conds(&reach.verbs).into_iter().chain(reach.guard).collect();
    let then = Then::Limit {
        attr,
        max: quantity.value,
        unit: quantity.currency.map(str::to_owned),
        window: window.unwrap_or_else(|| "session".to_owned()),
    };
    draft(kind, guard, then)
}

/// The number at token `at` with its unit.
pub(crate) fn quantity(tokens: &[Token], at: usize) -> Option<Quantity> {
    let token = tokens.get(at)?;
    let next = tokens.get(at + 1).map(|t| t.norm.as_str()).unwrap_or_default();
    let previous = at.checked_sub(1).and_then(|i| tokens.get(i)).map(|t| t.norm.as_str()).unwrap_or_default();
    let plain: String = token.norm.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    let value: f64 = match number_word(&token.norm) {
        Some(value) => value,
        None => plain.parse().ok()?,
    };
    let suffix: String =
        token.norm.chars().filter(|c| !c.is_ascii_digit() && !matches!(c, '.' | ',' | '_')).collect();
    let size = [suffix.as_str(), next].into_iter().find_map(bytes);
    let thousand = if suffix.ends_with('k') { 1_000.0 } else { 1.0 };
    let currency = [suffix.as_str(), next, previous].into_iter().find_map(currency);
    Some(Quantity { value: value * thousand * size.unwrap_or(1.0), currency, bytes: size.is_some() })
}

fn bytes(unit: &str) -> Option<f64> {
    match unit {
        "kb" => Some(1e3),
        "mb" | "megabytes" | "megabyte" => Some(1e6),
        "gb" | "gigabytes" | "gigabyte" | "gig" | "gigs" => Some(1e9),
        "tb" => Some(1e12),
        _ => None,
    }
}

fn currency(unit: &str) -> Option<&'static str> {
    match unit.trim_end_matches('k') {
        "€" | "eur" | "euro" | "euros" => Some("EUR"),
        "$" | "usd" | "dollar" | "dollars" | "bucks" => Some("USD"),
        "£" | "gbp" | "pounds" | "quid" => Some("GBP"),
        "chf" | "francs" => Some("CHF"),
        _ => None,
    }
}

pub(crate) fn number_word(word: &str) -> Option<f64> {
    let words =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    words.iter().position(|w| *w == word).map(|n| n as f64).or(match word {
        "twenty" => Some(20.0),
        "fifty" => Some(50.0),
        "hundred" => Some(100.0),
        _ => None,
    })
}

/// The window said nearest after the number.
fn window(reader: &Reader<'_>, unit: &Unit, number: usize, until: usize) -> Option<String> {
    let start = unit.core.get(number)?.from;
    let after = unit.all().filter(|p| p.from > start && p.from < until).find_map(|p| match &p.item {
        Item::Cue(cue) => named(*cue),
        _ => None,
    });
    let anywhere = || {
        unit.all().filter(|p| p.from < until).find_map(|p| if let Item::Cue(c) = &p.item { named(*c) } else { None })
    };
    after.or_else(|| rolling(reader.tokens, start)).or_else(anywhere)
}

/// `in 24 hours`, `per 12h`, `within 7 days`.
fn rolling(tokens: &[Token], start: usize) -> Option<String> {
    let (at, token) = tokens.iter().enumerate().skip(start + 1).find(|(at, t)| {
        let digits = t.norm.chars().next().is_some_and(|c| c.is_ascii_digit());
        digits && (t.norm.ends_with(['h', 'd']) || tokens.get(at + 1).is_some_and(|n| is_time(&n.norm)))
    })?;
    let count: u32 = token.norm.trim_end_matches(['h', 'd']).parse().ok().filter(|n| *n > 0)?;
    let unit = token.norm.chars().last().filter(|c| c.is_alphabetic());
    let unit = unit.or_else(|| tokens.get(at + 1).and_then(|n| n.norm.chars().next()))?;
    match unit {
        'h' => Some(format!("rolling {count} h")),
        'd' => Some(format!("rolling {count} d")),
        'w' => Some(format!("rolling {} d", count.checked_mul(7)?)),
        _ => None,
    }
}

fn named(cue: Cue) -> Option<String> {
    let window = match cue {
        Cue::PerCall => "call",
        Cue::PerHour => "rolling 1 h",
        Cue::PerDay => "calendar day",
        Cue::PerWeek => "calendar week",
        Cue::PerMonth => "rolling 30 d",
        Cue::PerSession | Cue::ThisSession => "session",
        Cue::InTotal => "total",
        Cue::ForNow => "calendar day",
        _ => return None,
    };
    Some(window.to_owned())
}
