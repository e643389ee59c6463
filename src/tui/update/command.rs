//! Commands of the composer: `:name words`.

use super::{Context, Order, input, perform};
use crate::{
    session::Input,
    tui::{
        api::Intent,
        keymap::Act,
        theme::Theme,
        ui_state::{Focus, Pane, Ui},
    },
};

/// Name, arguments, meaning.
pub const COMMANDS: [(&str, &str, &str); 8] = [
    ("go", "", "ask the model for a reply to what is there"),
    ("help", "", "the keys"),
    ("quit", "", "quit"),
    ("release", "REASON", "release the latch"),
    ("revoke", "g3 REASON", "revoke a grant"),
    ("rules", "", "the rules view"),
    ("search", "WORDS", "search the transcript"),
    ("theme", "NAME", "another theme"),
];

/// Runs `line`, the text after the colon.
pub fn run(cx: Context<'_>, ui: &mut Ui, line: &str) -> Vec<Order> {
    let (name, words) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
    let words = words.trim();
    match name {
        "q" | "quit" => vec![Order::Tell(Intent::Quit)],
        "help" => perform(cx, ui, Act::Help),
        "rules" => perform(cx, ui, Act::Rules),
        "go" => input(Input::GoOn),
        "theme" if words.is_empty() => say(ui, "which theme? (`:theme dark`, `light` or `ansi16`)"),
        "theme" => vec![Order::Theme(words.to_owned())],
        "release" if cx.state.latch.is_none() => say(ui, "the latch is not engaged"),
        "release" if words.is_empty() => perform(cx, ui, Act::Release),
        "release" => input(Input::ReleaseLatch { reason: words.to_owned() }),
        "search" => {
            ui.search = Some(words.to_owned()).filter(|w| !w.is_empty());
            ui.focus = Focus::Pane(Pane::Transcript);
            perform(cx, ui, Act::PreviousMatch)
        }
        "revoke" => {
            let (grant, why) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
            match grant.parse() {
                Ok(grant) => input(Input::RevokeGrant { grant, why: why.trim().to_owned() }),
                Err(_) => say(ui, "which grant? (`:revoke g3 no longer needed`)"),
            }
        }
        _ => say(ui, &format!("no command `:{name}` (F1 lists them)")),
    }
}

fn say(ui: &mut Ui, words: &str) -> Vec<Order> {
    ui.notice = Some(words.to_owned());
    Vec::new()
}

/// What `line` (with its colon) could be completed to.
pub fn complete(line: &str) -> Option<String> {
    let typed = line.strip_prefix(':')?;
    if let Some(theme) = typed.strip_prefix("theme ") {
        let name = Theme::BUILT_IN.iter().map(|(name, _)| *name).find(|name| name.starts_with(theme))?;
        return Some(format!(":theme {name}"));
    }
    let (name, args, _) = COMMANDS.iter().find(|(name, _, _)| name.starts_with(typed))?;
    Some(format!(":{name}{}", if args.is_empty() { "" } else { " " }))
}
