//! What could be done first, or instead, so that less is lost: candidates only. Whether one helps and is lawful is the
//! audit's to say; nothing here judges, and nothing here runs.

mod table;

use super::shell::plain::{self, Member};
use crate::domain::{Action, Effect, Kind, Offer, PlanKind, RawCall, Verb};
use serde_json::json;
use table::OFFERS;

/// Files that are backed up one by one for one action.
const MOST_BACKUPS: usize = 8;

/// Offers for an action that may lose something.
pub fn offers(action: &Action) -> Vec<Offer> {
    let graves = |of: &dyn Fn(&Effect) -> bool| -> Vec<usize> {
        let all = action.effects.iter().enumerate();
        all.filter(|(_, e)| (e.is_critical() || e.is_opaque()) && of(e)).map(|(at, _)| at).collect()
    };
    let all = graves(&|_| true);
    if all.is_empty() {
        return Vec::new();
    }
    let mut offers: Vec<Offer> = Vec::new();
    let mut offer = |kind, call: RawCall, eases: Vec<usize>| {
        if call != action.call && !offers.iter().any(|o| o.call == call) {
            offers.push(Offer { kind, call, eases });
        }
    };
    // what the tool itself has for keeping things is the better way
    let mut kept = false;
    for (kind, line) in of_line(&action.call, &short_id(action)) {
        let mut call = action.call.clone();
        if let Some(args) = call.args.as_object_mut() {
            args.insert("command".to_owned(), line.into());
        }
        kept |= kind == PlanKind::Precede;
        offer(kind, call, all.clone());
    }
    for known in OFFERS.tool.iter().filter(|t| t.speaks_of(&action.call)) {
        offer(known.kind(), known.call(&action.call), all.clone());
    }
    let losing = if kept { Vec::new() } else { graves(&|e| can_be_backed_up(e)) };
    for at in losing.iter().take(MOST_BACKUPS) {
        if let Some(name) = action.effects.get(*at).and_then(|e| e.resource.name()) {
            offer(PlanKind::Precede, RawCall::new("fs_backup", json!({ "path": name })), vec![*at]);
        }
    }
    offers
}

/// New for every action in every state of the world, and the same whenever it is asked for.
fn short_id(action: &Action) -> String {
    action.digest().to_string().chars().filter(char::is_ascii_hexdigit).take(8).collect()
}

/// What weal's own backup can hold: files that are there, inside the workspace, and not too many to be counted.
fn can_be_backed_up(effect: &Effect) -> bool {
    let attribute = |name: &str| effect.attributes.get(name).map(ToString::to_string);
    matches!(effect.verb, Verb::Delete | Verb::Overwrite | Verb::Modify)
        && effect.resource.kind == Kind::Path
        && effect.resource.name().is_some_and(|n| n != "." && !n.starts_with(['/', '~']) && !n.starts_with(".git"))
        && attribute("exists").as_deref() == Some("true")
        && attribute("capped").is_none()
}

/// Lines to run before or instead of the shell line of `call`.
fn of_line(call: &RawCall, id: &str) -> Vec<(PlanKind, String)> {
    let line = call.text("command").filter(|_| call.tool == "shell_exec");
    let Some(members) = line.and_then(plain::members) else { return Vec::new() };
    let mut lines = Vec::new();
    for (at, member) in members.iter().enumerate() {
        for known in &OFFERS.command {
            let Some(parts) = known.parts(&member.words) else { continue };
            if let Some(first) = &known.first {
                let mut steps: Vec<String> = moves(members.get(..at).unwrap_or_default());
                steps.push(first.filled(&parts, id));
                lines.push((PlanKind::Precede, steps.join(" && ")));
            }
            if let Some(words) = known.changed(&parts) {
                let mut changed = members.clone();
                if let Some(member) = changed.get_mut(at) {
                    member.words = words;
                }
                lines.push((PlanKind::Substitute, plain::line(&changed)));
            }
        }
    }
    lines
}

/// A step that comes first starts where the line does, so it goes where the line had gone.
fn moves(before: &[Member]) -> Vec<String> {
    before.iter().filter(|m| m.words.first().is_some_and(|w| w == "cd")).map(|m| m.words.join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Digest, Resource};

    fn offered(line: &str) -> Vec<String> {
        let call = RawCall::new("shell_exec", json!({ "command": line }));
        let lost = Effect::new(Verb::Overwrite, Resource::subtree("."));
        let action = Action { call, effects: vec![lost], programs: vec![], facts: Digest::default() };
        let id = short_id(&action);
        let shown = |o: Offer| {
            let sign = if o.kind == PlanKind::Precede { "first" } else { "instead" };
            format!("{sign}: {}", o.call.text("command").unwrap_or_default().replace(&id, "ID"))
        };
        offers(&action).into_iter().map(shown).collect()
    }

    #[test]
    fn lines_have_their_offers() {
        for (line, want) in [
            ("git push -f origin main", vec!["instead: git push --force-with-lease origin main"]),
            ("git -C sub push --force", vec!["instead: git -C sub push --force-with-lease"]),
            ("git push origin +topic", vec!["instead: git push --force-with-lease origin topic"]),
            ("ls && git push -f", vec!["instead: ls && git push --force-with-lease"]),
            (
                "cd sub && git clean -fd",
                vec![
                    "first: cd sub && git stash push --include-untracked --message weal/kept-ID",
                    "instead: cd sub && git clean --dry-run -fd",
                ],
            ),
            (
                "git reset --hard HEAD~2",
                vec!["first: git branch weal/kept-ID && git stash push --message weal/kept-ID"],
            ),
            ("git restore --staged a.rs", vec![]),
            ("git restore a.rs", vec!["first: git stash push --message weal/kept-ID"]),
            ("tofu apply -auto-approve -var x=1", vec!["instead: tofu plan -var x=1"]),
            ("find . -name '*.bak' -delete", vec!["instead: find . -name '*.bak' -print"]),
            ("sed -i 's/a b/c/' x.txt", vec!["instead: sed 's/a b/c/' x.txt"]),
            ("rsync -a --delete a/ b/", vec!["instead: rsync -a --delete a/ b/ --dry-run --itemize-changes"]),
            ("git clean -fd | cat", vec![]),
            ("rm -r x", vec![]),
        ] {
            assert_eq!(offered(line), want, "{line}");
        }
    }

    #[test]
    fn a_mail_could_be_a_draft() {
        let call = RawCall::new("email_send", json!({ "to": "a@example.org", "body": "x" }));
        let send = Effect::new(Verb::Send, Resource::named(Kind::Mail, "a@example.org"));
        let action = Action { call, effects: vec![send], programs: vec![], facts: Digest::default() };
        let offers = offers(&action);
        assert_eq!(offers.len(), 1);
        assert_eq!(offers[0].call.tool, "email_create_draft");
        assert_eq!(offers[0].call.args, action.call.args);
    }

    #[test]
    fn what_takes_nothing_away_has_no_offer() {
        let call = RawCall::new("shell_exec", json!({ "command": "git push -f" }));
        let read = Effect::new(Verb::Read, Resource::path("a"));
        let action = Action { call, effects: vec![read], programs: vec![], facts: Digest::default() };
        assert!(offers(&action).is_empty());
    }
}
