//! Keys while the composer has the focus: letters are letters, whatever waits elsewhere.

use super::{Context, Order, command, input, perform, travel};
use crate::{
    domain::RawCall,
    session::Input,
    tui::{
        api::{DemoControl, Intent},
        keymap::{Act, Key},
        panes::start,
        ui_state::{Screen, Ui},
    },
};
use ratatui::crossterm::event::KeyEvent;

pub fn on_key(cx: Context<'_>, ui: &mut Ui, key: Key, act: Option<Act>) -> Vec<Order> {
    if let Some(c) = key.typed() {
        if ui.is_past() {
            ui.notice = Some("this is the past: nothing can be said here".to_owned());
            return Vec::new();
        }
        let orders = taken_over(ui);
        ui.composer.edit(|area| area.insert_char(c));
        return orders;
    }
    match act {
        Some(Act::Send) => send(cx, ui),
        Some(Act::Newline) => {
            ui.composer.newline();
            Vec::new()
        }
        Some(Act::Complete) => {
            match command::complete(&ui.composer.text()) {
                Some(text) => ui.composer.set(&text),
                None => travel::turn_focus(cx.state, ui, 1),
            }
            Vec::new()
        }
        Some(act @ (Act::Up | Act::Down)) => {
            vertical(ui, act == Act::Up, key);
            Vec::new()
        }
        Some(Act::Back) if !ui.composer.is_empty() && ui.overlay.is_none() => {
            // Esc must stop what runs, whatever is typed; it never loses the draft
            perform(cx, ui, Act::Back)
        }
        Some(act) => perform(cx, ui, act),
        None => {
            ui.composer.edit(|area| {
                area.input(KeyEvent::new(key.code, key.modifiers));
            });
            Vec::new()
        }
    }
}

/// The first character in a demo takes it over.
pub fn taken_over(ui: &mut Ui) -> Vec<Order> {
    if ui.screen == Screen::Demo && ui.demo.take().is_some() {
        ui.screen = Screen::Live;
        return vec![Order::Tell(Intent::Demo(DemoControl::TakeOver))];
    }
    Vec::new()
}

/// At the edges of the text: older and newer messages, or the choices of the start screen.
fn vertical(ui: &mut Ui, up: bool, key: Key) {
    if let (Screen::Start(start), true) = (&ui.screen, ui.composer.is_empty()) {
        let last = start::choices(start).len().saturating_sub(1);
        ui.start_row = if up { ui.start_row.saturating_sub(1) } else { (ui.start_row + 1).min(last) };
        return;
    }
    let moved = match up {
        true if ui.composer.at_first_line() => ui.composer.older(),
        false if ui.composer.at_last_line() => ui.composer.newer(),
        true | false => false,
    };
    if !moved {
        ui.composer.edit(|area| {
            area.input(KeyEvent::new(key.code, key.modifiers));
        });
    }
}

fn send(cx: Context<'_>, ui: &mut Ui) -> Vec<Order> {
    if ui.is_past() {
        ui.notice = Some("this is the past: nothing can be said here".to_owned());
        return Vec::new();
    }
    if ui.composer.text().trim().is_empty() {
        let Screen::Start(start) = &ui.screen else { return Vec::new() };
        return start::choices(start).into_iter().nth(ui.start_row).map(Order::Tell).into_iter().collect();
    }
    let pasted_start = ui.composer.is_pasted(0);
    let (text, pasted) = ui.composer.take();
    let trimmed = text.trim();
    // what was pasted is never a command: only typed signs at the start are
    match trimmed.chars().next() {
        Some(':') if !pasted_start => command::run(cx, ui, trimmed.get(1..).unwrap_or_default()),
        Some('!') if !pasted_start => {
            let command = trimmed.get(1..).unwrap_or_default().trim();
            if command.is_empty() {
                ui.notice = Some("an empty command proposes nothing (try `!ls`)".to_owned());
                return Vec::new();
            }
            let call = RawCall::new("shell_exec", serde_json::json!({ "command": command }));
            input(Input::PersonCall { call })
        }
        Some(_) | None => {
            ui.scroll = crate::tui::ui_state::Scroll::Follow;
            ui.selected = None;
            input(Input::UserTurn { text, pasted })
        }
    }
}
