//! Real processes: killed while they append, appending at once, out of space, without the right to write. The children
//! are this test executable, started again.

use super::*;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::{
    env,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

const ROLE: &str = "WEAL_STORE_TEST_ROLE";
const PLACE: &str = "WEAL_STORE_TEST_PLACE";

/// Starts `role` in a child that ignores the signal of a file that grew too large.
fn spawn(role: &str, dir: &Path) -> Child {
    Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
        .arg(env::current_exe().unwrap())
        .args(["store::tests::processes::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(PLACE, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What a child does; in an ordinary run there is no role and nothing to do.
#[test]
fn child() {
    let (Ok(role), Ok(dir)) = (env::var(ROLE), env::var(PLACE)) else { return };
    let store = store_in(Path::new(&dir));
    match role.as_str() {
        "until killed" => append_until_killed(&store),
        "full" => meet_a_full_disk(&store),
        "read-only" => meet_a_read_only_place(&store, Path::new(&dir)),
        name => append_many(&store, name),
    }
}

/// The lines a child reported, as it comes to its end.
fn reported(child: &mut Child) -> impl Iterator<Item = (u64, String)> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| {
        let (seq, digest) = line.split_once("wrote ")?.1.split_once(' ')?;
        // A line that was cut by the kill says nothing.
        (digest.len() == 64).then(|| (seq.parse().unwrap(), digest.to_owned()))
    })
}

fn append_until_killed(store: &Store) {
    let mut writer = store.open_writer(&id("a")).unwrap();
    for n in 0.. {
        let event = if n % 3 == 0 { intended(n) } else { said(n, &"words ".repeat(n as usize % 90)) };
        let batch = [entry(session("a"), event), entry(Stream::Library, constraint(n + 1))];
        let batch = if n % 5 == 0 { batch.as_slice() } else { &batch[..1] };
        for record in writer.append(NOON, batch).unwrap() {
            let digest = writer.head(&record.stream).unwrap().1;
            println!("wrote {} {digest}", record.seq);
        }
    }
}

#[test]
fn whatever_was_acknowledged_survives_kill_9() {
    let (dir, store) = store();
    let mut acknowledged: Vec<(u64, String)> = Vec::new();
    let mut random = 17u64;
    for round in 0..30 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut child = spawn("until killed", dir.path());
        let mut lines = reported(&mut child);
        acknowledged.extend(lines.by_ref().take((random >> 33) as usize % 40 + 1));
        child.kill().unwrap();
        acknowledged.extend(lines);
        child.wait().unwrap();

        // Opening for writing takes over the lock of the dead, and puts the heads right.
        let writer = store.open_writer(&id("a")).unwrap();
        let found = writer.reader().verify(None).unwrap();
        assert!(found.is_sound() && found.notes.is_empty(), "round {round}: {found:?}");
        for (seq, digest) in &acknowledged {
            let there = database::digest_at(&writer.reader().db, Seq(*seq)).map(|d| d.to_string());
            assert_eq!(there.as_deref(), Some(digest.as_str()), "round {round}, event {seq}");
        }
        assert!(writer.read(&session("a")).is_ok());
    }
    assert!(acknowledged.len() > 300, "{}", acknowledged.len());
}

fn append_many(store: &Store, name: &str) {
    let mut writer = store.open_writer(&id(name)).unwrap();
    for n in 1..=150 {
        let event = if n % 10 == 0 { intended(n) } else { said(n, name) };
        writer.append(NOON, &[entry(session(name), event), entry(Stream::Library, constraint(n))]).unwrap();
    }
}

#[test]
fn several_processes_append_to_one_log() {
    let (dir, store) = store();
    let mut children: Vec<Child> = ["p1", "p2", "p3"].iter().map(|name| spawn(name, dir.path())).collect();
    append_many(&store, "here");
    for child in &mut children {
        // Read to the end, or the child could wait for the pipe.
        assert_eq!(reported(child).count(), 0);
        assert!(child.wait().unwrap().success());
    }
    let reader = store.open_reader().unwrap();
    let found = reader.verify(None).unwrap();
    assert!(found.is_sound() && found.notes.is_empty(), "{found:?}");
    assert_eq!(found.events, 4 * 300);
    for name in ["p1", "p2", "p3", "here"] {
        assert_eq!(reader.verify(Some(&session(name))).unwrap().events, 150, "{name}");
    }
}

#[test]
fn a_session_has_one_writer_at_a_time() {
    let (dir, store) = store();
    let mut child = spawn("until killed", dir.path());
    let mut lines = reported(&mut child);
    assert!(lines.next().is_some());
    match store.open_writer(&id("a")) {
        Err(LogError::Locked(session, pid)) => assert_eq!((session, pid), (id("a"), child.id())),
        other => panic!("{other:?}"),
    }
    assert_eq!(store.owner(&id("a")), Some(child.id()));
    assert!(store.open_reader().unwrap().verify(None).unwrap().is_sound(), "readers may look while it is written");
    let other = store.open_writer(&id("b")).unwrap();
    assert!(matches!(store.open_writer(&id("b")), Err(LogError::Locked(_, pid)) if pid == std::process::id()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(store.owner(&id("a")), None);
    assert!(store.open_writer(&id("a")).is_ok());
    drop(other);
    assert!(store.open_writer(&id("b")).is_ok());
    for name in ["", "../b", "a/b", "é"] {
        assert!(matches!(store.open_writer(&id(name)), Err(LogError::NoSession(_))), "{name}");
    }
}

fn meet_a_full_disk(store: &Store) {
    let mut writer = store.open_writer(&id("a")).unwrap();
    writer.append(NOON, &[entry(session("a"), said(1, "before"))]).unwrap();
    let limit = getrlimit(Resource::Fsize);
    let wal = store.data.join("log.db-wal");
    let soft = fs::metadata(&wal).unwrap().len() + 30_000;
    for durable in [false, true] {
        setrlimit(Resource::Fsize, Rlimit { current: Some(soft), maximum: limit.maximum }).unwrap();
        let mut refused = 0;
        while refused < 3 {
            let before = writer.head(&session("a")).unwrap();
            let second = if durable { intended(1) } else { said(1, "second") };
            let batch = [entry(session("a"), said(1, &"x".repeat(5000))), entry(session("a"), second)];
            if let Err(error) = writer.append(NOON, &batch) {
                refused += 1;
                assert!(
                    matches!(&error, LogError::Write { path, why }
                    if path.contains("log.db") && why.contains("full") && why.contains("nothing was written")),
                    "{error}"
                );
                assert_eq!(writer.head(&session("a")).unwrap(), before, "half of a batch is in the log");
            }
        }
        assert!(writer.reader().verify(None).unwrap().is_sound());
        setrlimit(Resource::Fsize, limit).unwrap();
        writer.append(NOON, &[entry(session("a"), said(1, "after"))]).unwrap();
        assert!(writer.reader().verify(None).unwrap().is_sound());
    }
}

#[test]
fn a_full_disk_is_an_error_and_no_harm() {
    let (dir, store) = store();
    let mut child = spawn("full", dir.path());
    let out = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    assert!(child.wait().unwrap().success(), "{out}");
    assert!(store.open_reader().unwrap().verify(None).unwrap().is_sound());
    assert_eq!(store.open_reader().unwrap().read(&session("a")).unwrap().last().unwrap().event, said(1, "after"));
}

#[test]
fn a_database_that_may_not_grow_is_an_error_and_no_harm() {
    let (_dir, store) = store();
    let mut writer = store.open_writer(&id("a")).unwrap();
    let big = [entry(session("a"), intended(1)), entry(session("a"), said(1, &"x".repeat(100_000)))];
    writer.reader().db.pragma_update(None, "max_page_count", 12).unwrap();
    let error = writer.append(NOON, &big).unwrap_err();
    assert!(
        matches!(&error, LogError::Write { why, .. } if why.contains("the disk is full: free some space")),
        "{error}"
    );
    assert!(writer.reader().verify(None).unwrap().is_sound());
    writer.reader().db.pragma_update(None, "max_page_count", 1_000_000).unwrap();
    assert_eq!(writer.append(NOON, &big).unwrap()[0].seq, Seq(1));
}

/// Takes from this thread the right to write anywhere; false where the kernel cannot.
fn forbid_writing() -> bool {
    use landlock::{
        ABI, Access, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus,
    };
    let all = Ruleset::default().handle_access(AccessFs::from_all(ABI::V3)).unwrap().create().unwrap();
    let read = PathBeneath::new(PathFd::new("/").unwrap(), AccessFs::from_read(ABI::V3));
    all.add_rule(read).unwrap().restrict_self().unwrap().ruleset != RulesetStatus::NotEnforced
}

fn meet_a_read_only_place(store: &Store, dir: &Path) {
    let fresh = store_in(&dir.join("fresh"));
    if !forbid_writing() {
        println!("skipped: this kernel has no landlock");
        return;
    }
    let reader = store.open_reader().unwrap();
    assert!(reader.verify(None).unwrap().is_sound());
    assert_eq!(reader.read(&session("a")).unwrap().len(), 1);
    for store in [store, &fresh] {
        match store.open_writer(&id("a")) {
            Err(LogError::Write { path, why }) => {
                assert!(path.starts_with(dir.to_str().unwrap()) && why.contains("writable"), "{path}: {why}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(fresh.open_reader().unwrap().sessions().unwrap(), []);
}

/// Once after everybody left (no file lies beside the database), once beside a living writer.
#[test]
fn a_place_that_cannot_be_written_can_be_read() {
    for beside_a_writer in [false, true] {
        let (dir, store) = store();
        let mut writer = store.open_writer(&id("a")).unwrap();
        writer.append(NOON, &[entry(session("a"), said(1, "x"))]).unwrap();
        let writer = beside_a_writer.then_some(writer);
        let mut child = spawn("read-only", dir.path());
        let out = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
        assert!(child.wait().unwrap().success(), "{out}");
        drop(writer);
    }
}
