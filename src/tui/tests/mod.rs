//! Frames as a person sees them, keys as a person presses them, laws for any size and any text.

mod frames;
mod keys;
mod laws;

use super::{
    api::{DemoStatus, Intent, Mode},
    cockpit::{Cockpit, Outward},
    keymap::Key,
    samples,
};
use crate::domain::Record;
use ratatui::{
    buffer::Buffer,
    crossterm::event::{Event, KeyEvent},
    layout::Rect,
};
use unicode_width::UnicodeWidthStr as _;

/// The clock of a test that does not care: long after any question appeared.
const LATER: u64 = 60_000;

fn frame(cockpit: &mut Cockpit, width: u16, height: u16) -> Buffer {
    let screen = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(screen);
    cockpit.draw(screen, &mut buffer);
    buffer
}

fn row(buffer: &Buffer, y: u16) -> String {
    let mut row = String::new();
    let mut x = buffer.area.left();
    while x < buffer.area.right() {
        let symbol = buffer[(x, y)].symbol();
        row.push_str(symbol);
        x += u16::try_from(symbol.width().max(1)).unwrap();
    }
    row.trim_end().to_owned()
}

fn text(buffer: &Buffer) -> String {
    (buffer.area.top()..buffer.area.bottom()).map(|y| row(buffer, y) + "\n").collect()
}

fn shot(cockpit: &mut Cockpit, width: u16, height: u16) -> String {
    text(&frame(cockpit, width, height))
}

fn live(records: Vec<Record>) -> Cockpit {
    samples::cockpit(Mode::Live { records })
}

fn playing(records: Vec<Record>) -> Cockpit {
    let status = DemoStatus { name: "records".into(), step: 3, steps: 12, running: false, speed: 1.0, next: None };
    samples::cockpit(Mode::Demo { status, records })
}

/// Presses keys (`tab`, `ctrl-c`, …; `'words` types words) one frame apart; what comes of them.
fn press(cockpit: &mut Cockpit, keys: &str, now: u64) -> Vec<Intent> {
    let mut told = Vec::new();
    for word in keys.split_whitespace() {
        let typed: Vec<Key> = match word.strip_prefix('\'') {
            Some(letters) => letters.replace('_', " ").chars().map(|c| c.to_string().parse().unwrap()).collect(),
            None => vec![word.parse().unwrap_or_else(|()| panic!("`{word}` is no key"))],
        };
        for key in typed {
            let event = Event::Key(KeyEvent::new(key.code, key.modifiers));
            for outward in cockpit.event(&event, now) {
                match outward {
                    Outward::Tell(intent) => told.push(intent),
                    Outward::Suspend | Outward::Redraw => {}
                }
            }
            frame(cockpit, 120, 40);
        }
    }
    told
}
