//! Compaction: old turns become one line each, so that the conversation fits its budget again.
//!
//! Nothing is invented: a line holds the beginning of what was really said and the calls that were really made.
//! Constraints do not live in the conversation, so no compaction can take one out of force; a turn that carries one
//! is marked with its sign.

use crate::domain::{Message, Role, Turn, message::tokens_of_len};
use std::{collections::BTreeMap, fmt::Write as _};

/// A compaction that should happen: turns up to `to` become `summary`.
#[derive(Debug, Clone, PartialEq)]
pub struct Compacted {
    pub from: Turn,
    pub to: Turn,
    pub summary: String,
    pub tokens_before: u64,
    pub tokens_after: u64,
}

/// After a compaction the conversation fills at most this part of its budget, so that it is not soon due again.
const LEFT: (u64, u64) = (2, 5);
/// The summary may take this part of the budget; its oldest lines go first, marked ones stay.
const SUMMARY: (u64, u64) = (1, 8);

/// Whether and how to compact. `compacted_to` is the last turn that is already summarised, `signs` the rules that a
/// turn carries, `fixed` the tokens of a prompt that are there whatever was said, `summary` those of the present one.
/// The latest turn is never compacted.
pub fn due(
    messages: &[(Turn, &Message)],
    compacted_to: Turn,
    (fixed, summary): (u64, u64),
    budget: u64,
    signs: &BTreeMap<Turn, String>,
) -> Option<Compacted> {
    let live = || messages.iter().filter(move |(turn, _)| *turn > compacted_to);
    let before = fixed + summary + live().map(|(_, m)| tokens(m)).sum::<u64>();
    if before <= budget {
        return None;
    }
    let (latest, _) = messages.last()?;
    let mut kept = 0;
    let mut first_kept = *latest;
    for (turn, message) in live().rev() {
        kept += tokens(message);
        if kept * LEFT.1 > budget.saturating_sub(fixed) * LEFT.0 && turn < latest {
            break;
        }
        first_kept = *turn;
    }
    let to = Turn(first_kept.0.saturating_sub(1));
    if to <= compacted_to {
        return None;
    }
    let old: Vec<_> = messages.iter().filter(|(turn, _)| *turn <= to).copied().collect();
    let summary = summarise(&old, signs, budget * SUMMARY.0 / SUMMARY.1);
    let recent: u64 = messages.iter().filter(|(turn, _)| *turn > to).map(|(_, m)| tokens(m)).sum();
    let after = fixed + tokens_of_len(summary.len()) + recent;
    // one that gains nothing would be due again at once
    if after >= before {
        return None;
    }
    let from = old.first().map_or(Turn(1), |(turn, _)| *turn);
    Some(Compacted { from, to, summary, tokens_before: before, tokens_after: after })
}

/// Tokens of one message, roughly.
pub fn tokens(message: &Message) -> u64 {
    let calls: usize = message.calls.iter().map(|c| c.call.args.to_string().len() + c.call.tool.len()).sum();
    tokens_of_len(message.text.len() + calls + 8)
}

fn summarise(messages: &[(Turn, &Message)], signs: &BTreeMap<Turn, String>, budget: u64) -> String {
    let mut lines: BTreeMap<Turn, String> = BTreeMap::new();
    for (turn, message) in messages {
        let line = lines.entry(*turn).or_insert_with(|| match signs.get(turn) {
            Some(signs) => format!("turn {turn} [{signs}]"),
            None => format!("turn {turn}"),
        });
        let _ = match message.role {
            Role::User => write!(line, " · user: {}", first_words(&message.text, 140)),
            Role::Assistant if message.calls.is_empty() => {
                write!(line, " · you: {}", first_words(&message.text, 100))
            }
            Role::Assistant => {
                let calls = message.calls.iter().map(|c| {
                    let what =
                        ["command", "path", "from"].iter().find_map(|name| c.call.text(name)).unwrap_or_default();
                    format!("{} {}", c.call.tool, first_words(what, 60))
                });
                write!(line, " · you called {}", calls.collect::<Vec<_>>().join("; "))
            }
            Role::Tool if message.is_receipt() => {
                write!(line, " · {}", first_words(&message.text, 120))
            }
            Role::Tool | Role::System => Ok(()),
        };
    }
    let mut left = budget;
    let mut dropped = 0;
    let mut kept: Vec<String> = Vec::new();
    for (turn, line) in lines.into_iter().rev() {
        let cost = tokens_of_len(line.len() + 1);
        if cost <= left || signs.contains_key(&turn) {
            left = left.saturating_sub(cost);
            kept.push(line);
        } else {
            dropped += 1;
        }
    }
    if dropped > 0 {
        kept.push(format!("({dropped} earlier turns without standing rules left out)"));
    }
    kept.reverse();
    kept.join("\n")
}

/// The beginning of a text on one line.
fn first_words(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(turns: u32, len: usize) -> Vec<(Turn, Message)> {
        (1..=turns)
            .flat_map(|n| {
                let user = Message::new(Role::User, format!("question {n} {}", "x".repeat(len)));
                let agent = Message::new(Role::Assistant, format!("answer {n} {}", "y".repeat(len)));
                [(Turn(n), user), (Turn(n), agent)]
            })
            .collect()
    }

    fn refs(talk: &[(Turn, Message)]) -> Vec<(Turn, &Message)> {
        talk.iter().map(|(t, m)| (*t, m)).collect()
    }

    #[test]
    fn a_short_conversation_is_left_alone() {
        assert_eq!(due(&refs(&talk(5, 40)), Turn(0), (0, 0), 10_000, &BTreeMap::new()), None);
    }

    #[test]
    fn a_long_one_shrinks_below_its_budget_and_keeps_marked_turns() {
        let talk = talk(80, 200);
        let signs = BTreeMap::from([(Turn(2), "§1 §2".to_owned())]);
        let c = due(&refs(&talk), Turn(0), (0, 0), 4_000, &signs).expect("over budget");
        assert!(c.tokens_before > 4_000 && c.tokens_after < 4_000, "{c:?}");
        assert!(c.to < Turn(80) && c.to > Turn(40));
        assert!(c.summary.contains("turn 2 [§1 §2] · user: question 2"), "{}", c.summary);
        assert_eq!(
            due(&refs(&talk), c.to, (0, tokens_of_len(c.summary.len())), 4_000, &signs),
            None,
            "not due again"
        );
    }

    #[test]
    fn a_compaction_always_gains_something() {
        let talk = talk(6, 9_000);
        let mut to = Turn(0);
        let mut summary = 0;
        while let Some(c) = due(&refs(&talk), to, (300, summary), 4_000, &BTreeMap::new()) {
            assert!(c.tokens_after < c.tokens_before && c.to > to, "{c:?}");
            (to, summary) = (c.to, tokens_of_len(c.summary.len()));
        }
    }

    #[test]
    fn one_huge_turn_is_not_compacted_away() {
        assert_eq!(due(&refs(&talk(1, 50_000)), Turn(0), (0, 0), 1_000, &BTreeMap::new()), None);
    }
}
