//! What a key, a click or a paste means where the person is looking. Pure: time comes in, orders go out.

pub mod command;
mod dock;
mod editor;
mod rules;
mod travel;
mod writing;

use super::{
    api::{DemoControl, Intent},
    keymap::{Act, Key, Keymap, Situation},
    layout::Target,
    tape::Seek,
    theme::Theme,
    ui_state::{Asks, Field, Focus, Overlay, Pane, Screen, Ui},
};
use crate::session::{Input, Phase, State};
use ratatui::crossterm::event::{Event, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};

/// What comes of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// For the rest of the program.
    Tell(Intent),
    /// For the cockpit itself.
    Seek(Seek),
    Theme(String),
    Suspend,
    Redraw,
}

/// What an event is judged by besides the screen.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub state: &'a State,
    pub theme: &'a Theme,
    pub keymap: &'a Keymap,
    /// Milliseconds of the cockpit's clock.
    pub now: u64,
}

/// Takes one event in.
pub fn update(cx: Context<'_>, ui: &mut Ui, event: &Event) -> Vec<Order> {
    match event {
        Event::Key(key) if key.kind == KeyEventKind::Release => Vec::new(),
        Event::Key(key) => on_key(cx, ui, Key::of(key)),
        Event::Paste(text) => on_paste(ui, text),
        Event::Mouse(mouse) => on_mouse(cx, ui, *mouse),
        // two resizes may arrive as one, back at the old size, with half a frame of another size on the screen
        Event::Resize(_, _) => vec![Order::Redraw],
        Event::FocusGained | Event::FocusLost => Vec::new(),
    }
}

/// A session's input.
fn input(input: Input) -> Vec<Order> {
    vec![Order::Tell(Intent::Input(Box::new(input)))]
}

/// Where keys are looked up, the most particular place first.
fn situations(ui: &Ui) -> Vec<Situation> {
    let mut places = match &ui.overlay {
        Some(Overlay::Help | Overlay::Trace(_)) => return vec![Situation::Overlay, Situation::Any],
        Some(Overlay::Field(_)) => return vec![Situation::Field, Situation::Any],
        Some(Overlay::Editor { .. }) => return vec![Situation::Editor, Situation::Any],
        None => Vec::new(),
    };
    if ui.rules.open {
        return vec![Situation::Rules, Situation::Any];
    }
    match ui.focus {
        Focus::Composer => return vec![Situation::Composer, Situation::Any],
        Focus::Dock => places.push(Situation::Dock),
        Focus::Pane(_) => {}
    }
    if ui.is_past() {
        places.push(Situation::Replay);
    }
    if ui.screen == Screen::Demo && ui.demo.is_some() {
        places.push(Situation::Demo);
    }
    if matches!(ui.focus, Focus::Pane(_)) {
        places.push(Situation::Pane);
    }
    places.push(Situation::Any);
    places
}

fn on_key(cx: Context<'_>, ui: &mut Ui, key: Key) -> Vec<Order> {
    ui.notice = None;
    let act = cx.keymap.act(&situations(ui), key);
    if act != Some(Act::ClearOrQuit) {
        ui.leaving = false;
    }
    match &ui.overlay {
        Some(Overlay::Field(_)) => return on_field(cx, ui, key, act),
        Some(Overlay::Editor { .. }) => return editor::on_key(cx, ui, key, act),
        Some(Overlay::Help | Overlay::Trace(_)) | None => {}
    }
    if ui.overlay.is_none() && !ui.rules.open {
        match ui.focus {
            Focus::Composer => return writing::on_key(cx, ui, key, act),
            Focus::Dock => {
                if let Some(orders) = dock::on_key(cx, ui, key, act) {
                    return orders;
                }
            }
            Focus::Pane(_) => {}
        }
    }
    act.map_or_else(Vec::new, |act| perform(cx, ui, act))
}

/// An action that does not depend on what is being typed.
fn perform(cx: Context<'_>, ui: &mut Ui, act: Act) -> Vec<Order> {
    match act {
        Act::Help => {
            ui.overlay_scroll = 0;
            ui.overlay = Some(Overlay::Help);
        }
        Act::Rules => {
            ui.rules.open = !ui.rules.open;
            ui.rules.scroll = 0;
        }
        Act::Search => ask(ui, Asks::Search),
        Act::NextMatch => travel::find(cx, ui, true),
        Act::PreviousMatch => travel::find(cx, ui, false),
        Act::Command => {
            ui.focus = Focus::Composer;
            if ui.composer.is_empty() {
                ui.composer.edit(|area| area.insert_char(':'));
            }
        }
        Act::Write => ui.focus = Focus::Composer,
        Act::NextFocus | Act::Complete => travel::turn_focus(cx.state, ui, 1),
        Act::PreviousFocus => travel::turn_focus(cx.state, ui, -1),
        Act::Back => return back(cx, ui),
        Act::ClearOrQuit => return clear_or_quit(ui),
        Act::Quit => return vec![Order::Tell(Intent::Quit)],
        Act::Suspend => return vec![Order::Suspend],
        Act::Redraw => return vec![Order::Redraw],
        Act::Up | Act::Down | Act::PageUp | Act::PageDown | Act::First | Act::Last => travel::step(cx, ui, act),
        Act::Open => travel::open(cx, ui),
        Act::Release => release(cx, ui),
        Act::DemoStep => return vec![Order::Tell(Intent::Demo(DemoControl::Step))],
        Act::DemoRun => {
            let running = ui.demo.as_ref().is_some_and(|d| d.running);
            let control = if running { DemoControl::Pause } else { DemoControl::Run };
            return vec![Order::Tell(Intent::Demo(control))];
        }
        Act::DemoFaster => return vec![Order::Tell(Intent::Demo(DemoControl::Faster))],
        Act::DemoSlower => return vec![Order::Tell(Intent::Demo(DemoControl::Slower))],
        Act::StepBack => return vec![Order::Seek(Seek::By(-1))],
        Act::StepOn => return vec![Order::Seek(Seek::By(1))],
        Act::LeapBack => return vec![Order::Seek(Seek::By(-100))],
        Act::LeapOn => return vec![Order::Seek(Seek::By(100))],
        Act::ToStart => return vec![Order::Seek(Seek::Start)],
        Act::ToEnd => return vec![Order::Seek(Seek::End)],
        Act::RuleConfirm | Act::RuleReject | Act::RuleSuspend | Act::RuleRevoke | Act::RuleRevive => {
            rules::decide(cx, ui, act);
        }
        Act::Jump => rules::jump(cx, ui),
        // these mean something only where something is typed or asked
        Act::Send | Act::Newline | Act::Confirm | Act::Nothing => {}
        Act::ApproveOnce | Act::ApproveSession | Act::Deny | Act::Edit | Act::RepairFirst | Act::AskHuman => {}
        Act::NextQuestion | Act::PreviousQuestion => {}
    }
    Vec::new()
}

fn ask(ui: &mut Ui, asks: Asks) {
    ui.overlay = Some(Overlay::Field(Field { asks, text: String::new() }));
}

fn release(cx: Context<'_>, ui: &mut Ui) {
    if ui.is_past() {
        ui.notice = Some("this is the past: nothing can be decided here".to_owned());
    } else if cx.state.latch.is_none() {
        ui.notice = Some("the latch is not engaged".to_owned());
    } else {
        ask(ui, Asks::Release);
    }
}

/// Closes what lies on top; else stops what runs; else goes back to writing.
fn back(cx: Context<'_>, ui: &mut Ui) -> Vec<Order> {
    if ui.overlay.take().is_some() {
        return Vec::new();
    }
    if std::mem::take(&mut ui.rules.open) {
        return Vec::new();
    }
    if ui.is_past() && ui.screen != Screen::Replay {
        return vec![Order::Seek(Seek::End)];
    }
    let runs = matches!(cx.state.phase(), Phase::Thinking | Phase::Working);
    if runs && !ui.is_past() {
        return input(Input::Interrupt { why: "the person pressed Esc".to_owned() });
    }
    if ui.search.take().is_none() {
        ui.focus = Focus::Composer;
    }
    Vec::new()
}

fn clear_or_quit(ui: &mut Ui) -> Vec<Order> {
    if ui.overlay.take().is_some() {
        return Vec::new();
    }
    if !ui.composer.is_empty() {
        ui.composer.clear();
        return Vec::new();
    }
    if std::mem::replace(&mut ui.leaving, true) {
        return vec![Order::Tell(Intent::Quit)];
    }
    ui.notice = Some("once more to quit".to_owned());
    Vec::new()
}

/// A line that asks for words.
fn on_field(cx: Context<'_>, ui: &mut Ui, key: Key, act: Option<Act>) -> Vec<Order> {
    let Some(Overlay::Field(field)) = &mut ui.overlay else { return Vec::new() };
    if let Some(c) = key.typed() {
        field.text.push(c);
        return Vec::new();
    }
    match act {
        Some(Act::Confirm) => {
            let field = field.clone();
            return fill_in(cx, ui, field);
        }
        Some(act @ (Act::Back | Act::ClearOrQuit | Act::Suspend | Act::Redraw)) => return perform(cx, ui, act),
        Some(_) | None => {}
    }
    if key.code == ratatui::crossterm::event::KeyCode::Backspace {
        field.text.pop();
    }
    Vec::new()
}

fn fill_in(cx: Context<'_>, ui: &mut Ui, field: Field) -> Vec<Order> {
    let words = field.text.trim().to_owned();
    let reason_missing = words.is_empty() && matches!(field.asks, Asks::Release | Asks::OnRule(..));
    if reason_missing {
        ui.notice = Some("it is logged with your reason: type one, or Esc".to_owned());
        return Vec::new();
    }
    ui.overlay = None;
    match field.asks {
        Asks::Deny(proposal) => dock::answer(proposal, crate::domain::HumanDecision::Deny { feedback: words }),
        Asks::OnRule(rule, decision) => input(Input::OnRule { rule, decision, why: words }),
        Asks::Release => input(Input::ReleaseLatch { reason: words }),
        Asks::Search => {
            ui.search = Some(words).filter(|w| !w.is_empty());
            ui.focus = Focus::Pane(Pane::Transcript);
            travel::find(cx, ui, false);
            Vec::new()
        }
    }
}

/// Pasted text is text: it never answers, opens or sends anything.
fn on_paste(ui: &mut Ui, text: &str) -> Vec<Order> {
    let past = ui.is_past();
    match &mut ui.overlay {
        Some(Overlay::Field(field)) => field.text.push_str(&text.replace(['\r', '\n'], " ")),
        Some(Overlay::Editor { area, .. }) => {
            area.insert_str(text.replace("\r\n", "\n").replace('\r', "\n"));
        }
        Some(Overlay::Help | Overlay::Trace(_)) => {}
        None if ui.focus == Focus::Composer && !ui.rules.open && !past => {
            let taken = writing::taken_over(ui);
            ui.composer.paste(text);
            return taken;
        }
        None => ui.notice = Some("a paste answers nothing; go to your message to paste there".to_owned()),
    }
    Vec::new()
}

fn on_mouse(cx: Context<'_>, ui: &mut Ui, mouse: MouseEvent) -> Vec<Order> {
    let target = ui.shown.at(mouse.column, mouse.row);
    match mouse.kind {
        MouseEventKind::ScrollUp => travel::wheel(cx, ui, target, -3),
        MouseEventKind::ScrollDown => travel::wheel(cx, ui, target, 3),
        MouseEventKind::Down(MouseButton::Left) => click(ui, target),
        MouseEventKind::Down(MouseButton::Right | MouseButton::Middle)
        | MouseEventKind::Up(_)
        | MouseEventKind::Drag(_)
        | MouseEventKind::Moved
        | MouseEventKind::ScrollLeft
        | MouseEventKind::ScrollRight => {}
    }
    Vec::new()
}

/// A click looks somewhere; it never answers.
fn click(ui: &mut Ui, target: Option<Target>) {
    if ui.overlay.is_some() {
        if target != Some(Target::Overlay) && matches!(ui.overlay, Some(Overlay::Help | Overlay::Trace(_))) {
            ui.overlay = None;
        }
        return;
    }
    match target {
        Some(Target::Pane(pane)) => ui.focus = Focus::Pane(pane),
        Some(Target::Item(item)) => {
            ui.focus = Focus::Pane(Pane::Transcript);
            ui.selected = Some(item);
        }
        Some(Target::Dock) => ui.focus = Focus::Dock,
        Some(Target::Composer) => ui.focus = Focus::Composer,
        Some(Target::StartRow(row)) => ui.start_row = row,
        Some(Target::Rule(rule)) => {
            ui.rules.selected = Some(rule);
            ui.rules.scroll = 0;
        }
        Some(Target::RuleDetail | Target::Overlay) | None => {}
    }
}
