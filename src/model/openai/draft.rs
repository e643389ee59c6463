//! A reply while it comes in: pieces of text, reasoning and calls put together, however the server cuts them.
//!
//! What never lives here: the wire's shapes (`wire`), the network.

use super::{
    failure::Failure,
    wire::{CallPiece, Chunk},
};
use crate::{
    domain::{RawCall, Reply, Usage, message::ModelCall},
    ports::Delta,
};
use serde_json::{Map, Value};

#[derive(Debug, Default)]
pub struct Draft {
    text: String,
    reasoning: String,
    calls: Vec<CallDraft>,
    finish: Option<String>,
    usage: Option<Usage>,
    /// Token counts without a choice came: what servers send last of all.
    counted: bool,
}

#[derive(Debug, Default)]
struct CallDraft {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Draft {
    /// Adds one chunk and says what is new.
    pub fn take(&mut self, chunk: &mut Chunk) -> Vec<Delta> {
        self.usage = chunk.usage().or(self.usage);
        let Some(mut choice) = chunk.choice() else {
            self.counted |= chunk.usage().is_some();
            return Vec::new();
        };
        self.finish = choice.finish().map(str::to_owned).or(self.finish.take());
        let Some(mut piece) = choice.piece() else { return Vec::new() };
        let mut news = Vec::new();
        let (text, reasoning) = (piece.text(), piece.reasoning());
        self.text.push_str(&text);
        self.reasoning.push_str(&reasoning);
        if !reasoning.is_empty() {
            news.push(Delta::Reasoning(reasoning));
        }
        if !text.is_empty() {
            news.push(Delta::Text(text));
        }
        let pieces = piece.calls();
        let alone = pieces.len() == 1;
        for (position, piece) in pieces.iter().enumerate() {
            let at = self.slot(piece, position, alone);
            let Some(call) = self.calls.get_mut(at) else { continue };
            call.add(piece);
            news.push(Delta::Call { name: call.name.clone(), bytes: call.arguments.len() });
        }
        news
    }

    /// Which call a piece belongs to: by index, else by id, else by position; a new one is begun where none fits.
    fn slot(&mut self, piece: &CallPiece, position: usize, alone: bool) -> usize {
        let (index, id, name) = (piece.index(), piece.id(), piece.name());
        let found = match index {
            Some(_) => self.calls.iter().rposition(|c| c.index == index),
            None if !id.is_empty() => self.calls.iter().rposition(|c| c.id == id),
            None if alone || !name.is_empty() => self.calls.len().checked_sub(1),
            None => Some(position).filter(|p| *p < self.calls.len()),
        };
        let call = found.and_then(|at| self.calls.get(at));
        let fits = call.is_some_and(|call| match index {
            // Some servers number all calls 0: another id together with a name begins another call.
            Some(_) => name.is_empty() || id.is_empty() || call.id.is_empty() || call.id == id,
            None if !id.is_empty() => true,
            None => name.is_empty() || call.continues(&name, &piece.arguments()),
        });
        match found {
            Some(at) if fits => at,
            Some(_) | None => {
                self.calls.push(CallDraft { index, ..CallDraft::default() });
                self.calls.len() - 1
            }
        }
    }

    /// The reply, if the stream really came to its end. `tag` makes up ids that the server left out or gave twice.
    pub fn finish(self, tag: &str) -> Result<Reply, Failure> {
        let mut text = self.text;
        match self.finish.as_deref() {
            None if !self.counted => {
                return Err(Failure::passing("the answer was cut off before its end".to_owned()));
            }
            Some("error") => {
                return Err(Failure::passing("the server broke off its answer with an error".to_owned()));
            }
            Some("content_filter") if text.is_empty() && self.calls.is_empty() => {
                return Err(Failure::Lasting(
                    "its content filter stopped the answer (say it differently)".to_owned(),
                ));
            }
            Some("length") if self.calls.is_empty() => text.push_str("\n\n[cut off at the endpoint's token limit]"),
            Some(_) | None => {}
        }
        let cut = self.finish.as_deref() == Some("length");
        let mut calls: Vec<ModelCall> = Vec::new();
        for (n, call) in self.calls.into_iter().enumerate() {
            let is_taken = call.id.is_empty() || calls.iter().any(|c| c.id == call.id);
            let id = if is_taken { format!("call_{tag}_{n}") } else { call.id.clone() };
            calls.push(call.finish(id, cut));
        }
        Ok(Reply { text, reasoning: self.reasoning, calls, usage: self.usage })
    }
}

impl CallDraft {
    fn add(&mut self, piece: &CallPiece) {
        if self.id.is_empty() {
            self.id = piece.id();
        }
        let name = piece.name();
        // Some servers repeat the whole name with every piece.
        if self.name != name {
            self.name.push_str(&name);
        }
        self.arguments.push_str(&piece.arguments());
    }

    /// A piece that names a call but has neither index nor id goes on with this one only if it names the same tool,
    /// and the arguments so far are not whole.
    fn continues(&self, name: &str, arguments: &str) -> bool {
        let whole = match self.arguments.as_str() {
            "" => arguments.is_empty(),
            some => serde_json::from_str::<Value>(some).is_ok(),
        };
        self.name == name && !whole
    }

    fn finish(self, id: String, cut: bool) -> ModelCall {
        let (args, wrong) = match arguments(&self.arguments) {
            Ok(args) if !self.name.is_empty() => (args, None),
            Ok(_) => (Value::Null, Some("the call names no tool".to_owned())),
            Err(why) if cut => {
                (Value::Null, Some(format!("{why}; it was cut off at the token limit: send less at once")))
            }
            Err(why) => (Value::Null, Some(why)),
        };
        let malformed = wrong.map(|why| format!("{why}: `{}`", self.arguments));
        let name = if self.name.is_empty() { "unknown" } else { &self.name };
        ModelCall { id, call: RawCall::new(name, args), malformed }
    }
}

/// No text at all means no arguments; JSON within a JSON string is unwrapped once.
fn arguments(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let value = serde_json::from_str(text).map_err(|e| format!("the arguments are no JSON ({e})"))?;
    let value = match value {
        Value::String(inner) => serde_json::from_str(&inner).unwrap_or(Value::String(inner)),
        other => other,
    };
    let found = match &value {
        Value::Object(_) => return Ok(value),
        Value::Null => return Ok(Value::Object(Map::new())),
        Value::Array(_) => "a list",
        Value::String(_) => "a string",
        Value::Number(_) => "a number",
        Value::Bool(_) => "a truth value",
    };
    Err(format!("the arguments are {found} where a JSON object is wanted"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// How a server says which call a piece belongs to.
    #[derive(Debug, Clone, Copy)]
    enum Style {
        Index,
        Id,
        Position,
    }

    fn args() -> impl Strategy<Value = Value> {
        let text = prop_oneof![any::<String>(), "[\"\\\\{}\\[\\],:é日\n ]{0,12}"];
        let leaf = prop_oneof![text.prop_map(Value::from), any::<i64>().prop_map(Value::from), Just(Value::Null)];
        let value = leaf.prop_recursive(2, 8, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(Value::from));
        prop::collection::btree_map("[a-z\"é]{1,6}", value, 0..4).prop_map(|m| Value::Object(m.into_iter().collect()))
    }

    /// The text of each call's arguments, cut at these places (taken modulo its length).
    fn cut(text: &str, cuts: &[usize]) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        let mut at: Vec<usize> = cuts.iter().map(|c| c % (chars.len() + 1)).chain([0, chars.len()]).collect();
        at.sort_unstable();
        at.windows(2).map(|w| chars[w[0]..w[1]].iter().collect()).collect()
    }

    fn chunk(style: Style, n: usize, name: Option<&str>, arguments: &str) -> Chunk {
        let mut piece = json!({ "function": { "arguments": arguments } });
        if let Some(name) = name {
            piece["function"]["name"] = name.into();
        }
        match style {
            Style::Index => piece["index"] = n.into(),
            Style::Id => piece["id"] = format!("id{n}").into(),
            Style::Position => {}
        }
        serde_json::from_value(json!({ "choices": [{ "delta": { "tool_calls": [piece] } }] })).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// However arguments are cut, and in whatever order the pieces of different calls come where the server
        /// tells them apart, the calls are the same.
        #[test]
        fn arguments_may_be_cut_anywhere(
            calls in prop::collection::vec((args(), prop::collection::vec(any::<usize>(), 0..6)), 1..4),
            style in prop_oneof![Just(Style::Index), Just(Style::Id), Just(Style::Position)],
            order in prop::collection::vec(any::<usize>(), 24),
        ) {
            let mut queues: Vec<(usize, Vec<String>, bool)> = calls
                .iter()
                .enumerate()
                .map(|(n, (args, cuts))| (n, cut(&args.to_string(), cuts), true))
                .collect();
            let mut draft = Draft::default();
            let mut picks = order.into_iter().cycle();
            // Calls begin in order; after that any call that has begun may go on, but by position only the last.
            let mut begun = 0;
            while queues.iter().any(|(_, pieces, _)| !pieces.is_empty()) {
                let open: Vec<usize> = (0..queues.len()).filter(|n| !queues[*n].1.is_empty() && *n <= begun).collect();
                let at = match style {
                    Style::Position => open[0],
                    Style::Index | Style::Id => open[picks.next().unwrap() % open.len()],
                };
                let (n, pieces, first) = &mut queues[at];
                let name = first.then(|| format!("tool_{n}"));
                draft.take(&mut chunk(style, *n, name.as_deref(), &pieces.remove(0)));
                begun = begun.max(*n + 1);
                *first = false;
            }
            draft.take(&mut serde_json::from_value(json!({ "choices": [{ "finish_reason": "tool_calls" }] })).unwrap());
            let reply = draft.finish("t").unwrap();
            let got: Vec<(String, Value)> = reply.calls.iter().map(|c| (c.call.tool.clone(), c.call.args.clone())).collect();
            let want: Vec<(String, Value)> =
                calls.iter().enumerate().map(|(n, (args, _))| (format!("tool_{n}"), args.clone())).collect();
            prop_assert_eq!(got, want);
            prop_assert!(reply.calls.iter().all(|c| c.malformed.is_none()));
        }

        /// Nothing a server sends brings the draft down, and nothing unfinished passes for a reply.
        #[test]
        fn any_json_is_put_up_with(deltas in prop::collection::vec(args(), 0..6)) {
            let mut draft = Draft::default();
            for delta in deltas {
                let chunk = json!({ "choices": [{ "delta": { "content": delta, "tool_calls": [{ "function": delta }] } }] });
                if let Ok(mut chunk) = serde_json::from_value(chunk) {
                    draft.take(&mut chunk);
                }
            }
            prop_assert!(draft.finish("t").is_err());
        }
    }
}
