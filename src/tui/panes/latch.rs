//! Am I in danger, since when, because of what, and how likely would it be without the audit?

use super::{Look, hanging};
use crate::{
    domain::LatchCause,
    hazard,
    tui::{
        keymap::{Act, Situation},
        theme::Role,
        widgets::wrap::Spans,
    },
};
use ratatui::text::Line;

pub fn figures(look: Look<'_>) -> Spans {
    vec![if look.state.latch.is_some() { look.paint(Role::Deny, "◉") } else { look.paint(Role::Dim, "○") }]
}

pub fn rows(look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    match &look.state.latch {
        Some(latch) => {
            let since = if latch.turn.0 == 0 { String::new() } else { format!(", turn {}", latch.turn) };
            let body = vec![look.paint(Role::Text, cause(&latch.cause)), look.paint(Role::Dim, since)];
            rows.extend(hanging(vec![look.paint(Role::Deny, " ◉ latched  ")], body, width));
            let key = look.keymap.key(Situation::Pane, Act::Release);
            let how = format!("What cannot be undone waits for your yes. Release it: {key}, with a reason.");
            rows.extend(look.words(Role::Dim, &how, 3, width));
        }
        None => {
            let body = vec![look.paint(Role::Dim, "engages when something that cannot be undone is denied")];
            rows.extend(hanging(vec![look.paint(Role::Text, " ○ calm  ")], body, width));
        }
    }
    let e = hazard::estimate(&look.state.hazards);
    let numbers =
        format!(" ĥ {:.2} ({:.2}–{:.2})  Σĥ {:.2}", e.mean, e.lower, e.upper, e.mean * f64::from(e.opportunities),);
    rows.extend(look.words(Role::Text, numbers.trim_start(), 1, width));
    let odds = format!("next 10: {:.0} % at least one, without the audit", e.next_ten * 100.0);
    rows.extend(look.words(Role::Text, &odds, 1, width));
    let seen = format!("{} of {} dangerous proposals broke a rule", e.entries, e.opportunities);
    rows.extend(look.words(Role::Dim, &seen, 1, width));
    rows
}

pub fn cause(cause: &LatchCause) -> String {
    match cause {
        LatchCause::DeniedIrreversible { proposal } => format!("✕ {proposal} was denied and could not be undone"),
        LatchCause::OtherRoute { proposal, denied } => {
            format!("{proposal} tries another way to what {denied} was denied")
        }
        LatchCause::Hazard { lower } => format!("the hazard is at least {lower:.2}"),
        LatchCause::Unenforceable { rule, proposal } => {
            format!("{proposal} touches {rule}, which cannot be enforced")
        }
        LatchCause::Inherited => "engaged when the last session here ended".to_owned(),
    }
}
