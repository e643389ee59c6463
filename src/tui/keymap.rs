//! Situation and key to action. Actions are named once, here; keymap file, help and code all use these names.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::{collections::BTreeMap, fmt, str::FromStr};

/// A closed set of words with a meaning for the person.
macro_rules! words {
    ($(#[$doc:meta])* $set:ident: $($item:ident $name:literal $means:literal),* $(,)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $set { $($item),* }
        impl $set {
            pub const ALL: &[$set] = &[$($set::$item),*];
            /// As it is written in the keymap file.
            pub const fn name(self) -> &'static str { match self { $($set::$item => $name),* } }
            /// As help explains it.
            pub const fn means(self) -> &'static str { match self { $($set::$item => $means),* } }
            pub fn from_name(name: &str) -> Option<$set> { match name { $($name => Some($set::$item),)* _ => None } }
        }
    };
}

words! {
    /// Where the keys go; the more particular situations are asked first.
    Situation:
    Any "any" "anywhere",
    Composer "composer" "writing a message",
    Pane "pane" "in the transcript or a pane",
    Dock "dock" "when a decision waits",
    Demo "demo" "while a demo plays",
    Replay "replay" "in a replay",
    Rules "rules" "in the rules view",
    Field "field" "in a line that asks for words",
    Editor "editor" "editing an action",
    Overlay "overlay" "over help or a trace",
}

words! {
    /// What a key can do.
    Act:
    Help "help" "show or hide the keys",
    Rules "rules" "the rules: where each comes from, what it did",
    Search "search" "search the transcript",
    NextMatch "next_match" "next match",
    PreviousMatch "previous_match" "match before",
    Command "command" "type a command",
    Write "write" "write a message",
    NextFocus "next_focus" "go to the next part of the screen",
    PreviousFocus "previous_focus" "go to the part before",
    Back "back" "close, interrupt what runs, or go back to writing",
    ClearOrQuit "clear_or_quit" "clear the line; twice on an empty one: quit",
    Quit "quit" "quit",
    Suspend "suspend" "suspend weal",
    Redraw "redraw" "draw the screen anew",
    Send "send" "send",
    Newline "newline" "new line",
    Complete "complete" "complete a command, or go to the next part",
    Up "up" "up; in an empty or one-line message: earlier ones",
    Down "down" "down",
    PageUp "page_up" "a page up",
    PageDown "page_down" "a page down",
    First "first" "to the start",
    Last "last" "to the end",
    Open "open" "open or fold what is selected",
    Release "release" "release the latch, with a reason",
    ApproveOnce "approve_once" "approve this once (then Enter, or a typed word)",
    ApproveSession "approve_session" "approve the offered scope for this session (then Enter)",
    Deny "deny" "deny, and say why",
    Edit "edit" "edit the action; it is audited again",
    RepairFirst "repair_first" "do what must come first, then audit again (then Enter)",
    AskHuman "ask_human" "put it to someone and go on with the rest (then Enter)",
    Jump "jump" "jump to the sentence behind it",
    NextQuestion "next_question" "next question",
    PreviousQuestion "previous_question" "question before",
    Confirm "confirm" "confirm what was chosen",
    Nothing "nothing" "nothing, on purpose",
    DemoStep "demo_step" "one step",
    DemoRun "demo_run" "run or pause",
    DemoFaster "demo_faster" "faster",
    DemoSlower "demo_slower" "slower",
    StepBack "step_back" "one record back in time",
    StepOn "step_on" "one record on",
    LeapBack "leap_back" "a hundred records back",
    LeapOn "leap_on" "a hundred records on",
    ToStart "to_start" "to the first record",
    ToEnd "to_end" "to the last record",
    RuleConfirm "rule_confirm" "confirm a draft",
    RuleReject "rule_reject" "reject a draft",
    RuleSuspend "rule_suspend" "suspend",
    RuleRevoke "rule_revoke" "revoke",
    RuleRevive "rule_revive" "revive",
}

/// One key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Hash)]
pub struct Key {
    pub code: KeyCode,
    pub modifiers: KeyModifiers,
}

const NAMED: [(&str, KeyCode); 15] = [
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("space", KeyCode::Char(' ')),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
];

impl Key {
    /// One way to write each key: a shifted character is that character, back-tab is shift-tab.
    pub fn of(event: &KeyEvent) -> Key {
        let mut modifiers = event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        let code = match event.code {
            KeyCode::BackTab => {
                modifiers |= KeyModifiers::SHIFT;
                KeyCode::Tab
            }
            KeyCode::Char(c) => {
                let c =
                    if modifiers.contains(KeyModifiers::SHIFT) { c.to_uppercase().next().unwrap_or(c) } else { c };
                modifiers -= KeyModifiers::SHIFT;
                KeyCode::Char(c)
            }
            code => code,
        };
        Key { code, modifiers }
    }

    /// The character that this key types, if it types one.
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.modifiers.is_empty() => Some(c),
            _ => None,
        }
    }
}

impl FromStr for Key {
    type Err = ();
    fn from_str(text: &str) -> Result<Key, ()> {
        let (mut rest, mut modifiers) = (text, KeyModifiers::NONE);
        for (prefix, modifier) in
            [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT), ("shift-", KeyModifiers::SHIFT)]
        {
            if let Some(stripped) = rest.strip_prefix(prefix).filter(|r| !r.is_empty()) {
                (rest, modifiers) = (stripped, modifiers | modifier);
            }
        }
        let named = NAMED.iter().find(|(name, _)| *name == rest).map(|(_, code)| *code);
        let function = rest.strip_prefix('f').and_then(|n| n.parse().ok()).filter(|n| (1..=12).contains(n));
        let mut chars = rest.chars();
        let single = match (chars.next(), chars.next()) {
            (Some(c), None) => Some(KeyCode::Char(c)),
            _ => None,
        };
        let code = named.or(function.map(KeyCode::F)).or(single).ok_or(())?;
        Ok(Key { code, modifiers })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, word) in
            [(KeyModifiers::CONTROL, "Ctrl-"), (KeyModifiers::ALT, "Alt-"), (KeyModifiers::SHIFT, "Shift-")]
        {
            if self.modifiers.contains(modifier) {
                f.write_str(word)?;
            }
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code) {
            let (first, rest) = name.split_at(1);
            let rest = match rest {
                "ageup" => "ageUp",
                "agedown" => "ageDown",
                rest => rest,
            };
            return write!(f, "{}{rest}", first.to_uppercase());
        }
        match self.code {
            KeyCode::Char(c) if self.modifiers.is_empty() => write!(f, "{c}"),
            KeyCode::Char(c) => write!(f, "{}", c.to_uppercase()),
            KeyCode::F(n) => write!(f, "F{n}"),
            code => write!(f, "{code}"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum KeymapError {
    #[error("keymap `{file}`: {why}")]
    Syntax { file: String, why: String },
    #[error("keymap `{file}`: `{name}` is no situation (there are: {})", Situation::ALL.iter().map(|s| s.name()).collect::<Vec<_>>().join(", "))]
    NoSituation { file: String, name: String },
    #[error("keymap `{file}`, [{situation}]: `{key}` is no key (try `ctrl-s`, `alt-enter`, `f5`, `?`)")]
    NoKey { file: String, situation: &'static str, key: String },
    #[error("keymap `{file}`, [{situation}] `{key}`: `{action}` is no action{hint}")]
    NoAction { file: String, situation: &'static str, key: String, action: String, hint: String },
}

/// All bindings, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Keymap {
    bindings: Vec<(Situation, Key, Act)>,
}

impl Keymap {
    const SHIPPED: &'static str = include_str!("../../assets/keymap.toml");

    /// The shipped keys, changed by the person's own file where there is one: (its name, its text).
    pub fn load(own: Option<(&str, &str)>) -> Result<Keymap, KeymapError> {
        let mut keymap = Keymap { bindings: Vec::new() };
        keymap.merge("assets/keymap.toml", Self::SHIPPED)?;
        if let Some((file, text)) = own {
            keymap.merge(file, text)?;
        }
        Ok(keymap)
    }

    fn merge(&mut self, file: &str, text: &str) -> Result<(), KeymapError> {
        let syntax = |e: toml::de::Error| KeymapError::Syntax { file: file.to_owned(), why: e.to_string() };
        let tables: BTreeMap<String, toml::map::Map<String, toml::Value>> = toml::from_str(text).map_err(syntax)?;
        for (name, keys) in tables {
            let no_situation = || KeymapError::NoSituation { file: file.to_owned(), name: name.clone() };
            let situation = Situation::from_name(&name).ok_or_else(no_situation)?;
            for (key, action) in keys {
                self.bind(file, situation, &key, action.as_str().unwrap_or_default())?;
            }
        }
        Ok(())
    }

    fn bind(&mut self, file: &str, situation: Situation, text: &str, action: &str) -> Result<(), KeymapError> {
        let file = file.to_owned();
        let key: Key = text.parse().map_err(|()| KeymapError::NoKey {
            file: file.clone(),
            situation: situation.name(),
            key: text.to_owned(),
        })?;
        self.bindings.retain(|(s, k, _)| (*s, *k) != (situation, key));
        if action == "none" {
            return Ok(());
        }
        let act = Act::from_name(action).ok_or_else(|| KeymapError::NoAction {
            file,
            situation: situation.name(),
            key: text.to_owned(),
            action: action.to_owned(),
            hint: nearest(action).map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default(),
        })?;
        self.bindings.push((situation, key, act));
        Ok(())
    }

    /// What `key` does in the first of `situations` that knows it.
    pub fn act(&self, situations: &[Situation], key: Key) -> Option<Act> {
        let bound =
            |s: &Situation| self.bindings.iter().find(|(b, k, _)| b == s && *k == key).map(|(_, _, act)| *act);
        situations.iter().find_map(bound)
    }

    /// The first key that does `act` in `situation`, as text for hints.
    pub fn key(&self, situation: Situation, act: Act) -> String {
        let find = |s| self.bindings.iter().find(|(b, _, a)| *b == s && *a == act).map(|(_, key, _)| key.to_string());
        find(situation).or_else(|| find(Situation::Any)).unwrap_or_else(|| "–".to_owned())
    }

    /// Each action of a situation with all its keys, in the order of [`Act::ALL`].
    pub fn lines(&self, situation: Situation) -> Vec<(String, Act)> {
        let keys = |act: &Act| {
            let bound = self.bindings.iter().filter(|(s, _, a)| *s == situation && a == act);
            let mut keys: Vec<String> = bound.map(|(_, key, _)| key.to_string()).collect();
            keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
            (!keys.is_empty() && *act != Act::Nothing).then(|| (keys.join(" "), *act))
        };
        Act::ALL.iter().filter_map(keys).collect()
    }
}

/// The action whose name is closest to `wrong`, if any is close.
fn nearest(wrong: &str) -> Option<&'static str> {
    let score = |name: &str| similar::TextDiff::from_chars(wrong, name).ratio();
    let scored = Act::ALL.iter().map(|act| (score(act.name()), act.name()));
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.6).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_keymap_loads_and_prints_back() {
        let keymap = Keymap::load(None).unwrap();
        for (_, key, _) in &keymap.bindings {
            let text = key.to_string();
            let lower = if text.chars().count() == 1 { text } else { text.to_lowercase() };
            assert_eq!(lower.parse::<Key>(), Ok(*key));
        }
        assert_eq!(keymap.key(Situation::Dock, Act::Deny), "d");
        assert_eq!(keymap.key(Situation::Dock, Act::NextFocus), "Tab");
    }

    #[test]
    fn own_keys_win_and_errors_say_where() {
        let own = Keymap::load(Some(("mine", "[dock]\n\"z\" = \"deny\"\n\"d\" = \"none\""))).unwrap();
        assert_eq!(own.key(Situation::Dock, Act::Deny), "z");
        for (text, wanted) in [
            ("[dock]\nz = \"dney\"", "keymap `mine`, [dock] `z`: `dney` is no action (did you mean `deny`?)"),
            ("[duck]\nz = \"deny\"", "`duck` is no situation"),
            ("[dock]\nhyper-z = \"deny\"", "`hyper-z` is no key"),
            ("[dock\n", "keymap `mine`: "),
        ] {
            let error = Keymap::load(Some(("mine", text))).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
