//! A verdict in words, for the model and the person: what stands against the action, in whose words, what was
//! expected, what was got, and what could lawfully be proposed instead.

use crate::domain::{Action, Audit, Decision, Demand, Effect, Finding, RuleId, Turn};
use std::{collections::BTreeMap, fmt::Write as _};

/// Where a rule comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// The person's sentence, or the title of a rule that nobody said.
    pub quote: String,
    /// The turn it was said in.
    pub turn: Option<Turn>,
    /// In the rule language.
    pub text: String,
}

/// Most operands that are named in one line.
const MOST: usize = 6;

/// The receipt of an audit. `cite` tells where a rule comes from.
pub fn receipt(audit: &Audit, action: &Action, cite: &dyn Fn(RuleId) -> Option<Citation>) -> String {
    let mut text = match audit.decision {
        Decision::Deny => format!("denied: nothing of this {} was run", action.call.tool),
        Decision::Ask => format!("waiting for a person: nothing of this {} was run", action.call.tool),
        Decision::Repair => format!("to be repaired first: nothing of this {} was run", action.call.tool),
        Decision::Allow => format!("allowed: nothing stands against this {}", action.call.tool),
    };
    // Strictest first, and each rule once with everything it says.
    let mut open: Vec<&Finding> = audit.open().collect();
    open.sort_by_key(|f| (std::cmp::Reverse(f.level), f.rule));
    for group in open.chunk_by(|a, b| (a.level, a.rule) == (b.level, b.rule)) {
        if let Some(first) = group.first() {
            let _ = write!(text, "\n{}", source(first.rule, cite));
            for (expected, got) in said(group, action) {
                let _ = write!(text, "\n  expected: {expected}; got: {got}");
            }
        }
    }
    for step in audit.plan.preceding() {
        let _ = write!(text, "\nwould meet {}: {} {}", step.rule, step.call.tool, step.call.args);
    }
    for step in audit.plan.substitutes() {
        let _ = write!(text, "\ncould be proposed instead: {} {}", step.call.tool, step.call.args);
    }
    if audit.decision != Decision::Allow {
        text.push_str(&remainder(audit, action));
    }
    text
}

fn source(rule: RuleId, cite: &dyn Fn(RuleId) -> Option<Citation>) -> String {
    match cite(rule) {
        Some(Citation { quote, turn: Some(turn), text }) => format!("{rule}, turn {turn}: \"{quote}\" ({text})"),
        Some(Citation { quote, turn: None, text }) => format!("{rule}: {quote} ({text})"),
        None => rule.to_string(),
    }
}

/// What one rule expected, and all that was got instead.
fn said(findings: &[&Finding], action: &Action) -> Vec<(String, String)> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for finding in findings {
        let Some(effect) = action.effects.get(finding.effect) else { continue };
        let got = match &finding.demand {
            Demand::Limit { would_be, unit, .. } => format!("{would_be}{}", with_unit(unit.as_ref())),
            Demand::Unknown { why } => why.clone(),
            Demand::Forbidden | Demand::Before { .. } | Demand::Approval => {
                let bare = finding.matched == effect.to_string();
                if bare { effect.to_string() } else { format!("{effect} ({})", finding.matched) }
            }
        };
        let got_before = all.entry(expected(&finding.demand, effect)).or_default();
        if !got_before.contains(&got) {
            got_before.push(got);
        }
    }
    all.into_iter().map(|(expected, got)| (expected, shortened(&got))).collect()
}

fn expected(demand: &Demand, effect: &Effect) -> String {
    match demand {
        Demand::Forbidden => format!("no {} of this", effect.verb),
        Demand::Limit { attr, max, unit, .. } => format!("{attr} of at most {max}{}", with_unit(unit.as_ref())),
        Demand::Before { verb, resource } => format!("{verb} of {resource} before, newer than its last change"),
        Demand::Approval => format!("a yes to {} it", effect.verb),
        Demand::Unknown { .. } => "an effect that can be told beforehand, or a yes".to_owned(),
    }
}

fn with_unit(unit: Option<&String>) -> String {
    unit.map(|u| format!(" {u}")).unwrap_or_default()
}

/// What could be proposed alone: at once, or after its repair.
fn remainder(audit: &Audit, action: &Action) -> String {
    let repairable = |at: &usize| {
        let mut open = audit.open().filter(|f| f.effect == *at).peekable();
        open.peek().is_some() && open.all(|f| f.level == Decision::Repair)
    };
    let named = |at: usize| action.effects.get(at).map(Effect::to_string);
    let lawful: Vec<String> = audit.lawful.iter().filter_map(|at| named(*at)).collect();
    let after: Vec<String> = (0..action.effects.len()).filter(repairable).filter_map(named).collect();
    let mut text = String::new();
    if !lawful.is_empty() {
        let _ = write!(text, "\ncould be proposed alone: {}", shortened(&lawful));
    }
    if !after.is_empty() && audit.decision != Decision::Repair {
        let _ = write!(text, "\ncould be proposed alone and would be repaired first: {}", shortened(&after));
    }
    text
}

fn shortened(all: &[String]) -> String {
    let shown = all.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
