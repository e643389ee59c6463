//! What was the model told just now, what not, and why?

use super::{Look, hanging};
use crate::{
    domain::event::Fragment,
    tui::{theme::Role, widgets::wrap::Spans},
};
use ratatui::text::Line;

pub fn figures(look: Look<'_>) -> Spans {
    let restored = &look.state.restored;
    let (given, all) = (restored.given.len(), restored.given.len() + restored.left_out.len());
    if all == 0 {
        return Vec::new();
    }
    vec![
        look.paint(Role::Strong, format!("{given} of {all}")),
        look.paint(Role::Dim, format!(", {} tokens", restored.tokens())),
    ]
}

/// `roomy`: with the words that were put before the model.
pub fn rows(look: Look<'_>, width: usize, roomy: bool) -> Vec<Line<'static>> {
    let restored = &look.state.restored;
    if restored.given.is_empty() && restored.left_out.is_empty() {
        return look.teach(
            "Nothing yet. Before the model is asked, the constraints that matter for the task are put back before its \
             eyes; here stands which ones, and which were left out and why.",
            width,
        );
    }
    let row = |f: &Fragment, sign: &str, role: Role| {
        let lead =
            vec![look.paint(role, format!(" {sign} ")), look.paint(Role::Rule, format!("{:<3}", f.rule.to_string()))];
        let tokens = format!("  {} tokens", f.tokens);
        let mut rows = hanging(lead, vec![look.paint(Role::Text, &f.why), look.paint(Role::Dim, tokens)], width);
        if roomy {
            rows.extend(look.words(Role::Quote, &f.text, 6, width));
        }
        rows
    };
    let given = restored.given.iter().flat_map(|f| row(f, "✓", Role::Allow));
    let left_out = restored.left_out.iter().flat_map(|f| row(f, "–", Role::Dim));
    let when = format!(" turn {}, budget {} tokens", restored.turn, restored.budget);
    given.chain(left_out).chain([Line::from(look.paint(Role::Dim, when))]).collect()
}
