//! The world side, tried from outside: what may not be reached is reached for, with real processes.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use weal::{
    domain::{
        Action, Audit, Certainty, Decision, Digest, Effect, Fact, Facts, Kind, Outcome, PathKind, Plan, ProposalId,
        Query, RawCall, Resource, Status, Verb, event::Sandbox,
    },
    policy::clearance::Clearance,
    ports::{Tools as _, World as _},
    tools::{Config, Toolbox, backup, sandbox},
};

/// A home with a workspace, weal's own directory and something private beside it.
struct Here {
    dir: TempDir,
    tools: Toolbox,
}

impl Here {
    fn new() -> Here {
        Here::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Config)) -> Here {
        let dir = tempfile::Builder::new().prefix("weal-it-").tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for made in ["home/work", "home/weal", "home/other", "tmp"] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        fs::write(root.join("home/weal/law"), "the law").unwrap();
        fs::write(root.join("home/other/secret"), "private").unwrap();
        let inherited = ["TMUX", "OPENAI_API_KEY", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY"]
            .map(|name| (name.to_owned(), "leaked".to_owned()))
            .into();
        let mut config = Config {
            workspace: root.join("home/work"),
            home: root.join("home"),
            backups: root.join("home/weal/backups"),
            trash: root.join("home/weal/trash"),
            temp: root.join("tmp"),
            helper: env!("CARGO_BIN_EXE_weal").into(),
            protected: vec![root.join("home/weal")],
            timeout: Duration::from_secs(60),
            grace: Duration::from_millis(200),
            output_cap: 64 * 1024,
            path: "/usr/local/bin:/usr/bin:/bin".into(),
            inherited,
            sandbox: true,
        };
        change(&mut config);
        Here { tools: Toolbox::new(config).unwrap(), dir }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join("home/work").join(name)
    }

    fn outside(&self) -> PathBuf {
        self.root().join("home/other")
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    async fn call(&self, tool: &str, args: Value) -> Outcome {
        self.execute(tool, args, vec![opaque()], Facts::default()).await
    }

    async fn execute(&self, tool: &str, args: Value, effects: Vec<Effect>, facts: Facts) -> Outcome {
        self.tools.execute(cleared(tool, args, effects, facts), CancellationToken::new()).await
    }

    async fn sh(&self, command: &str) -> Outcome {
        self.call("shell_exec", json!({ "command": command })).await
    }

    async fn sh_as(&self, command: &str, effects: Vec<Effect>) -> Outcome {
        self.execute("shell_exec", json!({ "command": command }), effects, Facts::default()).await
    }

    fn facts(&self, queries: &[Query]) -> Facts {
        self.tools.world().read(queries)
    }

    fn is_confined(&self, test: &str) -> bool {
        let confined = matches!(self.tools.sandbox(), Sandbox::Landlock { .. });
        if !confined {
            println!("{test}: skipped, no sandbox here ({:?})", self.tools.sandbox());
        }
        confined
    }

    /// Processes that were started below this world: each knows its private directory.
    fn children(&self) -> Vec<String> {
        let mark = format!("TMPDIR={}", self.root().display());
        let carries = |environ: &Vec<u8>| environ.split(|b| *b == 0).any(|e| e.starts_with(mark.as_bytes()));
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries
            .filter(|e| fs::read(e.path().join("environ")).is_ok_and(|b| carries(&b)))
            .map(|e| String::from_utf8_lossy(&fs::read(e.path().join("cmdline")).unwrap_or_default()).into_owned())
            .filter(|cmdline| !cmdline.is_empty())
            .collect()
    }
}

fn opaque() -> Effect {
    Effect { certainty: Certainty::Opaque, ..Effect::new(Verb::Execute, Resource::any(Kind::Program)) }
}

fn cleared(tool: &str, args: Value, effects: Vec<Effect>, facts: Facts) -> Clearance {
    let call = RawCall::new(tool, args);
    let action = Action { call, effects, programs: vec![], facts: facts.digest() };
    let audit = Audit {
        decision: Decision::Allow,
        findings: vec![],
        plan: Plan::default(),
        lawful: vec![],
        action: action.digest(),
        law: Digest::default(),
    };
    Clearance::issue(ProposalId(1), action, facts, &audit).unwrap()
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "still not: {what}");
        tokio::task::yield_now().await;
    }
}

fn said(outcome: &Outcome) -> &str {
    &outcome.output.head
}

#[track_caller]
fn ok(outcome: &Outcome) {
    assert_eq!(outcome.status, Status::Succeeded, "{}", outcome.output.shown());
}

#[track_caller]
fn refused(outcome: &Outcome, why: &str) {
    assert_eq!(outcome.status, Status::Failed, "{}", outcome.output.shown());
    assert!(said(outcome).contains(why), "`{why}` is not in: {}", outcome.output.shown());
}

// Files: what they do.

#[tokio::test]
async fn files_are_written_whole_with_what_was_there_kept_and_shown() {
    let here = Here::new();
    ok(&here.call("fs_write", json!({ "path": "new/dir/a.txt", "content": "one\ntwo\n" })).await);
    fs::set_permissions(here.path("new/dir/a.txt"), fs::Permissions::from_mode(0o750)).unwrap();
    let outcome = here.call("fs_write", json!({ "path": "new/dir/a.txt", "content": "one\nthree\n" })).await;
    ok(&outcome);
    let diff = outcome.diff.unwrap();
    assert!(diff.contains("-two\n+three\n") && diff.contains("b/new/dir/a.txt"), "{diff}");
    assert_eq!(here.read("new/dir/a.txt"), "one\nthree\n");
    assert_eq!(fs::metadata(here.path("new/dir/a.txt")).unwrap().permissions().mode() & 0o777, 0o750);
    let kept: Vec<_> = fs::read_dir(here.root().join("home/weal/trash")).unwrap().flatten().collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read_to_string(kept[0].path().join("content")).unwrap(), "one\ntwo\n");
    assert_eq!(fs::read_dir(here.path("new/dir")).unwrap().count(), 1, "a draft is left behind");
}

#[tokio::test]
async fn an_edit_wants_its_passage_exactly_once() {
    let here = Here::new();
    here.write("f", "a b a\n");
    for (old, why) in [("a", "occurs 2 times"), ("zz", "does not occur"), ("", "is empty")] {
        refused(&here.call("fs_edit", json!({ "path": "f", "old": old, "new": "x" })).await, why);
    }
    assert_eq!(here.read("f"), "a b a\n");
    let outcome = here.call("fs_edit", json!({ "path": "f", "old": "b", "new": "c\n" })).await;
    ok(&outcome);
    assert_eq!(here.read("f"), "a c\n a\n");
    assert!(outcome.diff.is_some());
    refused(&here.call("fs_edit", json!({ "path": "f", "old": "c" })).await, "missing field `new`");
}

#[tokio::test]
async fn trees_are_listed_read_searched_copied_moved_and_deleted() {
    let here = Here::new();
    here.write("d/one.txt", "alpha\nbeta\ngamma\n");
    here.write("d/e/two.txt", "beta\n");
    here.write("d/bin", "be\0ta");
    here.write(".git/x", "beta");
    symlink("one.txt", here.path("d/link")).unwrap();
    let outcome = here.call("fs_list", json!({ "path": "d" })).await;
    assert_eq!(said(&outcome), "bin\t5 bytes\ne/\nlink -> one.txt\none.txt\t17 bytes");
    let outcome = here.call("fs_read", json!({ "path": "d/link", "offset": 2, "limit": 1 })).await;
    assert_eq!(said(&outcome), "beta\n");
    refused(&here.call("fs_read", json!({ "path": "d/bin" })).await, "no text file");
    refused(&here.call("fs_read", json!({ "path": "d/one.txt", "offset": 9 })).await, "only 3 lines");
    let outcome = here.call("fs_search", json!({ "pattern": "^be.a$" })).await;
    assert_eq!(said(&outcome), "d/e/two.txt:1: beta\nd/one.txt:2: beta\n(not searched: 1 file, binary or too large)");

    ok(&here.call("fs_copy", json!({ "from": "d", "to": "copy/of/d" })).await);
    assert_eq!(here.read("copy/of/d/e/two.txt"), "beta\n");
    assert!(fs::symlink_metadata(here.path("copy/of/d/link")).unwrap().is_symlink());
    ok(&here.call("fs_move", json!({ "from": "copy/of/d", "to": "moved" })).await);
    assert!(!here.path("copy/of/d").exists() && here.path("moved/e").is_dir());
    refused(&here.call("fs_copy", json!({ "from": "d", "to": "d/e/f" })).await, "lies in the other path");
    refused(&here.call("fs_move", json!({ "from": "d/one.txt", "to": "moved" })).await, "is a directory");
    ok(&here.call("fs_copy", json!({ "from": "d/one.txt", "to": "moved/e/two.txt" })).await);
    assert_eq!(here.read("moved/e/two.txt"), "alpha\nbeta\ngamma\n");
    let outcome = here.call("fs_delete", json!({ "path": "moved" })).await;
    assert!(said(&outcome).starts_with("deleted `moved` (4 files"), "{}", said(&outcome));
    assert!(!here.path("moved").exists());
    refused(&here.call("fs_delete", json!({ "path": "." })).await, "the workspace itself");
    refused(&here.call("fs_delete", json!({ "path": "nothing" })).await, "is not there");
    refused(&here.call("fs_dance", json!({})).await, "there is no tool");
}

#[tokio::test]
async fn a_directory_of_thousands_is_counted_listed_backed_up_and_deleted() {
    let here = Here::new();
    (0..5_000).for_each(|n| here.write(&format!("big/{}/{n}", n % 7), "x"));
    let query = Query::Path("big".into());
    match here.facts(std::slice::from_ref(&query)).get(&query) {
        Some(Fact::Path { files: 5_000, bytes: 5_000, capped: false, .. }) => {}
        other => panic!("{other:?}"),
    }
    let outcome = here.call("fs_list", json!({ "path": "big/0" })).await;
    assert_eq!(said(&outcome).lines().count(), 715);
    let outcome = here.call("fs_backup", json!({ "path": "big" })).await;
    assert!(outcome.backup.is_some_and(|b| b.verified && b.files == 5_000));
    ok(&here.call("fs_delete", json!({ "path": "big" })).await);
    assert!(!here.path("big").exists());
}

#[tokio::test]
async fn a_cancelled_delete_stops() {
    let here = Here::new();
    here.write("d/f", "x");
    let cancel = CancellationToken::new();
    cancel.cancel();
    let clearance = cleared("fs_delete", json!({ "path": "d" }), vec![opaque()], Facts::default());
    assert_eq!(here.tools.execute(clearance, cancel).await.status, Status::Cancelled);
    assert!(here.path("d/f").exists());
}

// Files: where they end.

/// Every tool, aimed at `path`.
fn aimed(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("fs_list", json!({ "path": path })),
        ("fs_read", json!({ "path": path })),
        ("fs_write", json!({ "path": path, "content": "x" })),
        ("fs_edit", json!({ "path": path, "old": "private", "new": "x" })),
        ("fs_move", json!({ "from": path, "to": "stolen" })),
        ("fs_move", json!({ "from": "own", "to": path })),
        ("fs_copy", json!({ "from": path, "to": "stolen" })),
        ("fs_copy", json!({ "from": "own", "to": path })),
        ("fs_delete", json!({ "path": path })),
        ("fs_search", json!({ "pattern": ".", "path": path })),
        ("fs_backup", json!({ "path": path })),
    ]
}

#[tokio::test]
async fn no_file_tool_leaves_the_workspace() {
    let here = Here::new();
    here.write("own", "own");
    symlink(here.outside(), here.path("dir")).unwrap();
    symlink("../other", here.path("up")).unwrap();
    symlink(here.path("dir"), here.path("twice")).unwrap();
    let absolute = here.outside().join("secret").display().to_string();
    for (path, why) in [
        ("dir/secret", "outside of the workspace"),
        ("up/secret", "outside of the workspace"),
        ("twice/secret", "outside of the workspace"),
        ("dir/new", "outside of the workspace"),
        ("../other/secret", "goes upwards"),
        ("dir/../../other/secret", "goes upwards"),
        ("~/other/secret", "outside of the workspace"),
        ("/etc/passwd", "outside of the workspace"),
        (absolute.as_str(), "outside of the workspace"),
        ("", "is no path"),
    ] {
        for (tool, args) in aimed(path) {
            let outcome = here.call(tool, args.clone()).await;
            assert!(said(&outcome).contains(why), "{tool} {args}: {}", said(&outcome));
            assert_eq!(outcome.status, Status::Failed, "{tool} {args}");
        }
    }
    assert_eq!(fs::read_to_string(here.outside().join("secret")).unwrap(), "private");
    assert_eq!(fs::read_dir(here.outside()).unwrap().count(), 1);
    assert_eq!(here.read("own"), "own");
    assert!(!here.path("stolen").exists());
}

#[tokio::test]
async fn links_inside_are_followed_by_writing_and_not_by_deleting() {
    let here = Here::new();
    here.write("real/f", "old");
    symlink("real/f", here.path("link")).unwrap();
    symlink(here.outside().join("secret"), here.path("out")).unwrap();
    ok(&here.call("fs_write", json!({ "path": "link", "content": "new" })).await);
    assert_eq!(here.read("real/f"), "new");
    assert!(fs::symlink_metadata(here.path("link")).unwrap().is_symlink());
    refused(&here.call("fs_write", json!({ "path": "out", "content": "x" })).await, "outside of the workspace");
    ok(&here.call("fs_delete", json!({ "path": "link" })).await);
    ok(&here.call("fs_delete", json!({ "path": "out" })).await);
    assert_eq!(here.read("real/f"), "new");
    assert!(here.outside().join("secret").exists() && !here.path("out").exists());
    let absolute = here.path("real/f").display().to_string();
    ok(&here.call("fs_read", json!({ "path": absolute })).await);
}

/// A directory and a link to the outside change places all the while; nothing outside is ever touched.
#[test]
fn a_directory_swapped_for_a_link_leads_nowhere() {
    let here = Here::new();
    here.write("d/secret", "inside");
    symlink(here.outside(), here.path("l")).unwrap();
    let (d, l) = (here.path("d"), here.path("l"));
    let stop = AtomicBool::new(false);
    /// A failed assertion ends the exchange too.
    struct Ends<'a>(&'a AtomicBool);
    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let exchange = rustix::fs::RenameFlags::EXCHANGE;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(rustix::fs::CWD, &d, rustix::fs::CWD, &l, exchange).unwrap();
            }
        });
        let _ends = Ends(&stop);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut succeeded = 0;
        for n in 0..400 {
            let (tool, args) = match n % 4 {
                0 => ("fs_write", json!({ "path": "d/secret", "content": "written" })),
                1 => ("fs_delete", json!({ "path": "d/secret" })),
                2 => ("fs_write", json!({ "path": "d/deep/new", "content": "written" })),
                _ => ("fs_read", json!({ "path": "d/secret" })),
            };
            let outcome = runtime.block_on(here.call(tool, args));
            assert!(!outcome.output.shown().contains("private"), "read through the link");
            succeeded += usize::from(outcome.status == Status::Succeeded);
        }
        assert!(succeeded > 0, "the race was never won, so nothing was tried");
    });
    assert_eq!(fs::read_to_string(here.outside().join("secret")).unwrap(), "private");
    assert_eq!(fs::read_dir(here.outside()).unwrap().count(), 1);
}

fn law(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(law(32))]
    /// However a path is put together: what lies outside is neither changed nor read.
    #[test]
    fn no_path_leads_out(
        parts in prop::collection::vec(
            prop::sample::select(vec!["own", "dir", "up", "root", "home", "other", "secret", "..", ".", "", "~", "\\", "\u{202e}"]),
            1..6,
        ),
        start in prop::sample::select(vec!["", "/", "~/", "./", "dir/", "root/proc/self/root/"]),
    ) {
        let here = Here::with(|c| c.sandbox = false);
        here.write("own/f", "own");
        symlink(here.outside(), here.path("dir")).unwrap();
        symlink("..", here.path("up")).unwrap();
        symlink("/", here.path("root")).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for (tool, args) in aimed(&format!("{start}{}", parts.join("/"))) {
            let outcome = runtime.block_on(here.call(tool, args));
            prop_assert!(!outcome.output.shown().contains("private"));
        }
        prop_assert_eq!(fs::read_to_string(here.outside().join("secret")).unwrap(), "private");
        prop_assert_eq!(fs::read_dir(here.outside()).unwrap().count(), 1);
        prop_assert_eq!(fs::read_dir(here.root().join("home")).unwrap().count(), 3);
    }

    /// What bash makes of a glob, the fact about it says; with `**` it may say more.
    #[test]
    fn a_glob_is_what_bash_makes_of_it(
        names in prop::collection::btree_set("[ab.-]{1,3}(/[ab]{1,2})?", 1..12),
        patterns in prop::collection::vec("(\\*|\\?|\\[[!ab-]{1,3}\\]|\\[|[ab.-]|\\\\[ab*]|\\*\\*){1,4}(/(\\*|\\?|a|b){1,3})?/?", 1..20),
    ) {
        let here = Here::with(|c| c.sandbox = false);
        for name in names.iter().filter(|n| !n.split('/').any(|part| part == "." || part == "..")) {
            let path = here.path(name);
            let _ = fs::create_dir_all(path.parent().unwrap());
            let _ = fs::write(path, "");
        }
        let patterns: Vec<_> = patterns.into_iter().filter(|p| !p.contains("..") && !p.starts_with('-')).collect();
        let each = |p: &String| {
            format!("echo =; for f in {p}; do [ -e \"$f\" ] && printf '%s\\n' \"$f\"; done\n")
        };
        let script: String = patterns.iter().map(each).collect();
        let told = std::process::Command::new("bash")
            .args(["--norc", "-O", "nullglob", "-c", &script])
            .env("LC_ALL", "C")
            .current_dir(here.path(""))
            .output()
            .unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        let plain = |name: &str| {
            Path::new(name.trim_start_matches("./")).components().collect::<PathBuf>().display().to_string()
        };
        for (pattern, told) in patterns.iter().zip(told.split("=\n").skip(1)) {
            let bash: BTreeSet<String> =
                told.lines().map(plain).filter(|n| !matches!(n.as_str(), "" | "." | "..")).collect();
            let query = Query::Glob(pattern.clone());
            let ours: BTreeSet<String> = match here.facts(std::slice::from_ref(&query)).0.remove(&query) {
                Some(Fact::Glob { paths, .. }) => paths.into_iter().filter(|n| n != "." && n != "..").collect(),
                other => panic!("{other:?}"),
            };
            prop_assert!(bash.is_subset(&ours), "{pattern}: bash {bash:?}, here {ours:?}");
            prop_assert!(pattern.contains("**") || bash == ours, "{pattern}: bash {bash:?}, here {ours:?}");
        }
    }
}

// Backups.

#[tokio::test]
async fn a_backup_is_verified_and_tampering_shows_on_both_sides() {
    let here = Here::new();
    here.write("records/a", "one");
    here.write("records/2019/b", "two");
    symlink("a", here.path("records/link")).unwrap();
    fs::create_dir(here.path("records/empty")).unwrap();
    let outcome = here.call("fs_backup", json!({ "path": "records" })).await;
    ok(&outcome);
    let made = outcome.backup.unwrap();
    assert!(made.verified);
    assert_eq!((made.source.as_str(), made.files, made.bytes), ("records", 3, 6));
    let location = PathBuf::from(&made.location);
    assert!(location.starts_with(here.root().join("home/weal/backups")));
    assert_eq!(made.manifest, Digest::of(&fs::read(location.join("manifest.json")).unwrap()));
    let verify = || backup::verify(&location, &here.path("")).unwrap();
    assert!(verify());

    fs::write(location.join("content/records/a"), "0ne").unwrap();
    assert!(!verify(), "a changed copy");
    fs::write(location.join("content/records/a"), "one").unwrap();
    assert!(verify());
    here.write("records/new", "");
    assert!(!verify(), "a source with more in it");
    fs::remove_file(here.path("records/new")).unwrap();
    fs::set_permissions(here.path("records/a"), fs::Permissions::from_mode(0o600)).unwrap();
    assert!(!verify(), "another mode");
    fs::remove_dir_all(here.path("records")).unwrap();
    assert!(!verify(), "a source that is gone");
}

#[tokio::test]
async fn a_backup_that_cannot_be_whole_is_none() {
    let here = Here::new();
    here.write("d/f", "x");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        here.path("d/pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_bits_truncate(0o600),
        0,
    )
    .unwrap();
    let outcome = here.call("fs_backup", json!({ "path": "d" })).await;
    refused(&outcome, "`pipe`, which is no regular file");
    assert!(outcome.backup.is_none());
    assert_eq!(fs::read_dir(here.root().join("home/weal/backups")).unwrap().count(), 0);
    let outcome = here.call("fs_backup", json!({ "path": "." })).await;
    refused(&outcome, "no regular file");
    fs::remove_file(here.path("d/pipe")).unwrap();
    let outcome = here.call("fs_backup", json!({ "path": "." })).await;
    assert!(outcome.backup.is_some_and(|b| b.verified && b.source == "."));
}

// Commands: what they say.

#[tokio::test]
async fn a_command_says_what_it_said_in_order_with_its_exit() {
    let here = Here::new();
    let outcome = here.sh("echo one; echo two >&2; echo three; exit 3").await;
    assert_eq!((outcome.status, outcome.exit), (Status::Failed, Some(3)));
    assert_eq!(said(&outcome), "one\ntwo\nthree\n");
    let outcome = here.sh("kill -SEGV $$").await;
    assert_eq!((outcome.status, outcome.exit), (Status::Failed, None));
    assert!(said(&outcome).contains("ended by signal 11"));
    here.write("sub/f", "");
    let outcome = here.call("shell_exec", json!({ "command": "pwd; ls", "cwd": "sub" })).await;
    assert_eq!(said(&outcome), format!("{}\nf\n", here.path("sub").display()));
    refused(&here.call("shell_exec", json!({ "command": "pwd", "cwd": "nowhere" })).await, "did not run");
    refused(&here.call("shell_exec", json!({ "command": "x".repeat(200_000) })).await, "did not run");
}

#[tokio::test]
async fn long_output_keeps_its_two_ends_and_its_body() {
    let here = Here::with(|c| c.output_cap = 200);
    let outcome = here.sh("for i in {1..5000}; do echo line $i; done").await;
    ok(&outcome);
    assert!(outcome.output.head.starts_with("line 1\n") && outcome.output.tail.ends_with("line 5000\n"));
    assert!(outcome.output.head.len() + outcome.output.tail.len() <= 200);
    let body = here.tools.take_body(ProposalId(1)).unwrap();
    assert_eq!(body.len() as u64, outcome.output.bytes);
    assert_eq!(Digest::of(&body), outcome.output.digest);
    assert_eq!(String::from_utf8(body).unwrap().lines().count(), 5000);
    assert!(here.tools.take_body(ProposalId(1)).is_none());
    let outcome = here.sh("printf '\\033[31mred\\033[0m'").await;
    assert_eq!(said(&outcome), "\u{1b}[31mred\u{1b}[0m");
    assert!(here.tools.take_body(ProposalId(1)).is_none());
}

// Commands: what they see.

#[tokio::test]
async fn a_child_sees_no_keys_no_agents_and_no_terminal() {
    let here = Here::new();
    let outcome = here.sh("env").await;
    ok(&outcome);
    let env: BTreeMap<&str, &str> = said(&outcome).lines().filter_map(|l| l.split_once('=')).collect();
    assert!(!env.values().any(|v| *v == "leaked"), "{env:?}");
    assert_eq!((env["WEAL_CHILD"], env["TERM"], env["PATH"]), ("1", "dumb", "/usr/local/bin:/usr/bin:/bin"));
    assert_eq!(env["HOME"], here.root().join("home").display().to_string());
    for name in ["TMPDIR", "PATH", "TMUX"] {
        let query = Query::Env(name.into());
        let value = env.get(name).map(|v| (*v).to_owned());
        assert_eq!(here.facts(std::slice::from_ref(&query)).get(&query), Some(&Fact::Env { value }));
    }
    let outcome = here.sh("tty; (exec 3</dev/tty) 2>/dev/null && echo reached; read line || echo end of input").await;
    assert_eq!(said(&outcome), "not a tty\nend of input\n");
    // Field 7 of stat is the controlling terminal, 5 the group, 6 the session: not this process's.
    let outcome = here.sh("cut -d' ' -f5-7 /proc/self/stat").await;
    let own = fs::read_to_string("/proc/self/stat").unwrap();
    let session = own.split(' ').nth(5).unwrap();
    let fields: Vec<&str> = said(&outcome).split_whitespace().collect();
    assert_eq!(fields[2], "0");
    assert_ne!(fields[1], session);
    assert_ne!(fields[0], fields[1], "a leader of its session could take a terminal");
    let outcome = here.sh("ls /proc/self/fd | tr '\\n' ' '").await;
    assert_eq!(said(&outcome), "0 1 2 3 ", "a descriptor leaks (3 is the listing's own)");
}

// Commands: what they reach.

#[tokio::test]
async fn a_child_neither_reads_nor_writes_weals_own_files() {
    let here = Here::new();
    if !here.is_confined("a_child_neither_reads_nor_writes_weals_own_files") {
        return;
    }
    let weal = here.root().join("home/weal");
    symlink(&weal, here.path("link")).unwrap();
    let weal = weal.display();
    for attempt in [
        format!("cat {weal}/law"),
        format!("ls {weal}"),
        format!("ls {weal}/backups"),
        format!("echo x > {weal}/law"),
        format!("echo x > {weal}/new"),
        format!("rm {weal}/law"),
        format!("mv {weal} {weal}2"),
        format!("ln {weal}/law here"),
        "cat link/law".to_owned(),
        "echo x > link/new".to_owned(),
        format!("cat /proc/self/root{weal}/law"),
        format!("cd {weal} && cat law"),
    ] {
        let outcome = here.sh(&attempt).await;
        assert_eq!(outcome.status, Status::Failed, "{attempt}: {}", said(&outcome));
        assert!(!said(&outcome).contains("the law") && !said(&outcome).contains("trash"), "{attempt}");
    }
    // Even a write there that was cleared is not opened.
    let effects = vec![Effect::new(Verb::Create, Resource::path("~/weal/new"))];
    assert_eq!(here.sh_as(&format!("echo x > {weal}/new"), effects).await.status, Status::Failed);
    assert_eq!(fs::read_to_string(here.root().join("home/weal/law")).unwrap(), "the law");
    assert_eq!(fs::read_dir(here.root().join("home/weal")).unwrap().count(), 3);
    ok(&here.sh("cat ~/other/secret").await);
}

#[tokio::test]
async fn a_child_writes_where_its_effects_write_and_nowhere_else() {
    let here = Here::new();
    if !here.is_confined("a_child_writes_where_its_effects_write_and_nowhere_else") {
        return;
    }
    here.write("a/f", "");
    here.write("b/f", "");
    let outside = here.outside().display().to_string();
    let delete = || vec![Effect::new(Verb::Delete, Resource::path("a/f"))];
    let read = || vec![Effect::new(Verb::Read, Resource::path("a/f"))];
    let create = || vec![Effect::new(Verb::Create, Resource::path("a/new"))];
    let beyond = || vec![Effect::new(Verb::Create, Resource::path("~/other/new"))];
    for (command, effects, works) in [
        ("echo x > c && mkdir d && mv c d/c && rm -r d".to_owned(), vec![opaque()], true),
        ("echo x > $TMPDIR/t && echo x > /dev/null".to_owned(), read(), true),
        (format!("echo x > {outside}/new"), vec![opaque()], false),
        ("echo x > ~/new".to_owned(), vec![opaque()], false),
        (format!("echo x > /tmp/weal-it-{}", std::process::id()), vec![opaque()], false),
        (format!("chmod 777 b/f && mv b/f {outside}/f"), vec![opaque()], false),
        ("echo x > b/f".to_owned(), read(), false),
        ("rm b/f".to_owned(), delete(), false),
        ("echo x > a/f".to_owned(), delete(), false),
        ("rm a/f".to_owned(), delete(), true),
        ("echo x > b/f".to_owned(), create(), false),
        ("echo x > a/new".to_owned(), create(), true),
        (format!("echo x > {outside}/new"), beyond(), true),
        ("echo x > ~/new".to_owned(), beyond(), false),
    ] {
        let outcome = here.sh_as(&command, effects).await;
        assert_eq!(outcome.status == Status::Succeeded, works, "{command}: {}", said(&outcome));
        assert!(works || said(&outcome).contains("[weal: the sandbox let it write below"), "{}", said(&outcome));
    }
    assert_eq!(fs::read_to_string(here.outside().join("new")).unwrap(), "x\n");
}

#[tokio::test]
async fn ordinary_work_is_not_in_the_way() {
    let here = Here::new();
    for command in [
        "cat <(echo a) && cat <<< b && echo c > /dev/stdout && echo d > /dev/stderr && echo e | tee /dev/null",
        "t=$(mktemp) && echo x > $t && rm $t && mktemp -d",
        "mkdir -p deep/er && cd deep/er && touch f && ln -s f l && ln f h && mv f ../g && chmod +x ../g && rm -r ../../deep",
        "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --oneline",
        "ls / >/dev/null; ls /usr ~/other && ps -e >/dev/null && id -un && date && head -c 5 /dev/urandom | wc -c",
        "mkfifo p && (echo x > p &) && cat p && rm p",
        "python3 -c 'import multiprocessing as m; m.Lock()' || ! command -v python3",
    ] {
        ok(&here.sh(command).await);
    }
    let effects = vec![Effect::new(Verb::Create, Resource::path("new/dir/f"))];
    ok(&here.sh_as("mkdir -p new/dir && echo x > new/dir/f", effects).await);
}

#[tokio::test]
async fn a_child_signals_and_looks_into_nobody_else() {
    let here = Here::new();
    if !here.is_confined("a_child_signals_and_looks_into_nobody_else") {
        return;
    }
    let own = std::process::id();
    for pid in ["$PPID".to_owned(), own.to_string()] {
        for attempt in [
            format!("kill -9 {pid}"),
            format!("cat /proc/{pid}/environ"),
            format!("readlink /proc/{pid}/fd/1"),
            format!("cat /proc/{pid}/root/etc/passwd"),
            format!("echo x > /proc/{pid}/fd/1"),
        ] {
            let outcome = here.sh(&attempt).await;
            assert_eq!(outcome.status, Status::Failed, "{attempt}: {}", said(&outcome));
        }
    }
    ok(&here.sh("sleep 100 & kill $!").await);
}

#[tokio::test]
async fn a_child_has_no_network_unless_its_effects_do_and_never_a_unix_socket() {
    let here = Here::new();
    if !here.is_confined("a_child_has_no_network_unless_its_effects_do_and_never_a_unix_socket") {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    let build = vec![Effect::new(Verb::Create, Resource::path("x"))];
    assert_eq!(here.sh_as(&connect, build.clone()).await.status, Status::Failed);
    ok(&here.sh_as(&connect, vec![Effect::new(Verb::Request, Resource::named(Kind::Host, "127.0.0.1"))]).await);
    let udp = "exec 3<>/dev/udp/127.0.0.1/9";
    assert_eq!(here.sh_as(udp, build).await.status, Status::Failed);
    ok(&here.sh(udp).await);

    let socket = here.root().join("tmp/mux");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let perl = format!(
        "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die \"socket: $!\"; \
         connect(S, sockaddr_un(\"{}\")) or die \"connect: $!\"'",
        socket.display()
    );
    if Path::new("/usr/bin/perl").exists() {
        refused(&here.sh(&perl).await, "socket: Permission denied");
        ok(&here.sh("perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die'").await);
        let open = Here::with(|c| c.sandbox = false);
        ok(&open.sh(&perl).await);
    }
}

#[tokio::test]
async fn without_a_sandbox_the_badge_says_so() {
    let here = Here::with(|c| c.sandbox = false);
    assert!(matches!(here.tools.sandbox(), Sandbox::None { why } if why.contains("switched off")));
    ok(&here.sh("echo x > ~/new").await);
}

// Commands: their end.

/// Ways to outlive a command.
const STAYERS: &str = "sleep 1000 & nohup sleep 1001 >/dev/null 2>&1 & setsid sleep 1002 & \
    (setsid bash -c 'trap \"\" TERM HUP; sleep 1003 & while :; do sleep 1; done' >/dev/null 2>&1 &) ; \
    (env -i setsid sleep 1004 &) ; ";

#[tokio::test]
async fn nothing_outlives_a_command_that_ends() {
    let here = Here::new();
    let outcome = here.sh(&format!("{STAYERS} echo done; ")).await;
    ok(&outcome);
    assert!(said(&outcome).starts_with("done\n"), "{}", said(&outcome));
    assert!(said(&outcome).contains("processes still ran"), "{}", said(&outcome));
    assert_eq!(here.children(), Vec::<String>::new());
    assert!(!running("sleep\x001004\x00"), "the one without a marker");
}

fn running(cmdline: &str) -> bool {
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.into_iter().any(|e| fs::read(e.path().join("cmdline")).is_ok_and(|c| c == cmdline.as_bytes()))
}

#[tokio::test]
async fn nothing_outlives_a_time_out() {
    let here = Here::new();
    let started = Instant::now();
    let command = format!("{} echo started; sleep 1005", STAYERS.replace("100", "200"));
    let outcome = here.call("shell_exec", json!({ "command": command, "timeout_seconds": 1 })).await;
    assert_eq!(outcome.status, Status::TimedOut);
    assert_eq!(said(&outcome), "started\n");
    assert!(started.elapsed() < Duration::from_secs(15));
    assert_eq!(here.children(), Vec::<String>::new());
    assert!(!running("sleep\x002004\x00"));
}

#[tokio::test]
async fn nothing_outlives_a_cancel_or_the_one_who_asked() {
    for dropped in [false, true] {
        let here = Here::new();
        let cancel = CancellationToken::new();
        let args = json!({ "command": format!("{} touch ready; sleep 1005", STAYERS.replace("100", "300")) });
        let mut work =
            here.tools.execute(cleared("shell_exec", args, vec![opaque()], Facts::default()), cancel.clone());
        let ready = here.path("ready");
        tokio::select! {
            outcome = &mut work => panic!("{outcome:?}"),
            () = until("the command is under way", || ready.exists()) => {}
        }
        if dropped {
            drop(work);
            until("all have ended", || here.children().is_empty()).await;
        } else {
            cancel.cancel();
            assert_eq!(work.await.status, Status::Cancelled);
        }
        assert_eq!(here.children(), Vec::<String>::new());
        assert!(!running("sleep\x003004\x00"));
    }
}

/// Without a sandbox a child can end its supervisor; what carries the marker is still found.
#[tokio::test]
async fn a_supervisor_that_was_killed_is_cleaned_up_after() {
    let here = Here::with(|c| c.sandbox = false);
    let outcome = here.sh("setsid sleep 4001 >/dev/null 2>&1 & kill -9 $PPID; sleep 4002").await;
    assert_eq!(outcome.status, Status::Failed);
    until("all have ended", || here.children().is_empty()).await;
}

// The law and its children.

/// Not a test of its own: run again inside a child by the test below, it says where it is.
#[test]
fn says_whether_it_is_inside() {
    if std::env::var_os("SAY_INSIDE").is_some() {
        println!("inside: {}", sandbox::inside_child());
    }
}

#[tokio::test]
async fn a_child_is_known_for_one_however_it_hides() {
    assert!(!sandbox::inside_child());
    let here = Here::new();
    let exe = std::env::current_exe().unwrap();
    let probe = format!("SAY_INSIDE=1 {} --exact tools::says_whether_it_is_inside --nocapture", exe.display());
    for attempt in [
        probe.clone(),
        format!("env -i {probe}"),
        format!("env -i bash -c '{probe}'"),
        format!("env -i setsid -w env {probe}"),
        format!(
            "(env -i setsid bash -c 'while [ $PPID = 1 ]; do :; done; {probe}' > out &) ; while ! grep -q inside: out 2>/dev/null; do :; done; cat out"
        ),
    ] {
        let outcome = here.sh(&attempt).await;
        assert!(said(&outcome).contains("inside: true"), "{attempt}: {}", outcome.output.shown());
    }
}

// Facts.

#[tokio::test]
async fn facts_say_what_is_there() {
    let here = Here::new();
    here.write("d/one", "12345");
    here.write("tool.sh", "#!/bin/sh\n");
    fs::set_permissions(here.path("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink(here.outside(), here.path("out")).unwrap();
    symlink("gone", here.path("dangling")).unwrap();
    let one = |query: Query| here.facts(std::slice::from_ref(&query)).0.remove(&query).unwrap();
    let path = |name: &str| match one(Query::Path(name.into())) {
        Fact::Path { resolved, kind, link, files, bytes, .. } => (resolved, kind, link, files, bytes),
        other => panic!("{other:?}"),
    };
    let text = |p: PathBuf| p.display().to_string();
    assert_eq!(path("d"), (text(here.path("d")), PathKind::Directory, false, 1, 5));
    assert_eq!(path("out/new"), (text(here.outside().join("new")), PathKind::Missing, false, 0, 0));
    assert_eq!(path("out"), (text(here.outside()), PathKind::Directory, true, 1, 7));
    assert_eq!(path("dangling").1, PathKind::DanglingLink);
    assert_eq!(path("/dev/null").1, PathKind::Special);
    assert_eq!(path("d/one/below").1, PathKind::Missing);

    let found = |word: &str| match one(Query::Command(word.into())) {
        Fact::Command { path, digest } => (path, digest.is_some()),
        other => panic!("{other:?}"),
    };
    assert_eq!(found("bash"), (Some("/usr/bin/bash".into()), false));
    assert_eq!(found("./tool.sh"), (Some(text(here.path("tool.sh"))), true));
    assert_eq!(found("tool.sh"), (None, false));
    assert_eq!(found("nothing-of-this-name"), (None, false));

    assert!(matches!(one(Query::Text("tool.sh".into())), Fact::Text { text: Some(t), .. } if t == "#!/bin/sh\n"));
    assert!(matches!(one(Query::Text("none".into())), Fact::Text { text: None, .. }));
    here.write("long", &"x".repeat(300_000));
    assert!(matches!(one(Query::Text("long".into())), Fact::Unavailable { .. }));
    assert!(matches!(one(Query::Text("/dev/zero".into())), Fact::Unavailable { .. }));
    assert_eq!(one(Query::Glob("d/*".into())), Fact::Glob { paths: vec!["d/one".into()], capped: false });
}

fn git(dir: &Path, args: &[&str]) {
    let identity =
        [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("PATH", "/usr/local/bin:/usr/bin:/bin")];
    let names = ["user.name=a", "user.email=a@b"].map(|n| ["-c", n]).concat();
    let run =
        std::process::Command::new("git").args(names).args(args).current_dir(dir).env_clear().envs(identity).output();
    let run = run.unwrap();
    assert!(run.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&run.stderr));
}

#[tokio::test]
async fn git_says_what_no_commit_holds_and_runs_nothing_of_the_repository() {
    let here = Here::new();
    let query = Query::Git("sub/clean".into());
    let state = || here.facts(std::slice::from_ref(&query)).0.remove(&query).unwrap();
    here.write("sub/clean", "clean");
    assert!(matches!(state(), Fact::Git { root: None, .. }));
    if std::process::Command::new("git").arg("--version").output().is_err() {
        return println!("git_says_what_no_commit_holds_and_runs_nothing_of_the_repository: skipped, no git here");
    }
    let root = here.path("");
    git(&root, &["init", "-q", "-b", "main"]);
    for name in ["changed", "trusted", "staged"] {
        here.write(name, "first");
    }
    here.write(".gitignore", "*.env\ncache/\n");
    here.write(".gitattributes", "* filter=trap\n");
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "first"]);
    let trap = format!("touch {}/sprung; cat", root.display());
    for key in ["filter.trap.clean", "filter.trap.process", "core.fsmonitor", "diff.external", "core.sshCommand"] {
        git(&root, &["config", key, &trap]);
    }
    fs::create_dir_all(here.path(".git/hooks")).unwrap();
    here.write(".git/hooks/post-index-change", "#!/bin/sh\ntouch sprung\n");
    fs::set_permissions(here.path(".git/hooks/post-index-change"), fs::Permissions::from_mode(0o755)).unwrap();
    here.write("changed", "other");
    here.write("new file", "");
    here.write("key.env", "");
    here.write("cache/x", "");
    here.write("trusted", "other");
    git(&root, &["update-index", "--assume-unchanged", "trusted"]);
    fs::write(here.path("staged"), "later").unwrap();
    let _ = fs::remove_file(here.path("sprung"));
    match state() {
        Fact::Git { root: Some(found), dirty, untracked, branch, capped: false } => {
            assert_eq!(found, here.root().join("home/work").display().to_string());
            assert_eq!(dirty, ["changed", "staged", "trusted"]);
            assert_eq!(untracked, ["new file", "cache/", "key.env"]);
            assert_eq!(branch.as_deref(), Some("main"));
        }
        other => panic!("{other:?}"),
    }
    assert!(!here.path("sprung").exists(), "looking ran something of the repository");
}

#[tokio::test]
async fn nothing_runs_when_the_world_is_not_what_was_audited() {
    let here = Here::new();
    here.write("f", "one");
    here.write("run.sh", "touch ran");
    here.write("d/x", "");
    fs::create_dir(here.path("real")).unwrap();
    symlink("real", here.path("link")).unwrap();
    let queries = |list: &[Query]| here.facts(list);
    type Change = Box<dyn Fn()>;
    let at = |name: &str| here.path(name);
    let (f, script, new, link) = (at("f"), at("run.sh"), at("d/new"), at("link"));
    let changes: Vec<(Query, Change)> = vec![
        (Query::Path("f".into()), Box::new(move || fs::write(&f, "two").unwrap())),
        (Query::Text("run.sh".into()), Box::new(move || fs::write(&script, "touch ran; #").unwrap())),
        (Query::Glob("d/*".into()), Box::new(move || fs::write(&new, "").unwrap())),
        (
            Query::Path("link/x".into()),
            Box::new(move || {
                fs::remove_file(&link).unwrap();
                symlink("d", &link).unwrap();
            }),
        ),
    ];
    for (query, change) in changes {
        let facts = queries(std::slice::from_ref(&query));
        let args = json!({ "command": "echo ok" });
        ok(&here.execute("shell_exec", args, vec![opaque()], facts.clone()).await);
        change();
        let args = json!({ "command": "touch ran" });
        let outcome = here.execute("shell_exec", args, vec![opaque()], facts.clone()).await;
        refused(&outcome, "the world changed since the audit");
        let outcome = here.execute("fs_delete", json!({ "path": "d" }), vec![opaque()], facts).await;
        refused(&outcome, "the world changed since the audit");
    }
    assert!(!here.path("ran").exists() && here.path("d/x").exists());
    fs::rename(here.path(""), here.root().join("home/moved")).unwrap();
    fs::create_dir(here.path("")).unwrap();
    refused(&here.sh("touch ran").await, "the workspace is another directory");
}
