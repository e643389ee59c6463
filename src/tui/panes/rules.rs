//! The rules view: every rule there is, by where it comes from, and one of them whole.

use super::{Look, hanging, place};
use crate::{
    domain::{Constraint, ConstraintState, Decision, Origin, RuleId, Source, StatementKind, event::CoreRule},
    session::{Handling, RuleDecision},
    tui::{
        keymap::{Act, Situation},
        panes::action,
        theme::Role,
        widgets::{
            rule, words,
            wrap::{Spans, justify},
        },
    },
};
use ratatui::text::{Line, Span};

/// A rule as the view knows it.
#[derive(Clone, Copy)]
pub enum Known<'a> {
    Core(&'a CoreRule),
    Said(&'a Constraint),
}

impl<'a> Known<'a> {
    pub const fn id(&self) -> RuleId {
        match self {
            Known::Core(core) => core.id,
            Known::Said(constraint) => constraint.id,
        }
    }

    fn text(&self) -> Option<&'a str> {
        match self {
            Known::Core(core) => Some(&core.rule),
            Known::Said(constraint) => constraint.rule.as_deref(),
        }
    }
}

const GROUPS: [&str; 5] = ["Drafts", "Said", "Scars", "Core", "No longer in force"];

fn group(known: &Known<'_>) -> usize {
    match known {
        Known::Core(_) => 3,
        Known::Said(c) => match c.state {
            ConstraintState::Proposed => 0,
            ConstraintState::Active if c.id.origin == Origin::Scar => 2,
            ConstraintState::Active => 1,
            ConstraintState::Suspended
            | ConstraintState::Superseded { .. }
            | ConstraintState::Revoked
            | ConstraintState::Expired => 4,
        },
    }
}

/// All rules in the order of the list.
pub fn list<'a>(state: &'a crate::session::State) -> Vec<Known<'a>> {
    let core = state.opening.iter().flat_map(|o| &o.core).map(Known::Core);
    let mut rules: Vec<Known<'a>> = state.constraints.values().map(Known::Said).chain(core).collect();
    rules.sort_by_key(group);
    rules
}

/// The rule that is looked at: the chosen one, else the first.
pub fn selected<'a>(look: Look<'a>) -> Option<Known<'a>> {
    let rules = list(look.state);
    let chosen = look.ui.rules.selected.and_then(|id| rules.iter().find(|k| k.id() == id).copied());
    chosen.or_else(|| rules.first().copied())
}

/// Findings of this rule over all audits, the proposals they are in, and how many of them still stood.
fn hits<'a>(look: Look<'a>, id: RuleId) -> (Vec<(&'a Handling, Decision, &'a str)>, usize) {
    let mut found = Vec::new();
    let mut open = 0;
    for handling in look.state.handlings.values() {
        for audit in &handling.audits {
            for finding in audit.findings.iter().filter(|f| f.rule == id) {
                open += usize::from(finding.is_open());
                found.push((handling, finding.level, finding.matched.as_str()));
            }
        }
    }
    (found, open)
}

/// The list: rows, and which rule each belongs to.
pub fn list_rows(look: Look<'_>, width: usize) -> Vec<(Line<'static>, Option<RuleId>)> {
    let rules = list(look.state);
    let chosen = selected(look).map(|k| k.id());
    let counts = counts(look);
    let mut rows = Vec::new();
    for (index, name) in GROUPS.iter().enumerate() {
        let members: Vec<&Known<'_>> = rules.iter().filter(|k| group(k) == index).collect();
        if members.is_empty() {
            continue;
        }
        if !rows.is_empty() {
            rows.push((Line::default(), None));
        }
        let head =
            vec![look.paint(Role::Title, format!(" {name} ")), look.paint(Role::Dim, members.len().to_string())];
        rows.push((Line::from(head), None));
        for known in members {
            let seen = counts.get(&known.id()).copied().unwrap_or(0);
            let figure = if seen == 0 { String::new() } else { format!("×{seen} ") };
            let mut left = vec![
                look.paint(Role::Rule, format!("  {:<4}", known.id().to_string())),
                look.paint(Role::Text, short(known)),
            ];
            let mut right = vec![look.paint(Role::Dim, figure)];
            if Some(known.id()) == chosen {
                let style = look.theme.style(Role::Selection);
                left.iter_mut().chain(&mut right).for_each(|s| s.style = s.style.patch(style));
            }
            rows.push((justify(left, right, width), Some(known.id())));
        }
    }
    rows
}

/// How often each rule spoke.
fn counts(look: Look<'_>) -> std::collections::BTreeMap<RuleId, usize> {
    let mut counts = std::collections::BTreeMap::new();
    let findings = look.state.handlings.values().flat_map(|h| &h.audits).flat_map(|a| &a.findings);
    for finding in findings {
        *counts.entry(finding.rule).or_default() += 1;
    }
    counts
}

fn short(known: &Known<'_>) -> String {
    match known {
        Known::Core(core) => core.title.clone(),
        Known::Said(c) => format!("{}  {}", c.kind.word(), c.quote.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

/// One rule whole.
pub fn detail(look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    let Some(known) = selected(look) else {
        return look.teach(
            "No rules yet. Say what must hold, such as “ask me before you send mail”, and the rule made of it stands here \
             with its guard, where it comes from, and what it has stopped.",
            width,
        );
    };
    let mut rows = match known {
        Known::Core(core) => core_head(look, core, width),
        Known::Said(constraint) => said_head(look, constraint, width),
    };
    rows.push(Line::default());
    match known.text() {
        Some(text) => rows.extend(law(look, text, width)),
        None => {
            let why = match known {
                Known::Said(c) => c.note.as_deref().unwrap_or("no rule could be made of these words"),
                Known::Core(_) => "",
            };
            rows.extend(field(
                look,
                "rule",
                vec![look.paint(Role::Warn, format!("! not enforceable: {why}"))],
                width,
            ));
            rows.extend(look.words(
                Role::Dim,
                "It is put before the model and shown, but no audit can check it.",
                11,
                width,
            ));
        }
    }
    rows.push(Line::default());
    rows.extend(history(look, known.id(), width));
    rows.push(Line::default());
    rows.extend(keys(look, known, width));
    rows
}

fn field(look: Look<'_>, name: &str, value: Spans, width: usize) -> Vec<Line<'static>> {
    hanging(vec![look.paint(Role::Dim, format!(" {name:<9} "))], value, width)
}

fn core_head(look: Look<'_>, core: &CoreRule, width: usize) -> Vec<Line<'static>> {
    let hard = if core.hard { "hard: nothing lifts it" } else { "your words can relax it" };
    let head = vec![look.paint(Role::Rule, format!(" {}  ", core.id)), look.paint(Role::Strong, &core.title)];
    let mut rows = hanging(Spans::new(), head, width);
    rows.extend(field(look, "origin", vec![look.paint(Role::Text, format!("core, {}", core.file))], width));
    rows.extend(field(look, "state", vec![look.paint(Role::Text, format!("always in force, {hard}"))], width));
    rows.extend(field(look, "why", vec![look.paint(Role::Text, &core.why)], width));
    rows
}

fn said_head(look: Look<'_>, c: &Constraint, width: usize) -> Vec<Line<'static>> {
    let head = vec![look.paint(Role::Rule, format!(" {}  ", c.id)), look.paint(Role::Strong, c.kind.word())];
    let mut rows = hanging(Spans::new(), head, width);
    let origin = match &c.source {
        Source::Said => "said by you",
        Source::Pasted => "pasted by you: can only propose",
        Source::Instructions { .. } => "an instruction file: can only tighten",
        Source::Decided => "decided by you on an action or rule",
    };
    let place = format!("{}, characters {}–{}", place(c), c.span.start, c.span.end);
    rows.extend(field(look, "words", vec![look.paint(Role::Quote, format!("“{}”", c.quote))], width));
    rows.extend(field(look, "origin", vec![look.paint(Role::Text, format!("{origin}; {place}"))], width));
    let state = match &c.state {
        ConstraintState::Superseded { by } => format!("superseded by {by}"),
        ConstraintState::Proposed => "draft: not in force until you confirm it".to_owned(),
        state @ (ConstraintState::Active
        | ConstraintState::Suspended
        | ConstraintState::Revoked
        | ConstraintState::Expired) => state.word().to_owned(),
    };
    let scope = match c.scope {
        crate::domain::Scope::Turn => "this turn",
        crate::domain::Scope::Session => "this session",
        crate::domain::Scope::Project => "every session here",
        crate::domain::Scope::Always => "always",
    };
    let once = if c.once.is_some() { ", for one action" } else { "" };
    rows.extend(field(
        look,
        "state",
        vec![look.paint(Role::Text, format!("{state}; holds for {scope}{once}"))],
        width,
    ));
    rows.extend(field(
        look,
        "certainty",
        vec![look.paint(Role::Dim, format!("{:.0} %", c.confidence * 100.0))],
        width,
    ));
    rows
}

/// Guard and consequence apart, and the plain meaning where there is one.
fn law(look: Look<'_>, text: &str, width: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    if let Some(words) = rule::plain(text) {
        rows.extend(field(look, "means", vec![look.paint(Role::Strong, words)], width));
    }
    match rule::parts(text) {
        Some((guard, then)) => {
            rows.extend(field(look, "guard", rule::coloured(look.theme, guard), width));
            rows.extend(field(look, "mask", rule::coloured(look.theme, then), width));
        }
        None => rows.extend(field(look, "rule", rule::coloured(look.theme, text), width)),
    }
    rows
}

fn history(look: Look<'_>, id: RuleId, width: usize) -> Vec<Line<'static>> {
    let (found, open) = hits(look, id);
    let summary = match found.len() {
        0 => "has not spoken in this session".to_owned(),
        n => format!("spoke {}, {open} of them against the action", words::count(n as u64, "time")),
    };
    let mut rows = field(look, "hits", vec![look.paint(Role::Text, summary)], width);
    for (handling, level, matched) in found.iter().rev().take(12) {
        let (sign, _, role) = action::decision(*level);
        let left = vec![
            look.paint(role, format!("           {sign} ")),
            look.paint(Role::Dim, format!("turn {}  ", handling.proposal.turn)),
            look.paint(Role::Text, *matched),
        ];
        rows.push(justify(left, vec![look.paint(Role::Dim, format!("{} ", handling.id()))], width));
    }
    rows
}

/// What may be said of a rule in its state.
pub fn decisions(known: &Known<'_>) -> &'static [RuleDecision] {
    match known {
        Known::Core(_) => &[],
        Known::Said(c) => match c.state {
            ConstraintState::Proposed => &[RuleDecision::Confirm, RuleDecision::Reject],
            ConstraintState::Active => &[RuleDecision::Suspend, RuleDecision::Revoke],
            ConstraintState::Suspended => &[RuleDecision::Revive, RuleDecision::Revoke],
            ConstraintState::Revoked | ConstraintState::Expired if c.kind != StatementKind::Revocation => {
                &[RuleDecision::Revive]
            }
            ConstraintState::Superseded { .. } | ConstraintState::Revoked | ConstraintState::Expired => &[],
        },
    }
}

pub const fn act_of(decision: RuleDecision) -> Act {
    match decision {
        RuleDecision::Confirm => Act::RuleConfirm,
        RuleDecision::Reject => Act::RuleReject,
        RuleDecision::Suspend => Act::RuleSuspend,
        RuleDecision::Revoke => Act::RuleRevoke,
        RuleDecision::Revive => Act::RuleRevive,
    }
}

fn keys(look: Look<'_>, known: Known<'_>, width: usize) -> Vec<Line<'static>> {
    let mut spans = vec![Span::raw(" ")];
    for decision in decisions(&known) {
        let key = look.keymap.key(Situation::Rules, act_of(*decision));
        spans.push(look.paint(Role::Key, key));
        spans.push(look.paint(Role::Text, format!(" {}   ", decision.word())));
    }
    match known {
        Known::Core(core) => {
            let text = format!("A core rule stands in its file and is changed there: {}", core.file);
            return look.words(Role::Dim, &text, 1, width);
        }
        Known::Said(_) => {
            spans.push(look.paint(Role::Key, look.keymap.key(Situation::Rules, Act::Jump)));
            spans.push(look.paint(Role::Text, " jump to the sentence"));
        }
    }
    super::paragraph(&spans, width)
}
