//! What did I say that binds it, in my words, and can the program enforce it?

use super::{Look, hanging, place};
use crate::{
    domain::{Constraint, ConstraintState},
    tui::{
        theme::Role,
        widgets::{rule, wrap::Spans},
    },
};
use ratatui::text::Line;

pub fn figures(look: Look<'_>) -> Spans {
    let active = look.state.active().count();
    let drafts = look.state.constraints.values().filter(|c| c.state == ConstraintState::Proposed).count();
    let unenforced = look.state.active().filter(|c| !c.is_enforceable()).count();
    let mut spans = vec![look.paint(Role::Strong, active.to_string())];
    if drafts > 0 {
        spans.push(look.paint(Role::Ask, format!(" ?{drafts}")));
    }
    if unenforced > 0 {
        spans.push(look.paint(Role::Warn, format!(" !{unenforced}")));
    }
    spans
}

/// Drafts first, then what is in force by number, then what only holds what it once was.
pub fn rows(look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    let mut shown: Vec<&Constraint> = look.state.constraints.values().collect();
    shown.sort_by_key(|c| match c.state {
        ConstraintState::Proposed => 0,
        ConstraintState::Active => 1,
        ConstraintState::Suspended => 2,
        ConstraintState::Superseded { .. } | ConstraintState::Revoked | ConstraintState::Expired => 3,
    });
    if shown.is_empty() {
        return look.teach(
            "Nothing yet. Say what must hold, such as “never touch contracts/”, and it stands here in your words \
             and is checked before every action.",
            width,
        );
    }
    let live = live_grants(look);
    shown.into_iter().flat_map(|c| constraint(look, c, width)).chain(grants(look, live, width)).collect()
}

fn constraint(look: Look<'_>, c: &Constraint, width: usize) -> Vec<Line<'static>> {
    let (quiet, badge) = match &c.state {
        ConstraintState::Active if !c.is_enforceable() => (false, Some((Role::Warn, "! not enforceable".to_owned()))),
        ConstraintState::Active if c.once.is_some() => (false, Some((Role::Dim, "once".to_owned()))),
        ConstraintState::Active => (false, None),
        ConstraintState::Proposed => (false, Some((Role::Ask, "? draft, not in force: s to confirm".to_owned()))),
        ConstraintState::Suspended => (true, Some((Role::Dim, "▽ suspended".to_owned()))),
        ConstraintState::Superseded { by } => (true, Some((Role::Dim, format!("▽ superseded by {by}")))),
        ConstraintState::Revoked => (true, Some((Role::Dim, "▽ revoked".to_owned()))),
        ConstraintState::Expired => (true, Some((Role::Dim, "▽ expired".to_owned()))),
    };
    let role = |role| if quiet { Role::Dim } else { role };
    let lead = vec![look.paint(role(Role::Rule), format!(" {:<3}", c.id.to_string()))];
    let mut body = vec![look.paint(role(Role::Strong), format!("{}  ", c.kind.word()))];
    if let Some((role, words)) = badge {
        body.push(look.paint(role, format!("{words}  ")));
    }
    match &c.rule {
        Some(text) if !quiet => match rule::plain(text) {
            Some(words) => body.push(look.paint(Role::Text, words)),
            None => body.extend(rule::coloured(look.theme, text)),
        },
        Some(_) => {}
        None => body.push(look.paint(Role::Dim, c.note.as_deref().unwrap_or_default())),
    }
    let mut rows = hanging(lead, body, width);
    if !quiet {
        rows.extend(look.quote(&c.quote, &place(c), 4, width));
    }
    rows
}

fn live_grants<'a>(look: Look<'a>) -> Vec<&'a crate::domain::Grant> {
    look.state.grants.values().filter(|g| g.is_live(look.state.at)).collect()
}

/// What the person allowed reads beside what they forbade.
fn grants(look: Look<'_>, live: Vec<&crate::domain::Grant>, width: usize) -> Vec<Line<'static>> {
    let one = |g: &crate::domain::Grant| {
        let lead = vec![look.paint(Role::Allow, format!(" {:<3}", g.id.to_string()))];
        let body = vec![
            look.paint(Role::Strong, "granted  "),
            look.paint(Role::Text, &g.words),
            look.paint(Role::Dim, format!("  turn {}", g.turn)),
        ];
        hanging(lead, body, width)
    };
    live.into_iter().flat_map(one).collect()
}
