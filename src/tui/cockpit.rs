//! The cockpit as one value: what is fed in, what keys do, what is drawn. Pure; `run` gives it a terminal.

use super::{
    api::{Feed, Intent, Mode, Settings},
    keymap::{Keymap, KeymapError},
    panes::Look,
    tape::{Seek, Tape},
    theme::{Theme, ThemeError},
    ui_state::{Screen, Ui},
    update::{Context, Order, update},
    view,
};
use crate::{domain::Record, session::timeline::Entry};
use ratatui::{buffer::Buffer, crossterm::event::Event, layout::Rect};

#[derive(Debug, Clone)]
pub struct Cockpit {
    pub tape: Tape,
    pub ui: Ui,
    pub theme: Theme,
    pub keymap: Keymap,
    settings: Settings,
    /// Steps through time that are not yet taken, and the key that asked for them: a key held down is one move.
    pending: Option<(Event, isize)>,
    /// The time of the latest event or feed, in milliseconds of the cockpit's clock.
    now: u64,
}

/// The settings cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SettingsError {
    #[error(transparent)]
    Theme(#[from] ThemeError),
    #[error(transparent)]
    Keymap(#[from] KeymapError),
}

/// What `run` has to do for the cockpit.
#[derive(Debug, Clone, PartialEq)]
pub enum Outward {
    Tell(Intent),
    Suspend,
    /// Draw everything anew, whatever is thought to be on the screen.
    Redraw,
}

fn records_of(mode: &mut Mode) -> Vec<Record> {
    match mode {
        Mode::Start(_) => Vec::new(),
        Mode::Live { records } | Mode::Demo { records, .. } | Mode::Replay { records } => std::mem::take(records),
    }
}

impl Cockpit {
    pub fn new(mut settings: Settings) -> Result<Cockpit, SettingsError> {
        let own = settings.keymap.as_ref().map(|(file, text)| (file.as_str(), text.as_str()));
        let keymap = Keymap::load(own)?;
        let theme = load_theme(&settings, &settings.theme)?;
        let tape = Tape::new(records_of(&mut settings.mode));
        let mut cockpit = Cockpit { tape, ui: Ui::new(&settings), theme, keymap, settings, pending: None, now: 0 };
        cockpit.recall();
        cockpit.observe();
        Ok(cockpit)
    }

    /// What the person said in this session can be called up again.
    fn recall(&mut self) {
        let items = &self.tape.state().timeline.items;
        let said = items.iter().filter_map(|item| match &item.what {
            Entry::User { text, .. } => Some(text.clone()),
            Entry::Agent { .. } | Entry::Action(_) | Entry::Compacted { .. } | Entry::Note { .. } => None,
        });
        self.ui.composer.remember(said);
    }

    fn observe(&mut self) {
        self.ui.cursor = (self.tape.cursor(), self.tape.len());
        self.ui.observe(self.tape.state(), self.now);
    }

    /// Takes the steps through time that are still to be taken.
    fn settle(&mut self) {
        if let Some((_, by)) = self.pending.take() {
            self.tape.seek(Seek::By(by));
            self.observe();
        }
    }

    /// Takes a feed in; false when the program ends.
    pub fn feed(&mut self, feed: Feed, now: u64) -> bool {
        self.now = now;
        self.settle();
        match feed {
            Feed::Record(record) => {
                // whatever began a session from the start screen, it has begun now
                if matches!(self.ui.screen, Screen::Start(_)) {
                    self.ui.enter(&Mode::Live { records: Vec::new() });
                }
                self.tape.push(*record);
            }
            Feed::Draft(delta) => self.ui.draft.take_in(delta),
            Feed::Demo(status) => {
                if self.ui.screen == Screen::Demo {
                    self.ui.demo = Some(status);
                }
            }
            Feed::Notice(words) => self.ui.notice = Some(words),
            Feed::Open(mut mode) => {
                self.tape = Tape::new(records_of(&mut mode));
                self.ui.enter(&mode);
                self.recall();
            }
            Feed::Close => return false,
        }
        self.observe();
        true
    }

    /// Takes a key, click, paste or resize in.
    pub fn event(&mut self, event: &Event, now: u64) -> Vec<Outward> {
        self.now = now;
        if self.pending.as_ref().is_some_and(|(before, _)| before != event) {
            self.settle();
        }
        let cx = Context { state: self.tape.state(), theme: &self.theme, keymap: &self.keymap, now };
        let orders = update(cx, &mut self.ui, event);
        let mut outward = Vec::new();
        for order in orders {
            match order {
                Order::Tell(intent) => outward.push(Outward::Tell(intent)),
                Order::Suspend => outward.push(Outward::Suspend),
                Order::Redraw => outward.push(Outward::Redraw),
                Order::Seek(Seek::By(by)) => {
                    let before = self.pending.take().map_or(0, |(_, by)| by);
                    self.pending = Some((event.clone(), before + by));
                }
                Order::Seek(to @ (Seek::Start | Seek::End)) => {
                    self.tape.seek(to);
                    self.observe();
                }
                Order::Theme(name) => match load_theme(&self.settings, &name) {
                    Ok(theme) => {
                        self.theme = theme;
                        self.ui.memo.clear();
                    }
                    Err(e) => self.ui.notice = Some(e.to_string()),
                },
            }
        }
        outward
    }

    /// The grammars are loaded.
    pub fn colour_code(&mut self) {
        self.ui.code_in_colour = true;
        self.ui.memo.clear();
    }

    /// Draws a frame and remembers what it showed.
    pub fn draw(&mut self, screen: Rect, buffer: &mut Buffer) {
        self.settle();
        let look = Look { state: self.tape.state(), ui: &self.ui, theme: &self.theme, keymap: &self.keymap };
        let shown = view::draw(look, screen, buffer);
        self.ui.showed(shown);
    }
}

fn load_theme(settings: &Settings, name: &str) -> Result<Theme, ThemeError> {
    let own = settings.themes.iter().find(|(known, _)| known == name);
    let theme = match own {
        Some((name, text)) => Theme::parse(name, text)?,
        None => Theme::built_in(name)?,
    };
    let mut theme = if settings.no_color { theme.without_colour() } else { theme };
    theme.ascii = settings.ascii;
    Ok(theme)
}
