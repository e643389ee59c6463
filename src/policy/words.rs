//! Sentences that could not be made into rules, held against effects by their words alone: enough to ask, never enough
//! to forbid or to allow.

use crate::domain::{Effect, RawCall, Verb};

/// Whether `words` speak of the effect, of its object or of the program that has it, by name.
pub(super) fn name(words: &str, effect: &Effect, call: &RawCall) -> bool {
    let words: Vec<String> = words.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
    let said = |stem: &str| words.iter().any(|w| if stem.len() > 3 { w.starts_with(stem) } else { w == stem });
    let parts = effect.resource.name().unwrap_or_default().split(|c: char| !c.is_alphanumeric());
    let object = parts
        .map(str::to_lowercase)
        .any(|part| part.chars().count() > 2 && !COMMON.contains(&part.as_str()) && words.contains(&part));
    let command = call.text("command").unwrap_or_default();
    let tokens = command.split(|c: char| c.is_whitespace() || ";|&()".contains(c)).map(str::to_lowercase);
    let telling = |t: &String| t.chars().count() > 2 && !COMMON.contains(&t.as_str());
    let program = tokens.filter(telling).any(|t| words.contains(&t));
    object || program || stems(effect.verb).iter().any(|stem| said(stem))
}

/// How people begin the words they use for a verb; three letters and fewer are whole words.
const fn stems(verb: Verb) -> &'static [&'static str] {
    match verb {
        Verb::Read => &["read"],
        Verb::List => &["list"],
        Verb::Create => &["creat", "write", "writing"],
        Verb::Modify => &["modif", "chang", "edit", "alter", "touch", "updat"],
        Verb::Overwrite => &["overwr", "replac", "clobber"],
        Verb::Delete => &["delet", "remov", "eras", "wipe", "wiping", "destroy", "purg", "drop", "rm"],
        Verb::Move => &["move", "moving", "renam"],
        Verb::Copy => &["copy", "copi"],
        Verb::Backup => &["backup"],
        Verb::Execute => &["run", "runs", "running", "execut"],
        Verb::Install => &["install"],
        Verb::Grant => &["grant", "permission", "rights", "share", "sharing"],
        Verb::Send => &["send", "sent", "mail", "email", "messag", "forward"],
        Verb::Publish => &["publish", "push", "deploy", "releas", "upload"],
        Verb::Request => &["request", "fetch", "download"],
        Verb::Pay => &["pay", "pays", "paying", "paid", "payment", "transfer", "spend", "buy", "purchas"],
        Verb::Schedule => &["schedul", "book"],
        Verb::Cancel => &["cancel"],
        Verb::Set => &["set", "sets", "setting", "switch"],
        Verb::Escalate => &["sudo", "root", "privileg", "escalat"],
        Verb::Unknown => &[],
    }
}

/// Words that say nothing about what a sentence is about.
const COMMON: [&str; 16] = [
    "the", "and", "for", "not", "any", "all", "with", "from", "that", "this", "you", "are", "has", "out", "new",
    "only",
];
