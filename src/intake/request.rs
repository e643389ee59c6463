//! Whether the present request itself names an effect: its verb and everything it covers.

use super::statements::{
    Cue, Form, Group, Item, Lexicon, Object, below, from_name, groups, is_demand, items, sentences, units,
};
use crate::domain::{Effect, Extent, Kind, Resource, Verb};

/// The request orders exactly this: the verb in its own words, and an object that holds all of the effect's
/// resource. A broad order (`clean up`, `do it all`) names nothing, and neither does a question or a ban.
pub fn names(request: &str, effect: &Effect, lexicon: &Lexicon) -> bool {
    sentences(request, lexicon).iter().any(|sentence| {
        let items = items(&sentence.tokens, lexicon);
        units(&items).iter().any(|unit| {
            let quiet = |cue: Cue| is_demand(cue) && !matches!(cue, Cue::Permit | Cue::Permitted | Cue::Relax);
            let bans = unit.core.iter().any(|p| matches!(p.item, Item::Cue(cue) if quiet(cue) || cue == Cue::Idle));
            let told = unit.core.iter().any(|p| p.is_cue(Cue::Reported) || p.is_cue(Cue::Hypothetical));
            let orders = unit.core.iter().any(|p| matches!(p.item, Item::Act { form: Form::Base, .. }));
            orders && !bans && !told && groups(&unit.core).iter().any(|group| group_names(group, effect, lexicon))
        })
    })
}

fn group_names(group: &Group, effect: &Effect, lexicon: &Lexicon) -> bool {
    let acts = group.acts.iter().filter_map(|a| lexicon.acts.get(*a));
    let verbs: Vec<&String> = acts.flat_map(|a| &a.verbs).collect();
    let does = verbs.iter().any(|v| v.as_str() == effect.verb.word() || v.as_str() == "write" && edits(effect.verb));
    does && !group.outside && group.lists.iter().flatten().any(|object| covers(object, effect, lexicon))
}

/// `change x` orders an edit, never a deletion or a move.
fn edits(verb: Verb) -> bool {
    matches!(verb, Verb::Create | Verb::Modify | Verb::Overwrite)
}

fn covers(object: &Object, effect: &Effect, lexicon: &Lexicon) -> bool {
    let resource = &effect.resource;
    match object {
        Object::Resources(names) => names.iter().any(|name| holds(name, resource)),
        Object::Address(name) => {
            holds(name, resource) || resource.name().is_some_and(|own| name.ends_with(&format!(":{own}")))
        }
        Object::Label(label) => resource.kind == Kind::Branch && effect.labels.contains(label),
        Object::Unknown(words) => spelled(words, resource, lexicon),
        Object::Any | Object::Kind(_) | Object::Program(_) | Object::Pronoun | Object::Style => false,
    }
}

/// `name` as a rule writes it holds all of `resource`.
fn holds(name: &str, resource: &Resource) -> bool {
    let own = resource.to_string();
    let own = own.strip_prefix("./").unwrap_or(&own);
    if below(own, name) || own.strip_suffix("/**").is_some_and(|base| base == name) {
        return true;
    }
    match (name.strip_prefix("**/*"), &resource.extent) {
        (Some(end), Extent::One(path)) if resource.kind == Kind::Path => !end.contains('*') && path.ends_with(end),
        (Some(_), Extent::Glob(glob)) => glob.trim_start_matches("./") == name || format!("**/{glob}") == name,
        _ => false,
    }
}

/// `the old log` is `old.log` or `logs/old-log`; `standup` is the event of that name. All words, no fewer.
fn spelled(words: &str, resource: &Resource, lexicon: &Lexicon) -> bool {
    let Extent::One(name) = &resource.extent else { return false };
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
    let split = |text: &str| -> Vec<String> {
        let lower = text.to_lowercase();
        let parts = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
        parts.filter(|w| !lexicon.fillers.contains(*w)).map(str::to_owned).collect()
    };
    let (said, own) = (split(words), split(last));
    !own.is_empty() && said == own
        || matches!(from_name(words), Object::Resources(names) if names.iter().any(|n| holds(n, resource)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(request: &str, verb: Verb, resource: &str) -> bool {
        names(request, &Effect::new(verb, resource.parse().unwrap()), &Lexicon::english())
    }

    #[test]
    fn an_order_names_what_it_spells_out() {
        for (request, verb, resource, want) in [
            ("delete old.log and cache/", Verb::Delete, "old.log", true),
            ("delete old.log and cache/", Verb::Delete, "cache/**", true),
            ("delete old.log and cache/", Verb::Delete, "cache/a/b.txt", true),
            ("delete old.log and cache/", Verb::Delete, "records/**", false),
            ("delete old.log and cache/", Verb::Delete, ".", false),
            ("delete old.log and cache/", Verb::Move, "old.log", false),
            ("please remove cache/a", Verb::Delete, "cache/**", false),
            ("clean up", Verb::Delete, "old.log", false),
            ("free up disk space", Verb::Delete, "cache/**", false),
            ("do it all", Verb::Delete, "cache/**", false),
            ("delete everything you do not need", Verb::Delete, "cache/**", false),
            ("don't delete old.log", Verb::Delete, "old.log", false),
            ("delete all *.tmp files below this folder", Verb::Delete, "a/b.tmp", true),
            ("delete all *.tmp files below this folder", Verb::Delete, "a/b.txt", false),
            ("delete the old log", Verb::Delete, "old.log", true),
            ("delete the log", Verb::Delete, "old.log", false),
            ("send the report to ann@shop.example", Verb::Send, "contact:ann@shop.example", true),
            ("send the report to ann@shop.example", Verb::Send, "contact:bob@shop.example", false),
            ("push it to main", Verb::Publish, "branch:main", true),
            ("push it to main", Verb::Publish, "branch:release", false),
            ("update src/a.rs", Verb::Modify, "src/a.rs", true),
            ("update src/a.rs", Verb::Delete, "src/a.rs", false),
            ("make records/ smaller", Verb::Delete, "records/**", false),
        ] {
            assert_eq!(named(request, verb, resource), want, "{request} / {verb} {resource}");
        }
    }
}
