//! What holds at any size, for any text, after any keys.

use super::*;
use crate::{
    domain::{Decision, Effect, Event as Happened, Resource, RuleId, StatementKind, Verb},
    tui::widgets::sanitise::sanitise,
};
use proptest::prelude::*;

/// Words of all sorts: wide, stacked, right to left, controls, tags.
fn words() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z ]{1,12}",
        "[日本語한글]{1,6}",
        "[אבגد ]{1,6}",
        "e[\u{301}\u{300}]{1,7}",
        "[\u{1b}\u{7}\u{8}\u{200b}\u{202e}\u{feff}\u{a0}\t\r\n]{1,4}",
        Just("👩\u{200d}👩\u{200d}👧 🏳\u{fe0f}".to_owned()),
        "[|`*#>_\\[\\]()-]{1,4}",
        "[a-z/]{60,90}",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|parts| parts.concat())
}

fn session(texts: &[String]) -> Vec<Record> {
    let mut s = samples::Script::new("gpt-x");
    let text = |i: usize| texts[i % texts.len()].as_str();
    s.say(1, text(0));
    s.constraint(1, StatementKind::Prohibition, text(1), Some(text(2)));
    s.constraint(2, StatementKind::Limit, text(3), None);
    s.reply(text(4));
    let call = crate::domain::RawCall::new("shell_exec", serde_json::json!({ "command": text(5), "more": text(6) }));
    let id = s.model(call.clone());
    let effect = Effect::new(Verb::Delete, Resource::path(text(0))).with("why", text(1));
    let met = samples::finding(RuleId::said(1), 0, crate::domain::Demand::Approval, Decision::Ask, text(2));
    s.audit(id, call, vec![effect], Decision::Ask, vec![met], Vec::new());
    s.push(Happened::PersonAsked { proposal: id, why: text(3).into() });
    s.push(Happened::Interrupted { why: text(4).into() });
    s.records
}

const KEYS: &str = "tab shift-tab enter esc up down left right home end pageup pagedown y d e b h s j / n ? L f1 f2 q \
                    ctrl-j 'a_日 backspace ctrl-s ctrl-w alt-left alt-right space r";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn drawing_never_fails_and_never_shows_what_hides(
        texts in prop::collection::vec(words(), 1..8),
        sizes in prop::collection::vec((1u16..=250, 1u16..=80), 1..4),
        keys in prop::collection::vec(prop::sample::select(KEYS.split_whitespace().collect::<Vec<_>>()), 0..12),
        replay: bool,
    ) {
        let records = session(&texts);
        let mode = if replay { Mode::Replay { records } } else { Mode::Live { records } };
        let mut cockpit = samples::cockpit(mode);
        cockpit.event(&Event::Paste(texts[0].clone()), LATER);
        for (i, (width, height)) in sizes.iter().enumerate() {
            let buffer = frame(&mut cockpit, *width, *height);
            for cell in &buffer.content {
                let symbol = cell.symbol();
                prop_assert_eq!(sanitise(symbol), symbol);
                prop_assert!(!symbol.chars().any(char::is_control));
            }
            for key in keys.iter().skip(i) {
                press(&mut cockpit, key, LATER);
            }
        }
        frame(&mut cockpit, 100, 30);
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn no_keys_without_enter_ever_answer(
        keys in prop::collection::vec(prop::sample::select(
            KEYS.split_whitespace().filter(|k| !matches!(*k, "enter" | "ctrl-s")).collect::<Vec<_>>()), 0..40),
        grave: bool,
    ) {
        let mut cockpit = live(if grave { samples::demo() } else { samples::reversible() });
        for key in keys {
            for intent in press(&mut cockpit, key, LATER) {
                let answers = matches!(&intent, Intent::Input(i) if matches!(**i, crate::session::Input::Answer { .. }));
                prop_assert!(!answers, "{:?}", intent);
            }
        }
    }

    #[test]
    fn scrolling_down_undoes_scrolling_up(up in 1isize..400, width in 40u16..120, height in 12u16..40) {
        use crate::tui::panes::transcript::Page;
        let mut cockpit = live(samples::long(300));
        let height = usize::from(height);
        let page = |c: &Cockpit, scroll| {
            let mut ui = c.ui.clone();
            ui.scroll = scroll;
            ui
        };
        let state = cockpit.tape.state().clone();
        let theme = cockpit.theme.clone();
        let at = |ui: &crate::tui::ui_state::Ui| {
            let page = Page { state: &state, ui, theme: &theme, width: usize::from(width) };
            (page.top(height), page.frame(height).len())
        };
        let start = cockpit.ui.clone();
        let up_scroll = Page { state: &state, ui: &start, theme: &theme, width: usize::from(width) }.scrolled(-up, height);
        let moved = page(&cockpit, up_scroll);
        let (top, rows) = at(&moved);
        prop_assert_eq!(rows, height, "a page is full");
        let Page { .. } = Page { state: &state, ui: &moved, theme: &theme, width: usize::from(width) };
        let back = Page { state: &state, ui: &moved, theme: &theme, width: usize::from(width) }.scrolled(up, height);
        let back = page(&cockpit, back);
        if top != (0, 0) {
            prop_assert_eq!(at(&back).0, at(&start).0);
        }
        cockpit.ui = back;
    }
}

/// The future of `run` can be given to any runtime.
#[test]
fn run_can_be_spawned() {
    fn sendable<T: Send>(_: impl FnOnce() -> T) {}
    sendable(|| {
        let (_, feeds) = tokio::sync::mpsc::unbounded_channel();
        let (intents, _) = tokio::sync::mpsc::unbounded_channel();
        crate::tui::run(feeds, intents, samples::settings(Mode::Start(Default::default())))
    });
}
