//! A running session killed at random moments: nothing durable is lost, nothing runs twice, what may have happened is
//! said so.

use super::{
    home::Home,
    sse::{Answer, Seen, Server},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader},
    process::Stdio,
    sync::mpsc::{RecvTimeoutError, channel},
    time::Duration,
};

/// How often a session is killed.
const KILLS: u32 = 200;
/// Actions of the session.
const ACTIONS: usize = 4;
/// Whole lives a session may need, killed ones included.
const LIVES: u32 = 3;

/// The n-th reply writes the n-th line; then it is done. Which one is next is told by the conversation alone.
fn next(seen: &Seen) -> Answer {
    let said = seen.body["messages"].as_array().expect("messages");
    let n = said.iter().filter(|m| m["role"] == "assistant").count() + 1;
    if n > ACTIONS {
        return Answer::says("done");
    }
    Answer::calls(&[("shell_exec", json!({ "command": format!("echo {n} >> ledger.txt") }))])
}

struct Life {
    events: Vec<Value>,
    killed: bool,
    code: Option<i32>,
}

/// Runs weal until it ends or, after `lines` lines and `pause` more, is killed.
fn live(home: &Home, args: &[&str], url: &str, kill: Option<(usize, Duration)>) -> Life {
    let mut command = home.weal(args);
    command.env("OPENAI_BASE_URL", url).env("OPENAI_MODEL", "m").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("weal runs");
    let (send, lines) = channel();
    let out = BufReader::new(child.stdout.take().expect("its output"));
    let reader = std::thread::spawn(move || out.lines().map_while(Result::ok).for_each(|l| drop(send.send(l))));
    let mut events = Vec::new();
    let mut take = |line: String| events.extend(serde_json::from_str::<Value>(&line).ok());
    let mut killed = false;
    if let Some((count, pause)) = kill {
        let early = (0..count).all(|_| lines.recv().map(&mut take).is_ok());
        if early && matches!(lines.recv_timeout(pause), Err(RecvTimeoutError::Timeout) | Ok(_)) {
            killed = child.kill().is_ok();
        }
    }
    let status = child.wait().expect("weal ends");
    reader.join().expect("the reader");
    lines.iter().for_each(&mut take);
    Life { events, killed, code: status.code() }
}

fn events_named<'a>(events: &'a [Value], name: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |e| e["event"]["event"] == name)
}

fn proposals(events: &[Value], name: &str) -> BTreeSet<String> {
    events_named(events, name).map(|e| e["event"]["proposal"].as_str().expect("a proposal").to_owned()).collect()
}

#[test]
fn killed_at_any_moment_nothing_is_lost_and_nothing_runs_twice() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let server = runtime.block_on(Server::by(next));
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_nanos() as u64;
    println!("seed {seed}");
    let mut random = Random(seed);
    let (mut kills, mut unresolved) = (0, 0);
    let mut at: BTreeMap<String, u32> = BTreeMap::new();
    while kills < KILLS {
        let home = Home::new();
        let mut durable: Vec<Value> = Vec::new();
        let mut session: Option<String> = None;
        for life in 0..LIVES {
            let moment = (random.below(34) as usize, Duration::from_micros(random.below(20_000)));
            let kill = (life + 1 < LIVES).then_some(moment);
            let named = session.clone().unwrap_or_default();
            let args =
                if session.is_some() { vec!["run", "--resume", &named] } else { vec!["run", "Write the ledger."] };
            let lived = live(&home, &args, &server.url, kill);
            if lived.killed {
                kills += 1;
                let last =
                    lived.events.last().map_or("nothing", |e| e["event"]["event"].as_str().unwrap_or_default());
                *at.entry(last.to_owned()).or_default() += 1;
            }
            durable.extend(lived.events);
            let stream = durable.first().and_then(|e| e["stream"].as_str()).map(str::to_owned);
            session = stream.and_then(|s| s.strip_prefix("session/").map(str::to_owned));
            if lived.code == Some(0) {
                break;
            }
            if lived.code == Some(3) {
                unresolved += 1;
                break;
            }
        }
        let Some(session) = session else { continue };
        check(&home, &session, &durable);
    }
    println!("{kills} kills, {unresolved} sessions with an action that may have happened; last event before: {at:?}");
}

fn check(home: &Home, session: &str, durable: &[Value]) {
    let verified = home.run(&["log", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let log = home.run(&["log", "show", session]).lines();
    for event in durable.iter().filter(|e| e["stream"] != "library") {
        assert!(log.contains(event), "an event that was reported is missing: {event}");
    }
    let text = std::fs::read_to_string(home.work().join("ledger.txt")).unwrap_or_default();
    let written: Vec<&str> = text.lines().collect();
    let distinct: BTreeSet<&str> = written.iter().copied().collect();
    assert_eq!(written.len(), distinct.len(), "an action ran twice: {written:?}");
    // an intent without an outcome is asked about once the session was taken up again
    let (intended, finished) = (proposals(&log, "action_intended"), proposals(&log, "action_finished"));
    let resumed = log.iter().rposition(|e| e["event"]["event"] == "session_resumed");
    for lost in intended.difference(&finished) {
        let begun =
            log.iter().position(|e| e["event"]["event"] == "action_intended" && e["event"]["proposal"] == *lost);
        if begun < resumed {
            assert!(proposals(&log, "person_asked").contains(lost), "{lost} may have happened and nobody was asked");
        }
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }
}
