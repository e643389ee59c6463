//! Situation, keys, what comes of them.

use super::*;
use crate::{
    domain::{HumanDecision, ProposalId, RawCall, RuleId, Span},
    session::{Input, RuleDecision},
    tui::{
        api::DemoControl,
        ui_state::{Focus, Overlay, Pane, Scroll},
        update::command,
    },
};
use ratatui::crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

fn input(input: Input) -> Intent {
    Intent::Input(Box::new(input))
}

fn answer(proposal: u32, decision: HumanDecision) -> Intent {
    input(Input::Answer { proposal: ProposalId(proposal), decision, approver: "person".into() })
}

fn said(text: &str) -> Intent {
    input(Input::UserTurn { text: text.into(), pasted: Vec::new() })
}

fn shell(command: &str) -> RawCall {
    RawCall::new("shell_exec", serde_json::json!({ "command": command }))
}

/// The dock with the focus, its end seen, on a question that `y` and Enter may answer.
fn asked() -> Cockpit {
    let mut cockpit = live(samples::reversible());
    frame(&mut cockpit, 120, 40);
    press(&mut cockpit, "tab", LATER);
    assert_eq!(cockpit.ui.focus, Focus::Dock);
    cockpit
}

/// The same where the action cannot be undone.
fn grave() -> Cockpit {
    let mut cockpit = live(samples::demo());
    frame(&mut cockpit, 120, 40);
    press(&mut cockpit, "tab", LATER);
    cockpit
}

fn idle() -> Cockpit {
    let mut s = samples::Script::new("gpt-x");
    s.say(1, "hello");
    s.reply("hello");
    live(s.records)
}

fn busy() -> Cockpit {
    let mut s = samples::Script::new("gpt-x");
    s.say(1, "hello");
    live(s.records)
}

fn rules() -> Cockpit {
    let mut cockpit = live(samples::demo());
    press(&mut cockpit, "f2", LATER);
    cockpit
}

fn demo() -> Cockpit {
    playing(samples::demo())
}

/// Situation, keys, what is told.
type Case = (fn() -> Cockpit, &'static str, Vec<Intent>);

#[test]
fn keys_and_what_comes_of_them() {
    let deny = |p, words: &str| vec![answer(p, HumanDecision::Deny { feedback: words.into() })];
    let once = |p| vec![answer(p, HumanDecision::ApproveOnce)];
    let on = |rule, decision, why: &str| {
        vec![input(Input::OnRule { rule: RuleId::said(rule), decision, why: why.into() })]
    };
    let control = |c| vec![Intent::Demo(c)];
    let none = Vec::new;
    let cases: Vec<Case> = vec![
        // writing
        (idle, "'hi_there enter", vec![said("hi there")]),
        (idle, "'a alt-enter 'b ctrl-j 'c enter", vec![said("a\nb\nc")]),
        (idle, "enter", none()),
        (idle, "'!ls_-la enter", vec![input(Input::PersonCall { call: shell("ls -la") })]),
        (idle, "'! enter", none()),
        (idle, "'one enter 'two enter up up enter", vec![said("one"), said("two"), said("one")]),
        (idle, "'one enter up up down enter", vec![said("one"), said("one")]),
        (idle, "ctrl-c ctrl-c", vec![Intent::Quit]),
        (idle, "'x ctrl-c ctrl-c", none()),
        (idle, "'x ctrl-c ctrl-c ctrl-c", vec![Intent::Quit]),
        (idle, "ctrl-c 'x ctrl-c ctrl-c", none()),
        (idle, "':quit enter", vec![Intent::Quit]),
        (idle, "':q tab enter", vec![Intent::Quit]),
        (idle, "':go enter", vec![input(Input::GoOn)]),
        (idle, "':nonsense enter", none()),
        (idle, "esc", none()),
        (busy, "esc", vec![input(Input::Interrupt { why: "the person pressed Esc".into() })]),
        (busy, "'draft esc", vec![input(Input::Interrupt { why: "the person pressed Esc".into() })]),
        // a question waits, but letters belong to what has the focus
        (|| live(samples::reversible()), "'y enter", vec![said("y")]),
        (|| live(samples::reversible()), "enter", none()),
        (|| live(samples::demo()), "tab tab y enter", none()),
        // a yes is two steps, and any other key takes it back
        (asked, "y enter", once(1)),
        (asked, "y", none()),
        (asked, "enter enter space", none()),
        (asked, "y esc enter", none()),
        (asked, "y y", none()),
        (asked, "y x enter", none()),
        (asked, "y tab", none()),
        (asked, "b enter", vec![answer(1, HumanDecision::RepairFirst)]),
        (asked, "h enter", vec![answer(1, HumanDecision::AskHuman)]),
        (asked, "s enter", none()),
        (asked, "d 'not_now enter", deny(1, "not now")),
        (asked, "d enter", deny(1, "")),
        (asked, "d esc", none()),
        (asked, "d 'yn backspace enter", deny(1, "y")),
        // what cannot be undone wants the word
        (grave, "end y enter", none()),
        (grave, "end y 'send enter", once(4)),
        (grave, "end y 'sned enter", none()),
        (grave, "end y 'senx backspace 'd enter", once(4)),
        (grave, "end y 'delete enter", none()),
        (grave, "end y 'send esc enter", none()),
        (grave, "end b enter", none()),
        // rules want a reason
        (rules, "p 'enough enter", on(1, RuleDecision::Suspend, "enough")),
        (rules, "down r 'gone enter", on(2, RuleDecision::Revoke, "gone")),
        (rules, "p enter", none()),
        (rules, "c", none()),
        (rules, "L 'looked_at_it enter", vec![input(Input::ReleaseLatch { reason: "looked at it".into() })]),
        (rules, "L enter", none()),
        (
            || live(samples::demo()),
            "':release_done enter",
            vec![input(Input::ReleaseLatch { reason: "done".into() })],
        ),
        (idle, "tab L", none()),
        // a demo
        (demo, "space", control(DemoControl::Step)),
        (
            demo,
            "r + -",
            vec![
                Intent::Demo(DemoControl::Run),
                Intent::Demo(DemoControl::Faster),
                Intent::Demo(DemoControl::Slower),
            ],
        ),
        (demo, "i 'hi enter", vec![Intent::Demo(DemoControl::TakeOver), said("hi")]),
        // elsewhere
        (idle, "tab q", vec![Intent::Quit]),
    ];
    for (situation, keys, expected) in cases {
        let mut cockpit = situation();
        assert_eq!(press(&mut cockpit, keys, LATER), expected, "keys `{keys}`\n{}", shot(&mut cockpit, 120, 40));
    }
}

#[test]
fn a_session_is_granted_only_in_the_words_that_were_seen() {
    let mut settings = samples::settings(Mode::Live { records: samples::reversible() });
    settings.session_scope = |handling| Some(format!("move drafts/** ({})", handling.id()));
    let mut cockpit = Cockpit::new(settings).unwrap();
    frame(&mut cockpit, 120, 40);
    assert_eq!(press(&mut cockpit, "tab s", LATER), []);
    assert!(shot(&mut cockpit, 120, 40).contains("Allow for this session: move drafts/** (p1)?"));
    let words = "move drafts/** (p1)".to_owned();
    assert_eq!(press(&mut cockpit, "enter", LATER), [answer(1, HumanDecision::ApproveSession { words })]);
}

#[test]
fn keys_that_come_with_the_question_do_not_answer_it() {
    for keys in ["y enter", "d enter", "b enter", "h enter"] {
        let mut cockpit = asked();
        let dock = cockpit.ui.dock.as_mut().unwrap();
        dock.appeared = LATER;
        assert_eq!(press(&mut cockpit, keys, LATER + 399), [], "{keys}");
        assert!(cockpit.ui.dock.as_ref().unwrap().choice.is_none());
        assert_ne!(press(&mut cockpit, keys, LATER + 400), [], "{keys}");
    }
}

#[test]
fn a_yes_wants_the_end_to_have_been_on_the_screen() {
    let mut s = samples::Script::new("gpt-x");
    s.say(1, "go");
    let long = format!("cat > notes <<'E'\n{}E", "one more line\n".repeat(60));
    let call = shell(&long);
    let id = s.model(call.clone());
    let effects =
        vec![crate::domain::Effect::new(crate::domain::Verb::Modify, crate::domain::Resource::path("notes"))];
    s.audit(id, call, effects, crate::domain::Decision::Ask, Vec::new(), Vec::new());
    s.push(crate::domain::Event::PersonAsked { proposal: id, why: "a question".into() });
    let mut cockpit = live(s.records);
    frame(&mut cockpit, 120, 40);
    assert_eq!(press(&mut cockpit, "tab y enter", LATER), []);
    assert_eq!(press(&mut cockpit, "pagedown y enter", LATER), []);
    assert_eq!(press(&mut cockpit, "end y enter", LATER), [answer(1, HumanDecision::ApproveOnce)]);
}

#[test]
fn a_paste_answers_nothing_and_stays_a_paste() {
    let mut cockpit = asked();
    for text in ["y\r", "y\n\n", "delete\n"] {
        assert_eq!(cockpit.event(&Event::Paste(text.into()), LATER), []);
    }
    press(&mut cockpit, "y", LATER);
    assert_eq!(cockpit.event(&Event::Paste("\n".into()), LATER), []);

    let mut cockpit = idle();
    press(&mut cockpit, "'see:_", LATER);
    assert_eq!(cockpit.event(&Event::Paste("never\ndelete".into()), LATER), []);
    let pasted = vec![Span { start: 5, end: 17 }];
    let text = "see: never\ndelete".to_owned();
    assert_eq!(press(&mut cockpit, "enter", LATER), [input(Input::UserTurn { text, pasted })]);

    let mut cockpit = idle();
    cockpit.event(&Event::Paste(":quit".into()), LATER);
    let pasted = vec![Span { start: 0, end: 5 }];
    assert_eq!(press(&mut cockpit, "enter", LATER), [input(Input::UserTurn { text: ":quit".into(), pasted })]);
}

#[test]
fn an_edited_action_is_another_proposal() {
    let mut cockpit = asked();
    press(&mut cockpit, "e", LATER);
    let Some(Overlay::Editor { area, .. }) = &mut cockpit.ui.overlay else { panic!("no editor") };
    assert_eq!(area.lines().concat(), r#"{  "from": "drafts/a",  "to": "done/a"}"#);
    assert_eq!(press(&mut cockpit, "ctrl-s", LATER), [], "unchanged");
    press(&mut cockpit, "'x", LATER);
    assert_eq!(press(&mut cockpit, "ctrl-s", LATER), [], "no JSON");
    press(&mut cockpit, "backspace down home", LATER);
    let Some(Overlay::Editor { area, .. }) = &mut cockpit.ui.overlay else { panic!("no editor") };
    area.select_all();
    area.cut();
    press(&mut cockpit, r#"'{"from":"a","to":"b"}"#, LATER);
    let call = RawCall::new("fs_move", serde_json::json!({ "from": "a", "to": "b" }));
    assert_eq!(press(&mut cockpit, "ctrl-s", LATER), [answer(1, HumanDecision::Edit { call })]);
}

#[test]
fn the_past_can_be_seen_and_not_changed() {
    let mut cockpit = samples::cockpit(Mode::Replay { records: samples::demo() });
    let all = cockpit.tape.len();
    press(&mut cockpit, "left left", LATER);
    assert_eq!(cockpit.tape.cursor(), all - 2);
    press(&mut cockpit, "home", LATER);
    assert_eq!(cockpit.tape.cursor(), 1);
    press(&mut cockpit, "pagedown right left end", LATER);
    assert!(cockpit.tape.at_end());
    assert_eq!(press(&mut cockpit, "i 'hello enter L tab y enter d enter", LATER), []);

    let mut live = live(samples::demo());
    press(&mut live, "alt-left alt-left", LATER);
    assert_eq!((live.tape.cursor(), live.ui.is_past()), (all - 2, true));
    assert_eq!(press(&mut live, "'hello enter", LATER), []);
    press(&mut live, "esc", LATER);
    assert!(!live.ui.is_past());
    assert_eq!(press(&mut live, "'hello enter", LATER), [said("hello")]);
}

#[test]
fn a_key_held_down_in_the_past_is_one_move() {
    let mut cockpit = samples::cockpit(Mode::Replay { records: samples::demo() });
    let (all, left) =
        (cockpit.tape.len(), Event::Key("left".parse::<Key>().map(|k| KeyEvent::new(k.code, k.modifiers)).unwrap()));
    for _ in 0..5 {
        cockpit.event(&left, LATER);
    }
    assert_eq!(cockpit.tape.cursor(), all, "not yet taken");
    frame(&mut cockpit, 120, 40);
    assert_eq!(cockpit.tape.cursor(), all - 5);
    cockpit.event(&left, LATER);
    press(&mut cockpit, "right", LATER);
    assert_eq!(cockpit.tape.cursor(), all - 5);
}

#[test]
fn a_question_met_on_the_way_back_from_the_past_is_new_too() {
    let mut cockpit = asked();
    assert_eq!(press(&mut cockpit, "alt-left alt-right tab y enter", LATER), [], "it has only just appeared");
    assert_eq!(press(&mut cockpit, "y enter", LATER + 400), [answer(1, HumanDecision::ApproveOnce)]);
}

#[test]
fn jumping_leads_to_the_sentence() {
    let mut cockpit = asked();
    press(&mut cockpit, "j", LATER);
    assert_eq!(cockpit.ui.selected, Some(0));
    let mut cockpit = rules();
    press(&mut cockpit, "down enter", LATER);
    let items = &cockpit.tape.state().timeline.items;
    assert_eq!(items[cockpit.ui.selected.unwrap()].turn.0, 2);
    assert_eq!(cockpit.ui.focus, Focus::Pane(Pane::Transcript));
}

#[test]
fn searching_goes_round() {
    let mut cockpit = live(samples::demo());
    press(&mut cockpit, "tab tab / 'RECORDS/2019 enter", LATER);
    let last = cockpit.ui.selected;
    press(&mut cockpit, "N", LATER);
    assert_ne!(cockpit.ui.selected, last);
    press(&mut cockpit, "n", LATER);
    assert_eq!(cockpit.ui.selected, last);
    press(&mut cockpit, "/ 'nowhere_at_all enter", LATER);
    assert!(cockpit.ui.notice.as_ref().unwrap().contains("nowhere at all"));
}

#[test]
fn the_wheel_turns_what_is_under_it_and_a_click_looks_there() {
    let mut cockpit = live(samples::long(400));
    frame(&mut cockpit, 160, 40);
    let mouse = |kind, column, row| Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
    let left = |y: u16, buffer: &Buffer| row(buffer, y).chars().take(60).collect::<String>();
    let first = left(2, &frame(&mut cockpit, 160, 40));
    cockpit.event(&mouse(MouseEventKind::ScrollUp, 10, 10), LATER);
    let turned = frame(&mut cockpit, 160, 40);
    assert_eq!(left(5, &turned), first, "three rows up");
    assert!(matches!(cockpit.ui.scroll, Scroll::At { .. }));
    cockpit.event(&mouse(MouseEventKind::ScrollDown, 10, 10), LATER);
    assert_eq!(cockpit.ui.scroll, Scroll::Follow);
    cockpit.event(&mouse(MouseEventKind::Down(MouseButton::Left), 150, 30), LATER);
    assert!(matches!(cockpit.ui.focus, Focus::Pane(pane) if pane != Pane::Transcript));
    cockpit.event(&mouse(MouseEventKind::Down(MouseButton::Left), 10, 10), LATER);
    assert_eq!(cockpit.ui.focus, Focus::Pane(Pane::Transcript));
    assert!(cockpit.ui.selected.is_some());
}

#[test]
fn every_command_of_the_table_is_known() {
    for (name, _, _) in command::COMMANDS {
        let mut cockpit = idle();
        press(&mut cockpit, &format!("':{name} enter"), LATER);
        let notice = cockpit.ui.notice.clone().unwrap_or_default();
        assert!(!notice.contains("no command"), "{name}: {notice}");
        assert_eq!(command::complete(&format!(":{name}")).map(|t| t.trim().to_owned()), Some(format!(":{name}")));
    }
}

#[test]
fn the_first_record_leaves_the_start_screen() {
    let mut cockpit = samples::cockpit(Mode::Start(Default::default()));
    for record in samples::reversible() {
        cockpit.feed(crate::tui::api::Feed::Record(Box::new(record)), LATER);
    }
    assert!(shot(&mut cockpit, 100, 30).contains("DECIDE 1 of 1"));
}

#[test]
fn questions_come_one_after_the_other() {
    let mut s = samples::Script::new("gpt-x");
    s.say(1, "go");
    for name in ["a", "b"] {
        let call = shell(&format!("touch {name}"));
        let id = s.model(call.clone());
        let effect = crate::domain::Effect::new(crate::domain::Verb::Create, crate::domain::Resource::path(name));
        s.audit(id, call, vec![effect], crate::domain::Decision::Ask, Vec::new(), Vec::new());
        s.push(crate::domain::Event::PersonAsked { proposal: id, why: "?".into() });
    }
    let mut cockpit = live(s.records.clone());
    frame(&mut cockpit, 120, 40);
    assert_eq!(press(&mut cockpit, "tab right y enter", LATER + 500), [], "another question has just appeared");
    assert_eq!(press(&mut cockpit, "y enter", LATER + 1_000), [answer(2, HumanDecision::ApproveOnce)]);
    s.push(crate::domain::Event::PersonDecided {
        proposal: ProposalId(1),
        decision: HumanDecision::AskHuman,
        approver: "person".into(),
    });
    let mut cockpit = live(s.records);
    assert_eq!(cockpit.ui.dock.as_ref().unwrap().proposal, ProposalId(2), "what was put off comes last");
    assert!(shot(&mut cockpit, 120, 40).contains("DECIDE 1 of 2"));
}
