//! Reviewed frames: what the eye finds, at the sizes people have.

use super::*;
use crate::tui::{
    api::{Endpoint, Feed, SessionLine, Start},
    theme::{Role, Theme},
    ui_state::{Focus, Pane},
};
use crate::{domain::SessionId, ports::Delta};
use insta::assert_snapshot;
use ratatui::style::{Color, Modifier};

fn start() -> Mode {
    Mode::Start(Start {
        sessions: vec![
            SessionLine {
                id: SessionId("0199a000-0000-7000-8000-00000000de30".into()),
                when: "yesterday".into(),
                turns: 61,
                about: "Free up some disk space.".into(),
                waiting: 1,
            },
            SessionLine {
                id: SessionId("0199a000-0000-7000-8000-0000000f00d1".into()),
                when: "3 weeks ago".into(),
                turns: 4,
                about:
                    "整理 the archive, and do not forget the very long tail of what has to be done in it after that"
                        .into(),
                waiting: 0,
            },
        ],
        demos: vec![("records".into(), "a rule said early stops an rm -rf late".into())],
        rehearsal: true,
    })
}

#[test]
fn start_screen() {
    assert_snapshot!("start_80x24", shot(&mut samples::cockpit(start()), 80, 24));
    let mut settings = samples::settings(Mode::Start(Start::default()));
    settings.endpoint = Endpoint::Configured { words: "qwen3 at http://localhost:8080/v1".into() };
    assert_snapshot!("start_empty_120x30", shot(&mut Cockpit::new(settings).unwrap(), 120, 30));
}

#[test]
fn the_moment_that_matters() {
    let mut cockpit = live(samples::demo());
    assert_snapshot!("demo_80x24", shot(&mut cockpit, 80, 24));
    assert_snapshot!("demo_120x40", shot(&mut cockpit, 120, 40));
    assert_snapshot!("demo_200x60", shot(&mut cockpit, 200, 60));
}

#[test]
fn the_dock_while_deciding() {
    let mut cockpit = live(samples::demo());
    press(&mut cockpit, "tab", LATER);
    assert_snapshot!("dock_80x24_top", shot(&mut cockpit, 80, 24));
    press(&mut cockpit, "end y 'se", LATER);
    assert_snapshot!("dock_80x24_typing", shot(&mut cockpit, 80, 24));
    let mut cockpit = live(samples::reversible());
    press(&mut cockpit, "tab", LATER);
    assert_snapshot!("dock_reversible_100x30", shot(&mut cockpit, 100, 30));
}

#[test]
fn a_pane_on_a_narrow_screen() {
    let mut cockpit = live(samples::demo());
    cockpit.ui.focus = Focus::Pane(Pane::Audit);
    assert_snapshot!("pane_80x24", shot(&mut cockpit, 80, 24));
}

#[test]
fn before_anything_happened() {
    assert_snapshot!("empty_120x40", shot(&mut live(samples::Script::new("none").records), 120, 40));
}

#[test]
fn rules_help_and_trace() {
    let mut cockpit = live(samples::demo());
    press(&mut cockpit, "f2 down down", LATER);
    assert_snapshot!("rules_120x40", shot(&mut cockpit, 120, 40));
    assert_snapshot!("rules_80x24", shot(&mut cockpit, 80, 24));
    press(&mut cockpit, "esc f1", LATER);
    assert_snapshot!("help_100x50", shot(&mut cockpit, 100, 50));
    press(&mut cockpit, "esc", LATER);
    cockpit.ui.selected = cockpit
        .tape
        .state()
        .timeline
        .items
        .iter()
        .position(|i| matches!(i.what, crate::session::timeline::Entry::Action(crate::domain::ProposalId(1))));
    cockpit.ui.focus = Focus::Pane(Pane::Audit);
    press(&mut cockpit, "enter", LATER);
    assert_snapshot!("trace_120x40", shot(&mut cockpit, 120, 40));
}

#[test]
fn replay_says_where_it_is() {
    let mut cockpit = samples::cockpit(Mode::Replay { records: samples::demo() });
    press(&mut cockpit, "home right right right right right right", LATER);
    assert_snapshot!("replay_120x30", shot(&mut cockpit, 120, 30));
}

#[test]
fn a_reply_that_is_coming_in() {
    let mut s = samples::Script::new("gpt-x");
    s.say(1, "What is here?");
    s.push(crate::domain::Event::ModelCalled {
        turn: crate::domain::Turn(1),
        prompt: Default::default(),
        tokens: 900,
    });
    let mut cockpit = live(s.records);
    for delta in [
        Delta::Text("Two **folders**:\n\n- `a`\n- `b".into()),
        Delta::Call { name: "fs_list".into(), bytes: 12 },
        Delta::Retrying { why: "429 too many requests".into(), seconds: 3.0 },
    ] {
        assert!(cockpit.feed(Feed::Draft(delta), LATER));
    }
    assert_snapshot!("draft_80x20", shot(&mut cockpit, 80, 20));
}

#[test]
fn text_that_lies_is_shown_as_it_is() {
    let mut s = samples::Script::new("gpt-x");
    s.say(1, "run it");
    let call = crate::domain::RawCall::new(
        "shell_exec",
        serde_json::json!({ "command": "echo \u{1b}[2J\u{202e}fdp.exe\u{200b} 日本語 e\u{301}\u{a0}x" }),
    );
    s.model(call);
    s.reply("\u{1b}]0;title\u{7}ok \u{2066}x");
    let shown = shot(&mut live(s.records), 90, 16);
    assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{200b}', '\u{7}']));
    assert_snapshot!("lying_text_90x16", shown);
}

#[test]
fn a_simulated_model_is_known_as_one_wherever_it_fits() {
    let mut settings = samples::settings(Mode::Live { records: samples::demo() });
    settings.workspace = "~/a/very/long/way/down/to/where/the/work/of/this/person/lies/records".into();
    let mut cockpit = Cockpit::new(settings).unwrap();
    for width in [64, 80, 100, 140] {
        assert!(row(&frame(&mut cockpit, width, 24), 0).contains(" simulated "), "{width}");
    }
    assert!(row(&frame(&mut cockpit, 100, 24), 0).contains("…"));
}

#[test]
fn too_small_is_said_plainly() {
    assert_eq!(shot(&mut live(samples::demo()), 20, 6), "weal needs 40 × 10;\nthis is 20 × 6.\n\n\n\n\n");
}

/// The cells of the first place where `words` stand.
fn cell_of(buffer: &Buffer, words: &str) -> (Color, Color, Modifier) {
    for y in buffer.area.top()..buffer.area.bottom() {
        let symbols: Vec<&str> = (buffer.area.left()..buffer.area.right()).map(|x| buffer[(x, y)].symbol()).collect();
        let line = symbols.concat();
        if let Some(at) = line.find(words) {
            let column = line[..at].chars().count() as u16;
            let cell = &buffer[(column, y)];
            return (cell.fg, cell.bg, cell.modifier);
        }
    }
    panic!("`{words}` is not on the screen:\n{}", text(buffer));
}

fn themed(theme: &str, no_color: bool, ascii: bool) -> Buffer {
    let mut settings = samples::settings(Mode::Live { records: samples::demo() });
    settings.theme = theme.into();
    (settings.no_color, settings.ascii) = (no_color, ascii);
    frame(&mut Cockpit::new(settings).unwrap(), 200, 60)
}

#[test]
fn colours_are_the_themes() {
    for name in ["dark", "light", "ansi16"] {
        let (theme, buffer) = (Theme::built_in(name).unwrap(), themed(name, false, false));
        for (words, role) in [("✕ denied", Role::Deny), ("◉ LATCHED", Role::Latch), ("DECIDE", Role::Ask)] {
            let (fg, bg, modifier) = cell_of(&buffer, words);
            let style = theme.style(role);
            assert_eq!((fg, modifier), (style.fg.unwrap(), style.add_modifier), "{name} {words}");
            assert_eq!(bg, style.bg.or(theme.base().bg).unwrap_or(Color::Reset), "{name} {words}");
        }
    }
}

#[test]
fn without_colour_modifiers_and_words_remain() {
    let buffer = themed("dark", true, false);
    assert!(buffer.content.iter().all(|c| c.fg == Color::Reset && c.bg == Color::Reset));
    assert!(cell_of(&buffer, "✕ denied").2.contains(Modifier::BOLD));
    assert!(cell_of(&buffer, "◉ LATCHED").2.contains(Modifier::BOLD));
}

#[test]
fn ascii_alone_is_enough() {
    let buffer = themed("ansi16", false, true);
    assert!(buffer.content.iter().all(|c| c.symbol().is_ascii()));
    assert_snapshot!("ascii_200x60", text(&buffer));
}
