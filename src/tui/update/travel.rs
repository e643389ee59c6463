//! Moving about: focus, selection, scrolling, search.

use super::Context;
use crate::domain::Turn;
use crate::session::{State, timeline::Entry};
use crate::tui::{
    keymap::Act,
    layout::{TWO_COLUMNS, Target},
    panes::{Look, audit, rules, transcript::Page},
    ui_state::{Focus, Overlay, Pane, Scroll, Ui},
};

/// The next (or previous) part that takes keys.
pub fn turn_focus(state: &State, ui: &mut Ui, by: isize) {
    // a question is one key away from where one reads and writes
    if by > 0 && ui.dock.is_some() && ui.focus == Focus::Pane(Pane::Transcript) {
        ui.focus = Focus::Dock;
        return;
    }
    let mut stops = vec![Focus::Composer];
    if ui.dock.is_some() {
        stops.push(Focus::Dock);
    }
    if state.opening.is_some() {
        stops.push(Focus::Pane(Pane::Transcript));
        stops.extend(Pane::SIDE.map(Focus::Pane));
    }
    let at = stops.iter().position(|s| *s == ui.focus).unwrap_or(0);
    let next = at.saturating_add_signed(by + stops.len() as isize) % stops.len();
    ui.focus = stops.get(next).copied().unwrap_or(Focus::Composer);
}

fn page<'a>(cx: Context<'a>, ui: &'a Ui) -> (Page<'a>, usize) {
    let area = ui.shown.transcript;
    (Page { state: cx.state, ui, theme: cx.theme, width: usize::from(area.width.max(1)) }, usize::from(area.height))
}

/// Up, down, pages, ends: of whatever has the focus.
pub fn step(cx: Context<'_>, ui: &mut Ui, act: Act) {
    if ui.overlay.is_some() {
        let most = ui.shown.overlay_most;
        ui.overlay_scroll = moved(ui.overlay_scroll, most, act);
        return;
    }
    if ui.rules.open {
        return rule_step(cx, ui, act);
    }
    match ui.focus {
        Focus::Composer | Focus::Pane(Pane::Transcript) => transcript_step(cx, ui, act),
        Focus::Dock => {
            let most = ui.shown.dock_most;
            if let Some(dock) = &mut ui.dock {
                dock.scroll = moved(dock.scroll, most, act);
            }
        }
        Focus::Pane(pane) => {
            let most = ui.shown.most(pane);
            let scroll = ui.pane_scroll.entry(pane).or_default();
            *scroll = moved(*scroll, most, act);
        }
    }
}

fn moved(at: usize, most: usize, act: Act) -> usize {
    match act {
        Act::Up => at.saturating_sub(1),
        Act::Down => (at + 1).min(most),
        Act::PageUp => at.saturating_sub(10),
        Act::PageDown => (at + 10).min(most),
        Act::First => 0,
        _ => most,
    }
}

fn transcript_step(cx: Context<'_>, ui: &mut Ui, act: Act) {
    let (page, height) = page(cx, ui);
    let last = page.len().saturating_sub(1);
    let rows = height.saturating_sub(2).max(1) as isize;
    match act {
        Act::Up | Act::Down => {
            let shown = page.frame(height).last().map_or(last, |(item, _, _)| *item);
            let at = match (ui.selected, act) {
                (None, _) => shown,
                (Some(at), Act::Up) => at.saturating_sub(1),
                (Some(at), _) => (at + 1).min(last),
            };
            let scroll = page.reveal(at, height);
            (ui.selected, ui.scroll) = (Some(at), scroll);
        }
        Act::PageUp => ui.scroll = page.scrolled(-rows, height),
        Act::PageDown => ui.scroll = page.scrolled(rows, height),
        Act::First => (ui.selected, ui.scroll) = (Some(0), Scroll::At { item: 0, row: 0 }),
        _ => (ui.selected, ui.scroll) = (None, Scroll::Follow),
    }
}

fn rule_step(cx: Context<'_>, ui: &mut Ui, act: Act) {
    if matches!(act, Act::PageUp | Act::PageDown) {
        ui.rules.scroll = moved(ui.rules.scroll, ui.shown.rules_most, act);
        return;
    }
    let rules = rules::list(cx.state);
    let at = ui.rules.selected.and_then(|id| rules.iter().position(|k| k.id() == id)).unwrap_or(0);
    let at = moved(at, rules.len().saturating_sub(1), act);
    ui.rules.selected = rules.get(at).map(|k| k.id());
    ui.rules.scroll = 0;
}

/// The wheel turns what lies under it, whatever has the focus.
pub fn wheel(cx: Context<'_>, ui: &mut Ui, target: Option<Target>, by: isize) {
    let turned = |at: usize, most: usize| at.saturating_add_signed(by).min(most);
    match target {
        _ if ui.overlay.is_some() => ui.overlay_scroll = turned(ui.overlay_scroll, ui.shown.overlay_most),
        Some(Target::Item(_) | Target::Pane(Pane::Transcript)) => {
            let (page, height) = page(cx, ui);
            ui.scroll = page.scrolled(by, height);
        }
        Some(Target::Pane(pane)) => {
            let most = ui.shown.most(pane);
            let scroll = ui.pane_scroll.entry(pane).or_default();
            *scroll = turned(*scroll, most);
        }
        Some(Target::Dock) => {
            let most = ui.shown.dock_most;
            if let Some(dock) = &mut ui.dock {
                dock.scroll = turned(dock.scroll, most);
            }
        }
        Some(Target::RuleDetail) => ui.rules.scroll = turned(ui.rules.scroll, ui.shown.rules_most),
        Some(Target::Rule(_)) => rule_step(cx, ui, if by < 0 { Act::Up } else { Act::Down }),
        Some(Target::Composer | Target::StartRow(_) | Target::Overlay) | None => {}
    }
}

/// Enter: fold or unfold an item, open a trace.
pub fn open(cx: Context<'_>, ui: &mut Ui) {
    let look = Look { state: cx.state, ui, theme: cx.theme, keymap: cx.keymap };
    match ui.focus {
        Focus::Pane(Pane::Transcript) => {
            let items = &cx.state.timeline.items;
            let at = ui.selected.or_else(|| items.iter().rposition(|i| matches!(i.what, Entry::Action(_))));
            if let Some((at, item)) = at.and_then(|at| Some((at, items.get(at)?))) {
                ui.selected = Some(at);
                if !ui.expanded.remove(&item.seq) {
                    ui.expanded.insert(item.seq);
                }
                let (page, height) = page(cx, ui);
                ui.scroll = page.reveal(at, height);
            }
        }
        Focus::Pane(Pane::Audit) => {
            if let Some(id) = audit::subject(look).map(crate::session::Handling::id) {
                ui.overlay_scroll = 0;
                ui.overlay = Some(Overlay::Trace(id));
            }
        }
        Focus::Pane(Pane::InForce) => ui.rules.open = true,
        Focus::Pane(Pane::Restored | Pane::Repairs | Pane::Latch) | Focus::Composer | Focus::Dock => {}
    }
}

/// To the turn's own words, in the transcript.
pub fn jump_to_turn(cx: Context<'_>, ui: &mut Ui, turn: Turn) {
    let items = &cx.state.timeline.items;
    // turns ascend along the timeline
    let from = items.partition_point(|item| item.turn < turn);
    let said = items.iter().skip(from).position(|item| matches!(item.what, Entry::User { .. }));
    match said.map(|at| from + at).filter(|at| items.get(*at).is_some_and(|i| i.turn == turn)) {
        Some(at) => show(cx, ui, at),
        None => ui.notice = Some(format!("turn {turn} is not in this session")),
    }
}

fn show(cx: Context<'_>, ui: &mut Ui, at: usize) {
    ui.selected = Some(at);
    let (page, height) = page(cx, ui);
    ui.scroll = page.reveal(at, height);
}

/// The next item (or the one before) that holds what is searched for, round the end.
pub fn find(cx: Context<'_>, ui: &mut Ui, forward: bool) {
    let Some(words) = ui.search.as_deref().map(str::to_lowercase) else {
        ui.notice = Some("nothing is searched for".to_owned());
        return;
    };
    let all = cx.state.timeline.items.len();
    let found = {
        let (page, _) = page(cx, ui);
        let from = ui.selected.unwrap_or(if forward { all.saturating_sub(1) } else { 0 });
        let at = |n: usize| if forward { (from + n) % all } else { (from + all - n) % all };
        (1..=all).map(at).find(|index| page.matches(*index, &words))
    };
    match found {
        Some(at) => {
            show(cx, ui, at);
            if ui.shown.transcript.is_empty() && ui.shown.transcript.width < TWO_COLUMNS {
                ui.focus = Focus::Pane(Pane::Transcript);
            }
        }
        None => ui.notice = Some(format!("no `{words}` in the transcript")),
    }
}
