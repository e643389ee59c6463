//! The cockpit in a pseudo-terminal: a demo stepped, a denial, an approval, a resize, a way out.

use super::{
    home::Home,
    sse::{Answer, Server, Step, delta},
    terminal::Terminal,
};
use serde_json::json;
use std::path::Path;

/// Where the picture of the README goes, when it is to be made anew.
const PICTURE: &str = "WEAL_PICTURE";

fn steps_until(terminal: &mut Terminal, what: &str) {
    for _ in 0..400 {
        let before = terminal.text();
        if before.contains(what) {
            return;
        }
        terminal.press(" ");
        terminal.until("the demo to go on", |screen| screen.contents() != before);
    }
    panic!("the demo never showed `{what}`:\n{}", terminal.text());
}

#[test]
fn the_demo_is_stepped_denies_asks_is_answered_and_left() {
    let home = Home::new();
    let scratch = home.home().join("archive");
    let args = ["demo", "--scratch", scratch.to_str().expect("text")];
    let mut terminal = Terminal::weal(&args, &home.work(), &home.home(), 150, 46);
    terminal.shows("archive");
    // paused, then turn by turn
    terminal.press("r");
    steps_until(&mut terminal, "§2 prohibition");
    // faster through the work in between, up to the question about the invoices
    terminal.press("++++r");
    terminal.shows("DECIDE");
    terminal.press(" ");
    let asked = terminal.shows("rm -rf records/2017 records/2018 cache");
    assert!(asked.contains("denied"), "{asked}");
    let asked = terminal.shows("DECIDE");
    assert!(asked.contains("LATCHED"), "{asked}");
    // a resize keeps the question and the whole width
    terminal.shows("What you type goes into your message");
    terminal.resize(80, 24);
    terminal.until("the narrow screen", |s| s.size().1.get() == 80 && s.contents().contains("DECIDE"));
    terminal.resize(150, 46);
    terminal.until("the wide screen", |s| s.contents().contains("In force") && s.contents().contains("DECIDE"));

    // a single key and a bare Enter say nothing
    terminal.press("\r");
    assert!(scratch.join("cache").exists());
    approve(&mut terminal);
    terminal.hides("DECIDE");
    terminal.until("the files to be gone", |_| !scratch.join("cache").exists());
    terminal.shows("Done, and this is what happened");
    assert!(!scratch.join("records/2017").exists() && scratch.join("records/2019").exists());
    assert!(scratch.join("contracts/old").exists(), "what must never be touched is there");
    quit(&mut terminal);
    let verified = home.run(&["-C", scratch.to_str().expect("text"), "log", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

/// Says yes to what cannot be undone, in the way the dock asks for.
fn approve(terminal: &mut Terminal) {
    terminal.press("\t");
    terminal.shows("approve once");
    // the last row comes last
    terminal.shows("back to writing");
    if let Some(path) = std::env::var_os(PICTURE) {
        std::fs::write(path, terminal.svg()).expect("the picture");
    }
    // keys that come too soon after a question appeared are no answer to it
    while !terminal.shows_soon("Cannot be undone. Type delete") {
        terminal.press("y");
    }
    terminal.press("delete\r");
}

fn quit(terminal: &mut Terminal) {
    terminal.press("\x03");
    terminal.press("\x03");
    assert_eq!(terminal.ends(), 0);
    assert!(terminal.left_alternate_screen(), "the terminal was not given back");
}

#[test]
fn a_session_with_an_endpoint_streams_is_denied_and_is_resumed() {
    let home = Home::new();
    home.put("contracts/a.txt", "signed");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let server = runtime.block_on(Server::start([
        Answer::says("I will keep **away** from them."),
        Answer::calls(&[("shell_exec", json!({ "command": "rm -rf contracts" }))]),
        Answer::says("Then I leave them alone."),
    ]));
    home.config("config.toml", &format!("[model]\nbase_url = \"{}\"\nname = \"m\"\n", server.url));
    let mut terminal = Terminal::weal(&[], &home.work(), &home.home(), 120, 40);
    terminal.shows("weal");
    terminal.press("Never touch contracts/.\r");
    terminal.shows("keep away from them");
    terminal.shows("§1");
    terminal.press("Clean up please.\r");
    let screen = terminal.shows("Then I leave them alone");
    assert!(screen.contains("denied") && screen.contains("§1"), "{screen}");
    assert!(home.work().join("contracts/a.txt").is_file());
    quit(&mut terminal);

    let mut again = Terminal::weal(&[], &home.work(), &home.home(), 120, 40);
    let start = again.shows("Never touch contracts/");
    assert!(start.contains("2 turns") || start.contains("resume"), "{start}");
    quit(&mut again);
}

#[test]
fn escape_breaks_a_reply_off_and_keeps_what_was_read() {
    let home = Home::new();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let begun = Step::Event(delta(json!({ "content": "It begins here and" })).to_string());
    let server = runtime.block_on(Server::start([Answer::steps([begun, Step::Hang]), Answer::says("Once more.")]));
    home.config("config.toml", &format!("[model]\nbase_url = \"{}\"\nname = \"m\"\n", server.url));
    let mut terminal = Terminal::weal(&[], &home.work(), &home.home(), 100, 30);
    terminal.shows("no session yet");
    terminal.press("Tell me a story.\r");
    terminal.shows("It begins here and");
    terminal.press("\x1b");
    terminal.shows("cut off here");
    runtime.block_on(server.left(1));
    terminal.press("Again.\r");
    let screen = terminal.shows("Once more.");
    assert!(screen.contains("It begins here and"), "{screen}");
    quit(&mut terminal);
}

#[test]
fn a_terminal_of_twenty_columns_says_so() {
    let home = Home::new();
    let mut terminal = Terminal::weal(&[], &home.work(), &home.home(), 20, 10);
    terminal.shows("weal needs 40");
    terminal.resize(100, 30);
    terminal.hides("weal needs 40");
    quit(&mut terminal);
}

#[test]
fn a_term_signal_gives_the_terminal_back() {
    let home = Home::new();
    let mut terminal = Terminal::weal(&[], &home.work(), &home.home(), 100, 30);
    terminal.shows("weal");
    let pid = terminal.child.process_id().expect("a process").to_string();
    let sent = std::process::Command::new("kill").args(["-TERM", &pid]).status().expect("kill");
    assert!(sent.success());
    terminal.ends();
    terminal.until("the terminal to be given back", |screen| !screen.alternate_screen());
}

#[test]
fn the_picture_of_the_readme_is_there() {
    let picture = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/cockpit.svg");
    let text = std::fs::read_to_string(picture).expect("the picture");
    assert!(text.starts_with("<svg") && text.contains("DECIDE"));
}
