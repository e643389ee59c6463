//! What a frame costs with a long log behind it: medians with their spread.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

use ratatui::{
    buffer::Buffer,
    crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers},
    layout::Rect,
};
use serde_json::json;
use std::time::{Duration, Instant};
use weal::{
    domain::{
        Action, Audit, Decision, Digest, Effect, Event as Happened, Moment, Outcome, Plan, Proposal, ProposalId,
        Proposer, RawCall, Record, Reply, Resource, Seq, SessionId, Status, Stream, Turn, Verb,
        event::{Opening, Sandbox},
    },
    tui::{Cockpit, Endpoint, Feed, Mode, Settings, widgets::code::load_grammars},
};

const EVENTS: usize = 100_000;

fn opening() -> Happened {
    Happened::SessionOpened(Opening {
        session: SessionId("bench".into()),
        workspace: "/home/ann/work".into(),
        home: "/home/ann".into(),
        model: "gpt-x".into(),
        simulated: false,
        scratch: false,
        sandbox: Sandbox::Landlock { abi: 6 },
        version: "0".into(),
        core: Vec::new(),
        next_constraint: 1,
        latched: false,
        context_budget: 128_000,
    })
}

/// One turn of ordinary work: words, a reply with code, an action from proposal to outcome.
fn turn(n: u32) -> Vec<Happened> {
    let (turn, id) = (Turn(n), ProposalId(n));
    let call = RawCall::new("shell_exec", json!({ "command": "ls -la src && cat src/main.rs" }));
    let action = Action {
        call: call.clone(),
        effects: vec![Effect::new(Verb::List, Resource::path("src"))],
        programs: Vec::new(),
        facts: Digest::default(),
    };
    let audit = Audit {
        decision: Decision::Allow,
        findings: Vec::new(),
        plan: Plan::default(),
        lawful: Vec::new(),
        action: Digest::default(),
        law: Digest::default(),
    };
    let text =
        format!("Part {n}:\n\n1. *list* it\n2. read `main.rs`\n\n```rust\nfn main() {{ println!(\"{n}\"); }}\n```");
    let at = Moment::default();
    vec![
        Happened::UserSaid { turn, text: format!("Please look at part {n} of the archive."), pasted: Vec::new() },
        Happened::ModelCalled { turn, prompt: Digest::default(), tokens: 9_000 },
        Happened::ModelReplied { turn, reply: Reply { text, ..Reply::default() } },
        Happened::ActionProposed { proposal: Proposal { id, turn, call, by: Proposer::Person } },
        Happened::ActionUnderstood { proposal: id, action },
        Happened::ActionAudited { proposal: id, audit, requested: Vec::new(), at },
        Happened::ActionIntended { proposal: id, clearance: Digest::default() },
        Happened::ActionFinished {
            proposal: id,
            outcome: Outcome::plain(Status::Succeeded, "a\nb\nc\nd\ne", 12),
            at,
        },
    ]
}

fn records(n: usize) -> Vec<Record> {
    let stream = Stream::Session(SessionId("bench".into()));
    let events = std::iter::once(opening()).chain((1..).flat_map(turn)).take(n);
    let record = |(i, event)| Record { seq: Seq(i as u64 + 1), stream: stream.clone(), at: Moment::default(), event };
    events.enumerate().map(record).collect()
}

fn settings(mode: Mode) -> Settings {
    Settings {
        mode,
        workspace: "~/work".into(),
        endpoint: Endpoint::Missing { how: String::new() },
        theme: "dark".into(),
        themes: Vec::new(),
        keymap: None,
        no_color: false,
        ascii: false,
        session_scope: |_| None,
    }
}

/// Runs `work` `times` times; prints the median with the 10th and 90th percentile.
fn measure(name: &str, times: usize, mut work: impl FnMut() -> Duration) {
    let mut took: Vec<Duration> = (0..times).map(|_| work()).collect();
    took.sort();
    let at = |percent: usize| took.get(took.len() * percent / 100).copied().unwrap_or_default();
    println!("{name:<44} median {:>9.1?}   p10 {:>9.1?}   p90 {:>9.1?}   n {times}", at(50), at(10), at(90));
}

fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

fn key(code: KeyCode) -> Event {
    Event::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn main() {
    // `cargo test --benches` only wants to know that it runs
    let quick = !std::env::args().any(|arg| arg == "--bench");
    let (events, times) = if quick { (2_000, 3) } else { (EVENTS, 300) };
    let log = records(events);
    let open = || Cockpit::new(settings(Mode::Live { records: log.clone() }));
    let size = Rect::new(0, 0, 200, 60);
    let mut buffer = Buffer::empty(size);
    println!("{events} events, {}x{}", size.width, size.height);

    measure("fold the log", 3, || {
        let records = log.clone();
        timed(|| drop(Cockpit::new(settings(Mode::Live { records }))))
    });
    let Ok(mut cockpit) = open() else { return };
    measure("first frame", 1, || timed(|| cockpit.draw(size, &mut buffer)));
    measure("load the grammars, beside it", 1, || timed(|| load_grammars(&cockpit.theme)));
    cockpit.colour_code();
    measure("first frame with code in colour", 1, || timed(|| cockpit.draw(size, &mut buffer)));
    measure("frame, nothing changed", times, || timed(|| cockpit.draw(size, &mut buffer)));
    let mut n = u64::try_from(events).unwrap_or(u64::MAX);
    measure("frame after a record", times, || {
        n += 1;
        let event = Happened::Interrupted { why: "bench".into() };
        let stream = Stream::Session(SessionId("bench".into()));
        let record = Record { seq: Seq(n), stream, at: Moment::default(), event };
        timed(|| {
            cockpit.feed(Feed::Record(Box::new(record)), n);
            cockpit.draw(size, &mut buffer);
        })
    });
    measure("key to frame", times, || {
        timed(|| {
            cockpit.event(&key(KeyCode::Char('x')), n);
            cockpit.draw(size, &mut buffer);
        })
    });
    measure("page up to frame (new rows each time)", times, || {
        timed(|| {
            cockpit.event(&key(KeyCode::PageUp), n);
            cockpit.draw(size, &mut buffer);
        })
    });
    measure("resize to frame (all rows laid out anew)", times.min(60), || {
        let narrow = Rect::new(0, 0, 100 + u16::try_from(n % 90).unwrap_or(0), 40);
        n += 1;
        let mut small = Buffer::empty(narrow);
        timed(|| cockpit.draw(narrow, &mut small))
    });
    let Ok(mut replay) = Cockpit::new(settings(Mode::Replay { records: log.clone() })) else { return };
    measure("replay: one record back, to frame", times.min(60), || {
        timed(|| {
            replay.event(&key(KeyCode::Left), n);
            replay.draw(size, &mut buffer);
        })
    });
    measure("replay: to the start and to the end", times.min(9), || {
        timed(|| {
            replay.event(&key(KeyCode::Home), n);
            replay.event(&key(KeyCode::End), n);
            replay.draw(size, &mut buffer);
        })
    });
}
