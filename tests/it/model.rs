//! The endpoint adapter against a real socket: every oddity of real servers, retries, cancelling.

use crate::sse::{Answer, DEADLINE, Seen, Server, Step, delta, finish, usage};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;
use weal::{
    domain::{Message, Prompt, RawCall, Reply, Role, ToolSpec, Usage, message::ModelCall},
    model::openai::{ApiKey, Config, OpenAi, discover},
    ports::{Delta, Model, ModelError},
};

fn config(url: &str) -> Config {
    Config {
        api_key: ApiKey::new("sk-test"),
        first_pause: Duration::from_millis(1),
        longest_pause: Duration::from_millis(4),
        max_attempts: 3,
        ..Config::new(url, "m")
    }
}

fn prompt() -> Prompt {
    let parameters = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let tool = ToolSpec { name: "fs_read".into(), description: "reads a file".into(), parameters };
    Prompt { messages: vec![Message::new(Role::User, "hi")], tools: vec![tool] }
}

async fn ask_with(config: Config, prompt: Prompt) -> (Result<Reply, ModelError>, Vec<Delta>) {
    let model = OpenAi::new(config).unwrap();
    let (deltas, mut news) = unbounded_channel();
    let reply = tokio::time::timeout(DEADLINE, model.reply(prompt, deltas, CancellationToken::new())).await;
    (reply.expect("a reply in time"), drain(&mut news))
}

fn drain(news: &mut UnboundedReceiver<Delta>) -> Vec<Delta> {
    std::iter::from_fn(|| news.try_recv().ok()).collect()
}

/// The reply to one prompt by a server that gives these answers, what was told meanwhile, what the server was asked.
async fn ask(answers: impl IntoIterator<Item = Answer>) -> (Result<Reply, ModelError>, Vec<Delta>, Vec<Seen>) {
    let server = Server::start(answers).await;
    let (reply, deltas) = ask_with(config(&server.url), prompt()).await;
    (reply, deltas, server.requests())
}

fn call(piece: Value) -> Value {
    delta(json!({ "tool_calls": [piece] }))
}

fn said(reply: &Reply) -> (&str, Vec<(&str, String)>) {
    (&reply.text, reply.calls.iter().map(|c| (c.call.tool.as_str(), c.call.args.to_string())).collect())
}

#[tokio::test]
async fn what_real_servers_send_is_understood() {
    let read = |args: &str| vec![("fs_read".to_owned(), args.to_owned())];
    let tools = || finish("tool_calls");
    let pieces = |with: &dyn Fn(Value) -> Value| {
        vec![
            with(json!({ "function": { "name": "fs_read", "arguments": "{\"pa" } })),
            with(json!({ "function": { "arguments": "th\":\"a\"}" } })),
            tools(),
        ]
    };
    let with = |extra: Value| {
        move |mut piece: Value| {
            piece.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            call(piece)
        }
    };
    let whole = |args: Value| json!({ "function": { "name": "fs_read", "arguments": args } });
    type Quirk = (&'static str, Vec<Value>, &'static str, Vec<(String, String)>);
    let quirks: Vec<Quirk> = vec![
        ("by index", pieces(&with(json!({ "index": 0 }))), "", read(r#"{"path":"a"}"#)),
        ("by id", pieces(&with(json!({ "id": "x" }))), "", read(r#"{"path":"a"}"#)),
        ("by position", pieces(&with(json!({}))), "", read(r#"{"path":"a"}"#)),
        ("index as text", pieces(&with(json!({ "index": "0" }))), "", read(r#"{"path":"a"}"#)),
        (
            "another id with each piece",
            {
                let mut n = 0;
                let named = std::cell::RefCell::new(&mut n);
                pieces(&|piece| {
                    **named.borrow_mut() += 1;
                    with(json!({ "index": 0, "id": format!("x{}", named.borrow()) }))(piece)
                })
            },
            "",
            read(r#"{"path":"a"}"#),
        ),
        ("arguments as object", vec![call(whole(json!({ "path": "a" }))), tools()], "", read(r#"{"path":"a"}"#)),
        (
            "arguments twice encoded",
            vec![call(whole(json!("\"{\\\"path\\\":\\\"a\\\"}\""))), tools()],
            "",
            read(r#"{"path":"a"}"#),
        ),
        (
            "no arguments at all",
            vec![call(json!({ "index": 0, "function": { "name": "fs_read" } })), tools()],
            "",
            read("{}"),
        ),
        ("arguments null", vec![call(whole(Value::Null)), tools()], "", read("{}")),
        ("calls ended by `stop`", vec![call(whole(json!("{}"))), finish("stop")], "", read("{}")),
        (
            "name repeated with each piece",
            vec![
                call(json!({ "function": { "name": "fs_read", "arguments": "{\"path\"" } })),
                call(json!({ "function": { "name": "fs_read", "arguments": ":\"a\"}" } })),
                tools(),
            ],
            "",
            read(r#"{"path":"a"}"#),
        ),
        (
            "two whole calls without index or id",
            vec![call(whole(json!("{\"path\":1}"))), call(whole(json!("{\"path\":2}"))), tools()],
            "",
            [read("{\"path\":1}"), read("{\"path\":2}")].concat(),
        ),
        (
            "two calls in one piece",
            vec![
                delta(json!({ "tool_calls": [whole(json!("{\"path\":1}")), whole(json!("{\"path\":2}"))] })),
                tools(),
            ],
            "",
            [read("{\"path\":1}"), read("{\"path\":2}")].concat(),
        ),
        (
            "two calls both numbered 0",
            vec![
                call(
                    json!({ "index": 0, "id": "a", "function": { "name": "fs_read", "arguments": "{\"path\":1}" } }),
                ),
                call(
                    json!({ "index": 0, "id": "b", "function": { "name": "fs_read", "arguments": "{\"path\":2}" } }),
                ),
                tools(),
            ],
            "",
            [read("{\"path\":1}"), read("{\"path\":2}")].concat(),
        ),
        (
            "pieces of two calls mixed",
            vec![
                call(json!({ "index": 0, "id": "a", "function": { "name": "fs_read", "arguments": "{\"path\":" } })),
                call(json!({ "index": 1, "id": "b", "function": { "name": "fs_list", "arguments": "{" } })),
                call(json!({ "index": 0, "function": { "arguments": "1}" } })),
                call(json!({ "index": 1, "function": { "arguments": "}" } })),
                tools(),
            ],
            "",
            [read("{\"path\":1}"), vec![("fs_list".to_owned(), "{}".to_owned())]].concat(),
        ),
        (
            "empty finish_reason meanwhile",
            vec![
                json!({ "choices": [{ "delta": { "content": "a" }, "finish_reason": "" }] }),
                json!({ "choices": [{ "delta": { "content": "b" }, "finish_reason": "stop" }] }),
            ],
            "ab",
            vec![],
        ),
        (
            "created as a float, unknown role, nulls",
            vec![
                json!({ "created": 1.5, "usage": null, "error": null, "choices": [{ "delta": { "role": "model", "content": "a", "tool_calls": null }, "logprobs": null }] }),
                json!({ "choices": null }),
                finish("stop"),
            ],
            "a",
            vec![],
        ),
        (
            "content in parts",
            vec![delta(json!({ "content": [{ "type": "text", "text": "a" }] })), finish("stop")],
            "a",
            vec![],
        ),
        ("a refusal", vec![delta(json!({ "refusal": "I will not." })), finish("stop")], "I will not.", vec![]),
        (
            "a second choice",
            vec![
                json!({ "choices": [{ "index": 1, "delta": { "content": "no" } }] }),
                delta(json!({ "content": "a" })),
                finish("stop"),
            ],
            "a",
            vec![],
        ),
        ("only token counts say that it ended", vec![delta(json!({ "content": "a" })), usage(1, 2)], "a", vec![]),
    ];
    for (what, chunks, text, calls) in quirks {
        let (reply, _, asked) = ask([Answer::stream(chunks)]).await;
        let reply = reply.unwrap_or_else(|e| panic!("{what}: {e}"));
        let want: Vec<(&str, String)> = calls.iter().map(|(n, a)| (n.as_str(), a.clone())).collect();
        assert_eq!(said(&reply), (text, want), "{what}");
        assert!(reply.calls.iter().all(|c| c.malformed.is_none() && !c.id.is_empty()), "{what}: {reply:?}");
        assert_eq!(asked.len(), 1, "{what}");
    }
}

#[tokio::test]
async fn reasoning_usage_and_deltas_are_passed_on() {
    let chunks = [
        delta(json!({ "role": "assistant", "reasoning_content": "hm", "content": null })),
        delta(json!({ "reasoning": "m" })),
        delta(json!({ "content": "hé" })),
        delta(json!({ "content": "llo" })),
        call(json!({ "index": 0, "id": "x", "function": { "name": "fs_read", "arguments": "{" } })),
        call(json!({ "index": 0, "function": { "arguments": "}" } })),
        finish("tool_calls"),
        usage(5, 7),
    ];
    let (reply, deltas, _) = ask([Answer::stream(chunks)]).await;
    let call = ModelCall { id: "x".into(), call: RawCall::new("fs_read", json!({})), malformed: None };
    let usage = Some(Usage { prompt: 5, completion: 7 });
    assert_eq!(reply.unwrap(), Reply { text: "héllo".into(), reasoning: "hmm".into(), calls: vec![call], usage });
    let written = |bytes| Delta::Call { name: "fs_read".into(), bytes };
    let told = [
        Delta::Reasoning("hm".into()),
        Delta::Reasoning("m".into()),
        Delta::Text("hé".into()),
        Delta::Text("llo".into()),
        written(1),
        written(2),
    ];
    assert_eq!(deltas, told);
}

#[tokio::test]
async fn bytes_may_be_cut_anywhere_and_comments_are_no_events() {
    let events = format!(
        ": PROCESSING\n\ndata: {}\r\n\r\n: still\n\ndata:{}\n\ndata: {}\n\n",
        delta(json!({ "content": "naïve — 日本" })),
        call(json!({ "function": { "name": "fs_read", "arguments": "{\"path\":\"é\"}" } })),
        finish("tool_calls"),
    );
    let bytes = events.bytes().map(|b| Step::Bytes(vec![b]));
    for answer in [Answer::steps(bytes.clone()), Answer::steps(bytes).unframed()] {
        let (reply, _, asked) = ask([answer]).await;
        assert_eq!(said(&reply.unwrap()), ("naïve — 日本", vec![("fs_read", "{\"path\":\"é\"}".into())]));
        assert_eq!(asked.len(), 1, "no `[DONE]` is needed after a finish_reason");
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let message = json!({ "content": "a", "tool_calls": [{ "id": "x", "function": { "name": "fs_list", "arguments": "{}" } }] });
    let body = json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }],
        "usage": { "prompt_tokens": 3, "completion_tokens": 4 } });
    let (reply, ..) = ask([Answer::json(200, &body)]).await;
    let reply = reply.unwrap();
    assert_eq!(said(&reply), ("a", vec![("fs_list", "{}".into())]));
    assert_eq!(reply.usage, Some(Usage { prompt: 3, completion: 4 }));
}

#[tokio::test]
async fn malformed_arguments_are_kept_with_what_is_wrong() {
    for (arguments, finished, why) in [
        ("{\"path\": \"a", "tool_calls", "no JSON"),
        ("{\"path\": \"a", "length", "token limit"),
        ("{}{}", "tool_calls", "no JSON"),
        ("[1]", "tool_calls", "a list"),
        ("\"ls\"", "tool_calls", "a string"),
        ("7", "tool_calls", "a number"),
    ] {
        let piece = json!({ "index": 0, "id": "x", "function": { "name": "fs_read", "arguments": arguments } });
        let (reply, _, asked) = ask([Answer::stream([call(piece), finish(finished)])]).await;
        let reply = reply.unwrap();
        let malformed = reply.calls[0].malformed.as_deref().unwrap_or_else(|| panic!("{arguments} passed"));
        assert!(malformed.contains(why) && malformed.contains(arguments), "{malformed}");
        assert_eq!((reply.calls[0].call.tool.as_str(), &reply.calls[0].call.args), ("fs_read", &Value::Null));
        assert_eq!(asked.len(), 1);
    }
    let nameless = json!({ "index": 0, "function": { "arguments": "{}" } });
    let (reply, ..) = ask([Answer::stream([call(nameless), finish("tool_calls")])]).await;
    assert!(reply.unwrap().calls[0].malformed.as_deref().is_some_and(|m| m.contains("names no tool")));
}

#[tokio::test]
async fn several_calls_come_at_once() {
    let calls = [("fs_list", json!({ "path": "." })), ("fs_read", json!({ "path": "a" })), ("fs_list", json!({}))];
    let (reply, ..) = ask([Answer::calls(&calls)]).await;
    let want: Vec<(&str, String)> = calls.iter().map(|(name, args)| (*name, args.to_string())).collect();
    assert_eq!(said(&reply.unwrap()), ("", want));
}

#[tokio::test]
async fn ids_left_out_or_given_twice_are_made_up() {
    let piece = |index| json!({ "index": index, "id": "x", "function": { "name": "fs_list", "arguments": "{}" } });
    let bare = json!({ "index": 2, "function": { "name": "fs_list", "arguments": "{}" } });
    let (reply, ..) = ask([Answer::stream([call(piece(0)), call(piece(1)), call(bare), finish("tool_calls")])]).await;
    let ids: std::collections::BTreeSet<String> = reply.unwrap().calls.into_iter().map(|c| c.id).collect();
    assert_eq!(ids.len(), 3);
}

#[tokio::test]
async fn a_reply_cut_at_the_token_limit_says_so() {
    let (reply, ..) = ask([Answer::stream([delta(json!({ "content": "one two" })), finish("length")])]).await;
    assert!(reply.unwrap().text.contains("token limit"));
}

#[tokio::test]
async fn what_may_pass_is_tried_again_and_told() {
    let text = delta(json!({ "content": "half" }));
    let half = || Step::Event(text.to_string());
    let event = |v: Value| Step::Event(v.to_string());
    let faults: Vec<(&str, Answer, &str)> = vec![
        ("429", Answer::json(429, &json!({ "error": { "message": "easy", "code": 429 } })), "easy"),
        ("429 in plain text", Answer::text(429, "text/plain", "slow down"), "slow down"),
        ("408", Answer::text(408, "text/plain", ""), "408"),
        ("500", Answer::json(500, &json!({ "error": "boom" })), "boom"),
        ("503 in HTML", Answer::text(503, "text/html", "<h1>busy</h1>"), "busy"),
        ("529", Answer::json(529, &json!({ "message": "overloaded" })), "overloaded"),
        ("cut within a chunked stream", Answer::steps([half(), Step::Cut]), "broke off"),
        ("cut at the end of a plain stream", Answer::steps([half(), Step::Cut]).unframed(), "cut off"),
        ("[DONE] without finish_reason", Answer::steps([half(), Step::Event("[DONE]".into())]), "cut off"),
        ("cut before anything", Answer::steps([Step::Cut]), "broke off"),
        ("empty stream", Answer::steps([]), "cut off"),
        (
            "error in the stream",
            Answer::steps([half(), event(json!({ "error": { "code": 502, "message": "upstream" } }))]),
            "upstream",
        ),
        ("error without a code", Answer::steps([half(), event(json!({ "error": "lost" }))]), "lost"),
        ("finish_reason error", Answer::stream([delta(json!({ "content": "half" })), finish("error")]), "error"),
        ("garbage", Answer::steps([half(), Step::Event("<garbage>".into())]), "<garbage>"),
        (
            "counts with every chunk, then a cut",
            Answer::steps([event(json!({ "choices": [{ "delta": { "content": "half" } }],
            "usage": { "prompt_tokens": 1, "completion_tokens": 1 } }))]),
            "cut off",
        ),
    ];
    for (what, fault, why) in faults {
        let (reply, deltas, asked) = ask([fault, Answer::says("whole")]).await;
        assert_eq!(reply.unwrap_or_else(|e| panic!("{what}: {e}")).text, "whole", "{what}");
        assert_eq!(asked.len(), 2, "{what}");
        assert_eq!(asked[0].body, asked[1].body, "{what}");
        let at = deltas.iter().position(|d| matches!(d, Delta::Retrying { .. })).unwrap_or_else(|| panic!("{what}"));
        let Delta::Retrying { why: told, .. } = &deltas[at] else { unreachable!() };
        assert!(told.contains(why), "{what}: {told}");
        assert_eq!(deltas[at + 1..], [Delta::Restarted, Delta::Text("whole".into())], "{what}");
    }
}

#[tokio::test]
async fn what_will_not_pass_is_refused_at_once_with_what_to_do() {
    let error = |message: &str| json!({ "error": { "message": message } });
    for (what, answer, hints) in [
        ("401", Answer::json(401, &error("bad key")), vec!["key", "OPENAI_API_KEY", "bad key"]),
        ("403", Answer::text(403, "text/plain", "no"), vec!["key"]),
        ("404", Answer::json(404, &error("no such model")), vec!["`m`", "base URL", "/v1", "no such model"]),
        ("402", Answer::json(402, &error("pay")), vec!["account"]),
        ("413", Answer::text(413, "text/plain", ""), vec!["context budget"]),
        (
            "429, used up",
            Answer::json(429, &json!({ "error": { "message": "q", "code": "insufficient_quota" } })),
            vec!["billing"],
        ),
        (
            "301",
            Answer::text(301, "text/plain", "").header("location", "https://x.example/v1"),
            vec!["https://x.example/v1"],
        ),
        ("410", Answer::json(410, &json!({ "detail": "gone" })), vec!["gone"]),
        (
            "error in the stream",
            Answer::stream([json!({ "error": { "code": 400, "message": "bad tools" } })]),
            vec!["bad tools"],
        ),
        ("filtered", Answer::stream([finish("content_filter")]), vec!["filter"]),
    ] {
        let (reply, deltas, asked) = ask([answer]).await;
        let Err(ModelError::Refused(why)) = reply else { panic!("{what}: {reply:?}") };
        assert!(hints.iter().all(|hint| why.contains(hint)), "{what}: {why}");
        assert!(!why.contains("sk-test"), "{what}");
        assert_eq!((asked.len(), deltas), (1, vec![]), "{what}");
    }
}

#[tokio::test]
async fn attempts_and_patience_end() {
    let busy = || Answer::text(503, "text/plain", "busy");
    let (reply, deltas, asked) = ask([busy(), busy(), busy(), Answer::says("too late")]).await;
    let Err(ModelError::GaveUp { attempts: 3, why }) = reply else { panic!("{reply:?}") };
    assert!(why.contains("busy"));
    assert_eq!((asked.len(), deltas.len()), (3, 4));

    let server = Server::start([Answer::text(429, "text/plain", "").header("retry-after", "3600")]).await;
    let (reply, _) = ask_with(config(&server.url), prompt()).await;
    assert!(matches!(reply, Err(ModelError::GaveUp { attempts: 1, .. })), "an hour is past all patience: {reply:?}");
}

#[tokio::test]
async fn retry_after_is_honoured_and_can_be_cancelled() {
    let server = Server::start([Answer::text(429, "text/plain", "").header("retry-after", "7")]).await;
    let model = OpenAi::new(config(&server.url)).unwrap();
    let (deltas, mut news) = unbounded_channel();
    let cancel = CancellationToken::new();
    let watch = async {
        let told = news.recv().await;
        cancel.cancel();
        told
    };
    let both = async { tokio::join!(model.reply(prompt(), deltas, cancel.clone()), watch) };
    let (reply, told) = tokio::time::timeout(Duration::from_secs(6), both).await.expect("cancelled within the pause");
    assert_eq!(reply, Err(ModelError::Cancelled));
    assert!(matches!(told, Some(Delta::Retrying { seconds: 7.0, .. })), "{told:?}");
}

#[tokio::test]
async fn nobody_there_is_told_with_the_url() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let (reply, deltas) = ask_with(config(&url), prompt()).await;
    let Err(ModelError::GaveUp { attempts: 3, why }) = reply else { panic!("{reply:?}") };
    assert!(why.contains(&url) && why.contains("is the server running") && why.contains("refused"), "{why}");
    assert_eq!(deltas.len(), 4);
}

#[tokio::test]
async fn silence_is_timed_out_but_comments_are_no_silence() {
    let idle = Duration::from_millis(100);
    let half = || Step::Event(delta(json!({ "content": "half" })).to_string());
    for (what, silent, word) in [
        ("before anything", Answer::mute(), "in time"),
        ("before the body", Answer::steps([Step::Hang]), "silent"),
        ("in the middle", Answer::steps([half(), Step::Hang]), "silent"),
    ] {
        let server = Server::start([silent, Answer::says("whole")]).await;
        let (reply, deltas) = ask_with(Config { idle_timeout: idle, ..config(&server.url) }, prompt()).await;
        assert_eq!(reply.unwrap().text, "whole", "{what}");
        let silent = |d: &Delta| matches!(d, Delta::Retrying { why, .. } if why.contains(word));
        assert!(deltas.iter().any(silent), "{what}: {deltas:?}");
        server.left(1).await;
    }
    let idle = Duration::from_millis(1200);
    let beat = || [Step::Pause(idle / 6), Step::Bytes(b": still here\n\n".to_vec())];
    let rest = [delta(json!({ "content": "slow" })), finish("stop")].map(|v| Step::Event(v.to_string()));
    let server = Server::start([Answer::steps((0..8).flat_map(|_| beat()).chain(rest))]).await;
    let (reply, deltas) = ask_with(Config { idle_timeout: idle, ..config(&server.url) }, prompt()).await;
    assert_eq!((reply.unwrap().text.as_str(), deltas.len()), ("slow", 1));
}

#[tokio::test]
async fn cancelling_closes_the_connection() {
    let half = Step::Event(delta(json!({ "content": "half" })).to_string());
    for steps in [vec![half, Step::Hang], vec![Step::Hang]] {
        let hears = steps.len() > 1;
        let server = Server::start([Answer::steps(steps)]).await;
        let model = OpenAi::new(config(&server.url)).unwrap();
        let (deltas, mut news) = unbounded_channel();
        let cancel = CancellationToken::new();
        let break_in = async {
            server.asked(1).await;
            if hears {
                assert_eq!(news.recv().await, Some(Delta::Text("half".into())));
            }
            cancel.cancel();
        };
        let both = async { tokio::join!(model.reply(prompt(), deltas, cancel.clone()), break_in).0 };
        let reply = tokio::time::timeout(DEADLINE, both).await.expect("ends when cancelled");
        assert_eq!(reply, Err(ModelError::Cancelled));
        server.left(1).await;
    }
}

#[tokio::test]
async fn the_request_carries_prompt_tools_and_headers() {
    let calls = vec![
        ModelCall { id: "c1".into(), call: RawCall::new("fs_read", json!({ "path": "a" })), malformed: None },
        ModelCall {
            id: "c2".into(),
            call: RawCall::new("fs_read", Value::Null),
            malformed: Some("no JSON: `{`".into()),
        },
    ];
    let answer = |id: &str, text: &str| Message { answers: Some(id.into()), ..Message::new(Role::Tool, text) };
    let mut prompt = prompt();
    prompt.messages = vec![
        Message::new(Role::System, "be careful"),
        Message::new(Role::User, "hi"),
        Message { calls, ..Message::new(Role::Assistant, "") },
        answer("c1", "text of a"),
        answer("c2", "no JSON"),
    ];
    let server = Server::start([Answer::says("ok"), Answer::says("ok")]).await;
    let headers = vec![("X-Title".to_owned(), "weal".to_owned())];
    let with_key = Config { headers, temperature: Some(0.5), ..config(&format!("{}/", server.url)) };
    ask_with(with_key, prompt.clone()).await.0.unwrap();
    ask_with(Config { api_key: None, ..config(&server.url) }, Prompt { tools: vec![], ..prompt }).await.0.unwrap();
    let [first, second] = &server.requests()[..] else { panic!("two requests") };
    assert_eq!((first.method.as_str(), first.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(first.headers["authorization"], "Bearer sk-test");
    assert_eq!(first.headers["x-title"], "weal");
    assert_eq!(first.body["stream"], true);
    assert_eq!(first.body["stream_options"]["include_usage"], true);
    assert_eq!(first.body["temperature"], 0.5);
    assert_eq!(first.body["tools"][0]["function"]["name"], "fs_read");
    let messages = first.body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().filter_map(|m| m["role"].as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool"]);
    assert_eq!(messages[2]["tool_calls"][0]["function"]["arguments"], "{\"path\":\"a\"}");
    assert_eq!(messages[2]["tool_calls"][1]["function"]["arguments"], "{}", "bad arguments are not sent back");
    assert_eq!((&messages[3]["tool_call_id"], &messages[3]["content"]), (&json!("c1"), &json!("text of a")));
    assert!(!second.headers.contains_key("authorization"), "a local server gets no key");
    assert!(second.body.get("tools").is_none());
}

#[tokio::test]
async fn a_server_without_stream_options_is_asked_without_them_from_then_on() {
    let unknown = || Answer::json(400, &json!({ "error": { "message": "Unrecognized request argument" } }));
    let server = Server::start([unknown(), Answer::says("one"), Answer::says("two")]).await;
    let model = OpenAi::new(config(&server.url)).unwrap();
    let mut told = Vec::new();
    for want in ["one", "two"] {
        let (deltas, mut news) = unbounded_channel();
        assert_eq!(model.reply(prompt(), deltas, CancellationToken::new()).await.unwrap().text, want);
        told.extend(drain(&mut news));
    }
    let asked: Vec<bool> = server.requests().iter().map(|r| r.body.get("stream_options").is_some()).collect();
    assert_eq!(asked, [true, false, false]);
    assert!(told.iter().all(|d| matches!(d, Delta::Text(_))), "no attempt was lost: {told:?}");

    let server = Server::start([unknown(), unknown()]).await;
    let (reply, _) = ask_with(config(&server.url), prompt()).await;
    assert!(matches!(reply, Err(ModelError::Refused(why)) if why.contains("Unrecognized")));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn models_are_discovered() {
    let list = json!({ "object": "list", "data": [{ "id": "b" }, { "id": "a" }] });
    let server =
        Server::start([Answer::json(200, &list), Answer::json(200, &json!({})), Answer::json(401, &json!({}))]).await;
    assert_eq!(discover(&config(&server.url)).await, Ok(vec!["b".to_owned(), "a".to_owned()]));
    assert_eq!((server.requests()[0].method.as_str(), server.requests()[0].path.as_str()), ("GET", "/v1/models"));
    assert!(
        matches!(discover(&config(&server.url)).await, Err(ModelError::Refused(why)) if why.contains("lists no model"))
    );
    assert!(matches!(discover(&config(&server.url)).await, Err(ModelError::Refused(why)) if why.contains("key")));
}

#[test]
fn a_configuration_that_cannot_work_is_told_before_anything_is_sent() {
    let good = || config("http://localhost:1/v1");
    for (what, config) in [
        ("no scheme", Config::new("localhost:11434/v1", "m")),
        ("another scheme", Config::new("ftp://x/v1", "m")),
        ("empty", Config::new("", "m")),
        ("a key with a line break", Config { api_key: ApiKey::new("sk-a\nb"), ..good() }),
        ("a bad header", Config { headers: vec![("a b".into(), "c".into())], ..good() }),
    ] {
        let error = OpenAi::new(config).err().unwrap_or_else(|| panic!("{what}"));
        assert!(matches!(&error, ModelError::Misconfigured(why) if why.contains('(')), "{what}: {error}");
        assert!(!error.to_string().contains("sk-a"));
    }
    assert!(OpenAi::new(good()).is_ok());
}
