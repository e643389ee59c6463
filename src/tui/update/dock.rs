//! Answers. No key answers alone: one chooses, Enter (or a typed word) does it, and only after the end of the
//! question was on the screen and the question had stood there for a moment.

use super::{Context, Order, ask, editor, input, travel};
use crate::{
    domain::{HumanDecision, Origin, ProposalId},
    session::Input,
    tui::{
        keymap::{Act, Key},
        panes::dock::{can_repair, typed_word},
        ui_state::{Asks, Choice, Ui},
    },
};
use ratatui::crossterm::event::KeyCode;

/// Keys pressed within so many milliseconds after a question appeared were meant for something else.
pub const GUARD: u64 = 400;

pub fn answer(proposal: ProposalId, decision: HumanDecision) -> Vec<Order> {
    input(Input::Answer { proposal, decision, approver: "person".to_owned() })
}

/// `None`: the key has nothing to do with the question.
pub fn on_key(cx: Context<'_>, ui: &mut Ui, key: Key, act: Option<Act>) -> Option<Vec<Order>> {
    let dock = ui.dock.as_ref()?;
    let handling = cx.state.handlings.get(&dock.proposal)?;
    if let Some(choice) = dock.choice.clone() {
        return Some(on_choice(cx, ui, choice, key, act));
    }
    let early = cx.now < dock.appeared + GUARD;
    let (proposal, seen) = (dock.proposal, dock.seen);
    match act? {
        act if early && answers(act) => {
            ui.notice = Some("the question has only just appeared: look first".to_owned())
        }
        act if ui.is_past() && answers(act) => {
            ui.notice = Some("this is the past: nothing can be decided here".to_owned())
        }
        act if !seen && loosens(act) => ui.notice = Some("read to its end first (↓)".to_owned()),
        Act::ApproveOnce => choose(
            ui,
            match typed_word(handling) {
                Some(word) => Choice::TypeToApprove { word: word.to_owned(), typed: String::new() },
                None => Choice::ApproveOnce,
            },
        ),
        Act::ApproveSession => match (ui.session_scope)(handling) {
            Some(words) => choose(ui, Choice::ApproveSession { words }),
            None => ui.notice = Some("there is no session approval for what cannot be undone".to_owned()),
        },
        Act::RepairFirst if can_repair(handling) => choose(ui, Choice::RepairFirst),
        Act::RepairFirst => ui.notice = Some("nothing has to come first".to_owned()),
        Act::AskHuman => choose(ui, Choice::AskHuman),
        Act::Deny => ask(ui, Asks::Deny(proposal)),
        Act::Edit => editor::open(ui, handling),
        Act::Jump => jump(cx, ui, proposal),
        Act::NextQuestion => turn(cx, ui, 1),
        Act::PreviousQuestion => turn(cx, ui, -1),
        Act::Confirm | Act::Nothing => {}
        _ => return None,
    }
    Some(Vec::new())
}

const fn answers(act: Act) -> bool {
    matches!(act, Act::Deny | Act::Edit) || loosens(act)
}

const fn loosens(act: Act) -> bool {
    matches!(act, Act::ApproveOnce | Act::ApproveSession | Act::RepairFirst | Act::AskHuman)
}

fn choose(ui: &mut Ui, choice: Choice) {
    if let Some(dock) = &mut ui.dock {
        dock.choice = Some(choice);
    }
}

/// A choice stands: Enter does it, anything else takes it back (but for the letters of the word).
fn on_choice(cx: Context<'_>, ui: &mut Ui, choice: Choice, key: Key, act: Option<Act>) -> Vec<Order> {
    let Some(dock) = &mut ui.dock else { return Vec::new() };
    let proposal = dock.proposal;
    let enter = key.code == KeyCode::Enter && key.modifiers.is_empty();
    if let Choice::TypeToApprove { word, typed } = &choice {
        let mut typed = typed.clone();
        match (key.typed(), key.code) {
            (Some(c), _) => typed.push(c),
            (None, KeyCode::Backspace) => drop(typed.pop()),
            (None, _) if enter && typed == *word => {
                dock.choice = None;
                ui.answered = Some(proposal);
                return answer(proposal, HumanDecision::ApproveOnce);
            }
            (None, _) if enter => {
                ui.notice = Some(format!("type `{word}` to approve, or Esc"));
                return Vec::new();
            }
            (None, _) => {
                dock.choice = None;
                return pass_on(cx, ui, act);
            }
        }
        dock.choice = Some(Choice::TypeToApprove { word: word.clone(), typed });
        return Vec::new();
    }
    dock.choice = None;
    if !enter {
        return pass_on(cx, ui, act);
    }
    ui.chosen_question = None;
    ui.answered = Some(proposal);
    answer(
        proposal,
        match choice {
            Choice::ApproveOnce | Choice::TypeToApprove { .. } => HumanDecision::ApproveOnce,
            Choice::ApproveSession { words } => HumanDecision::ApproveSession { words },
            Choice::RepairFirst => HumanDecision::RepairFirst,
            Choice::AskHuman => HumanDecision::AskHuman,
        },
    )
}

/// A key that took a choice back still moves the focus, but does nothing else.
fn pass_on(cx: Context<'_>, ui: &mut Ui, act: Option<Act>) -> Vec<Order> {
    match act {
        Some(act @ (Act::NextFocus | Act::PreviousFocus | Act::ClearOrQuit | Act::Suspend | Act::Redraw)) => {
            super::perform(cx, ui, act)
        }
        Some(_) | None => Vec::new(),
    }
}

/// To the sentence of the person that stands against it.
fn jump(cx: Context<'_>, ui: &mut Ui, proposal: ProposalId) {
    let audit = cx.state.handlings.get(&proposal).and_then(|h| h.audit());
    let said = audit.and_then(|a| a.open().find(|f| f.rule.origin == Origin::Said));
    match said.and_then(|f| cx.state.constraints.get(&f.rule)) {
        Some(constraint) => travel::jump_to_turn(cx, ui, constraint.turn),
        None => ui.notice = Some("no sentence of yours stands against it".to_owned()),
    }
}

/// The next question, or the one before.
fn turn(cx: Context<'_>, ui: &mut Ui, by: isize) {
    let questions: Vec<ProposalId> = ui.questions(cx.state).iter().map(|h| h.id()).collect();
    let Some(dock) = &ui.dock else { return };
    let at = questions.iter().position(|id| *id == dock.proposal).unwrap_or(0);
    let next = at.saturating_add_signed(by + questions.len() as isize) % questions.len().max(1);
    if let Some(id) = questions.get(next).filter(|id| **id != dock.proposal) {
        ui.chosen_question = Some(*id);
        ui.observe(cx.state, cx.now);
    }
}
