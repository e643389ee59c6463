//! The keys, made from the keymap; and the commands.

use super::Look;
use crate::tui::{
    keymap::Situation,
    theme::Role,
    update::command::COMMANDS,
    widgets::wrap::{Break, hang},
};
use ratatui::text::{Line, Span};

pub fn rows(look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    let lines = Situation::ALL.iter().flat_map(|s| look.keymap.lines(*s));
    let widest = lines.map(|(keys, _)| keys.chars().count()).max().unwrap_or(0).min(width / 3);
    let entry = |key: &str, words: &str| {
        let lead = vec![look.paint(Role::Key, format!("  {key:<widest$}  "))];
        hang(lead, &[look.paint(Role::Text, words)], width, Break::Words)
    };
    for situation in Situation::ALL {
        let lines = look.keymap.lines(*situation);
        if lines.is_empty() {
            continue;
        }
        rows.push(Line::from(look.paint(Role::Heading, format!(" {}", situation.means()))));
        for (keys, act) in lines {
            rows.extend(entry(&keys, act.means()));
        }
        rows.push(Line::default());
    }
    rows.push(Line::from(look.paint(Role::Heading, " commands, at the start of a message")));
    rows.extend(entry("!command", "propose a shell command yourself; it is audited like any other"));
    for (name, args, words) in COMMANDS {
        rows.extend(entry(&format!(":{name} {args}"), words));
    }
    rows.push(Line::default());
    rows.push(Line::from(look.paint(Role::Heading, " signs")));
    for (sign, words) in [
        ("§n cn sn", "a rule: said by you, core, learned from a failure"),
        ("✓ ? ↻ ✕", "allowed, ask, repair first, denied"),
        ("◉ ○", "latched: what cannot be undone waits for your yes; calm"),
        ("⏵ ⏸", "something runs; it waits for you"),
        ("␛ ⟨U+202E⟩", "a character that would not show or would reorder what you see"),
    ] {
        rows.extend(entry(sign, words));
    }
    rows.push(Line::from(Span::raw("")));
    rows
}
