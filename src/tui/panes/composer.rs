//! The message being written, wrapped, with what was pasted told apart.

use super::Look;
use crate::session::Phase;
use crate::tui::{
    keymap::{Act, Situation},
    theme::Role,
    ui_state::{Focus, Screen},
    widgets::wrap::{Break, Spans, width as width_of, wrap},
};
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr as _;

/// Rows at most, before it scrolls.
pub const MOST: usize = 8;

/// The whole text in rows, and where the cursor is among them.
pub fn rows(look: Look<'_>, width: usize) -> (Vec<Line<'static>>, (usize, usize)) {
    let composer = &look.ui.composer;
    let room = width.saturating_sub(3).max(1);
    let prompt = if look.ui.focus == Focus::Composer { Role::Focus } else { Role::Dim };
    if composer.is_empty() {
        let line = vec![look.paint(prompt, " › "), look.paint(Role::Dim, placeholder(look))];
        return (vec![Line::from(crate::tui::widgets::wrap::truncate(line, width))], (0, 3));
    }
    let (cursor_row, cursor_column) = composer.cursor();
    let mut rows = Vec::new();
    let mut cursor = (0, 3);
    let mut at = 0;
    for (number, line) in composer.lines().iter().enumerate() {
        let chars: Vec<char> = line.chars().collect();
        let spans = runs(look, &chars, at);
        if number == cursor_row {
            let before = chars.get(..cursor_column).unwrap_or(&chars);
            let head = wrap(&runs(look, before, at), room, Break::Anywhere);
            let last = head.last().map_or(0, |row| width_of(row));
            let (down, right) = if last >= room { (head.len(), 0) } else { (head.len() - 1, last) };
            cursor = (rows.len() + down, right + 3);
        }
        for row in wrap(&spans, room, Break::Anywhere) {
            let lead = if rows.is_empty() { look.paint(prompt, " › ") } else { look.paint(prompt, "   ") };
            rows.push(Line::from([vec![lead], row].concat()));
        }
        at += chars.len() + 1;
    }
    if cursor.0 >= rows.len() {
        rows.push(Line::default());
    }
    (rows, cursor)
}

/// `chars`, which stand at `at` of the whole text, in runs of typed and pasted.
fn runs(look: Look<'_>, chars: &[char], at: usize) -> Spans {
    let pasted = |i: usize| look.ui.composer.is_pasted(at + i);
    let mut runs: Vec<(String, bool)> = Vec::new();
    for (i, c) in chars.iter().enumerate() {
        match runs.last_mut() {
            Some((text, was)) if *was == pasted(i) => text.push(*c),
            _ => runs.push((c.to_string(), pasted(i))),
        }
    }
    let role = |pasted| if pasted { Role::Pasted } else { Role::Text };
    runs.into_iter().map(|(text, pasted)| look.paint(role(pasted), text)).collect()
}

fn placeholder(look: Look<'_>) -> String {
    let key = |situation, act| look.keymap.key(situation, act);
    match &look.ui.screen {
        Screen::Replay => {
            let (back, on) = (key(Situation::Replay, Act::StepBack), key(Situation::Replay, Act::StepOn));
            let (start, end) = (key(Situation::Replay, Act::ToStart), key(Situation::Replay, Act::ToEnd));
            format!("a recorded session: {back} {on} step through it, {start} {end} go to its ends")
        }
        _ if look.ui.is_past() => {
            let (back, on) = (key(Situation::Any, Act::StepBack), key(Situation::Any, Act::StepOn));
            format!("this is the past: {back} {on} step through it, {} comes back", key(Situation::Any, Act::Back))
        }
        Screen::Demo => {
            let next = look.ui.demo.as_ref().and_then(|d| d.next.as_deref());
            format!(
                "{} step{}   {} run or pause   {} {} speed   {} and type: it is yours",
                key(Situation::Demo, Act::DemoStep),
                next.map(|next| format!(": {next}")).unwrap_or_default(),
                key(Situation::Demo, Act::DemoRun),
                key(Situation::Demo, Act::DemoFaster),
                key(Situation::Demo, Act::DemoSlower),
                key(Situation::Any, Act::NextFocus),
            )
        }
        Screen::Start(_) => "type a message, !command, or choose above".to_owned(),
        Screen::Live if !look.state.has_model() => {
            "no model here: say what must hold, or propose with !command".to_owned()
        }
        Screen::Live => "type a message, or !command".to_owned(),
    }
}

/// The last row: what the keys do here, in the room there is.
pub fn hints(look: Look<'_>, width: usize) -> Line<'static> {
    let key = |situation, act| look.keymap.key(situation, act);
    if let Some(notice) = &look.ui.notice {
        let spans = vec![look.paint(Role::Warn, " ! "), look.paint(Role::Text, notice)];
        return Line::from(crate::tui::widgets::wrap::truncate(spans, width));
    }
    let any = |act, words: &'static str| (key(Situation::Any, act), words);
    let pane = |act, words: &'static str| (key(Situation::Pane, act), words);
    let rules = |act, words: &'static str| (key(Situation::Rules, act), words);
    let mut hints: Vec<(String, &str)> = match look.ui.focus {
        _ if look.ui.overlay.is_some() => vec![any(Act::Back, "close")],
        _ if look.ui.rules.open => vec![
            rules(Act::Up, "up"),
            rules(Act::Down, "down"),
            rules(Act::PageDown, "scroll the rule"),
            any(Act::Back, "close"),
            rules(Act::Help, "keys"),
        ],
        Focus::Composer => vec![
            (key(Situation::Composer, Act::Send), "send"),
            (key(Situation::Composer, Act::Newline), "new line"),
            any(Act::NextFocus, "panes"),
            any(Act::Rules, "rules"),
            any(Act::Help, "keys"),
            ("!".to_owned(), "propose"),
            (":".to_owned(), "command"),
        ],
        Focus::Dock => vec![
            any(Act::NextFocus, "panes"),
            (key(Situation::Dock, Act::Help), "keys"),
            any(Act::Back, "back to writing"),
        ],
        Focus::Pane(_) => vec![
            pane(Act::Help, "keys"),
            any(Act::NextFocus, "next"),
            pane(Act::Open, "open"),
            pane(Act::Rules, "rules"),
            pane(Act::Search, "search"),
            pane(Act::Write, "write"),
            pane(Act::Command, "command"),
        ],
    };
    let runs = matches!(look.state.phase(), Phase::Thinking | Phase::Working);
    if runs && look.ui.overlay.is_none() && !look.ui.rules.open && !look.ui.is_past() {
        hints.insert(0, any(Act::Back, "interrupt"));
    }
    let mut spans = vec![look.paint(Role::Dim, " ")];
    let mut used = 1;
    for (key, words) in hints {
        let wide = key.width() + words.width() + 4;
        if used + wide > width {
            break;
        }
        used += wide;
        spans.push(look.paint(Role::Key, key));
        spans.push(look.paint(Role::Dim, format!(" {words}   ")));
    }
    Line::from(spans)
}
