//! What the name of a tool says it does, where no table knows it. A name may lie, so it is believed only where it says
//! something worse than reading, or where reading is all it says.

use super::{table::SERVICES, told, values};
use crate::{
    domain::{Effect, Kind, RawCall, Resource, Reversibility, Scalar, Verb},
    intake::shell::Emit,
};
use serde_json::Value;

/// `mcp_call`: a tool `name` of a server, its arguments beside it or in a table of their own.
pub(super) fn foreign(call: &RawCall, emit: &mut Emit<'_>) {
    let Some(name) = call.text("name").or_else(|| call.text("tool")) else {
        return emit.opaque("mcp_call", "the argument `name` is missing or no text");
    };
    let own =
        ["arguments", "args", "params", "input"].iter().find_map(|n| call.args.get(*n)).filter(|a| a.is_object());
    let args = own.cloned().unwrap_or_else(|| {
        let rest = call.args.as_object().into_iter().flatten();
        let rest = rest.filter(|(n, _)| !matches!(n.as_str(), "server" | "name" | "tool" | "annotations"));
        Value::Object(rest.map(|(n, v)| (n.clone(), v.clone())).collect())
    });
    by_name(name, &RawCall { tool: call.tool.clone(), args }, emit);
}

pub(super) fn by_name(name: &str, call: &RawCall, emit: &mut Emit<'_>) {
    let words = words(name);
    let Some((verb, rest)) = verb_of(&words) else {
        let why = format!("what `{name}` does cannot be told from its name");
        return emit.push(told(Effect::new(Verb::Unknown, Resource::named(Kind::Tool, name)), call).with("why", why));
    };
    let (kind, operands) = operands(verb, &words, &rest, call);
    for resource in operands.into_iter().map(|value| Resource::named(kind, value)) {
        let mut effect = told(Effect::new(verb, resource), call).with("tool", name);
        effect.reversibility = match verb {
            Verb::Execute => Reversibility::ExternallyReversible,
            Verb::Modify if kind != Kind::Mail => Reversibility::ExternallyReversible,
            _ => effect.reversibility,
        };
        emit.push(effect);
    }
    for effect in failed_before(name, emit) {
        emit.push(told(effect, call));
    }
}

/// What a tool did in the past that its name does not say.
fn failed_before(name: &str, emit: &mut Emit<'_>) -> Vec<Effect> {
    let told = emit.ask.value(crate::domain::Query::State("verified_failures".to_owned()));
    let Some(Scalar::Text(text)) = told else { return Vec::new() };
    let lines = text.split('\n').filter(|line| line.contains(name));
    lines.map(|line| Effect::new(Verb::Unknown, Resource::named(Kind::Tool, name)).with("why", line)).collect()
}

/// `createDraft`, `create_draft`, `create-draft`: create, draft.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && small {
            words.push(String::new());
        }
        small = c.is_lowercase() || c.is_numeric();
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

/// The first word that is a verb; where it only reads, a later one that does more is heeded (`get_and_delete`).
fn verb_of(words: &[String]) -> Option<(Verb, Vec<String>)> {
    let at = words.iter().position(|w| SERVICES.verb(w).is_some())?;
    let verb = words.get(at).and_then(|w| SERVICES.verb(w))?;
    let rest = words.get(at + 1..).unwrap_or_default();
    let joined =
        |w: &[String]| matches!(w, [and, next] if (and == "and" || and == "or") && SERVICES.verb(next).is_some());
    let next = rest.windows(2).find(|w| joined(w)).and_then(|w| w.get(1)).and_then(|w| SERVICES.verb(w));
    Some((next.filter(|_| verb == Verb::Read).unwrap_or(verb), rest.to_vec()))
}

fn operands(verb: Verb, words: &[String], rest: &[String], call: &RawCall) -> (Kind, Vec<String>) {
    let of = |names: &[String]| -> Vec<String> { names.iter().flat_map(|n| values(call.args.get(n))).collect() };
    if verb == Verb::Send {
        let to = of(&SERVICES.recipients);
        if !to.is_empty() {
            return (Kind::Mail, to);
        }
    }
    let object = rest.iter().rev().chain(words.iter().rev()).find_map(|w| SERVICES.object(w));
    let kind = match (verb, object) {
        (Verb::Pay, _) => Kind::Account,
        (Verb::Send, None) => Kind::Mail,
        (_, Some(kind)) => kind,
        (_, None) => Kind::Thing,
    };
    let mut named = of(&SERVICES.operands);
    let args = call.args.as_object().into_iter().flatten();
    named.extend(args.filter(|(n, _)| n.ends_with("_id") || rest.contains(n)).flat_map(|(_, v)| values(Some(v))));
    if named.is_empty() {
        named.push(if rest.is_empty() { words.join(" ") } else { rest.join(" ") });
    }
    (kind, named)
}
