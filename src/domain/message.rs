//! What goes to a model and what comes back, free of any wire format.

use super::action::RawCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    System,
    User,
    Assistant,
    Tool,
}

/// A call in a model's reply, under the id the model gave it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    pub id: String,
    pub call: RawCall,
    /// The arguments were no JSON: the text as it came and what was wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub text: String,
    /// Of an assistant: the calls it made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ModelCall>,
    /// Of a tool: the call it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
}

impl Message {
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Message { role, text: text.into(), calls: Vec::new(), answers: None }
    }

    /// The first word of a tool message that answers a call which was not run.
    pub const DENIED: &str = "denied";

    /// A receipt: it answers a call that was not run.
    pub fn is_receipt(&self) -> bool {
        self.role == Role::Tool && self.text.trim_start().to_lowercase().starts_with(Self::DENIED)
    }
}

/// A tool as it is offered to a model. `parameters` is a JSON Schema object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    pub parameters: Value,
}

/// Everything one model call is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSpec>,
}

impl Prompt {
    /// A rough count, until the endpoint says: four characters a token.
    pub fn tokens(&self) -> u64 {
        let text: usize = self
            .messages
            .iter()
            .map(|m| m.text.len() + m.calls.iter().map(|c| c.call.args.to_string().len() + 16).sum::<usize>() + 8)
            .sum();
        tokens_of_len(text)
    }
}

/// Tokens of a text of `len` bytes, roughly.
pub const fn tokens_of_len(len: usize) -> u64 {
    (len as u64).div_ceil(4)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub prompt: u64,
    pub completion: u64,
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Reply {
    pub text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(default)]
    pub calls: Vec<ModelCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}
