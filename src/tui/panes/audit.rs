//! Why this verdict? The trace of the action that is selected, else of the latest one.

use super::{Look, action, hanging, trace};
use crate::{
    domain::{Audit, Decision},
    session::{Handling, timeline::Entry},
    tui::{
        theme::Role,
        widgets::wrap::{Spans, justify},
    },
};
use ratatui::text::{Line, Span};

/// The action that the audit pane speaks of.
pub fn subject<'a>(look: Look<'a>) -> Option<&'a Handling> {
    let items = &look.state.timeline.items;
    let selected = look.ui.selected.and_then(|i| items.get(i)).and_then(|item| match &item.what {
        Entry::Action(id) => look.state.handlings.get(id),
        Entry::User { .. } | Entry::Agent { .. } | Entry::Compacted { .. } | Entry::Note { .. } => None,
    });
    selected.or_else(|| look.state.handlings.values().rev().find(|h| !h.audits.is_empty()))
}

pub fn figures(look: Look<'_>) -> Spans {
    let Some(audit) = subject(look).and_then(Handling::audit) else { return Vec::new() };
    let (sign, _, role) = action::decision(audit.decision);
    let open = audit.open().count();
    let figure = if open == 0 { sign.to_owned() } else { format!("{sign}{open}") };
    vec![look.paint(role, figure)]
}

/// `roomy`: the whole trace at once.
pub fn rows(look: Look<'_>, width: usize, roomy: bool) -> Vec<Line<'static>> {
    let Some(handling) = subject(look) else {
        return look.teach(
            "Nothing yet. Each action is checked against every rule before it runs; here stands which effect met \
             which rule. Try it yourself: !rm -rf some-file",
            width,
        );
    };
    let mut rows = vec![Line::from(
        [vec![Span::raw(" ")], action::title(look.theme, handling, width.saturating_sub(2))].concat(),
    )];
    let Some(audit) = handling.audit() else {
        rows.extend(look.teach("not audited yet", width));
        return rows;
    };
    if roomy {
        rows.truncate(1);
        rows.extend(trace::audits(look, handling, width));
        return rows;
    }
    if handling.audits.len() > 1 {
        let words: Vec<&str> = handling.audits.iter().map(|a| a.decision.word()).collect();
        rows.push(Line::from(
            look.paint(Role::Dim, format!(" audited {} times: {}", words.len(), words.join(" → "))),
        ));
    }
    rows.extend(findings(look, handling, audit, width));
    if !audit.plan.is_empty() {
        for step in &audit.plan.0 {
            let words = crate::tui::widgets::words::call(&step.call);
            let text = vec![
                look.paint(Role::Text, format!("{} {words}", step.call.tool)),
                look.paint(Role::Rule, format!("  {}", step.rule)),
            ];
            rows.extend(hanging(vec![look.paint(Role::Repair, " ↻ plan    ")], text, width));
        }
    }
    rows.push(Line::from(look.paint(Role::Dim, " Enter: the whole trace")));
    rows
}

/// One row for each finding and for each effect that nothing spoke about; below it what met the guard.
fn findings(look: Look<'_>, handling: &Handling, audit: &Audit, width: usize) -> Vec<Line<'static>> {
    let effects = handling.action.as_ref().map(|a| a.effects.as_slice()).unwrap_or_default();
    let mut rows = Vec::new();
    for (index, effect) in effects.iter().enumerate() {
        let here: Vec<_> = audit.findings.iter().filter(|f| f.effect == index).collect();
        if here.is_empty() {
            rows.push(row(look, Decision::Allow, &effect.to_string(), "–", width));
        }
        for finding in here {
            rows.push(row(
                look,
                finding.level,
                &action::subject(handling.action.as_ref(), finding),
                &finding.rule.to_string(),
                width,
            ));
            let granted = finding.granted.map(|g| format!(", granted by {g}"));
            let lifted = finding.lifted.map(|r| format!(", lifted by {r}"));
            let why = format!("{}{}{}", finding.matched, granted.unwrap_or_default(), lifted.unwrap_or_default());
            rows.extend(look.words(Role::Dim, &why, 11, width));
        }
    }
    rows
}

fn row(look: Look<'_>, decision: Decision, what: &str, rule: &str, width: usize) -> Line<'static> {
    let (sign, _, role) = action::decision(decision);
    let left = vec![look.paint(role, format!(" {sign} {:<7} ", decision.word())), look.paint(Role::Text, what)];
    justify(left, vec![look.paint(Role::Rule, format!("{rule} "))], width)
}
