//! Editing a proposed action. What comes out is another proposal and is audited again.

use super::{Context, Order, dock, perform};
use crate::{
    domain::{HumanDecision, RawCall},
    session::Handling,
    tui::{
        keymap::{Act, Key},
        ui_state::{EditForm, Overlay, Ui},
    },
};
use ratatui::crossterm::event::KeyEvent;
use ratatui_textarea::TextArea;

pub fn open(ui: &mut Ui, handling: &Handling) {
    let call = &handling.proposal.call;
    let (form, text) = match call.text("command") {
        Some(command) => (EditForm::Command, command.to_owned()),
        None => (EditForm::Json, serde_json::to_string_pretty(&call.args).unwrap_or_default()),
    };
    let area = Box::new(TextArea::new(text.split('\n').map(str::to_owned).collect()));
    ui.overlay = Some(Overlay::Editor { proposal: handling.id(), area, form, error: None });
}

pub fn on_key(cx: Context<'_>, ui: &mut Ui, key: Key, act: Option<Act>) -> Vec<Order> {
    match act {
        Some(Act::Confirm) => return propose(cx, ui),
        Some(act @ (Act::Back | Act::ClearOrQuit | Act::Suspend | Act::Redraw)) => return perform(cx, ui, act),
        Some(_) | None => {}
    }
    if let Some(Overlay::Editor { area, error, .. }) = &mut ui.overlay {
        *error = None;
        area.input(KeyEvent::new(key.code, key.modifiers));
    }
    Vec::new()
}

fn propose(cx: Context<'_>, ui: &mut Ui) -> Vec<Order> {
    let Some(Overlay::Editor { proposal, area, form, error }) = &mut ui.overlay else { return Vec::new() };
    let Some(before) = cx.state.handlings.get(proposal).map(|h| h.proposal.call.clone()) else {
        return Vec::new();
    };
    let text = area.lines().join("\n");
    let args = match form {
        EditForm::Command => {
            let mut args = before.args.clone();
            if let Some(slot) = args.get_mut("command") {
                *slot = text.into();
            }
            args
        }
        EditForm::Json => match serde_json::from_str(&text) {
            Ok(args) => args,
            Err(e) => {
                *error = Some(format!("no JSON: {e}"));
                return Vec::new();
            }
        },
    };
    let call = RawCall { args, ..before.clone() };
    if call == before {
        *error = Some("nothing was changed".to_owned());
        return Vec::new();
    }
    let proposal = *proposal;
    ui.overlay = None;
    dock::answer(proposal, HumanDecision::Edit { call })
}
