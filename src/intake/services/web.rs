//! A web request to effects, whoever makes it: the method says how far it can be taken back, and path and body may say
//! that more is at stake than a request (a payment, a message, a deletion).

use super::{names::words, table::SERVICES};
use crate::domain::{Certainty, Effect, Kind, Resource, Reversibility, Verb};
use serde_json::Value;

/// The host that a URL leads to.
pub(in crate::intake) fn host(url: &str) -> Resource {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let name = authority.rsplit('@').next().unwrap_or_default();
    let name = match name.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or_default(),
        None => name.split(':').next().unwrap_or_default(),
    };
    match name.trim_end_matches('.').to_ascii_lowercase() {
        name if name.is_empty() || name.contains(['*', '{', '$', '<']) => Resource::any(Kind::Host),
        name => Resource::named(Kind::Host, name),
    }
}

pub(in crate::intake) fn effects(method: &str, url: &str, host: Resource, body: Option<&str>) -> Vec<Effect> {
    let parsed = body.and_then(|b| serde_json::from_str::<Value>(b).ok());
    let graph = parsed.as_ref().and_then(|b| b.get("query")).and_then(Value::as_str).or_else(|| bare_graph(body));
    let remote = parsed.as_ref().and_then(|b| b.get("method")).and_then(Value::as_str);
    let reads = matches!(method, "GET" | "HEAD" | "OPTIONS");
    let mut request = Effect::new(Verb::Request, host.clone()).with("method", method);
    let mut deeds = Vec::new();
    request.reversibility = match (graph, remote) {
        _ if reads => Reversibility::Reversible,
        (Some(text), _) if is_query(text) => Reversibility::Reversible,
        (Some(text), _) => {
            deeds.extend(mutations(text).iter().flat_map(|name| words(name)));
            Reversibility::Irreversible
        }
        (None, Some(name)) => {
            let named = words(name);
            let verb = named.iter().find_map(|w| SERVICES.verb(w));
            deeds.extend(named);
            if verb == Some(Verb::Read) { Reversibility::Reversible } else { Reversibility::ExternallyReversible }
        }
        (None, None) if method == "DELETE" => Reversibility::Irreversible,
        (None, None) => Reversibility::ExternallyReversible,
    };
    if !reads && graph.is_none() && remote.is_none() {
        let path = url.split_once("://").map_or(url, |(_, r)| r).split(['?', '#']).next().unwrap_or_default();
        deeds.extend(path.split_once('/').map(|(_, p)| p).into_iter().flat_map(words));
    }
    if let Some(name) = graph.and_then(|g| mutations(g).first().cloned()).or(remote.map(str::to_owned)) {
        request = request.with("what", name);
    }
    let mut all = vec![request];
    for verb in stakes(&deeds) {
        if verb == Verb::Delete && method == "DELETE" {
            continue;
        }
        let mut effect = Effect::new(verb, resource(verb, &host)).with("method", method);
        effect.certainty = Certainty::Possible;
        all.push(effect);
    }
    if method == "DELETE" {
        all.push(Effect::new(Verb::Delete, Resource::named(Kind::Thing, url)).with("method", method));
    }
    all
}

/// What the words say is at stake besides a request.
fn stakes(deeds: &[String]) -> Vec<Verb> {
    let paid = [
        "orders",
        "payments",
        "instances",
        "domains",
        "charges",
        "subscriptions",
        "purchases",
        "bookings",
        "transfers",
        "checkout",
    ];
    let mut verbs = Vec::new();
    for word in deeds {
        let verb = if paid.contains(&word.as_str()) { Some(Verb::Pay) } else { SERVICES.verb(word) };
        if let Some(verb @ (Verb::Pay | Verb::Send | Verb::Delete | Verb::Publish)) = verb
            && !verbs.contains(&verb)
        {
            verbs.push(verb);
        }
    }
    verbs
}

fn resource(verb: Verb, host: &Resource) -> Resource {
    let name = host.name().unwrap_or("*");
    match verb {
        Verb::Pay => Resource::named(Kind::Account, name),
        Verb::Send => Resource::any(Kind::Mail),
        _ => Resource::named(Kind::Thing, name),
    }
}

/// A body that is a GraphQL document itself.
fn bare_graph(body: Option<&str>) -> Option<&str> {
    body.filter(|b| b.trim_start().starts_with("mutation") && b.contains('{'))
}

/// Only queries: no operation of the document is a mutation or subscription.
fn is_query(document: &str) -> bool {
    let text = outside_strings(document);
    !text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == "mutation") && text.contains('{')
}

/// The fields of the mutations: what follows their first brace.
fn mutations(document: &str) -> Vec<String> {
    let text = outside_strings(document);
    let after = text.split("mutation").skip(1);
    let names = after.filter_map(|rest| rest.split_once('{')).map(|(_, fields)| {
        let field = fields.trim_start();
        let field =
            field.split_once(':').filter(|(a, _)| a.chars().all(char::is_alphanumeric)).map_or(field, |(_, f)| f);
        field.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    });
    names.filter(|n| !n.is_empty()).collect()
}

fn outside_strings(document: &str) -> String {
    let (mut out, mut inside, mut escaped) = (String::with_capacity(document.len()), false, false);
    for c in document.chars() {
        match (c, inside, escaped) {
            (_, true, true) => escaped = false,
            ('\\', true, false) => escaped = true,
            ('"', _, _) => inside = !inside,
            (c, false, _) => out.push(c),
            (_, true, false) => {}
        }
    }
    out
}
