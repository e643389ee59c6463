//! Whether the present request itself names an effect: its verb and everything it covers.

use super::statements::{
    Act, Cue, Form, Group, Item, Lexicon, Meaning, Object, Placed, Sentence, Sort, Unit, below, from_name, groups,
    is_demand, items, sentences, units,
};
use crate::domain::{Effect, Extent, Kind, Resource, Scalar, Verb};

/// The request orders exactly this: the verb in its own words, and an object that holds all of the effect's
/// resource. A broad order (`clean up`, `do it all`) names nothing, and neither does a question, a ban, a report, a
/// reason, or an order under a condition.
pub fn names(request: &str, effect: &Effect, lexicon: &Lexicon) -> bool {
    let mut said: Vec<(Sentence, Unit)> = Vec::new();
    for sentence in sentences(request, lexicon) {
        for unit in units(&items(&sentence.tokens, lexicon)) {
            if withdraws(&sentence, &unit, lexicon) {
                said.clear();
            }
            said.push((sentence.clone(), unit));
        }
    }
    said.iter().any(|(sentence, unit)| {
        order(sentence, unit, lexicon).is_some_and(|order| order_names(&order, sentence, effect, lexicon))
    })
}

/// `No, keep it.`, `Only if the tests pass.`: what was said before does not stand as it was said.
fn withdraws(sentence: &Sentence, unit: &Unit, lexicon: &Lexicon) -> bool {
    let no = sentence.tokens.get(sentence.lead).is_some_and(|t| lexicon.is("retractions", &t.norm));
    no || is_conditional(unit) && !unit.core.iter().any(|p| matches!(p.item, Item::Act { .. } | Item::Object(_)))
}

fn is_conditional(unit: &Unit) -> bool {
    let conditions = [Cue::If, Cue::After, Cue::OnlyAfter, Cue::Unless, Cue::Until, Cue::While, Cue::Except];
    unit.tail(&conditions).is_some()
}

/// The items of an order from its first act on; acts that are not ordered themselves are none.
fn order(sentence: &Sentence, unit: &Unit, lexicon: &Lexicon) -> Option<Vec<Placed>> {
    let word = |p: &Placed| sentence.tokens.get(p.from).map(|t| t.norm.as_str()).unwrap_or_default();
    let asks = sentence.question && {
        let mut words = sentence.tokens.iter().skip_while(|t| lexicon.is("polite", &t.norm)).map(|t| t.norm.as_str());
        !(words.next().is_some_and(|w| lexicon.is("requests", w)) && words.next() == Some("you"))
    };
    let quiet = |cue: Cue| is_demand(cue) && !matches!(cue, Cue::Permit | Cue::Permitted | Cue::Relax);
    let silent = |cue: Cue| quiet(cue) || matches!(cue, Cue::Idle | Cue::Reported | Cue::Hypothetical);
    let mut pairs = sentence.tokens.iter().zip(sentence.tokens.iter().skip(1));
    let aside = pairs.any(|(open, next)| open.sort == Sort::Open && lexicon.is("conditions", &next.norm));
    if asks
        || aside
        || is_conditional(unit)
        || unit.core.iter().any(|p| matches!(p.item, Item::Cue(cue) if silent(cue)))
    {
        return None;
    }
    let base = |p: &Placed| matches!(p.item, Item::Act { form: Form::Base, .. });
    // `delete: a, b` orders with its heading; any other heading may say whose words follow
    let heading = |p: &Placed| lexicon.is("headings", word(p)) || p.item == Item::Filler || p.is_cue(Cue::First);
    let headed = !unit.core.iter().any(base);
    if !headed && !unit.topic.iter().all(heading) {
        return None;
    }
    let spoken = unit.topic.iter().filter(|_| headed).chain(&unit.core);
    let mut out: Vec<Placed> = Vec::new();
    let mut open = true;
    for placed in spoken {
        let clause = lexicon.is("question_words", word(placed)) || lexicon.is("clauses", word(placed));
        let after_thing = matches!(out.last().map(|p| &p.item), Some(Item::Object(_)));
        if clause || word(placed) == "that" && after_thing {
            break;
        }
        match placed.item {
            Item::Comma | Item::Join | Item::Semicolon | Item::Dash | Item::But => open = true,
            Item::Act { form: Form::Base, .. } if open => open = false,
            Item::Act { .. } => {
                out.push(Placed { item: Item::Filler, ..placed.clone() });
                open = false;
                continue;
            }
            _ if placed.is_cue(Cue::Permit) || lexicon.is("leads", word(placed)) => {}
            _ => open = false,
        }
        if out.iter().any(base) || base(placed) {
            out.push(placed.clone());
        } else if !open {
            return None;
        }
    }
    out.first().is_some_and(base).then_some(out)
}

fn order_names(order: &[Placed], sentence: &Sentence, effect: &Effect, lexicon: &Lexicon) -> bool {
    let spoken = order.iter().filter_map(|p| sentence.tokens.get(p.from..p.to)).flatten();
    let forced = spoken.into_iter().any(|t| lexicon.is("force", &t.norm));
    groups(order).iter().any(|group| group_names(group, effect, forced, lexicon))
        || order.iter().any(|placed| {
            let words = command(placed, order.len() == 1, sentence, lexicon);
            !words.is_empty() && command_names(&words, effect, lexicon)
        })
}

fn group_names(group: &Group, effect: &Effect, forced: bool, lexicon: &Lexicon) -> bool {
    let does = group.acts.iter().filter_map(|a| lexicon.acts.get(*a)).any(|act| does(act, effect, forced));
    does && !group.outside && group.lists.iter().flatten().any(|object| covers(object, effect, lexicon))
}

/// The act is what the effect does, as hard as it does it. A branch is published by a push alone, not by a merge.
fn does(act: &Act, effect: &Effect, forced: bool) -> bool {
    let is = |name: &str| effect.attributes.get(name) == Some(&Scalar::Bool(true));
    let verb = if is("delete") { Verb::Delete } else { effect.verb };
    if is("force") && !forced && !act.force {
        return false;
    }
    if verb == Verb::Publish && effect.resource.kind == Kind::Branch {
        return act.pushes;
    }
    act.verbs.iter().any(|v| v.as_str() == verb.word() || v == "write" && edits(verb))
}

/// The words of a command line that is ordered as it stands: `run git push`, or nothing but inline code.
fn command(placed: &Placed, alone: bool, sentence: &Sentence, lexicon: &Lexicon) -> Vec<String> {
    let split = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    let token = |at: usize| sentence.tokens.get(at).filter(|t| t.sort == Sort::Code);
    if let Some(code) = token(placed.from).filter(|_| alone) {
        return split(&code.text);
    }
    let runs = matches!(placed.item, Item::Act { act, .. }
        if lexicon.acts.get(act).is_some_and(|a| a.verbs == ["execute"]));
    if !runs {
        return Vec::new();
    }
    if let Some(code) = token(placed.to) {
        return split(&code.text);
    }
    let plain =
        sentence.tokens.iter().skip(placed.to).take_while(|t| {
            matches!(t.sort, Sort::Word | Sort::Name | Sort::Number) && !lexicon.is("joins", &t.norm)
        });
    plain.map(|t| t.text.clone()).collect()
}

/// A command line names its own operands and nothing else.
fn command_names(words: &[String], effect: &Effect, lexicon: &Lexicon) -> bool {
    let lower: Vec<String> = words.iter().map(|w| w.to_lowercase()).collect();
    let found = lexicon.longest(&|i| lower.get(i).map(String::as_str), 0, |m| matches!(m, Meaning::Act(..)));
    let Some((Meaning::Act(act, _), taken)) = found else { return false };
    let forced = lower.iter().any(|w| lexicon.is("force", w));
    lexicon.acts.get(act).is_some_and(|act| does(act, effect, forced))
        && words.iter().skip(taken).filter(|w| !w.starts_with('-')).any(|word| is_operand(word, &effect.resource))
}

fn is_operand(word: &str, resource: &Resource) -> bool {
    if resource.kind != Kind::Path {
        return resource.name() == Some(word);
    }
    bare(word, resource)
        || matches!(from_name(word), Object::Resources(names) if names.iter().any(|n| holds(n, resource)))
}

/// A folder's bare name covers all below it.
fn bare(word: &str, resource: &Resource) -> bool {
    let own = resource.to_string();
    let base = word.strip_prefix("./").unwrap_or(word).trim_end_matches('/');
    !base.is_empty() && resource.kind == Kind::Path && below(own.trim_start_matches("./"), &format!("{base}/**"))
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
        Object::Unknown(words) => {
            let pushed = || effect.attributes.get("remote").zip(resource.name());
            spelled(words, resource, lexicon) || pushed().is_some_and(|(to, own)| *words == format!("{to} {own}"))
        }
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
    if bare(words, resource) {
        return true;
    }
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
            ("Delete build.", Verb::Delete, "build/**", true),
            ("Delete build and dist.", Verb::Delete, "dist/a.o", true),
            ("Delete build.", Verb::Delete, "src/build/**", false),
            ("Delete build.", Verb::Delete, "builder/**", false),
            ("Please go ahead and delete a.txt", Verb::Delete, "a.txt", true),
            ("Could you please delete a.txt?", Verb::Delete, "a.txt", true),
            ("You may delete a.txt.", Verb::Delete, "a.txt", true),
            ("Run the tests, then delete a.txt", Verb::Delete, "a.txt", true),
            ("Delete:\n- a.txt\n- b/", Verb::Delete, "b/c", true),
            ("Please do the following:\n- delete a.txt", Verb::Delete, "a.txt", true),
            ("Should I delete a.txt?", Verb::Delete, "a.txt", false),
            ("Should we delete a.txt", Verb::Delete, "a.txt", false),
            ("Did you delete a.txt?", Verb::Delete, "a.txt", false),
            ("Delete a.txt? No, keep it.", Verb::Delete, "a.txt", false),
            ("Delete a.txt. No, wait.", Verb::Delete, "a.txt", false),
            ("Bob said: delete a.txt", Verb::Delete, "a.txt", false),
            ("Bob: delete a.txt", Verb::Delete, "a.txt", false),
            ("From the ticket - delete a.txt", Verb::Delete, "a.txt", false),
            ("Tell me how to delete build/", Verb::Delete, "build/**", false),
            ("Check how to delete build/", Verb::Delete, "build/**", false),
            ("Document why we delete build/ nightly", Verb::Delete, "build/**", false),
            ("Undo the commit that made us delete src/", Verb::Delete, "src/**", false),
            ("Fix the script that made us delete src/", Verb::Delete, "src/**", false),
            ("Fix the bug, we delete src/ by accident", Verb::Delete, "src/**", false),
            ("Check the script to delete src/", Verb::Delete, "src/**", false),
            ("If the tests pass, delete a.txt", Verb::Delete, "a.txt", false),
            ("Delete a.txt only after the backup ran", Verb::Delete, "a.txt", false),
            ("Delete a.txt once the tests pass", Verb::Delete, "a.txt", false),
            ("Delete a.txt, but only if the tests pass", Verb::Delete, "a.txt", false),
            ("Delete a.txt (if nobody uses it).", Verb::Delete, "a.txt", false),
            ("Remind me to delete a.txt.", Verb::Delete, "a.txt", false),
            ("Explain `rm -rf build`.", Verb::Delete, "build/**", false),
            ("Run `rm -rf build` if the tests pass.", Verb::Delete, "build/**", false),
            ("Delete a.txt. Only if the tests pass.", Verb::Delete, "a.txt", false),
            ("Delete everything in build/ except build/keep", Verb::Delete, "build/keep", false),
            ("Push main.", Verb::Publish, "branch:main", true),
            ("Push feature-x.", Verb::Publish, "branch:feature-x", true),
            ("Merge main into my branch.", Verb::Publish, "branch:main", false),
            ("Deploy main.", Verb::Publish, "branch:main", false),
            ("Run rm -rf build.", Verb::Delete, "build/**", true),
            ("Run `rm -rf build dist`.", Verb::Delete, "dist/**", true),
            ("Run `rm -rf build dist`.", Verb::Delete, "src/**", false),
            ("run `git push origin main`", Verb::Publish, "branch:main", true),
            ("run `git push origin main`", Verb::Publish, "branch:release", false),
            ("`git push origin main`", Verb::Publish, "branch:main", true),
            ("`git push origin main` is what broke it", Verb::Publish, "branch:main", false),
            ("Do not run `rm -rf build`.", Verb::Delete, "build/**", false),
            ("Why did you run `rm -rf build`?", Verb::Delete, "build/**", false),
        ] {
            assert_eq!(named(request, verb, resource), want, "{request} / {verb} {resource}");
        }
    }
    #[test]
    fn force_and_the_end_of_a_branch_are_named_by_their_own_words() {
        let main = || Effect::new(Verb::Publish, "branch:main".parse().unwrap()).with("remote", "origin");
        for (request, plain, force, delete) in [
            ("Push main.", true, false, false),
            ("Push to origin main.", true, false, false),
            ("Push main to origin.", true, false, false),
            ("Merge main into my branch.", false, false, false),
            ("Deploy main.", false, false, false),
            ("Force push main.", true, true, false),
            ("Push main with --force.", true, true, false),
            ("Push main by force.", true, true, false),
            ("Push main without force.", true, false, false),
            ("Push main, but no force push.", true, false, false),
            ("Run `git push -f origin main`.", true, true, false),
            ("Run `git push origin main`.", true, false, false),
            ("Delete the branch main.", false, false, true),
        ] {
            let said = |effect: Effect| names(request, &effect, &Lexicon::english());
            let got = (said(main()), said(main().with("force", true)), said(main().with("delete", true)));
            assert_eq!(got, (plain, force, delete), "{request}");
        }
    }
}
