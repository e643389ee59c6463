//! The whole trace of one action: call, effects, and for each audit effect → rule → what it asks → what met it.

use super::{Look, action, hanging, place, rule_words};
use crate::{
    domain::{Audit, Decision, Demand, Finding, ProposalId},
    session::Handling,
    tui::{
        theme::Role,
        widgets::{rule, words},
    },
};
use ratatui::text::{Line, Span};

pub fn rows(look: Look<'_>, id: ProposalId, width: usize) -> Vec<Line<'static>> {
    let Some(handling) = look.state.handlings.get(&id) else { return Vec::new() };
    let mut rows = Vec::new();
    let call = &handling.proposal.call;
    for line in words::call(call).lines() {
        rows.extend(hanging(vec![Span::raw(" ")], vec![look.paint(Role::Code, line)], width));
    }
    let about = format!("{} · turn {} · {}", call.tool, handling.proposal.turn, handling.stage.word());
    rows.extend(look.words(Role::Dim, &about, 1, width));
    if let Some(act) = &handling.action {
        rows.push(Line::default());
        rows.push(Line::from(look.paint(Role::Heading, " effects")));
        for (i, effect) in act.effects.iter().enumerate() {
            let requested = if handling.requested.get(i) == Some(&true) { ", named by your request" } else { "" };
            let body = vec![
                look.paint(Role::Strong, effect.to_string()),
                look.paint(
                    Role::Dim,
                    format!("  {}, {}{requested}", effect.reversibility.word(), words::attributes(effect)),
                ),
            ];
            rows.extend(hanging(vec![look.paint(Role::Dim, format!("  {} ", i + 1))], body, width));
        }
    }
    for rows_of_one in (0..).zip(&handling.audits).map(|(i, audit)| one(look, handling, i, audit, width)) {
        rows.push(Line::default());
        rows.extend(rows_of_one);
    }
    if let Some(note) = &handling.note {
        rows.push(Line::default());
        rows.push(Line::from(look.paint(Role::Heading, " receipt")));
        rows.extend(look.words(Role::Text, note, 2, width));
    }
    rows
}

/// The audits of an action, the one in force first.
pub fn audits(look: Look<'_>, handling: &Handling, width: usize) -> Vec<Line<'static>> {
    let numbered = handling.audits.iter().enumerate().rev();
    numbered.flat_map(|(i, audit)| one(look, handling, i, audit, width)).collect()
}

fn one(look: Look<'_>, handling: &Handling, index: usize, audit: &Audit, width: usize) -> Vec<Line<'static>> {
    let (sign, _, role) = action::decision(audit.decision);
    let head = vec![
        look.paint(Role::Heading, format!(" audit {}  ", index + 1)),
        look.paint(role, format!("{sign} {}", audit.decision.word())),
        look.paint(Role::Dim, format!("   action {}  law {}", audit.action.short(), audit.law.short())),
    ];
    let mut rows = hanging(Vec::new(), head, width);
    for finding in &audit.findings {
        rows.extend(trace(look, handling, finding, width));
    }
    let effects = handling.action.as_ref().map(|a| a.effects.as_slice()).unwrap_or_default();
    for (_, effect) in (0..).zip(effects).filter(|(i, _)| audit.findings.iter().all(|f| f.effect != *i)) {
        let body =
            vec![look.paint(Role::Text, effect.to_string()), look.paint(Role::Dim, "  no rule speaks about it")];
        rows.extend(hanging(vec![look.paint(Role::Allow, "  ✓ allow   ")], body, width));
    }
    for step in &audit.plan.0 {
        let body = vec![
            look.paint(Role::Text, format!("{} {}", step.call.tool, words::call(&step.call))),
            look.paint(Role::Rule, format!("  {}", step.rule)),
        ];
        rows.extend(hanging(vec![look.paint(Role::Repair, "  ↻ plan  ")], body, width));
    }
    if !audit.lawful.is_empty() && audit.decision == Decision::Deny {
        let lawful: Vec<String> =
            audit.lawful.iter().filter_map(|i| effects.get(*i)).map(ToString::to_string).collect();
        rows.extend(look.words(Role::Text, &format!("lawful alone: {}", lawful.join(", ")), 2, width));
    }
    rows
}

fn trace(look: Look<'_>, handling: &Handling, finding: &Finding, width: usize) -> Vec<Line<'static>> {
    let (sign, _, role) = action::decision(finding.level);
    let (sentence, from) = rule_words(look, finding.rule);
    let head = vec![
        look.paint(Role::Text, action::subject(handling.action.as_ref(), finding)),
        look.paint(Role::Dim, " → "),
        look.paint(Role::Rule, finding.rule.to_string()),
    ];
    let mut rows = hanging(vec![look.paint(role, format!("  {sign} {:<7} ", finding.level.word()))], head, width);
    let mut line = |name: &str, spans| {
        rows.extend(hanging(vec![look.paint(Role::Dim, format!("      {name:<8} "))], spans, width))
    };
    let constraint = look.state.constraints.get(&finding.rule);
    match constraint {
        Some(c) => line(
            "said",
            vec![look.paint(Role::Quote, format!("“{sentence}”")), look.paint(Role::Dim, format!("  {}", place(c)))],
        ),
        None => line("rule", vec![look.paint(Role::Text, sentence), look.paint(Role::Dim, format!("  {from}"))]),
    }
    let core = look.state.opening.as_ref().and_then(|o| o.core.iter().find(|c| c.id == finding.rule));
    if let Some(text) = constraint.and_then(|c| c.rule.as_deref()).or(core.map(|c| c.rule.as_str())) {
        line("if", rule::coloured(look.theme, text.strip_prefix("if ").unwrap_or(text)));
    }
    line("met by", vec![look.paint(Role::Text, &finding.matched)]);
    let asks = match &finding.demand {
        Demand::Forbidden => "forbids it".to_owned(),
        Demand::Limit { attr, max, would_be, unit } => {
            let unit = unit.as_deref().unwrap_or_default();
            format!("{attr} at most {max} {unit}; it would be {would_be} {unit}")
        }
        Demand::Before { verb, resource } => format!("{verb} {resource} first"),
        Demand::Approval => "a person's yes".to_owned(),
        Demand::Unknown { why } => format!("cannot be told whether it applies: {why}"),
    };
    line("asks", vec![look.paint(Role::Text, asks)]);
    if let Some(grant) = finding.granted {
        let words = look.state.grants.get(&grant).map(|g| g.words.clone()).unwrap_or_default();
        line("met", vec![look.paint(Role::Allow, format!("by grant {grant}: {words}"))]);
    }
    if let Some(exception) = finding.lifted {
        line("lifted", vec![look.paint(Role::Allow, format!("by {exception}: {}", rule_words(look, exception).0))]);
    }
    rows
}
