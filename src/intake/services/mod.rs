//! Calls of mail, calendar, device, money, web and other tools to effects, by the table in `assets/services.toml` or, where
//! it knows no such tool, by the words of the name. What neither tells is opaque. What a server says of its own tools
//! may raise suspicion and never lowers it.

mod names;
mod table;
pub(in crate::intake) mod web;

use super::shell::Emit;
use crate::domain::{Effect, Kind, Query, RawCall, Resource, Reversibility, Scalar, Verb};
use serde_json::Value;
use table::{SERVICES, Spec};

/// Scripts and scenes that call each other are followed this deep.
const DEEPEST: u8 = 4;

pub(super) fn effects(call: &RawCall, emit: &mut Emit<'_>) {
    let before = emit.effects.len();
    match call.tool.as_str() {
        "device_call_service" => device(call, emit),
        "http_request" => request(call, emit),
        "mcp_call" => names::foreign(call, emit),
        tool => match SERVICES.tool(tool) {
            Some(known) => known.effects.iter().for_each(|spec| act(spec, call, emit)),
            None => names::by_name(tool, call, emit),
        },
    }
    hinted(call, emit, before);
}

/// `x*` is any word that begins with x.
fn is(word: &str, wanted: &str) -> bool {
    wanted.strip_suffix('*').map_or(word == wanted, |start| word.starts_with(start))
}

fn act(spec: &Spec, call: &RawCall, emit: &mut Emit<'_>) {
    let holds = |wanted: &String| condition(&call.args, wanted);
    if !(spec.when.is_empty() || spec.when.iter().any(holds)) || spec.unless.iter().any(holds) {
        return;
    }
    let kind = spec.does.kind;
    let mut operands: Vec<Resource> =
        spec.of.iter().flat_map(|name| values(call.args.get(name))).map(|v| Resource::named(kind, v)).collect();
    if operands.is_empty() {
        operands.push(spec.on.as_ref().map_or(Resource::any(kind), |name| Resource::named(kind, name.as_str())));
    }
    for resource in operands {
        let mut effect = told(Effect::new(spec.does.verb, resource), call);
        if let Some(back) = spec.back {
            effect.reversibility = back;
        }
        if spec.many {
            effect = effect.with("many", true);
        }
        emit.push(effect);
    }
}

/// `name`: the argument is there and not empty; `name=a|b`: it has one of these values.
fn condition(args: &Value, wanted: &str) -> bool {
    match wanted.split_once('=') {
        Some((name, any)) => values(args.get(name)).iter().any(|v| any.split('|').any(|a| a.eq_ignore_ascii_case(v))),
        None => values(args.get(wanted)).iter().any(|v| v != "false"),
    }
}

/// The texts of a value: of a list, each; of a list in one text, each.
fn values(value: Option<&Value>) -> Vec<String> {
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(all)) => all.iter().flat_map(|v| values(Some(v))).collect(),
        Some(Value::String(text)) if text.contains('@') && text.contains([',', ';']) => {
            text.split([',', ';']).map(address).filter(|t| !t.is_empty()).collect()
        }
        Some(Value::String(text)) if text.trim().is_empty() => Vec::new(),
        Some(Value::String(text)) => vec![address(text)],
        Some(Value::Object(fields)) => {
            let named = ["email", "address", "id", "name"].iter().find_map(|name| fields.get(*name));
            values(named)
        }
        Some(other @ (Value::Bool(_) | Value::Number(_))) => vec![other.to_string()],
    }
}

/// `Ann <ann@example.org>` is the address.
fn address(text: &str) -> String {
    let inner = text.rsplit_once('<').and_then(|(_, rest)| rest.split_once('>')).map(|(inner, _)| inner);
    inner.filter(|i| i.contains('@')).unwrap_or(text).trim().to_owned()
}

/// The effect with what the arguments say of it.
fn told(mut effect: Effect, call: &RawCall) -> Effect {
    for name in &SERVICES.attributes {
        let name = name.as_str();
        match call.args.get(name) {
            Some(Value::Number(n)) => {
                let n = n.as_f64().unwrap_or_default();
                effect = effect.with(if name == "qty" { "quantity" } else { name }, n);
            }
            Some(Value::Bool(b)) => effect = effect.with(name, *b),
            // an amount in text is still an amount
            Some(Value::String(text)) => {
                let number =
                    matches!(name, "amount" | "price" | "quantity" | "qty").then(|| text.trim().parse::<f64>());
                effect = match number {
                    Some(Ok(n)) => effect.with(if name == "qty" { "quantity" } else { name }, n),
                    Some(Err(_)) | None => effect.with(name, text.as_str()),
                };
            }
            Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => {}
        }
    }
    effect
}

fn device(call: &RawCall, emit: &mut Emit<'_>) {
    let entities = values(call.args.get("entity_id").or_else(|| call.args.pointer("/target/entity_id")));
    let (domain, service) = (call.text("domain").unwrap_or_default(), call.text("service").unwrap_or_default());
    if service.is_empty() {
        return emit.opaque("device", "the argument `service` is missing or no text");
    }
    let operands = if entities.is_empty() { vec![format!("{domain}.*")] } else { entities };
    for entity in operands {
        serve(&entity, domain, service, call, emit, 0);
    }
}

/// One service of one device; a script or scene does what the state of the house says it does.
fn serve(entity: &str, domain: &str, service: &str, call: &RawCall, emit: &mut Emit<'_>, depth: u8) {
    let Ok(resource) = format!("device:{entity}").parse::<Resource>();
    if matches!(domain, "script" | "scene") || domain == "automation" && service == "trigger" {
        emit.push(told(
            Effect { reversibility: Reversibility::Reversible, ..Effect::new(Verb::Execute, resource.clone()) },
            call,
        ));
        let steps = emit.ask.state(entity).filter(|_| depth < DEEPEST);
        let Some(steps) = steps else {
            let why = format!("what `{entity}` does cannot be told");
            return emit.push(Effect::new(Verb::Unknown, resource).with("why", why));
        };
        for step in steps {
            match step.trim().split_once(char::is_whitespace) {
                Some((entity, service)) => {
                    let domain = entity.split('.').next().unwrap_or_default();
                    serve(entity, domain, &service.trim().replace(' ', "_"), call, emit, depth + 1);
                }
                None => emit.opaque(entity, &format!("the step `{step}` of a script cannot be told")),
            }
        }
        return;
    }
    let mut effect = told(Effect::new(Verb::Set, resource), call).with("service", service);
    if service == "off" || service == "on" || service == "turn_off" || service == "turn_on" || service == "toggle" {
        effect = effect.with("what", format!("turn {}", service.trim_start_matches("turn_")));
    } else {
        effect = effect.with("what", service.replace('_', " "));
    }
    effect.reversibility = SERVICES.device(domain, service).unwrap_or(Reversibility::ExternallyReversible);
    emit.push(effect);
}

fn request(call: &RawCall, emit: &mut Emit<'_>) {
    let Some(url) = call.text("url") else {
        return emit.opaque("http_request", "the argument `url` is missing or no text");
    };
    let body = ["body", "json", "data", "form", "files"]
        .iter()
        .find_map(|name| call.args.get(*name))
        .filter(|b| !b.is_null());
    let method = match call.text("method") {
        Some(method) => method.to_ascii_uppercase(),
        None if body.is_some() => "POST".to_owned(),
        None => "GET".to_owned(),
    };
    let body = body.map(|b| b.as_str().map_or_else(|| b.to_string(), str::to_owned));
    for effect in web::effects(&method, url, web::host(url), body.as_deref()) {
        emit.push(told(effect, call));
    }
}

/// A server's hints on its own tool: only those that make it worse are believed.
fn hinted(call: &RawCall, emit: &mut Emit<'_>, from: usize) {
    let hint = |name: &str| call.args.get("annotations").and_then(|a| a.get(name)).and_then(Value::as_bool);
    let own = emit.effects.get(from..).unwrap_or_default();
    let loses = own.iter().any(|e| e.reversibility == Reversibility::Irreversible);
    if hint("destructiveHint") == Some(true) && !loses {
        let mut effect =
            Effect::new(Verb::Delete, Resource::any(Kind::Thing)).with("why", "its server calls it destructive");
        effect.certainty = crate::domain::Certainty::Possible;
        emit.push(effect);
    }
    let quiet =
        emit.effects.get(from..).unwrap_or_default().iter().all(|e| e.reversibility == Reversibility::ReadOnly);
    if hint("readOnlyHint") == Some(false) && quiet {
        emit.push(
            Effect::new(Verb::Unknown, Resource::named(Kind::Tool, &call.tool))
                .with("why", "its server says that it changes things"),
        );
    }
}

impl super::paths::Ask<'_> {
    /// The parts of a state that the surroundings of a tool know by name.
    fn state(&mut self, name: &str) -> Option<Vec<String>> {
        let value = self.value(Query::State(name.to_owned()))?;
        Some(match value {
            Scalar::Text(text) => text.split([',', ';', '\n']).map(str::to_owned).collect(),
            Scalar::Bool(_) | Scalar::Number(_) => vec![value.to_string()],
        })
    }
}

#[cfg(test)]
mod tests;
