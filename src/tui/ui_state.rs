//! Where the person is looking: focus, scroll, what is open, what is being typed. Nothing of the session.

use super::{
    api::{DemoStatus, Endpoint, Mode, Settings, Start},
    composer::Composer,
    layout::Shown,
    panes::transcript::Memo,
};
use crate::{
    domain::{Digest, ProposalId, RuleId, Seq},
    ports::Delta,
    session::{Handling, RuleDecision, State},
};
use ratatui_textarea::TextArea;
use std::collections::{BTreeMap, BTreeSet};

/// A part of the screen that explains something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pane {
    Transcript,
    InForce,
    Restored,
    Audit,
    Repairs,
    Latch,
}

impl Pane {
    /// Those beside the transcript, from top to bottom.
    pub const SIDE: [Pane; 5] = [Pane::InForce, Pane::Restored, Pane::Audit, Pane::Repairs, Pane::Latch];
}

/// What takes the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    Composer,
    Dock,
    Pane(Pane),
}

/// What kind of screen it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Screen {
    Start(Start),
    Live,
    Demo,
    Replay,
}

/// What lies over the rest.
#[derive(Debug, Clone)]
pub enum Overlay {
    Help,
    /// The whole trace of a proposal's audits.
    Trace(ProposalId),
    /// A line that asks for words.
    Field(Field),
    /// An action being edited.
    Editor {
        proposal: ProposalId,
        area: Box<TextArea<'static>>,
        form: EditForm,
        error: Option<String>,
    },
}

/// How an action is written in the editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditForm {
    /// The `command` of `shell_exec`.
    Command,
    Json,
}

/// What the words are for.
#[derive(Debug, Clone, PartialEq)]
pub enum Asks {
    Deny(ProposalId),
    OnRule(RuleId, RuleDecision),
    Release,
    Search,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub asks: Asks,
    pub text: String,
}

/// Which row of the transcript is the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scroll {
    /// The end is shown, and stays shown when something comes.
    Follow,
    At {
        item: usize,
        row: usize,
    },
}

/// An answer that was chosen and is not yet given.
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    ApproveOnce,
    /// The word that has to be typed, and what of it is there.
    TypeToApprove {
        word: String,
        typed: String,
    },
    ApproveSession {
        words: String,
    },
    RepairFirst,
    AskHuman,
}

/// The question on the dock.
#[derive(Debug, Clone, PartialEq)]
pub struct DockUi {
    pub proposal: ProposalId,
    /// What is asked: another action or another audit is another question.
    pub question: Digest,
    /// When it appeared, in milliseconds of the cockpit's clock.
    pub appeared: u64,
    pub scroll: usize,
    /// The end of its text was on the screen.
    pub seen: bool,
    pub choice: Option<Choice>,
}

/// A reply that is coming in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    pub text: String,
    pub reasoning: usize,
    pub call: Option<(String, usize)>,
    pub retrying: Option<String>,
}

impl Draft {
    pub fn take_in(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) => self.text.push_str(&text),
            Delta::Reasoning(text) => self.reasoning += text.len(),
            Delta::Call { name, bytes } => self.call = Some((name, bytes)),
            Delta::Retrying { why, seconds } => self.retrying = Some(format!("{why}; again in {seconds:.0} s")),
            Delta::Restarted => *self = Draft::default(),
        }
    }
}

/// Where the rules view is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RulesUi {
    pub open: bool,
    pub selected: Option<RuleId>,
    pub scroll: usize,
}

/// Everything about the looking.
#[derive(Debug, Clone)]
pub struct Ui {
    pub screen: Screen,
    pub workspace: String,
    pub endpoint: Endpoint,
    pub session_scope: fn(&Handling) -> Option<String>,
    pub focus: Focus,
    pub overlay: Option<Overlay>,
    pub overlay_scroll: usize,
    pub rules: RulesUi,
    pub composer: Composer,
    pub scroll: Scroll,
    /// An item of the timeline.
    pub selected: Option<usize>,
    /// Items that are shown whole, by the record they come from.
    pub expanded: BTreeSet<Seq>,
    pub pane_scroll: BTreeMap<Pane, usize>,
    pub dock: Option<DockUi>,
    /// The action that was answered on the dock last, until the next question.
    pub answered: Option<ProposalId>,
    /// The question that the person turned to.
    pub chosen_question: Option<ProposalId>,
    pub draft: Draft,
    pub demo: Option<DemoStatus>,
    pub notice: Option<String>,
    pub search: Option<String>,
    /// The row chosen on the start screen.
    pub start_row: usize,
    /// Ctrl-C was pressed on an empty line.
    pub leaving: bool,
    /// Records known and records shown: (cursor, all).
    pub cursor: (usize, usize),
    /// What the last frame showed, and where.
    pub shown: Shown,
    /// The grammars are loaded: code is shown in colour.
    pub code_in_colour: bool,
    /// Layout that was computed before; never changes what is drawn.
    pub memo: Memo,
}

impl Ui {
    pub fn new(settings: &Settings) -> Ui {
        let mut ui = Ui {
            screen: Screen::Live,
            workspace: settings.workspace.clone(),
            endpoint: settings.endpoint.clone(),
            session_scope: settings.session_scope,
            focus: Focus::Composer,
            overlay: None,
            overlay_scroll: 0,
            rules: RulesUi::default(),
            composer: Composer::default(),
            scroll: Scroll::Follow,
            selected: None,
            expanded: BTreeSet::new(),
            pane_scroll: BTreeMap::new(),
            dock: None,
            answered: None,
            chosen_question: None,
            draft: Draft::default(),
            demo: None,
            notice: None,
            search: None,
            start_row: 0,
            leaving: false,
            cursor: (0, 0),
            shown: Shown::default(),
            code_in_colour: false,
            memo: Memo::default(),
        };
        ui.enter(&settings.mode);
        ui
    }

    /// Turns to another session; what was being written stays.
    pub fn enter(&mut self, mode: &Mode) {
        (self.screen, self.focus) = match mode {
            Mode::Start(start) => (Screen::Start(start.clone()), Focus::Composer),
            Mode::Live { .. } => (Screen::Live, Focus::Composer),
            Mode::Demo { .. } => (Screen::Demo, Focus::Pane(Pane::Transcript)),
            Mode::Replay { .. } => (Screen::Replay, Focus::Pane(Pane::Transcript)),
        };
        self.demo = match mode {
            Mode::Demo { status, .. } => Some(status.clone()),
            Mode::Start(_) | Mode::Live { .. } | Mode::Replay { .. } => None,
        };
        self.scroll = Scroll::Follow;
        self.selected = None;
        self.expanded.clear();
        self.pane_scroll.clear();
        self.rules = RulesUi::default();
        self.dock = None;
        self.draft = Draft::default();
        self.overlay = None;
        self.start_row = 0;
        self.memo.clear();
    }

    /// Where the keys go when nothing else has them.
    fn home(&self) -> Focus {
        match self.screen {
            Screen::Start(_) | Screen::Live => Focus::Composer,
            Screen::Demo | Screen::Replay => Focus::Pane(Pane::Transcript),
        }
    }

    /// The past is shown: nothing can be answered or said there.
    pub fn is_past(&self) -> bool {
        self.screen == Screen::Replay || self.cursor.0 < self.cursor.1
    }

    /// Questions in the order in which they are put: those put off come last.
    pub fn questions<'a>(&self, state: &'a State) -> Vec<&'a Handling> {
        let mut open: Vec<&Handling> = state.waiting().collect();
        open.sort_by_key(|h| h.is_put_off());
        open
    }

    /// Brings what hangs on the session up to date with it: the question on the dock, focus on things that are gone.
    pub fn observe(&mut self, state: &State, now: u64) {
        if !state.calling {
            self.draft = Draft::default();
        }
        let questions = self.questions(state);
        let chosen = questions.iter().find(|h| Some(h.id()) == self.chosen_question);
        match chosen.or(questions.first()) {
            Some(handling) => {
                let question = Digest::of_json(&(handling.id(), handling.audits.len(), &handling.question));
                if self.dock.as_ref().is_none_or(|d| d.question != question) {
                    self.ask(handling.id(), question, now);
                }
                // the same action asked about again finds the person where they answered it before
                if self.answered.take() == Some(handling.id())
                    && self.focus == self.home()
                    && self.composer.is_empty()
                {
                    self.focus = Focus::Dock;
                }
            }
            None => {
                self.dock = None;
                if self.focus == Focus::Dock {
                    self.focus = self.home();
                }
                if matches!(self.overlay, Some(Overlay::Editor { .. })) {
                    self.overlay = None;
                }
            }
        }
        if self.selected.is_some_and(|item| item >= state.timeline.items.len()) {
            self.selected = None;
        }
    }

    /// Puts a question on the dock, as new.
    pub fn ask(&mut self, proposal: ProposalId, question: Digest, now: u64) {
        self.dock = Some(DockUi { proposal, question, appeared: now, scroll: 0, seen: false, choice: None });
    }

    /// Takes in what the last frame showed.
    pub fn showed(&mut self, shown: Shown) {
        if let Some(dock) = &mut self.dock {
            dock.seen |= shown.dock_end;
            dock.scroll = dock.scroll.min(shown.dock_most);
        }
        for (pane, most) in &shown.pane_most {
            if let Some(scroll) = self.pane_scroll.get_mut(pane) {
                *scroll = (*scroll).min(*most);
            }
        }
        self.overlay_scroll = self.overlay_scroll.min(shown.overlay_most);
        self.rules.scroll = self.rules.scroll.min(shown.rules_most);
        self.shown = shown;
    }
}
