//! What exactly would happen if I say yes? The whole action, its effects, the sentence that stands against it, and
//! what each key does. Says what is shown; what keys may do is `update::dock`'s.

use super::{Look, hanging, paragraph, place, rule_words};
use crate::{
    domain::{Demand, Effect, Finding, Origin, PlanKind, Reversibility},
    session::{Handling, Stage},
    tui::{
        keymap::{Act, Situation},
        theme::Role,
        ui_state::{Choice, Focus},
        widgets::{
            words,
            wrap::{Break, Spans, hang},
        },
    },
};
use ratatui::text::{Line, Span};

/// A call of at most so many rows stands above its effects, a longer one below them.
const SHORT_CALL: usize = 4;

/// The question on the dock with its handling.
pub fn subject<'a>(look: Look<'a>) -> Option<&'a Handling> {
    look.ui.dock.as_ref().and_then(|dock| look.state.handlings.get(&dock.proposal))
}

/// The verb that has to be typed to approve, where an effect cannot be undone.
pub fn typed_word(handling: &Handling) -> Option<&'static str> {
    let effects = handling.action.as_ref().map(|a| a.effects.as_slice()).unwrap_or_default();
    let worst = effects.iter().filter(|e| e.is_critical()).max_by_key(|e| e.reversibility);
    match worst {
        Some(effect) => Some(effect.verb.word()),
        // what nothing is known of may be anything
        None if effects.is_empty() => Some("run"),
        None => None,
    }
}

/// There is something that would come first, or could be done instead.
pub fn can_repair(handling: &Handling) -> bool {
    handling.audit().is_some_and(|a| !a.plan.is_empty())
}

/// Title: which of how many, the tool, what makes it grave.
pub fn title(look: Look<'_>) -> (Spans, Spans) {
    let Some(handling) = subject(look) else { return Default::default() };
    let questions = look.ui.questions(look.state);
    let at = questions.iter().position(|h| h.id() == handling.id()).unwrap_or(0) + 1;
    let mut left = vec![look.paint(Role::Ask, format!(" DECIDE {at} of {} ", questions.len()))];
    left.push(look.paint(Role::Dim, format!(" {} ", handling.id())));
    if handling.is_put_off() {
        left.push(look.paint(Role::Dim, "put to someone else "));
    }
    let effects = handling.action.as_ref().map(|a| a.effects.as_slice()).unwrap_or_default();
    let worst = effects.iter().map(|e| e.reversibility).max();
    let mut right = vec![look.paint(Role::Tool, format!(" {}", handling.proposal.call.tool))];
    if let Some(worst) = worst {
        let role = if worst == Reversibility::Irreversible { Role::Deny } else { Role::Dim };
        right.push(look.paint(Role::Dim, " · "));
        right.push(look.paint(role, worst.word()));
    }
    if look.state.latch.is_some() {
        right.push(look.paint(Role::Dim, " · "));
        right.push(look.paint(Role::Deny, "latched"));
    }
    right.push(Span::raw(" "));
    (left, right)
}

/// Everything that has to be on the screen before a yes.
pub fn body(look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    let Some(handling) = subject(look) else { return Vec::new() };
    let mut rows = whole_call(look, handling, width);
    let effects = handling.action.as_ref().map(|a| a.effects.as_slice()).unwrap_or_default();
    let widest = effects.iter().map(|e| e.verb.word().len()).max().unwrap_or(0);
    let mut effects: Vec<_> = effects.iter().flat_map(|e| effect_rows(look, e, widest, width)).collect();
    // what a long text does must not be found only at its end
    if rows.len() > SHORT_CALL {
        std::mem::swap(&mut rows, &mut effects);
    }
    rows.extend(effects);
    if handling.stage == Stage::Unresolved {
        let text = "It ran when the process died: it may have happened. Yes runs it (again).";
        rows.extend(look.words(Role::Warn, text, 1, width));
    }
    if let Some(question) = &handling.question {
        rows.extend(hanging(vec![look.paint(Role::Ask, " ?  ")], vec![look.paint(Role::Text, question)], width));
    }
    if let Some(audit) = handling.audit() {
        let mut told: Vec<Finding> = Vec::new();
        for finding in audit.open() {
            if told.iter().any(|t| t.rule == finding.rule && t.demand == finding.demand) {
                continue;
            }
            told.push(finding.clone());
            rows.extend(against(look, finding, width));
        }
        for step in &audit.plan.0 {
            let (lead, words) = match step.kind {
                PlanKind::Precede => (" ↻  first  ", Role::Repair),
                PlanKind::Substitute => (" ↻  instead  ", Role::Repair),
            };
            let call = format!("{} {}", step.call.tool, words::call(&step.call));
            rows.extend(hanging(vec![look.paint(words, lead)], vec![look.paint(Role::Text, call)], width));
        }
    }
    rows.extend(look.words(Role::Strong, "Without an answer: stays blocked.", 1, width));
    rows
}

/// The whole text, wrapped, never cut; named arguments each on rows of their own.
fn whole_call(look: Look<'_>, handling: &Handling, width: usize) -> Vec<Line<'static>> {
    let call = &handling.proposal.call;
    let block = |lead: Spans, text: &str| -> Vec<Line<'static>> {
        let blank = vec![Span::raw(" ".repeat(crate::tui::widgets::wrap::width(&lead)))];
        let mut leads = std::iter::once(lead).chain(std::iter::repeat(blank));
        let lines = text.lines().flat_map(|line| {
            let lead = leads.next().unwrap_or_default();
            hang(lead, &[look.paint(Role::Strong, line)], width, Break::Anywhere)
        });
        lines.collect()
    };
    match call.args.as_object().filter(|args| args.len() > 1) {
        Some(args) => {
            let widest = args.keys().map(|name| name.len()).max().unwrap_or(0).min(16);
            let one = |(name, value): (&String, &serde_json::Value)| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                block(vec![look.paint(Role::Dim, format!(" {name:<widest$}  "))], &text)
            };
            args.iter().flat_map(one).collect()
        }
        None => {
            let text = words::call(call);
            let text = if text.trim().is_empty() { "(nothing: refuse it)".to_owned() } else { text };
            block(vec![Span::raw(" ")], &text)
        }
    }
}

fn effect_rows(look: Look<'_>, effect: &Effect, widest: usize, width: usize) -> Vec<Line<'static>> {
    let role = match effect.reversibility {
        Reversibility::Irreversible => Role::Deny,
        Reversibility::ExternallyReversible => Role::Ask,
        Reversibility::Reversible | Reversibility::ReadOnly => Role::Text,
    };
    let lead = vec![look.paint(role, format!("   {:<widest$}  ", effect.verb.word()))];
    let mut body = vec![look.paint(Role::Strong, effect.resource.to_string())];
    let mut known = words::attributes(effect);
    if effect.is_critical() {
        let gap = if known.is_empty() { "" } else { ", " };
        known = format!("{known}{gap}{}", effect.reversibility.word());
    }
    if !known.is_empty() {
        body.push(look.paint(Role::Dim, format!("   {known}")));
    }
    hanging(lead, body, width)
}

/// One rule that stands against it, in the person's words.
fn against(look: Look<'_>, finding: &Finding, width: usize) -> Vec<Line<'static>> {
    let lead = vec![look.paint(Role::Rule, format!(" {:<3} ", finding.rule.to_string()))];
    let (words, file) = rule_words(look, finding.rule);
    let mut body = match look.state.constraints.get(&finding.rule) {
        Some(c) => vec![
            look.paint(Role::Dim, format!("{}, you: ", place(c))),
            look.paint(Role::Quote, format!("“{}”", c.quote)),
        ],
        None => vec![look.paint(Role::Dim, format!("{file}: ")), look.paint(Role::Text, words)],
    };
    let asks = match &finding.demand {
        Demand::Forbidden => "forbidden".to_owned(),
        Demand::Limit { attr, max, would_be, unit } => {
            let unit = unit.as_deref().unwrap_or_default();
            format!("{attr} would be {would_be} {unit}, at most {max} {unit}")
        }
        Demand::Before { verb, resource } => format!("wants {verb} {resource} before"),
        Demand::Approval => "wants your yes".to_owned(),
        Demand::Unknown { why } => format!("cannot be told: {why}"),
    };
    body.push(look.paint(Role::Dim, format!("  {asks} ({})", finding.matched)));
    hanging(lead, body, width)
}

/// The rows below the body that never scroll away: the keys, or what the chosen one still needs.
pub fn keys(look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    let (Some(handling), Some(dock)) = (subject(look), &look.ui.dock) else { return Vec::new() };
    if look.ui.focus != Focus::Dock {
        let key = look.keymap.key(Situation::Any, Act::NextFocus);
        let text = vec![
            look.paint(Role::Key, format!(" {key} ")),
            look.paint(Role::Dim, "to decide. What you type goes into your message."),
        ];
        return paragraph(&text, width);
    }
    match &dock.choice {
        Some(choice) => chosen(look, choice, width),
        None => offers(look, handling, dock.seen, width),
    }
}

fn chosen(look: Look<'_>, choice: &Choice, width: usize) -> Vec<Line<'static>> {
    let question = match choice {
        Choice::ApproveOnce => "Approve this once?".to_owned(),
        Choice::TypeToApprove { word, typed } => {
            let text = vec![
                look.paint(Role::Ask, format!(" Cannot be undone. Type {word} and Enter: ")),
                look.paint(Role::Strong, typed),
                look.paint(Role::Focus, "▎"),
                look.paint(Role::Dim, "  Esc: no"),
            ];
            return paragraph(&text, width);
        }
        Choice::ApproveSession { words } => format!("Allow for this session: {words}?"),
        Choice::RepairFirst => "Do what must come first, then audit again?".to_owned(),
        Choice::AskHuman => "Put it to someone and go on with the rest?".to_owned(),
    };
    let text = vec![
        look.paint(Role::Ask, format!(" {question} ")),
        look.paint(Role::Key, "Enter"),
        look.paint(Role::Dim, ": yes   any other key: no"),
    ];
    paragraph(&text, width)
}

/// What each key does, no far from yes.
fn offers(look: Look<'_>, handling: &Handling, seen: bool, width: usize) -> Vec<Line<'static>> {
    let mut offers: Vec<(Act, String)> = Vec::new();
    if !seen {
        let text = vec![
            look.paint(Role::Key, " ↓ "),
            look.paint(Role::Warn, "read to the end first; then yes is possible."),
        ];
        offers.push((Act::Deny, "deny, say why".to_owned()));
        let mut rows = paragraph(&text, width);
        rows.extend(keys_rows(look, &offers, width));
        return rows;
    }
    offers.push((
        Act::ApproveOnce,
        match typed_word(handling) {
            Some(word) => format!("approve once (type “{word}”, Enter)"),
            None => "then Enter: approve once".to_owned(),
        },
    ));
    if let Some(scope) = (look.ui.session_scope)(handling) {
        offers.push((Act::ApproveSession, format!("approve for this session: {scope}")));
    }
    offers.push((Act::Edit, "edit".to_owned()));
    if can_repair(handling) {
        offers.push((Act::RepairFirst, "do what comes first, audit again".to_owned()));
    }
    offers.push((Act::AskHuman, "ask someone, go on".to_owned()));
    if handling.audit().is_some_and(|a| a.open().any(|f| f.rule.origin == Origin::Said)) {
        offers.push((Act::Jump, "jump to the sentence".to_owned()));
    }
    if look.ui.questions(look.state).len() > 1 {
        offers.push((Act::NextQuestion, "next question".to_owned()));
    }
    offers.push((Act::Deny, "deny, say why".to_owned()));
    keys_rows(look, &offers, width)
}

fn keys_rows(look: Look<'_>, offers: &[(Act, String)], width: usize) -> Vec<Line<'static>> {
    let mut rows: Vec<Spans> = vec![vec![Span::raw(" ")]];
    let mut used = 1;
    for (act, words) in offers {
        let key = look.keymap.key(Situation::Dock, *act);
        let part = vec![look.paint(Role::Key, key), look.paint(Role::Text, format!(" {words}"))];
        let wide = crate::tui::widgets::wrap::width(&part);
        if used > 1 && used + wide > width {
            rows.push(vec![Span::raw(" ")]);
            used = 1;
        }
        used += wide + 3;
        if let Some(row) = rows.last_mut() {
            row.extend(part);
            row.push(Span::raw("   "));
        }
    }
    rows.into_iter().flat_map(|row| paragraph(&row, width)).collect()
}
