//! What was done for me before an action, and did it work?

use super::{Look, action, hanging};
use crate::{
    domain::Status,
    session::Handling,
    tui::{theme::Role, widgets::wrap::Spans},
};
use ratatui::text::Line;

fn repaired<'a>(look: Look<'a>) -> impl Iterator<Item = &'a Handling> {
    look.state.handlings.values().rev().filter(|h| !h.repairs.is_empty())
}

pub fn figures(look: Look<'_>) -> Spans {
    let done: usize = repaired(look).map(|h| h.repairs.len()).sum();
    if done == 0 { Vec::new() } else { vec![look.paint(Role::Repair, format!("↻{done}"))] }
}

pub fn rows(look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    for handling in repaired(look).take(20) {
        let all = handling.repairs.len();
        for (i, repair) in handling.repairs.iter().filter_map(|id| look.state.handlings.get(id)).enumerate() {
            let (role, came) = match &repair.outcome {
                Some(outcome) if outcome.status == Status::Succeeded => {
                    (Role::Allow, format!("✓ {}", action::repaired(outcome)))
                }
                Some(outcome) => (Role::Deny, format!("✕ {}", action::repaired(outcome))),
                None => (Role::Dim, repair.stage.word().to_owned()),
            };
            let lead = vec![look.paint(Role::Repair, format!(" {}/{all} ", i + 1))];
            let body = vec![
                look.paint(Role::Text, action::subject_of(repair)),
                look.paint(Role::Dim, " → "),
                look.paint(role, came),
            ];
            rows.extend(hanging(lead, body, width));
            if let Some(backup) = repair.outcome.as_ref().and_then(|o| o.backup.as_ref()) {
                rows.extend(look.words(Role::Dim, &backup.location, 5, width));
            }
        }
        rows.push(Line::from(
            [vec![look.paint(Role::Dim, "     for ")], action::title(look.theme, handling, width.saturating_sub(10))]
                .concat(),
        ));
    }
    if rows.is_empty() {
        return look.teach(
            "None. When a rule wants something done first, such as a backup, weal does it and shows it here.",
            width,
        );
    }
    rows
}
