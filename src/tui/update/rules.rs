//! Decisions on rules: each asks for a reason first, and only those that fit the rule's state are taken.

use super::{Context, ask, travel};
use crate::tui::{
    keymap::Act,
    panes::{
        Look,
        rules::{self, Known},
    },
    ui_state::{Asks, Focus, Pane, Ui},
};

pub fn decide(cx: Context<'_>, ui: &mut Ui, act: Act) {
    if ui.is_past() {
        ui.notice = Some("this is the past: nothing can be decided here".to_owned());
        return;
    }
    let look = Look { state: cx.state, ui, theme: cx.theme, keymap: cx.keymap };
    let Some(known) = rules::selected(look) else { return };
    let fitting = rules::decisions(&known).iter().find(|d| rules::act_of(**d) == act);
    match fitting {
        Some(decision) => ask(ui, Asks::OnRule(known.id(), *decision)),
        None => ui.notice = Some(format!("{} cannot be treated so in its state", known.id())),
    }
}

/// Out of the rules view, to the sentence a rule came from.
pub fn jump(cx: Context<'_>, ui: &mut Ui) {
    let look = Look { state: cx.state, ui, theme: cx.theme, keymap: cx.keymap };
    match rules::selected(look) {
        Some(Known::Said(constraint)) => {
            let turn = constraint.turn;
            ui.rules.open = false;
            ui.focus = Focus::Pane(Pane::Transcript);
            travel::jump_to_turn(cx, ui, turn);
        }
        Some(Known::Core(_)) | None => ui.notice = Some("no sentence of yours stands behind it".to_owned()),
    }
}
