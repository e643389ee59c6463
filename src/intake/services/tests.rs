//! Calls and their effects; nothing is known of the world.

use crate::{
    domain::{Effect, Fact, Facts, Places, Query, RawCall, Reversibility, Scalar},
    intake::{
        actions::{Surroundings, understand_blind},
        labels::Labels,
    },
};
use serde_json::{Value, json};

fn with(call: &RawCall, facts: &Facts) -> Vec<Effect> {
    let places = Places { workspace: "/home/ann/work".into(), home: "/home/ann".into() };
    understand_blind(call, facts, &Surroundings { places, labels: Labels::shipped() }).effects
}

pub(super) fn effects(call: &RawCall) -> Vec<Effect> {
    with(call, &Facts::default())
}

/// `!` in front of what cannot simply be had back, `?` of what is only possible.
fn shown(tool: &str, args: Value) -> String {
    let sign = |e: &Effect| match (e.reversibility, e.certainty) {
        (_, crate::domain::Certainty::Possible) => "?",
        (Reversibility::ReadOnly | Reversibility::Reversible, _) => "",
        (Reversibility::ExternallyReversible | Reversibility::Irreversible, _) => "!",
    };
    let all = effects(&RawCall::new(tool, args));
    all.iter().map(|e| format!("{}{e}", sign(e))).collect::<Vec<_>>().join("; ")
}

#[test]
fn names_say_what_a_tool_does() {
    for (name, args, want) in [
        ("get_status", json!({}), "read thing:status"),
        ("listMessages", json!({}), "read mail:messages"),
        ("delete_record", json!({ "record_id": "r9" }), "!delete thing:r9"),
        ("draft_message", json!({ "to": "x@example.org" }), "create mail:message"),
        (
            "send-message",
            json!({ "to": ["x@example.org", "y@example.org"] }),
            "!send mail:x@example.org; !send mail:y@example.org",
        ),
        ("redeem_voucher", json!({ "voucher": "v1" }), "!pay account:v1"),
        ("fetch_and_delete", json!({ "id": "a" }), "!delete thing:a"),
        ("start_cleanup", json!({}), "!execute thing:cleanup"),
        ("frobnicate", json!({}), "!unknown tool:frobnicate"),
    ] {
        let mut all = args.as_object().cloned().unwrap_or_default();
        all.insert("server".into(), "s".into());
        all.insert("name".into(), name.into());
        assert_eq!(shown("mcp_call", Value::Object(all)), want, "{name}");
    }
    assert_eq!(shown("crm_list_contacts", json!({})), "read contact:contacts");
}

#[test]
fn hints_of_a_server_only_raise_suspicion() {
    let call = |name: &str, hints: Value| shown("mcp_call", json!({ "name": name, "annotations": hints }));
    assert_eq!(call("delete_all", json!({ "readOnlyHint": true, "destructiveHint": false })), "!delete thing:all");
    assert_eq!(call("get_x", json!({ "destructiveHint": true })), "read thing:x; ?delete thing:*");
    assert_eq!(call("get_x", json!({ "readOnlyHint": false })), "read thing:x; !unknown tool:mcp_call");
    assert_eq!(call("get_x", json!({ "readOnlyHint": true })), "read thing:x");
}

#[test]
fn web_requests() {
    let request = |method: &str, url: &str, body: Value| {
        shown("http_request", json!({ "method": method, "url": url, "body": body }))
    };
    let host = "https://api.example.org";
    assert_eq!(request("GET", &format!("{host}/orders"), Value::Null), "request host:api.example.org");
    assert_eq!(
        request("POST", &format!("{host}/v1/orders"), json!({ "n": 1 })),
        "!request host:api.example.org; ?pay account:api.example.org"
    );
    assert_eq!(
        request("POST", &format!("{host}/items/batchDelete"), json!({ "ids": [1] })),
        "!request host:api.example.org; ?delete thing:api.example.org"
    );
    assert_eq!(
        request("POST", &format!("{host}/graphql"), json!({ "query": "{ users { id } }" })),
        "request host:api.example.org"
    );
    assert_eq!(
        request(
            "POST",
            &format!("{host}/graphql"),
            json!({ "query": "mutation { removeUser(id: \"query\") { id } }" })
        ),
        "!request host:api.example.org; ?delete thing:api.example.org"
    );
    assert_eq!(
        request("POST", &format!("{host}/rpc"), json!({ "method": "user.list" })),
        "request host:api.example.org"
    );
}

#[test]
fn devices_have_a_safe_direction() {
    let serve = |domain: &str, service: &str, entity: &str| {
        shown("device_call_service", json!({ "domain": domain, "service": service, "entity_id": entity }))
    };
    assert_eq!(serve("light", "turn_on", "light.hall"), "set device:light.hall");
    assert_eq!(serve("lock", "lock", "lock.back"), "set device:lock.back");
    assert_eq!(serve("lock", "unlock", "lock.back"), "!set device:lock.back");
    assert_eq!(serve("cover", "open_cover", "cover.gate"), "!set device:cover.gate");
    assert_eq!(serve("scene", "turn_on", "scene.x"), "execute device:scene.x; !unknown device:scene.x");
    let call = RawCall::new(
        "device_call_service",
        json!({ "domain": "script", "service": "turn_on", "entity_id": "script.leave" }),
    );
    let value = Scalar::Text("light.hall turn_off\nlock.back unlock".into());
    let facts = Facts([(Query::State("script.leave".into()), Fact::State { value })].into());
    let all: Vec<_> = with(&call, &facts).iter().map(ToString::to_string).collect();
    assert_eq!(all, ["execute device:script.leave", "set device:light.hall", "set device:lock.back"]);
}

#[test]
fn money_says_how_much() {
    let paid = effects(&RawCall::new("finance_pay", json!({ "to": "shop", "amount": "12.50", "currency": "EUR" })));
    assert_eq!(paid[0].number("amount"), Some(12.5));
    assert_eq!(paid[0].attributes["currency"].to_string(), "EUR");
}
