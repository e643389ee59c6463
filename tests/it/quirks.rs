//! What real servers send instead of what is documented, and what it means.

use crate::{
    model::{ask, said},
    sse::{Answer, delta, finish, usage},
};
use serde_json::{Value, json};

/// What it is; the stream, a chunk a line; what comes of it: the text, then each call with its arguments.
type Quirk = (&'static str, &'static str, &'static [&'static str]);

const ONE: &[&str] = &["", r#"fs_read {"path":"a"}"#];
const TWO: &[&str] = &["", r#"fs_read {"path":1}"#, r#"fs_read {"path":2}"#];
const NONE: &[&str] = &["", "fs_read {}"];

const QUIRKS: &[Quirk] = &[
    (
        "by index",
        r#"call {"index":0,"id":"x","type":"function","function":{"name":"fs_read","arguments":"{\"pa"}}
           call {"index":0,"function":{"arguments":"th\":\"a\"}"}}
           finish tool_calls"#,
        ONE,
    ),
    (
        "by id, without index",
        r#"call {"id":"x","function":{"name":"fs_read","arguments":"{\"pa"}}
           call {"id":"x","function":{"arguments":"th\":\"a\"}"}}
           finish tool_calls"#,
        ONE,
    ),
    (
        "by position, without either",
        r#"call {"function":{"name":"fs_read","arguments":"{\"pa"}}
           call {"function":{"arguments":"th\":\"a\"}"}}
           finish tool_calls"#,
        ONE,
    ),
    (
        "the index as text, the type empty",
        r#"call {"index":"0","type":"","function":{"name":"fs_read","arguments":"{\"pa"}}
           call {"index":"0","function":{"arguments":"th\":\"a\"}"}}
           finish tool_calls"#,
        ONE,
    ),
    (
        "another id with each piece of one call",
        r#"call {"index":0,"id":"x1","function":{"name":"fs_read","arguments":"{\"pa"}}
           call {"index":0,"id":"x2","function":{"name":"","arguments":"th\":\"a\"}"}}
           finish tool_calls"#,
        ONE,
    ),
    (
        "the name with each piece of one call",
        r#"call {"function":{"name":"fs_read","arguments":""}}
           call {"function":{"name":"fs_read","arguments":"{\"pa"}}
           call {"function":{"name":"fs_read","arguments":"th\":\"a\"}"}}
           finish tool_calls"#,
        ONE,
    ),
    (
        "the name in pieces",
        r#"call {"index":0,"function":{"name":"fs_"}}
           call {"index":0,"function":{"name":"read","arguments":"{\"path\":\"a\"}"}}
           finish tool_calls"#,
        ONE,
    ),
    (
        "arguments as an object",
        r#"call {"index":0,"id":"x","function":{"name":"fs_read","arguments":{"path":"a"}}}
           finish tool_calls"#,
        ONE,
    ),
    (
        "arguments encoded twice",
        r#"call {"function":{"name":"fs_read","arguments":"\"{\\\"path\\\":\\\"a\\\"}\""}}
           finish tool_calls"#,
        ONE,
    ),
    ("arguments left out", "call {\"index\":0,\"function\":{\"name\":\"fs_read\"}}\nfinish tool_calls", NONE),
    ("arguments null", "call {\"function\":{\"name\":\"fs_read\",\"arguments\":null}}\nfinish tool_calls", NONE),
    ("arguments empty", "call {\"function\":{\"name\":\"fs_read\",\"arguments\":\"\"}}\nfinish tool_calls", NONE),
    ("calls ended by `stop`", "call {\"function\":{\"name\":\"fs_read\",\"arguments\":\"{}\"}}\nfinish stop", NONE),
    (
        "two whole calls, nothing to tell them apart",
        r#"call {"function":{"name":"fs_read","arguments":{"path":1}}}
           call {"function":{"name":"fs_read","arguments":{"path":2}}}
           finish tool_calls"#,
        TWO,
    ),
    (
        "two calls in one chunk",
        r#"delta {"tool_calls":[{"function":{"name":"fs_read","arguments":"{\"path\":1}"}},
              {"function":{"name":"fs_read","arguments":"{\"path\":2}"}}]}
           finish tool_calls"#,
        TWO,
    ),
    (
        "two calls both numbered 0",
        r#"call {"index":0,"id":"a","function":{"name":"fs_read","arguments":"{\"path\":1}"}}
           call {"index":0,"id":"b","function":{"name":"fs_read","arguments":"{\"path\":2}"}}
           finish tool_calls"#,
        TWO,
    ),
    (
        "pieces of two calls mixed",
        r#"call {"index":0,"id":"a","function":{"name":"fs_read","arguments":"{\"path\":"}}
           call {"index":1,"id":"b","function":{"name":"fs_read","arguments":"{\"path"}}
           call {"index":0,"function":{"arguments":"1}"}}
           call {"index":1,"function":{"arguments":"\":2}"}}
           finish tool_calls"#,
        TWO,
    ),
    (
        "finish_reason empty for `not yet`",
        r#"chunk {"choices":[{"delta":{"content":"a"},"finish_reason":""}]}
           chunk {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}"#,
        &["ab"],
    ),
    (
        "created as a float, an unknown role, nulls everywhere",
        r#"chunk {"created":1.5,"usage":null,"error":null,"choices":[{"delta":{"role":"model","content":"a","tool_calls":null}}]}
           chunk {"choices":null}
           chunk {"choices":[{"delta":null,"finish_reason":null}]}
           finish stop"#,
        &["a"],
    ),
    ("content in parts", "delta {\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}\nfinish stop", &["a"]),
    ("a refusal", "delta {\"refusal\":\"I will not.\"}\nfinish stop", &["I will not."]),
    (
        "a choice nobody asked for",
        r#"chunk {"choices":[{"index":1,"delta":{"content":"no"}}]}
           delta {"content":"a"}
           finish stop"#,
        &["a"],
    ),
    ("nothing but token counts to say that it ended", "delta {\"content\":\"a\"}\nusage", &["a"]),
];

/// A chunk for each line that begins with a word; the others go on with the one before.
fn chunks(stream: &str) -> Vec<Value> {
    let mut texts: Vec<(String, String)> = Vec::new();
    for line in stream.lines().map(str::trim) {
        match (line.split_once(' ').unwrap_or((line, "")), texts.last_mut()) {
            ((word, rest), _) if word.chars().all(|c| c.is_ascii_lowercase()) => {
                texts.push((word.into(), rest.into()))
            }
            (_, Some((_, text))) => text.push_str(line),
            (_, None) => panic!("`{line}` begins nothing"),
        }
    }
    let value = |text: &str| -> Value { serde_json::from_str(text).unwrap_or_else(|e| panic!("{text}: {e}")) };
    let chunk = |(word, text): &(String, String)| match word.as_str() {
        "call" => delta(json!({ "tool_calls": [value(text)] })),
        "delta" => delta(value(text)),
        "chunk" => value(text),
        "finish" => finish(text),
        "usage" => usage(1, 2),
        other => panic!("`{other}` is no kind of chunk"),
    };
    texts.iter().map(chunk).collect()
}

#[tokio::test]
async fn what_real_servers_send_is_understood() {
    for (what, stream, want) in QUIRKS {
        let (reply, _, asked) = ask([Answer::stream(chunks(stream))]).await;
        let reply = reply.unwrap_or_else(|e| panic!("{what}: {e}"));
        let (text, calls) = said(&reply);
        let calls = calls.iter().map(|(name, args)| format!("{name} {args}"));
        let got: Vec<String> = [text.to_owned()].into_iter().chain(calls).collect();
        assert_eq!(got, *want, "{what}");
        assert!(reply.calls.iter().all(|c| c.malformed.is_none() && !c.id.is_empty()), "{what}: {reply:?}");
        assert_eq!(asked.len(), 1, "{what}");
    }
}
