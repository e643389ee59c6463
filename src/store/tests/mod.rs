//! The log under test: what is written is read, what is tampered with shows, what was promised survives.

mod processes;
mod tamper;

use super::*;
use crate::domain::{
    Constraint, ConstraintState, Digest, Event, LatchCause, Moment, ProposalId, RuleId, Scope, Seq, SessionId,
    Source, Span, StatementKind, Stream, Turn,
    event::{Fragment, Opening, Sandbox},
};
use crate::ports::{Entry, Log, LogError};
use proptest::prelude::*;
use std::{fs, os::unix::fs::PermissionsExt, path::Path};
use tempfile::TempDir;

/// A workspace with its log in a directory of its own.
fn store_in(dir: &Path) -> Store {
    fs::create_dir_all(dir.join("work")).unwrap();
    Store::at(&dir.join("data"), &dir.join("state"), &dir.join("work")).unwrap()
}

fn store() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = store_in(dir.path());
    (dir, store)
}

fn id(name: &str) -> SessionId {
    SessionId(name.to_owned())
}

fn session(name: &str) -> Stream {
    Stream::Session(id(name))
}

fn entry(stream: Stream, event: Event) -> Entry {
    Entry { stream, event }
}

const NOON: Moment = Moment { millis: 1_700_000_000_000, offset: 60 };

/// An event that need not survive a power cut.
fn said(turn: u32, text: &str) -> Event {
    Event::UserSaid { turn: Turn(turn), text: text.to_owned(), pasted: vec![Span { start: 0, end: 1 }] }
}

/// One that must.
fn intended(proposal: u32) -> Event {
    Event::ActionIntended { proposal: ProposalId(proposal), clearance: Digest::of(&proposal.to_le_bytes()) }
}

fn opened(name: &str) -> Event {
    Event::SessionOpened(Opening {
        session: id(name),
        workspace: "/home/ann/work".into(),
        home: "/home/ann".into(),
        model: "scripted".into(),
        simulated: true,
        scratch: false,
        sandbox: Sandbox::Landlock { abi: 6 },
        version: "0.1.0".into(),
        core: Vec::new(),
        next_constraint: 1,
        latched: false,
        context_budget: 8000,
    })
}

fn constraint(number: u32) -> Event {
    Event::ConstraintAdded {
        constraint: Constraint {
            id: RuleId::said(number),
            kind: StatementKind::Prohibition,
            quote: "never touch that".into(),
            turn: Turn(1),
            span: Span { start: 0, end: 16 },
            source: Source::Said,
            scope: Scope::Project,
            rule: None,
            note: None,
            confidence: 0.9,
            state: ConstraintState::Active,
            expires: None,
            once: None,
        },
    }
}

/// Events of several shapes, with any text and any finite number in them.
fn any_event() -> impl Strategy<Value = Event> {
    let number = prop_oneof![any::<f64>().prop_filter("finite", |f| f.is_finite()), Just(0.1 + 0.2), Just(1.0)];
    let fragment = (any::<String>(), any::<u64>(), number).prop_map(|(text, tokens, score)| Fragment {
        rule: RuleId::said(3),
        why: text.chars().rev().collect(),
        text,
        tokens,
        score,
    });
    prop_oneof![
        (any::<u32>(), any::<String>()).prop_map(|(turn, text)| said(turn, &text)),
        any::<u32>().prop_map(intended),
        (1..999u32).prop_map(constraint),
        any::<String>().prop_map(|why| Event::InputIgnored { what: "key".into(), why }),
        proptest::collection::vec(fragment, 0..4).prop_map(|given| Event::ContextRestored {
            turn: Turn(1),
            given,
            left_out: Vec::new(),
            budget: 100,
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is appended is returned, and read back the same now and by a later process; sequence numbers have no holes; and
    /// an export carries it all.
    #[test]
    fn what_is_written_is_read(batches in proptest::collection::vec(
        proptest::collection::vec((any::<bool>(), any_event()), 1..4), 1..6)) {
        let (_dir, store) = store();
        let mut written = Vec::new();
        let mut writer = store.open_writer(&id("a")).unwrap();
        for batch in &batches {
            let batch: Vec<Entry> = batch.iter()
                .map(|(library, e)| entry(if *library { Stream::Library } else { session("a") }, e.clone()))
                .collect();
            let records = writer.append(NOON, &batch).unwrap();
            prop_assert!(records.iter().zip(&batch).all(|(r, e)| r.event == e.event && r.stream == e.stream && r.at == NOON));
            written.extend(records);
        }
        prop_assert!(written.iter().zip(1..).all(|(r, n)| r.seq == Seq(n)));
        drop(writer);
        let reader = store.open_reader().unwrap();
        for stream in [Stream::Library, session("a")] {
            let expected: Vec<_> = written.iter().filter(|r| r.stream == stream).cloned().collect();
            prop_assert_eq!(reader.read(&stream).unwrap(), expected);
        }
        let found = reader.verify(None).unwrap();
        prop_assert!(found.is_sound() && found.notes.is_empty(), "{:?}", found);
        prop_assert_eq!(found.events, written.len() as u64);
    }
}

#[test]
fn a_batch_that_would_not_read_back_is_refused_whole() {
    let (_dir, store) = store();
    let mut writer = store.open_writer(&id("a")).unwrap();
    let nan = Event::LatchEngaged { turn: Turn(1), cause: LatchCause::Hazard { lower: f64::NAN }, at: NOON };
    let error =
        writer.append(NOON, &[entry(session("a"), said(1, "hello")), entry(Stream::Library, nan)]).unwrap_err();
    assert!(error.to_string().contains("`latch_engaged`"), "{error}");
    assert_eq!(writer.head(&session("a")).unwrap().0, Seq(0));
}

#[test]
fn a_writer_appends_to_its_own_session_and_the_library_alone() {
    let (_dir, store) = store();
    let mut writer = store.open_writer(&id("a")).unwrap();
    assert!(writer.append(NOON, &[entry(session("b"), said(1, "x"))]).is_err());
    let mut library = store.open_library().unwrap();
    assert!(library.append(NOON, &[entry(session("a"), said(1, "x"))]).is_err());
    library.append(NOON, &[entry(Stream::Library, constraint(1))]).unwrap();
    assert_eq!(writer.append(NOON, &[entry(session("a"), said(1, "x"))]).unwrap()[0].seq, Seq(2));
}

#[test]
fn files_are_nobody_elses() {
    let (dir, store) = store();
    let mut writer = store.open_writer(&id("a")).unwrap();
    writer.append(NOON, &[entry(session("a"), intended(1))]).unwrap();
    let mut seen = 0;
    let mut open = vec![dir.path().join("data"), dir.path().join("state")];
    while let Some(path) = open.pop() {
        let meta = fs::metadata(&path).unwrap();
        let wanted = if meta.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(meta.permissions().mode() & 0o777, wanted, "{}", path.display());
        seen += 1;
        if meta.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        }
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn a_workspace_has_one_key_by_whatever_way_it_is_reached() {
    let dir = tempfile::tempdir().unwrap();
    let work = dir.path().join("My work");
    fs::create_dir(&work).unwrap();
    std::os::unix::fs::symlink(&work, dir.path().join("link")).unwrap();
    let key = WorkspaceKey::of(&work).unwrap();
    assert_eq!(key, WorkspaceKey::of(&dir.path().join("link")).unwrap());
    assert!(key.as_str().starts_with("My-work-") && key.as_str().len() == "My-work-".len() + 12, "{key:?}");
    assert_ne!(key, WorkspaceKey::of(dir.path()).unwrap());
    assert_eq!(WorkspaceKey::of(Path::new("/")).unwrap().as_str().split('-').next(), Some("workspace"));
    assert!(matches!(Store::at(dir.path(), dir.path(), &dir.path().join("gone")), Err(LogError::Read { .. })));
}

#[test]
fn bodies_are_kept_once() {
    let (_dir, store) = store();
    let mut writer = store.open_writer(&id("a")).unwrap();
    let digest = writer.keep_blob(b"a long output").unwrap();
    assert_eq!(writer.keep_blob(b"a long output").unwrap(), digest);
    assert_eq!(writer.blob(digest).unwrap().as_deref(), Some(b"a long output".as_slice()));
    assert_eq!(writer.blob(Digest::of(b"another")).unwrap(), None);
    let count: i64 = writer.reader().db.query_row("SELECT count(*) FROM blob", [], |r| r.get(0)).unwrap();
    assert_eq!(count, 1);
}

#[test]
fn a_log_that_was_never_written_reads_as_empty_and_stays_unwritten() {
    let (dir, store) = store();
    let reader = store.open_reader().unwrap();
    assert_eq!(reader.sessions().unwrap(), []);
    assert_eq!(reader.next_constraint().unwrap(), 1);
    assert!(!reader.latched().unwrap());
    assert!(reader.verify(None).unwrap().is_sound());
    assert!(matches!(reader.session("0000"), Err(LogError::NoSession(_))));
    assert!(!dir.path().join("data").exists() && !dir.path().join("state").exists());
}

#[test]
fn sessions_are_listed_with_how_they_ended() {
    let (_dir, store) = store();
    for (name, events) in [
        ("s-closed", vec![said(1, "tidy up"), said(2, "more"), Event::SessionClosed { why: "done".into() }]),
        ("s-crashed", vec![said(1, "delete it"), intended(1), intended(2)]),
        (
            "s-resumed",
            vec![Event::SessionClosed { why: "done".into() }, Event::SessionResumed { version: "2".into() }],
        ),
    ] {
        let mut writer = store.open_writer(&id(name)).unwrap();
        let events = [opened(name)].into_iter().chain(events);
        let batch: Vec<Entry> = events.map(|e| entry(session(name), e)).collect();
        writer.append(NOON, &batch).unwrap();
    }
    let mut running = store.open_writer(&id("s-running")).unwrap();
    running.append(NOON, &[entry(session("s-running"), opened("s-running"))]).unwrap();
    let listed = running.reader().sessions().unwrap();
    let brief: Vec<_> = listed
        .iter()
        .map(|s| {
            (s.id.0.as_str(), s.state.word(), s.turns, s.request.as_deref(), s.unfinished.len(), s.last.2.as_str())
        })
        .collect();
    assert_eq!(
        brief,
        [
            ("s-running", "running", 0, None, 0, "session_opened"),
            ("s-resumed", "crashed", 0, None, 0, "session_resumed"),
            ("s-crashed", "crashed", 1, Some("delete it"), 2, "action_intended"),
            ("s-closed", "closed", 2, Some("tidy up"), 0, "session_closed"),
        ]
    );
    assert_eq!(listed[0].state, SessionState::Running { pid: std::process::id() });
    assert_eq!(running.reader().session("osed").unwrap(), id("s-closed"));
    assert_eq!(running.reader().session("s-crashed").unwrap(), id("s-crashed"));
    assert!(running.reader().session("ed").is_err(), "too short to be meant");
}

#[test]
fn the_latch_and_the_numbers_outlive_a_session() {
    let (_dir, store) = store();
    let mut writer = store.open_writer(&id("a")).unwrap();
    let engaged = Event::LatchEngaged { turn: Turn(1), cause: LatchCause::Inherited, at: NOON };
    let released = Event::LatchReleased { reason: "looked at it".into(), by: "person".into() };
    writer.append(NOON, &[entry(Stream::Library, engaged.clone()), entry(session("a"), constraint(7))]).unwrap();
    assert!(store.open_reader().unwrap().latched().unwrap());
    writer.append(NOON, &[entry(Stream::Library, released), entry(Stream::Library, constraint(3))]).unwrap();
    assert!(!store.open_reader().unwrap().latched().unwrap());
    writer.append(NOON, &[entry(Stream::Library, engaged)]).unwrap();
    assert!(store.open_reader().unwrap().latched().unwrap());
    assert_eq!(store.open_reader().unwrap().next_constraint().unwrap(), 8);
}

#[test]
fn an_export_holds_the_law_it_ran_under_and_nothing_later() {
    let (_dir, store) = store();
    let mut writer = store.open_writer(&id("a")).unwrap();
    let law = |sequence| Event::LawAdvanced { sequence: Seq(sequence), digest: Digest::default() };
    for (stream, event) in [
        (Stream::Library, constraint(1)),
        (session("a"), opened("a")),
        (session("a"), law(1)),
        (Stream::Library, constraint(2)),
        (session("a"), law(4)),
        (Stream::Library, constraint(3)),
        (session("a"), said(1, "ü \u{2028} \"quoted\" 0.1")),
    ] {
        writer.append(NOON, &[entry(stream, event)]).unwrap();
    }
    let text = writer.reader().export(&id("a")).unwrap();
    let records = import_lines("a.jsonl", &text).unwrap();
    assert_eq!(records.iter().map(|r| r.seq.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 7]);
    let own: Vec<_> = records.into_iter().filter(|r| r.stream == session("a")).collect();
    assert_eq!(own, writer.read(&session("a")).unwrap());
    assert!(matches!(writer.reader().export(&id("b")), Err(LogError::NoSession(_))));

    let lines: Vec<&str> = text.lines().collect();
    let tampered = [
        (text.replace("never touch that", "sometimes touch that"), "line 1: event 1 in library: changed"),
        (lines[1..].join("\n"), "line 3: event 4 in library: does not follow"),
        ([&lines[..3], &lines[4..]].concat().join("\n"), ""),
        ([&lines[..2], &lines[3..]].concat().join("\n"), "line 4: event 5 in session/a: does not follow"),
        ([lines[1], lines[0]].join("\n"), "line 2: event 1 in library: does not follow"),
        ("{}".into(), "line 1: no event of an export"),
        (text.replace(":1700000000000", ":1700000000001"), "line 1: event 1 in library: changed"),
    ];
    for (text, why) in tampered {
        match import_lines("a.jsonl", &text) {
            Err(error) => assert!(!why.is_empty() && error.to_string().contains(why), "{error} / {why}"),
            // The last event of the library stream is not missed by any line after it.
            Ok(_) => assert_eq!(why, ""),
        }
    }
}
