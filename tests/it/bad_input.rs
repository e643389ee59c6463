//! What is wrong is said, with what to do, and nothing is lost or half done.

use super::home::{Home, Ran};
use serde_json::json;
use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

fn fails_with(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{ran:?}");
    for word in words {
        assert!(ran.err.contains(word), "`{word}` is not in {ran:?}");
    }
    assert!(!ran.err.contains("panicked"), "{ran:?}");
}

/// A short session that leaves a log.
fn played(home: &Home) -> PathBuf {
    let scratch = home.work().join("scratch");
    let ran = home.run(&["demo", "quickstart", "--headless", "--scratch", scratch.to_str().expect("text")]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    scratch
}

fn log_of(home: &Home) -> PathBuf {
    let data = home.home().join(".local/share/weal");
    let found = fs::read_dir(data).expect("a data directory").map(|e| e.expect("an entry").path().join("log.db"));
    found.into_iter().find(|p| p.is_file()).expect("a log")
}

#[test]
fn a_broken_configuration_is_named_with_its_line() {
    let home = Home::new();
    home.config("config.toml", "[model]\nbase_url = \"http://localhost:1/v1\"\ntemprature = 0.2\n");
    let ran = home.run(&["rules", "list"]);
    fails_with(&ran, 1, &["config.toml", "temprature", "temperature", "3"]);
}

#[test]
fn a_typo_in_a_rule_is_named_with_a_suggestion() {
    let home = Home::new();
    let rule =
        "[[rule]]\nid = \"c100\"\ntitle = \"t\"\nrule = 'if efect_is(delete) then require_approval()'\nwhy = \"w\"\n";
    home.config("rules.toml", rule);
    let ran = home.run(&["rules", "list"]);
    fails_with(&ran, 1, &["rules.toml", "efect_is", "effect_is"]);
}

#[test]
fn a_rule_that_fails_its_own_example_is_not_trusted() {
    let home = Home::new();
    let rule = "[[rule]]\nid = \"c100\"\ntitle = \"t\"\nrule = 'if effect_is(delete) then require_approval()'\nwhy = \"w\"\n\
                matches = [\"ls\"]\nnot_matches = []\n";
    home.config("rules.toml", rule);
    fails_with(&home.run(&["rules", "list"]), 1, &["c100", "ls", "must match"]);
    let tested = home.run(&["rules", "test"]);
    assert!(tested.code == Some(1) && tested.out.contains("1 failed"), "{tested:?}");
}

#[test]
fn a_log_of_a_newer_version_is_left_alone() {
    let home = Home::new();
    let scratch = played(&home);
    let db = log_of(&home);
    let bytes = fs::read(&db).expect("the log");
    // the format number is the user version of the database, at a fixed place of its head
    let mut newer = bytes.clone();
    newer[60..64].copy_from_slice(&999u32.to_be_bytes());
    let wal = db.with_extension("db-wal");
    let _ = fs::remove_file(&wal);
    fs::write(&db, &newer).expect("written");
    let ran = home.run(&["-C", scratch.to_str().expect("text"), "log", "list"]);
    fails_with(&ran, 1, &["newer", "999"]);
    assert_eq!(fs::read(&db).expect("the log"), newer, "it was changed");
}

#[test]
fn a_damaged_log_is_named_and_left_alone() {
    let home = Home::new();
    let scratch = played(&home);
    let db = log_of(&home);
    let _ = fs::remove_file(db.with_extension("db-wal"));
    fs::write(&db, b"this is no database, whatever its name says").expect("written");
    let ran = home.run(&["-C", scratch.to_str().expect("text"), "log", "list"]);
    fails_with(&ran, 1, &["log.db", "damaged"]);
    assert_eq!(fs::read(&db).expect("the log"), b"this is no database, whatever its name says");
}

#[test]
fn a_log_that_was_edited_names_the_event() {
    let home = Home::new();
    let scratch = played(&home);
    let dir = scratch.to_str().expect("text");
    assert_eq!(home.run(&["-C", dir, "log", "verify"]).code, Some(0));
    // everything into the one file, then one word of it changed
    let db = log_of(&home);
    let mut bytes = fs::read(&db).expect("the log");
    let word = b"push to main";
    let at =
        bytes.windows(word.len()).position(|w| w.eq_ignore_ascii_case(word)).expect("the rule stands in the log");
    bytes[at..at + 4].copy_from_slice(b"pull");
    fs::write(&db, &bytes).expect("written");
    let ran = home.run(&["-C", dir, "log", "verify"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("changed"), "{ran:?}");
}

#[test]
fn a_data_directory_that_cannot_be_written_is_named() {
    let home = Home::new();
    // a file in the way is refused to everybody, root included
    let data = home.home().join(".local/share/weal");
    fs::create_dir_all(data.parent().expect("a parent")).expect("a directory");
    fs::write(&data, "in the way").expect("a file");
    let ran =
        home.run(&["demo", "quickstart", "--headless", "--scratch", home.work().join("s").to_str().expect("text")]);
    fails_with(&ran, 1, &[".local/share/weal"]);
    assert_eq!(fs::read_to_string(&data).expect("the file"), "in the way");
}

#[test]
fn a_scratch_directory_with_something_in_it_is_not_touched() {
    let home = Home::new();
    home.put("mine/letter.txt", "dear");
    let ran = home.run(&["demo", "--headless", "--scratch", home.work().join("mine").to_str().expect("text")]);
    fails_with(&ran, 1, &["mine"]);
    assert_eq!(fs::read_dir(home.work().join("mine")).expect("the directory").count(), 1);
}

#[test]
fn an_endpoint_that_refuses_is_named() {
    let home = Home::new();
    let mut command = home.weal(&["run", "Do it."]);
    // port 9 of this machine: discarded, nobody listens
    command.env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1").env("OPENAI_MODEL", "m");
    home.config("config.toml", "[model]\nattempts = 1\n");
    fails_with(&Ran::of(command.output().expect("weal runs")), 1, &["127.0.0.1:9"]);
}

#[test]
fn no_endpoint_is_said_plainly() {
    let home = Home::new();
    fails_with(&home.run(&["run", "Do it."]), 1, &["no model", "OPENAI_BASE_URL"]);
}

#[test]
fn without_a_terminal_the_cockpit_says_what_to_use() {
    let home = Home::new();
    fails_with(&home.run(&[]), 1, &["terminal", "weal run"]);
}

#[test]
fn usage_errors_have_their_own_code() {
    let home = Home::new();
    assert_eq!(home.run(&["frobnicate"]).code, Some(2));
    assert_eq!(home.run(&["log", "show"]).code, Some(2));
    fails_with(&home.run(&["log", "show", "nosuch"]), 1, &["nosuch", "weal log list"]);
    fails_with(&home.run(&["demo", "nosuch", "--headless"]), 1, &["nosuch", "archive"]);
    fails_with(&home.run(&["scars", "list"]), 1, &["not there yet"]);
    fails_with(&home.run(&["eval", "statements"]), 1, &["not there yet"]);
}

#[test]
fn a_bad_line_is_denied_and_the_next_is_answered() {
    let home = Home::new();
    let good = json!({"history": ["Never touch contracts/."], "request": "Look around.", "tool": "fs.list", "args": {"path": "."}});
    let ran = home.ask(&["check", "--stdin-lines"], &format!("{good}\nnonsense\n{{\"tool\": 3}}\n\n{good}\n"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines = ran.lines();
    let decisions: Vec<_> = lines.iter().map(|l| l["decision"].as_str().expect("a decision")).collect();
    assert_eq!(decisions, ["allow", "deny", "deny", "allow"]);
    assert!(lines[1]["error"].is_string() && lines[2]["error"].is_string());
    fails_with(&home.ask(&["check"], "nonsense"), 1, &["no request of the form"]);
}

#[test]
fn the_contract_of_check_effects_and_extract() {
    let home = Home::new();
    let question = json!({"history": ["Before anything under records/ is deleted, make a backup."],
        "request": "Delete records/2019.", "tool": "fs_delete", "args": {"path": "records/2019"}});
    let answer = home.ask(&["check"], &question.to_string()).json();
    assert_eq!(answer["decision"], "repair", "{answer:#}");
    assert_eq!(
        answer["repair"][0],
        json!({"kind": "precede", "tool": "fs_backup", "args": {"path": "records/2019"}})
    );
    let rule = &answer["rules"][0];
    assert!(rule["origin"] == "said" && rule["quote"].as_str().is_some_and(|q| q.contains("backup")), "{rule}");

    let effects = home.ask(&["effects"], r#"{"tool": "shell_exec", "args": {"command": "rm -rf build"}}"#).json();
    let effect = &effects["effects"][0];
    assert!(effect["verb"] == "delete" && effect["resource"] == "build/**", "{effects}");
    for key in ["attributes", "certainty", "reversibility"] {
        assert!(!effect[key].is_null(), "{key} is missing in {effect}");
    }

    let found = home.ask(&["extract"], r#"{"turns": ["hello", "Please never push to main."]}"#).json();
    let statement = &found["statements"][0];
    assert!(statement["turn"] == 2 && statement["kind"] == "prohibition" && statement["op"] == "add", "{found}");
    assert_eq!(home.ask(&["extract"], r#"{"turns": ["hello"]}"#).json()["statements"], json!([]));
}

#[test]
fn rules_can_be_added_shown_and_retired_and_bind_the_next_session() {
    let home = Home::new();
    let added = home.run(&["rules", "add", "Never delete anything under keep/."]);
    assert!(added.code == Some(0) && added.out.contains("§1"), "{added:?}");
    let added = home.run(&["rules", "add", "if effect_is(install) then require_approval()"]);
    assert!(added.code == Some(0) && added.out.contains("§2"), "{added:?}");
    assert!(home.run(&["rules", "show", "§1"]).out.contains("keep/**"));
    fails_with(&home.run(&["rules", "add", "if efect_is(install) then require_approval()"]), 1, &["effect_is"]);
    fails_with(&home.run(&["rules", "retire", "c1", "--why", "x"]), 1, &["core rule"]);
    assert_eq!(home.run(&["rules", "retire", "u2", "--why", "no longer needed"]).code, Some(0));
    let list = home.run(&["rules", "list"]).out;
    assert!(list.contains("§1    active") && list.contains("§2    revoked"), "{list}");
}

#[test]
fn the_law_is_closed_to_children() {
    let home = Home::new();
    let mut command = home.weal(&["rules", "add", "Never delete anything under keep/."]);
    command.env("WEAL_CHILD", "1");
    fails_with(&Ran::of(command.output().expect("weal runs")), 1, &["refused inside"]);
}

#[test]
fn the_log_and_the_keys_are_readable_by_their_owner_only() {
    let home = Home::new();
    played(&home);
    let mode = |path: PathBuf| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(log_of(&home)), 0o600);
    assert_eq!(mode(log_of(&home).parent().expect("a parent").to_owned()), 0o700);
}
