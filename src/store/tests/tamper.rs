//! Somebody was at the file: it shows, at the right event. Nobody was: nothing is said.

use super::*;
use rusqlite::{Connection, params};

/// What is done to a log of which the rows `0..n` are given by number.
#[derive(Debug, Clone)]
enum Hand {
    /// Another text, time, stream or name in row `i`.
    Change {
        i: usize,
        column: &'static str,
    },
    /// Another text in row `i`, with the digest made to fit.
    Forge {
        i: usize,
    },
    Remove {
        i: usize,
    },
    /// Row `i` is removed and the later ones move up.
    Close {
        i: usize,
    },
    Swap {
        i: usize,
        j: usize,
    },
    Cut {
        keep: usize,
    },
    /// One more row, correctly chained.
    Append,
    /// Everything from row `i` on is written anew, correctly chained.
    Rewrite {
        i: usize,
    },
}

fn hands(n: usize) -> impl Strategy<Value = Hand> {
    let i = 0..n;
    let column = prop_oneof![
        Just("json"),
        Just("at"),
        Just("offset"),
        Just("stream"),
        Just("name"),
        Just("prev"),
        Just("log")
    ];
    prop_oneof![
        (i.clone(), column).prop_map(|(i, column)| Hand::Change { i, column }),
        i.clone().prop_map(|i| Hand::Forge { i }),
        i.clone().prop_map(|i| Hand::Remove { i }),
        i.clone().prop_map(|i| Hand::Close { i }),
        (i.clone(), i.clone()).prop_filter("two rows", |(i, j)| i != j).prop_map(|(i, j)| Hand::Swap { i, j }),
        i.clone().prop_map(|keep| Hand::Cut { keep }),
        Just(Hand::Append),
        i.prop_map(|i| Hand::Rewrite { i }),
    ]
}

fn rows(db: &Connection) -> Vec<Row> {
    let mut query = db.prepare(&format!("SELECT {} FROM event ORDER BY seq", database::COLUMNS)).unwrap();
    query.query_map([], database::row).unwrap().map(Result::unwrap).collect()
}

/// Chains `rows` anew, as somebody does who knows everything but the key.
fn rechained(rows: Vec<Row>) -> Vec<Row> {
    let mut out: Vec<Row> = Vec::new();
    for mut row in rows {
        row.seq = Seq(out.len() as u64 + 1);
        row.log = out.last().map_or(Digest::default(), |r| r.digest);
        row.prev = out.iter().rev().find(|r| r.stream == row.stream).map_or(Digest::default(), |r| r.digest);
        row.digest = row.computed();
        out.push(row);
    }
    out
}

fn replace_all(db: &Connection, rows: &[Row]) {
    db.execute("DELETE FROM event", []).unwrap();
    rows.iter().for_each(|row| database::insert(db, row).unwrap());
}

/// Does it, and gives the sequence numbers at one of which it must show.
fn apply(hand: &Hand, db: &Connection) -> Vec<u64> {
    let before = rows(db);
    let n = before.len();
    let seq = |i: usize| i as u64 + 1;
    match *hand {
        Hand::Change { i, column } => {
            let value = match column {
                "json" => "json = replace(json, '{\"event\":', '{\"event\": ')",
                "at" => "at = at + 1",
                "offset" => "offset = offset - 60",
                "stream" => "stream = 'session/other'",
                "name" => "name = name || 'x'",
                "prev" => "prev = zeroblob(31) || x'01'",
                _ => "log = zeroblob(31) || x'01'",
            };
            let value = value.replace("zeroblob(31) || x'01'", &format!("x'{}01'", "00".repeat(31)));
            db.execute(&format!("UPDATE event SET {value} WHERE seq = ?1"), [seq(i) as i64]).unwrap();
            vec![seq(i)]
        }
        Hand::Forge { i } => {
            let mut row = before[i].clone();
            row.json = serde_json::to_string(&said(1, "forged")).unwrap();
            row.name = "user_said".into();
            row.digest = row.computed();
            let changed = params![row.json, row.name, &row.digest.0, seq(i) as i64];
            db.execute("UPDATE event SET json = ?1, name = ?2, digest = ?3 WHERE seq = ?4", changed).unwrap();
            vec![seq(i), seq(i) + 1]
        }
        Hand::Remove { i } => {
            db.execute("DELETE FROM event WHERE seq = ?1", [seq(i) as i64]).unwrap();
            vec![seq(i)]
        }
        Hand::Close { i } => {
            db.execute("DELETE FROM event WHERE seq = ?1", [seq(i) as i64]).unwrap();
            for later in i + 1..n {
                db.execute("UPDATE event SET seq = ?1 WHERE seq = ?2", [later as i64, later as i64 + 1]).unwrap();
            }
            vec![seq(i)]
        }
        Hand::Swap { i, j } => {
            let mut after = before;
            after.swap(i, j);
            (after[i].seq, after[j].seq) = (Seq(seq(i)), Seq(seq(j)));
            replace_all(db, &after);
            vec![seq(i)]
        }
        Hand::Cut { keep } => {
            db.execute("DELETE FROM event WHERE seq > ?1", [keep as i64]).unwrap();
            vec![seq(keep)]
        }
        Hand::Append => {
            let mut after = before.clone();
            after.push(Row {
                json: serde_json::to_string(&said(9, "never said")).unwrap(),
                name: "user_said".into(),
                ..before[0].clone()
            });
            replace_all(db, &rechained(after));
            vec![seq(n)]
        }
        Hand::Rewrite { i } => {
            let mut after = before;
            after[i].json = serde_json::to_string(&said(1, "rewritten")).unwrap();
            after[i].name = "user_said".into();
            replace_all(db, &rechained(after));
            vec![seq(n - 1)]
        }
    }
}

/// The fault covers this event, alone or in a run of events.
fn covers(fault: &Fault, seq: u64) -> bool {
    let from = fault.seq.map_or(0, |s| s.0);
    match fault.flaw {
        Flaw::Gap { to } | Flaw::Cut { to } | Flaw::Unsealed { to } => (from..=to.0).contains(&seq),
        _ => from == seq,
    }
}

/// A log of `events` over two sessions and the library, written by two writers in turn.
fn written(store: &Store, events: &[(usize, Event)]) {
    let mut writers = [store.open_writer(&id("a")).unwrap(), store.open_writer(&id("b")).unwrap()];
    for (i, (stream, event)) in events.iter().enumerate() {
        let (writer, stream) = match stream {
            0 => (0, session("a")),
            1 => (1, session("b")),
            _ => (i % 2, Stream::Library),
        };
        writers[writer].append(NOON, &[entry(stream, event.clone())]).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tampering_shows_where_it_was_done(
        (events, hand) in (2..10usize).prop_flat_map(|n| (proptest::collection::vec((0..3usize, any_event()), n), hands(n)))
    ) {
        let (_dir, store) = store();
        written(&store, &events);
        let sound = store.open_reader().unwrap().verify(None).unwrap();
        prop_assert!(sound.is_sound() && sound.notes.is_empty(), "before: {:?}", sound);

        let db = Connection::open(store.path()).unwrap();
        let same = rows(&db);
        let shows_at = apply(&hand, &db);
        prop_assume!(rows(&db) != same);
        drop(db);

        let found = store.open_reader().unwrap().verify(None).unwrap();
        prop_assert!(
            found.faults.iter().any(|f| shows_at.iter().any(|s| covers(f, *s))),
            "{:?} should show at one of {:?}: {:?}", hand, shows_at, found.faults
        );
        // A stream's own check tells of everything that could be in it.
        let own = [Stream::Library, session("a"), session("b"), session("other")].iter()
            .any(|s| !store.open_reader().unwrap().verify(Some(s)).unwrap().is_sound());
        prop_assert!(own);
        // Where the end does not fit, nothing is written over it.
        if matches!(hand, Hand::Cut { .. } | Hand::Append | Hand::Rewrite { .. }) {
            let before = rows(&Connection::open(store.path()).unwrap());
            let refused = store.open_writer(&id("a"));
            prop_assert!(matches!(refused, Err(LogError::Damaged { .. })), "{:?}", refused);
            prop_assert_eq!(rows(&Connection::open(store.path()).unwrap()), before);
        }
    }
}

fn faults(store: &Store) -> Vec<String> {
    let found = store.open_reader().unwrap().verify(None).unwrap();
    found.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn each_fault_says_what_and_where() {
    let events: Vec<_> = (0..6).map(|i| (i % 3, said(1, "words"))).collect();
    let cases: &[(Hand, &str)] = &[
        (
            Hand::Change { i: 3, column: "json" },
            "event 4 in session/a: changed after it was written (its digest does not fit)",
        ),
        (Hand::Remove { i: 2 }, "event 3: removed"),
        (
            Hand::Remove { i: 2 },
            "event 6 in library: does not follow the event before it in its stream: one was removed or replaced",
        ),
        (Hand::Cut { keep: 4 }, "events 5 to 6: cut off the end of the log"),
        (Hand::Cut { keep: 0 }, "events 1 to 6: cut off the end of the log"),
        (Hand::Append, "event 7: appended by something other than weal (not sealed)"),
        (
            Hand::Forge { i: 2 },
            "event 4 in session/a: does not follow the event before it: replaced, inserted or moved",
        ),
        (Hand::Rewrite { i: 0 }, "event 6: not the event that was sealed: the log was rewritten up to here"),
    ];
    for (hand, expected) in cases {
        let (_dir, store) = store();
        written(&store, &events);
        apply(hand, &Connection::open(store.path()).unwrap());
        let faults = faults(&store);
        assert!(faults.iter().any(|f| f == expected), "{hand:?}: {faults:#?}");
    }
}

#[test]
fn heads_that_were_tampered_with_show() {
    let read = |path: &Path| String::from_utf8(fs::read(path).unwrap()).unwrap();
    type Hand<'a> = &'a dyn Fn(&Store);
    let hands: [(Hand<'_>, &str); 6] = [
        (&|s| fs::remove_file(s.state.join("head.json")).unwrap(), "is missing"),
        (&|s| fs::remove_file(s.state.join("head.live.json")).unwrap(), "is missing"),
        (&|s| fs::remove_file(s.state.join("../key")).unwrap(), "`key` is missing"),
        (&|s| fs::write(s.state.join("head.live.json"), "{}").unwrap(), "HMAC"),
        (
            &|s| {
                let path = s.state.join("head.json");
                fs::write(&path, read(&path).replace("\"seq\":3", "\"seq\":2")).unwrap();
            },
            "HMAC",
        ),
        // A head cannot stand in for the other one.
        (
            &|s| {
                fs::copy(s.state.join("head.json"), s.state.join("head.live.json")).unwrap();
            },
            "HMAC",
        ),
    ];
    for (n, (hand, expected)) in hands.iter().enumerate() {
        let (_dir, store) = store();
        written(&store, &[(0, said(1, "x")), (0, said(1, "y")), (0, intended(1)), (0, said(1, "z"))]);
        hand(&store);
        let faults = faults(&store);
        assert!(faults.iter().any(|f| f.contains(expected)), "{n}: {faults:?}");
        assert!(matches!(store.open_writer(&id("a")), Err(LogError::Damaged { .. })), "{n}");
    }
}

#[test]
fn a_log_that_was_removed_is_not_begun_anew() {
    let (_dir, store) = store();
    written(&store, &[(0, said(1, "x"))]);
    fs::remove_dir_all(&store.data).unwrap();
    assert!(matches!(store.open_writer(&id("a")), Err(LogError::Damaged { .. })));
    fs::write(store.path(), "").unwrap();
    assert_eq!(faults(&store).first().map(String::as_str), Some("event 1: cut off the end of the log"));
    assert!(matches!(store.open_writer(&id("a")), Err(LogError::Damaged { .. })));
    assert_eq!(fs::metadata(store.path()).unwrap().len(), 0);
}

#[test]
fn a_power_cut_may_take_what_was_not_durable_and_nothing_else() {
    let (_dir, mut store) = store();
    written(&store, &[(0, said(1, "x")), (0, intended(1)), (0, said(1, "y")), (0, said(1, "z"))]);
    let cut = |to: i64| {
        Connection::open(store.path()).unwrap().execute("DELETE FROM event WHERE seq > ?1", [to]).unwrap();
    };
    cut(2);
    assert!(!faults(&store).is_empty(), "the machine still runs: nothing excuses it");
    store.boot = "the next boot".into();
    let found = store.open_reader().unwrap().verify(None).unwrap();
    assert!(found.is_sound() && found.notes[0].contains("events 3 to 4"), "{found:?}");
    let mut writer = store.open_writer(&id("a")).unwrap();
    assert_eq!(writer.append(NOON, &[entry(session("a"), said(2, "on we go"))]).unwrap()[0].seq, Seq(3));
    let found = writer.reader().verify(None).unwrap();
    assert!(found.is_sound() && found.notes.is_empty(), "{found:?}");
    drop(writer);
    store.boot = "and the next".into();
    Connection::open(store.path()).unwrap().execute("DELETE FROM event WHERE seq > 1", []).unwrap();
    assert!(faults(&store)[0].contains("cut off"), "event 2 was durable");
    assert!(matches!(store.open_writer(&id("a")), Err(LogError::Damaged { .. })));
}

#[test]
fn nothing_is_appended_behind_a_cut_that_happened_meanwhile() {
    let (_dir, store) = store();
    let mut writer = store.open_writer(&id("a")).unwrap();
    for n in 1..4 {
        writer.append(NOON, &[entry(session("a"), said(n, "x"))]).unwrap();
    }
    Connection::open(store.path()).unwrap().execute("DELETE FROM event WHERE seq = 3", []).unwrap();
    assert!(matches!(writer.append(NOON, &[entry(session("a"), said(4, "x"))]), Err(LogError::Damaged { .. })));
}

#[test]
fn what_was_tampered_with_is_not_folded() {
    let events: Vec<_> = (0..6).map(|_| (2, constraint(1))).collect();
    for hand in [Hand::Change { i: 2, column: "json" }, Hand::Remove { i: 2 }, Hand::Forge { i: 2 }] {
        let (_dir, store) = store();
        written(&store, &events);
        apply(&hand, &Connection::open(store.path()).unwrap());
        let reader = store.open_reader().unwrap();
        assert!(matches!(reader.read(&Stream::Library), Err(LogError::Damaged { .. })), "{hand:?}");
        assert!(matches!(reader.latched(), Err(LogError::Damaged { .. })), "{hand:?}");
    }
}

#[test]
fn a_kept_body_that_was_changed_shows() {
    let (_dir, store) = store();
    let digest = store.open_writer(&id("a")).unwrap().keep_blob(b"body").unwrap();
    Connection::open(store.path()).unwrap().execute("UPDATE blob SET body = x'00'", []).unwrap();
    assert!(faults(&store)[0].contains(&digest.short()));
    assert!(matches!(store.open_reader().unwrap().blob(digest), Err(LogError::Damaged { .. })));
}

/// Every kind of file that is no log of this format is refused, and not a byte of it changes.
#[test]
fn what_is_no_log_is_left_as_it_is() {
    type Hand<'a> = &'a dyn Fn(&Path);
    let sql = |path: &Path, sql: &str| Connection::open(path).unwrap().execute_batch(sql).unwrap();
    let hands: [(Hand<'_>, &str); 7] = [
        (&|p| fs::write(p, "this is no database, but it is long enough to be taken for one").unwrap(), "damaged"),
        (&|p| sql(p, "PRAGMA user_version = 2"), "newer weal (format 2, this one knows 1)"),
        (&|p| sql(p, "PRAGMA application_id = 7"), "other program"),
        (
            &|p| sql(p, "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event WHERE seq = new.seq; END"),
            "tables",
        ),
        (&|p| sql(p, "DROP INDEX event_by_name"), "tables"),
        (
            &|p| {
                let mut bytes = fs::read(p).unwrap();
                bytes.truncate(bytes.len() / 2);
                fs::write(p, bytes).unwrap();
            },
            "damaged",
        ),
        (
            &|p| {
                let mut bytes = fs::read(p).unwrap();
                bytes[4096..].fill(0xa5);
                fs::write(p, bytes).unwrap();
            },
            "damaged",
        ),
    ];
    for (n, (hand, expected)) in hands.iter().enumerate() {
        let (_dir, store) = store();
        written(&store, &(0..40).map(|i| (i % 3, said(1, &"words ".repeat(50)))).collect::<Vec<_>>());
        hand(&store.path());
        let before = fs::read(store.path()).unwrap();
        let error = store.open_writer(&id("a")).unwrap_err();
        assert!(error.to_string().contains(expected), "{n}: {error}");
        assert!(error.to_string().contains(store.path().to_str().unwrap()), "{n}: {error}");
        let read = store.open_reader().and_then(|r| r.verify(None));
        assert!(read.as_ref().is_err() || !read.unwrap().is_sound(), "{n}");
        assert_eq!(fs::read(store.path()).unwrap(), before, "{n}");
    }
}
