//! The semantic gate: which constraints are put before the model for the task at hand, within a token budget.

use crate::domain::{Constraint, Verb, event::Fragment, message::tokens_of_len};
use std::collections::{BTreeMap, BTreeSet};

/// Tokens that restored constraints may take.
pub const BUDGET: u64 = 600;

/// Constraints without a sign of the task in them may fill only this part of the budget.
const UNRELATED_SHARE: u64 = 2;

/// What the present task is about, as far as the gate can see.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    pub request: &'a str,
    /// Effects that such requests lead to.
    pub verbs: &'a [Verb],
    /// Words of the latest calls: what the agent is at.
    pub recent: &'a [String],
}

/// Fragments given and left out, each with its score and why, best first.
pub fn restore<'a>(
    constraints: impl IntoIterator<Item = &'a Constraint>,
    task: Task<'_>,
    budget: u64,
) -> (Vec<Fragment>, Vec<Fragment>) {
    let words = task_words(task);
    let mut ranked: Vec<Fragment> = constraints.into_iter().map(|c| fragment(c, &words)).collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.rule.cmp(&b.rule)));

    let (mut given, mut left_out, mut spent) = (Vec::new(), Vec::new(), 0);
    for mut fragment in ranked {
        let related = fragment.score > 0.0;
        let allowed = if related { budget } else { budget / UNRELATED_SHARE };
        if spent + fragment.tokens <= allowed {
            spent += fragment.tokens;
            given.push(fragment);
        } else {
            let why = if related { "over the budget" } else { "no trigger near" };
            fragment.why =
                format!("{why}: {} tokens more than the {allowed} it may fill", spent + fragment.tokens - allowed);
            left_out.push(fragment);
        }
    }
    given.sort_by_key(|f| f.rule);
    (given, left_out)
}

/// One constraint as the model reads it.
pub fn render(constraint: &Constraint) -> String {
    let quote = constraint.quote.trim();
    let kind = constraint.kind.word();
    let force = match &constraint.rule {
        Some(_) => "enforced",
        None => "not enforceable by rule, so mind it yourself",
    };
    format!("{} {kind} (turn {}, {force}): \"{quote}\"", constraint.id, constraint.turn)
}

fn fragment(constraint: &Constraint, task: &BTreeSet<String>) -> Fragment {
    let text = render(constraint);
    let own = words(&constraint.quote).chain(constraint.rule.as_deref().into_iter().flat_map(words));
    let shared: BTreeMap<String, &str> = own.filter(|(stem, _)| task.contains(stem)).collect();
    let tokens = tokens_of_len(text.len()) + 1;
    let why = if shared.is_empty() {
        "there is room".to_owned()
    } else {
        format!("near: {}", shared.values().copied().collect::<Vec<_>>().join(", "))
    };
    Fragment { rule: constraint.id, text, tokens, score: shared.len() as f64, why }
}

/// The task's own words, and the effects that such tasks lead to.
fn task_words(task: Task<'_>) -> BTreeSet<String> {
    let own = words(task.request).chain(task.recent.iter().flat_map(|r| words(r)));
    own.map(|(stem, _)| stem).chain(task.verbs.iter().map(|verb| stem(verb.word()))).collect()
}

/// The words that carry meaning, each after its stem.
fn words(text: &str) -> impl Iterator<Item = (String, &str)> {
    let split = text.split(|c: char| !c.is_alphanumeric());
    split.filter(|w| w.chars().count() > 3 && !STOP.contains(&w.to_lowercase().as_str())).map(|w| (stem(w), w))
}

/// English endings off, so that `deleting`, `deleted` and `deletes` meet `delete`.
fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    let bare = ["ing", "ions", "ion", "ed", "es", "s", "e"].iter().find_map(|end| word.strip_suffix(end));
    match bare {
        Some(bare) if bare.chars().count() >= 3 => bare.to_owned(),
        Some(_) | None => word,
    }
}

const STOP: [&str; 24] = [
    "that", "this", "with", "from", "have", "must", "without", "before", "after", "when", "then", "them", "they",
    "there", "effect", "resource", "forbid", "require", "same", "what", "some", "please", "never", "only",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ConstraintState, RuleId, Scope, Source, Span, StatementKind, Turn};

    fn said(n: u32, quote: &str, rule: Option<&str>) -> Constraint {
        Constraint {
            id: RuleId::said(n),
            kind: StatementKind::Prohibition,
            quote: quote.into(),
            turn: Turn(n),
            span: Span::default(),
            source: Source::Said,
            scope: Scope::Session,
            rule: rule.map(str::to_owned),
            note: None,
            confidence: 1.0,
            state: ConstraintState::Active,
            expires: None,
            once: None,
        }
    }

    const TASK: Task<'static> = Task { request: "Delete the old invoices", verbs: &[], recent: &[] };

    #[test]
    fn related_constraints_come_first_when_the_budget_is_short() {
        let all = [said(1, "no mail to the press", None), said(2, "never delete invoices", None)];
        let both = restore(&all, TASK, 400);
        assert_eq!((both.0.len(), both.1.len()), (2, 0));
        let (given, left_out) = restore(&all, TASK, 30);
        assert_eq!(given.iter().map(|f| f.rule).collect::<Vec<_>>(), [RuleId::said(2)]);
        assert!(left_out[0].why.contains("no trigger near"), "{left_out:?}");
    }

    #[test]
    fn nothing_is_both_given_and_left_out_and_the_budget_holds() {
        let all: Vec<_> = (1..60).map(|n| said(n, "do not delete a thing of some length here", None)).collect();
        let (given, left_out) = restore(&all, TASK, 200);
        assert_eq!(given.len() + left_out.len(), all.len());
        assert!(given.iter().map(|f| f.tokens).sum::<u64>() <= 200);
    }

    #[test]
    fn a_fragment_carries_the_persons_own_words() {
        let text = render(&said(7, "never touch contracts/", Some("x")));
        assert!(text.contains("§7") && text.contains("turn 7") && text.contains("never touch contracts/"), "{text}");
    }
}
