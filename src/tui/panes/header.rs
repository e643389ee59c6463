//! The first row: where, with what, how full, what is going on, in danger or not. Also the tabs of a narrow screen.

use super::Look;
use crate::{
    domain::event::Sandbox,
    session::Phase,
    tui::{
        layout::Target,
        theme::Role,
        ui_state::{Focus, Pane, Screen},
        widgets::{
            words,
            wrap::{Spans, justify, width as width_of},
        },
    },
};
use ratatui::text::{Line, Span};

/// The row; parts that matter less give way first.
pub fn row(look: Look<'_>, width: usize) -> Line<'static> {
    let right = [phase(look), vec![Span::raw("  ")], latch(look, width >= 100), vec![Span::raw(" ")]].concat();
    let right = if look.state.opening.is_none() { vec![look.paint(Role::Dim, "no session yet ")] } else { right };
    let mut room = width.saturating_sub(width_of(&right) + 6);
    let mut fits = |part: Spans| {
        let wanted = width_of(&part) + 2;
        if part.is_empty() || wanted > room {
            return Spans::new();
        }
        room -= wanted;
        [vec![Span::raw("  ")], part].concat()
    };
    // a simulated model must be known as one; the directory can be told from its end
    let model = fits(model(look));
    let place =
        [usize::MAX, 30, 16].into_iter().map(|most| fits(workspace(look, most))).find(|part| !part.is_empty());
    let (context, sandbox) = (fits(context(look)), fits(sandbox(look)));
    let name = vec![look.paint(Role::Strong, " weal")];
    justify([name, place.unwrap_or_default(), model, context, sandbox].concat(), right, width)
}

fn workspace(look: Look<'_>, most: usize) -> Spans {
    let path = &look.ui.workspace;
    let chars = path.chars().count();
    let text = if chars <= most {
        path.clone()
    } else {
        let tail: String = path.chars().skip(chars + 1 - most).collect();
        format!("…{tail}")
    };
    vec![look.paint(Role::Text, text)]
}

fn model(look: Look<'_>) -> Spans {
    let Some(opening) = &look.state.opening else { return Vec::new() };
    let mut spans = vec![match opening.model.as_str() {
        "none" => look.paint(Role::Warn, "no model"),
        name => look.paint(Role::Text, name),
    }];
    if opening.simulated {
        spans.push(Span::raw(" "));
        spans.push(look.paint(Role::Simulated, " simulated "));
    }
    spans
}

fn context(look: Look<'_>) -> Spans {
    let Some(opening) = &look.state.opening else { return Vec::new() };
    let (used, budget) = (look.state.context_tokens, opening.context_budget);
    let role = if used * 10 >= budget * 9 { Role::Warn } else { Role::Dim };
    vec![look.paint(role, format!("{}/{} ctx", words::short(used), words::short(budget)))]
}

fn sandbox(look: Look<'_>) -> Spans {
    match look.state.opening.as_ref().map(|o| &o.sandbox) {
        Some(Sandbox::Landlock { abi }) => vec![look.paint(Role::Dim, format!("sandbox landlock {abi}"))],
        Some(Sandbox::None { .. }) => vec![look.paint(Role::Warn, "no sandbox")],
        None => Vec::new(),
    }
}

fn phase(look: Look<'_>) -> Spans {
    let (cursor, all) = look.ui.cursor;
    if look.ui.is_past() {
        return vec![look.paint(Role::Key, format!("replay {cursor}/{all}"))];
    }
    let mut spans = Vec::new();
    if look.ui.screen == Screen::Demo
        && let Some(demo) = &look.ui.demo
    {
        let running = if demo.running { format!(" ⏵ ×{}", demo.speed) } else { " ⏸".to_owned() };
        spans.push(look.paint(Role::Key, format!("demo {}/{}{running}  ", demo.step, demo.steps)));
    }
    spans.push(match look.state.phase() {
        Phase::Idle => look.paint(Role::Dim, "idle"),
        Phase::Thinking => look.paint(Role::Strong, "thinking ⏵"),
        Phase::Working => look.paint(Role::Strong, "running ⏵"),
        Phase::Waiting => look.paint(Role::Ask, "waiting for you ⏸"),
        Phase::Closed => look.paint(Role::Dim, "closed"),
    });
    spans
}

fn latch(look: Look<'_>, wide: bool) -> Spans {
    vec![match &look.state.latch {
        Some(latch) if wide && latch.turn.0 > 0 => {
            look.paint(Role::Latch, format!(" ◉ LATCHED since turn {} ", latch.turn))
        }
        Some(_) => look.paint(Role::Latch, " ◉ LATCHED "),
        None => look.paint(Role::Dim, "○ calm"),
    }]
}

/// Tabs with badges: column, width and target of each.
pub fn tabs(look: Look<'_>, width: usize) -> (Line<'static>, Vec<(usize, usize, Target)>) {
    let mut spans = Spans::new();
    let mut hits = Vec::new();
    let mut at = 0;
    for pane in Pane::SIDE {
        let (name, figures) = super::title(look, pane);
        let focused = look.ui.focus == Focus::Pane(pane);
        let mut tab = vec![look.paint(if focused { Role::Selection } else { Role::Title }, format!(" {name} "))];
        match pane {
            Pane::Restored if !figures.is_empty() => {
                let (given, left_out) = (look.state.restored.given.len(), look.state.restored.left_out.len());
                tab.push(look.paint(Role::Strong, format!("{given}/{} ", given + left_out)));
            }
            Pane::Transcript | Pane::InForce | Pane::Restored | Pane::Audit | Pane::Repairs | Pane::Latch => {
                let gap = if figures.is_empty() { "" } else { " " };
                tab.extend(figures);
                tab.push(Span::raw(gap));
            }
        }
        if at + width_of(&tab) > width {
            break;
        }
        hits.push((at, width_of(&tab), Target::Pane(pane)));
        at += width_of(&tab) + 1;
        spans.extend(tab);
        spans.push(look.paint(Role::Border, "·"));
    }
    spans.pop();
    (Line::from(spans), hits)
}
