//! What is wrong with a text, where, and what was probably meant.

use crate::domain::Span;
use std::fmt::Write as _;

/// One mistake in a rule's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Diagnostic {
    /// In characters of the text that was read.
    pub span: Span,
    pub message: String,
    pub hint: Option<String>,
}

impl Diagnostic {
    /// Message, the line it is about with the place marked, and the hint.
    pub fn render(&self, text: &str) -> String {
        let before: String = text.chars().take(self.span.start as usize).collect();
        let line = text.lines().nth(before.matches('\n').count()).unwrap_or_default();
        let column = before.chars().rev().take_while(|c| *c != '\n').count();
        let room = line.chars().count().saturating_sub(column).max(1);
        let width = (self.span.end.saturating_sub(self.span.start) as usize).clamp(1, room);
        let shown: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let mut out = format!("{}\n  {shown}\n  {}{}", self.message, " ".repeat(column), "^".repeat(width));
        if let Some(hint) = &self.hint {
            let _ = write!(out, "\n  {hint}");
        }
        out
    }
}

/// The candidate that `word` was most likely meant to be, if one is near enough.
pub(crate) fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length > 40 {
        return None;
    }
    let allowed = (length / 3).max(1);
    let near = candidates.into_iter().map(|c| (distance(word, c), c)).filter(|(d, _)| *d <= allowed);
    near.min_by_key(|(d, _)| *d).map(|(_, candidate)| candidate)
}

/// ``did you mean `…`?`` with the closest candidate.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// Insertions, deletions, substitutions and swaps of neighbours that lead from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.chars().collect());
    let mut older: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut before: Option<char> = None;
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
            let mut best = (cell(&last, j) + usize::from(x != y)).min(cell(&last, j + 1) + 1).min(cell(&row, j) + 1);
            let swapped = j > 0 && before == Some(y) && b.get(j - 1) == Some(&x);
            if swapped {
                best = best.min(cell(&older, j - 1) + 1);
            }
            row.push(best);
        }
        older = std::mem::replace(&mut last, row);
        before = Some(x);
    }
    last.last().copied().unwrap_or(0)
}
