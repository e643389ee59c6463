//! What the log costs: appending one event, opening and verifying a long log, looking for secrets in an event.

#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a bench that cannot go on stops where it stands"
)]

use std::{fs, hint::black_box, path::Path, time::Instant};
use weal::{
    domain::{Digest, Event, Moment, Outcome, ProposalId, Seq, SessionId, Span, Status, Stream, Turn},
    intake::secrets::redact_event,
    ports::{Entry, Log},
    store::Store,
};

const LONG: u32 = 100_000;

fn said(turn: u32) -> Event {
    let text = format!("in turn {turn} please look at the records of last year and tell what could be archived");
    Event::UserSaid { turn: Turn(turn), text, pasted: vec![Span::default()] }
}

fn intended(proposal: u32) -> Event {
    Event::ActionIntended { proposal: ProposalId(proposal), clearance: Digest::of(b"clearance") }
}

/// Runs `work` `times` times and prints the median with the 5th and 95th percentile.
fn measure<T>(what: &str, times: usize, mut work: impl FnMut(usize) -> T) {
    let mut micros: Vec<f64> = (0..times)
        .map(|n| {
            let start = Instant::now();
            black_box(work(n));
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    micros.sort_by(f64::total_cmp);
    let at = |part: f64| micros.get((part * (micros.len() - 1) as f64) as usize).copied().unwrap_or(f64::NAN);
    println!("{what:<44} median {:>10.1} µs   5–95 % {:>9.1} – {:>9.1}", at(0.5), at(0.05), at(0.95));
}

fn main() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = |name: &str| {
        let work = dir.path().join(name);
        fs::create_dir_all(&work).expect("a workspace");
        Store::at(&dir.path().join("data"), &dir.path().join("state"), &work).expect("a store")
    };
    appending(&store("short"));
    long_log(&store("long"), dir.path());
    secrets();
}

fn appending(store: &Store) {
    let id = SessionId("bench".into());
    let stream = Stream::Session(id.clone());
    let mut writer = store.open_writer(&id).expect("a writer");
    let mut state = Vec::new();
    let mut append = |event: Event| {
        let records = writer.append(Moment::utc(1), &[Entry { stream: stream.clone(), event }]).expect("appended");
        state.extend(records);
    };
    measure("append one event, survives the process", 3000, |n| append(said(n as u32)));
    measure("append one event, survives a power cut", 1000, |n| append(intended(n as u32)));
}

fn long_log(store: &Store, dir: &Path) {
    let id = SessionId("bench".into());
    let stream = Stream::Session(id.clone());
    let mut writer = store.open_writer(&id).expect("a writer");
    for chunk in 0..LONG / 1000 {
        let batch: Vec<Entry> = (chunk * 1000..(chunk + 1) * 1000)
            .map(|n| Entry { stream: stream.clone(), event: if n % 10 == 0 { intended(n) } else { said(n) } })
            .collect();
        writer.append(Moment::utc(1), &batch).expect("appended");
    }
    drop(writer);
    println!("a log of {LONG} events, {} MB:", fs::metadata(store.path()).map_or(0, |m| m.len() / 1_000_000));
    measure("  open to write", 50, |_| drop(store.open_writer(&id).expect("a writer")));
    measure("  open to read", 50, |_| drop(store.open_reader().expect("a reader")));
    let reader = store.open_reader().expect("a reader");
    measure("  verify", 10, |_| assert!(reader.verify(None).expect("verified").is_sound()));
    measure("  read a session of them all", 10, |_| {
        assert_eq!(reader.read(&stream).expect("read").len(), LONG as usize)
    });
    measure("  list sessions", 20, |_| reader.sessions().expect("listed"));
    assert_eq!(reader.head(&stream).expect("a head").0, Seq(LONG.into()));
    assert!(dir.exists());
}

fn secrets() {
    let key = [7; 32];
    measure("load the shapes of secrets", 1, |_| redact_event(&said(1), &key).is_ok());
    let output = "   Compiling weal v0.1.0\nwarning: unused variable `token`\n--> src/lib.rs:12:9\n".repeat(25);
    let outcome = Outcome::plain(Status::Succeeded, output, 40);
    let finished = Event::ActionFinished { proposal: ProposalId(1), outcome, at: Moment::utc(1) };
    let leaking = Event::InputIgnored { what: "paste".into(), why: "password=hunter2 and no more".into() };
    let size = serde_json::to_vec(&finished).map_or(0, |json| json.len());
    measure("look for secrets: none, a sentence", 5000, |_| redact_event(&said(1), &key).is_ok());
    measure(&format!("look for secrets: none, {size} bytes of output"), 5000, |_| {
        redact_event(&finished, &key).is_ok()
    });
    measure("look for secrets: one, taken out", 5000, |_| redact_event(&leaking, &key).is_ok());
}
