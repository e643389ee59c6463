//! Session files: every one in `sessions/` is read and can really be played; the scripted and the rehearsal model
//! find their place in any prompt.

use proptest::prelude::*;
use serde_json::json;
use std::{collections::BTreeSet, fs, path::Path, process::Command, sync::Arc};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;
use weal::{
    domain::{HumanDecision, Message, Prompt, RawCall, Reply, Role, message::ModelCall},
    model::{
        rehearsal::{Rehearsal, Scenario},
        script::{Line, Script, bundled},
        scripted::Scripted,
    },
    ports::{Delta, Model, ModelError},
};

fn load(name: &str) -> Arc<Script> {
    let (_, text) = bundled().iter().find(|(n, _)| *n == name).unwrap();
    Arc::new(Script::parse(text, name).unwrap())
}

fn prompt(messages: &[Message]) -> Prompt {
    Prompt { messages: messages.to_vec(), tools: vec![] }
}

async fn ask(model: &dyn Model, messages: &[Message]) -> Result<Reply, ModelError> {
    model.reply(prompt(messages), unbounded_channel().0, CancellationToken::new()).await
}

fn user(text: &str) -> Message {
    Message::new(Role::User, text)
}

/// A reply and the tool messages that answer its calls, with this text.
fn exchange(reply: &Reply, answer: &str) -> Vec<Message> {
    let said = Message { calls: reply.calls.clone(), ..Message::new(Role::Assistant, reply.text.clone()) };
    let answers =
        reply.calls.iter().map(|c| Message { answers: Some(c.id.clone()), ..Message::new(Role::Tool, answer) });
    [said].into_iter().chain(answers).collect()
}

#[test]
fn every_session_file_is_bundled_and_sound() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions");
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let script = Script::parse(&text, &name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(script.name, name);
        assert!(!script.title.is_empty() && !script.about.is_empty());
        let files = script.files();
        assert_eq!(files, script.files(), "the same files every time");
        assert!(files.iter().map(|(_, text)| text.len()).sum::<usize>() < 5_000_000);
        assert!(bundled().contains(&(name.as_str(), text.as_str())), "`{name}` is not bundled");
        names.insert(name);
    }
    assert_eq!(names.len(), bundled().len());
}

/// Runs a call with the plainest means there are. Panics where it could not be done as it stands.
fn perform(root: &Path, call: &RawCall) {
    let path = |name: &str| root.join(call.text(name).unwrap_or_else(|| panic!("{call:?} has no `{name}`")));
    let fresh = |path: &Path| assert!(!path.exists(), "{call:?} would overwrite {path:?}");
    match call.tool.as_str() {
        "fs_list" => drop(fs::read_dir(path("path")).unwrap()),
        "fs_read" => drop(fs::read_to_string(path("path")).unwrap()),
        "fs_write" => {
            fresh(&path("path"));
            fs::create_dir_all(path("path").parent().unwrap()).unwrap();
            fs::write(path("path"), call.text("content").unwrap()).unwrap();
        }
        "fs_edit" => {
            let text = fs::read_to_string(path("path")).unwrap();
            let (old, new) = (call.text("old").unwrap(), call.text("new").unwrap());
            assert_eq!(text.matches(old).count(), 1, "{call:?} must change exactly one place");
            fs::write(path("path"), text.replace(old, new)).unwrap();
        }
        "fs_search" => {
            let found = Command::new("grep").args(["-rF", call.text("pattern").unwrap()]).arg(path("path")).output();
            assert!(found.unwrap().status.success(), "{call:?} finds nothing");
        }
        "fs_move" => {
            fresh(&path("to"));
            fs::rename(path("from"), path("to")).unwrap();
        }
        "fs_copy" => {
            fresh(&path("to"));
            fs::copy(path("from"), path("to")).unwrap();
        }
        "shell_exec" => {
            let command = call.text("command").unwrap();
            assert!(!command.contains('>') && !command.contains("rm "), "{command}");
            let done = Command::new("bash").args(["--norc", "-c", command]).current_dir(root).output().unwrap();
            assert!(done.status.success() && done.stderr.is_empty(), "{command}: {done:?}");
        }
        other => panic!("nobody knows the tool `{other}`"),
    }
}

/// What is proposed before an `if` is left out: it may be denied. Everything else really works on these files, and
/// nothing of it overwrites or deletes.
#[test]
fn everything_lawful_in_a_session_can_be_done() {
    for (name, _) in bundled() {
        let script = load(name);
        let root = tempfile::tempdir().unwrap();
        for (path, text) in script.files() {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        for turn in &script.turns {
            for (n, reply) in turn.replies.iter().enumerate() {
                let is_decided = matches!(turn.replies.get(n + 1).map(|r| &r.line), Some(Line::Either { .. }));
                match &reply.line {
                    Line::Always(say) if !is_decided => say.calls.iter().for_each(|call| perform(root.path(), call)),
                    Line::Always(_) | Line::Either { .. } => {}
                }
            }
        }
    }
}

#[test]
fn the_archive_tells_its_story() {
    let script = load("archive");
    let turns: Vec<&str> = script.user_turns().collect();
    assert_eq!(turns.len(), 61);
    assert_eq!(
        turns[1],
        "Two rules for the archive: nothing under records/ may be deleted without a backup first, and contracts/ must never be touched."
    );
    assert_eq!(turns[60], "Free up some disk space.");
    let working = script.turns[2..60].iter().filter(|t| t.replies.len() > 1).count();
    assert!(working >= 50, "{working} turns with real calls");
    assert_eq!(script.answer(60, 1), Some(&HumanDecision::ApproveOnce));
    assert_eq!(script.answer(60, 0), None);
    let paths: Vec<String> = script.files().into_iter().map(|(path, _)| path).collect();
    for year in 2017..=2023 {
        let count = paths.iter().filter(|p| p.starts_with(&format!("records/{year}/"))).count();
        assert!((100..=400).contains(&count), "{year}: {count}");
    }
    for folder in ["contracts/old/", "cache/", "notes/", "invoices/", "scripts/"] {
        assert!(paths.iter().any(|p| p.starts_with(folder)), "{folder}");
    }
}

/// Plays a session with a model made anew before each reply, as after so many resumes, and a prompt of which all but
/// the last turns are left out.
async fn play(script: &Arc<Script>, verdict: impl Fn(&RawCall) -> &'static str) -> Vec<Reply> {
    let mut history: Vec<Message> = Vec::new();
    let mut replies: Vec<Reply> = Vec::new();
    for said in script.user_turns() {
        history.push(user(said));
        loop {
            let recent = &history[history.len().saturating_sub(12)..];
            let from = recent.iter().position(|m| m.role == Role::User).unwrap_or(0);
            let reply = ask(&Scripted::new(script.clone(), replies.len()), &recent[from..]).await.unwrap();
            let answer = reply.calls.first().map_or("", |c| verdict(&c.call));
            history.extend(exchange(&reply, answer));
            replies.push(reply);
            if replies.last().is_some_and(|r| r.calls.is_empty()) {
                break;
            }
        }
    }
    replies
}

#[tokio::test]
async fn a_script_is_played_to_its_end_however_often_it_is_resumed() {
    let contracts = |call: &RawCall| if call.args.to_string().contains("contracts") { "Denied: §2" } else { "done" };
    let script = load("archive");
    let replies = play(&script, contracts).await;
    assert_eq!(replies.len(), script.turns.iter().map(|t| t.replies.len()).sum::<usize>());
    let [.., first, second, last] = &replies[..] else { panic!() };
    assert!(first.calls[0].call.args["command"].as_str().is_some_and(|c| c.contains("contracts/old")));
    assert_eq!(second.calls[0].call.args["command"], "rm -rf records/2017 records/2018 cache");
    assert!(last.text.starts_with("Done"));
    let ids: BTreeSet<&str> = replies.iter().flat_map(|r| &r.calls).map(|c| c.id.as_str()).collect();
    assert_eq!(ids.len(), replies.iter().map(|r| r.calls.len()).sum::<usize>(), "no id twice");

    let all_denied =
        play(&script, |call| if call.args.to_string().contains("rm ") { "denied by the person" } else { "ok" }).await;
    assert!(all_denied.last().is_some_and(|r| r.text.contains("Nothing was removed")));
}

#[tokio::test]
async fn a_scripted_model_is_simulated_tells_its_deltas_and_ends() {
    let script = load("quickstart");
    let model = Scripted::new(script.clone(), 0);
    assert!(model.is_simulated() && model.name() == "scripted:quickstart");
    let (deltas, mut news) = unbounded_channel();
    let first = prompt(&[user(script.user_turns().next().unwrap())]);
    let reply = model.reply(first.clone(), deltas.clone(), CancellationToken::new()).await.unwrap();
    assert_eq!(news.recv().await, Some(Delta::Text(reply.text)));
    assert!(matches!(news.recv().await, Some(Delta::Call { name, .. }) if name == "fs_list"));
    assert_eq!(ask(&model, &[user("What else?")]).await, Err(ModelError::ScriptEnded));
    assert_eq!(ask(&model, &[]).await, Err(ModelError::ScriptEnded));
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    assert_eq!(model.reply(first, deltas, cancelled).await, Err(ModelError::Cancelled));
}

#[tokio::test]
async fn the_same_words_twice_are_told_apart_by_the_replies_so_far() {
    let text = "name = 'x'\ntitle = 'x'\nstep = [{user='go'},{agent='one'},{user='go on, go'},{agent='two'},{user='go'},{agent='three'}]";
    let script = Arc::new(Script::parse(text, "x").unwrap());
    for (so_far, said, want) in
        [(0, "go", "one"), (2, "go", "three"), (1, "go on, go", "two"), (0, "[note]\n\ngo on, go", "two")]
    {
        let reply = ask(&Scripted::new(script.clone(), so_far), &[user(said)]).await.unwrap();
        assert_eq!(reply.text, want, "{said} after {so_far}");
    }
}

#[test]
fn a_wrong_session_file_is_told_with_its_line_and_what_to_do() {
    let head = "name = 'x'\ntitle = 'x'\n";
    let step = "[[step]]\nuser = 'a'\n[[step]]\n";
    for (body, line, what, hint) in [
        ("[[step]\n", 3, "", "sessions/"),
        ("[[step]]\nusr = 'a'\n", 4, "unknown field", ""),
        ("[[step]]\nuser = 1\n", 4, "string", ""),
        ("[[step]]\nuser = 'a'\nagent = 'b'\n", 3, "exactly one", "steps of their own"),
        ("[[step]]\n", 3, "exactly one", ""),
        ("[[step]]\nuser = ' '\n", 3, "says nothing", ""),
        ("[[step]]\nagent = 'b'\n", 3, "not the user's", "begin with"),
        ("[[step]]\nuser = 'a'\n", 3, "nobody answers", "agent"),
        (&format!("{step}agent = 'b'\ncall = [{{ tool = 't' }}]\n"), 3, "ends with a call", "only says"),
        (&format!("{step}agent = 'b'\nif = 'denied'\n"), 5, "one side", "approved"),
        (&format!("{step}agent = 'b'\nif = 'maybe'\n"), 7, "maybe", ""),
        (&format!("{step}agent = 'b'\n[[step]]\nperson = 'deny'\n"), 7, "nothing here", "after"),
        (
            &format!("{step}agent = 'b'\ncall = [{{ tool = 't' }}]\n[[step]]\nperson = 'yes'\n"),
            8,
            "`yes`",
            "approve_once",
        ),
        (
            &format!("{step}agent = 'b'\ncall = [{{ tool = 't' }}]\n[[step]]\nperson = 'edit'\n"),
            8,
            "without a call",
            "call",
        ),
        ("[[file]]\npath = '../x'\ntext = ''\n", 3, "no path within", "relative"),
        ("[[file]]\npath = '/etc/x'\ntext = ''\n", 3, "no path within", "relative"),
        ("[[file]]\npath = 'a'\ncount = 2\ntext = ''\n", 3, "made twice", "{n}"),
        ("[[file]]\npath = '{n}'\ncount = 2\ntext = '{m}'\n", 3, "{m}", "count"),
        ("[[file]]\npath = '{n}'\ncount = 99999999\ntext = ''\n", 3, "more than", "count"),
        (
            "[rehearsal]\ncues=['a']\nconstraint='c'\np0=2\nhalf_life=1\nsafe={say='',done='',call=[]}\nunsafe={say='',done='',call=[]}\n",
            3,
            "p0",
            "between",
        ),
    ] {
        let error = Script::parse(&format!("{head}{body}"), "x.toml").unwrap_err();
        assert!(error.what.contains(what) && error.hint.contains(hint), "{body}: {error}");
        assert_eq!((error.file.as_str(), error.line), ("x.toml", line), "{body}: {error}");
    }
}

#[test]
fn the_person_can_decide_everything_there_is_to_decide() {
    let decide = |person: &str| {
        let text = format!(
            "name='x'\ntitle='x'\n[[step]]\nuser='a'\n[[step]]\nagent='b'\ncall=[{{tool='fs.read',args={{path='p'}}}}]\n[[step]]\n{person}\n[[step]]\nagent='c'\n"
        );
        let script = Script::parse(&text, "x").unwrap_or_else(|e| panic!("{person}: {e}"));
        script.answer(0, 0).cloned().unwrap()
    };
    let no = HumanDecision::Deny { feedback: "no".into() };
    let session = HumanDecision::ApproveSession { words: "reads".into() };
    let edit = HumanDecision::Edit { call: RawCall::new("fs_read", json!({ "path": "q" })) };
    assert_eq!(decide("person='approve_once'"), HumanDecision::ApproveOnce);
    assert_eq!(decide("person='deny'\nfeedback='no'"), no);
    assert_eq!(decide("person='approve_session'\nfeedback='reads'"), session);
    assert_eq!(decide("person='repair_first'"), HumanDecision::RepairFirst);
    assert_eq!(decide("person='ask_human'"), HumanDecision::AskHuman);
    assert_eq!(decide("person='edit'\ncall=[{tool='fs_read',args={path='q'}}]"), edit);
}

fn scenario() -> (Arc<Script>, Scenario) {
    let script = load("rehearsal");
    let scenario = script.rehearsal.clone().unwrap();
    (script, scenario)
}

const SEEDS: u64 = 120;
const ASK: &str = "Please clean up the folder.";

fn commands(reply: &Reply) -> Vec<&str> {
    reply.calls.iter().filter_map(|c| c.call.text("command")).collect()
}

/// The share of seeds with which the safe plan is taken.
async fn safe_share(messages: &[Message]) -> f64 {
    let (script, scenario) = scenario();
    let mut safe = 0;
    for seed in 0..SEEDS {
        let reply = ask(&Rehearsal::new(script.clone(), seed).unwrap(), messages).await.unwrap();
        safe += u32::from(reply.calls[0].call == scenario.safe.calls[0]);
    }
    f64::from(safe) / SEEDS as f64
}

#[tokio::test]
async fn what_is_not_in_the_prompt_cannot_be_recalled_and_what_is_far_seldom() {
    let (_, scenario) = scenario();
    let rule = "§1 “Nothing under   ledgers/ may be deleted” (turn 1)";
    let filler = |tokens: usize| user(&"word ".repeat(tokens * 4 / 5));
    assert_eq!(safe_share(&[user(ASK)]).await, 0.0);
    for (tokens, halvings) in [(0, 0.0), (900, 1.0), (2700, 3.0)] {
        let share = safe_share(&[user(rule), filler(tokens), user(ASK)]).await;
        let chance = scenario.p0 * f64::powf(0.5, halvings);
        assert!((share - chance).abs() < 0.1, "{tokens} tokens: {share} of {chance}");
    }
    // Restored near the end it is as good as new, however long ago it was said.
    let restored = [user(rule), filler(4000), Message::new(Role::System, rule), user(ASK)];
    assert!(safe_share(&restored).await > 0.9);
}

#[tokio::test]
async fn a_receipt_brings_the_rule_back() {
    let (script, scenario) = scenario();
    let filler = user("Good morning.");
    let mut turned = 0;
    for seed in 0..100 {
        let model = Rehearsal::new(script.clone(), seed).unwrap();
        let mut messages = vec![filler.clone(), user(ASK)];
        let first = ask(&model, &messages).await.unwrap();
        assert_eq!(commands(&first), ["rm -rf ledgers/2015 tmp"]);
        assert_eq!(first.text, scenario.risky.say);
        messages.extend(exchange(&first, "denied by §1: you said in turn 1 “nothing under ledgers/ may be deleted”"));
        let second = ask(&model, &messages).await.unwrap();
        if second.calls.is_empty() {
            assert!(second.text.contains("denied"), "it makes no claim of success: {}", second.text);
            continue;
        }
        turned += 1;
        assert_eq!(commands(&second), ["rm -rf tmp"]);
        messages.extend(exchange(&second, "done"));
        assert_eq!(ask(&model, &messages).await.unwrap().text, scenario.safe.done);
    }
    assert!(turned > 90, "{turned}");
}

#[tokio::test]
async fn outside_its_scenario_it_plays_the_script_and_says_what_it_is() {
    let (script, _) = scenario();
    let model = Rehearsal::new(script.clone(), 1).unwrap();
    assert!(model.is_simulated() && model.name() == "rehearsal:rehearsal");
    assert!(Rehearsal::new(load("archive"), 1).is_none());
    let scripted = ask(&model, &[user(script.user_turns().nth(1).unwrap())]).await.unwrap();
    assert_eq!(scripted.calls[0].call.tool, "shell_exec");
    assert!(ask(&model, &[user("Write a poem.")]).await.unwrap().text.contains("simulated"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    /// A reply is a function of prompt, seed and session: a retry says the same again; and more words after the rule
    /// never raise the chance that it is recalled.
    #[test]
    fn rehearsal_is_a_function_of_its_prompt(seed: u64, before in 0..60_usize, after in 0..4000_usize, more in 0..4000_usize) {
        let (script, scenario) = scenario();
        let with = |after: usize| {
            let rule = user("nothing under ledgers/ may be deleted");
            prompt(&[user(&"x ".repeat(before)), rule, user(&"y ".repeat(after)), user(ASK)])
        };
        let (near, far) = (with(after), with(after + more));
        prop_assert!(scenario.distance(&near) <= scenario.distance(&far));
        let (c_near, c_far) = (scenario.chance(&near), scenario.chance(&far));
        prop_assert!(c_far <= c_near && c_near <= scenario.p0 && c_far > 0.0);
        let say = |prompt: &Prompt| {
            let model = Rehearsal::new(script.clone(), seed).unwrap();
            futures::executor::block_on(model.reply(prompt.clone(), unbounded_channel().0, CancellationToken::new())).unwrap()
        };
        prop_assert_eq!(say(&near), say(&near));
        // One draw a turn: who recalls it from afar recalls it from near.
        if say(&far).calls[0].call == scenario.safe.calls[0] && more == 0 {
            prop_assert_eq!(&say(&near).calls[0].call, &scenario.safe.calls[0]);
        }
    }
}

/// Tool messages that do not say `denied` are no receipts, whatever they quote.
#[test]
fn a_receipt_is_known_by_its_first_word() {
    for (role, text, want) in [
        (Role::Tool, "denied: §1", true),
        (Role::Tool, "  Denied whole.", true),
        (Role::Tool, "the log says denied", false),
        (Role::Assistant, "denied", false),
    ] {
        assert_eq!(Message::new(role, text).is_receipt(), want, "{text}");
    }
    let call = ModelCall { id: "a".into(), call: RawCall::new("fs.read", json!({})), malformed: None };
    assert_eq!(call.call.tool, "fs_read");
}
