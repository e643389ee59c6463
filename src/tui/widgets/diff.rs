//! Unified diffs, coloured by line.

use super::wrap::{Break, wrap};
use crate::tui::theme::{Role, Theme};
use ratatui::text::Line;

/// Looks like a unified diff.
pub fn is_diff(text: &str) -> bool {
    text.starts_with("diff ") || text.starts_with("--- ") || text.lines().any(|l| l.starts_with("@@ "))
}

/// Rows of at most `width` cells.
pub fn render(theme: &Theme, text: &str, width: usize) -> Vec<Line<'static>> {
    let role = |line: &str| match line.chars().next() {
        _ if line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ") => Role::Strong,
        Some('+') => Role::Added,
        Some('-') => Role::Removed,
        Some('@') => Role::Hunk,
        Some(_) | None => Role::Dim,
    };
    text.lines()
        .flat_map(|line| wrap(&[theme.paint(role(line), line)], width, Break::Anywhere))
        .map(Line::from)
        .collect()
}
