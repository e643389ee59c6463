//! The wire format, both ways: a prompt as request JSON, and what servers send back as structs that put up with
//! nearly everything (no index, numbers as strings, `null` anywhere, whole messages instead of deltas).
//!
//! What never lives here: putting pieces together (`draft`), sending (`transport`).

use crate::domain::{Message, Prompt, Role, Usage};
use async_openai::{
    error::OpenAIError,
    types::chat::{
        ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessageArgs,
        ChatCompletionRequestMessage, ChatCompletionRequestSystemMessageArgs, ChatCompletionRequestToolMessageArgs,
        ChatCompletionRequestUserMessageArgs, ChatCompletionStreamOptions, ChatCompletionTool, ChatCompletionTools,
        CreateChatCompletionRequestArgs, FunctionCall, FunctionObjectArgs,
    },
};
use serde::Deserialize;
use serde_json::Value;

/// The request body for one streamed reply. `usage`: ask for token counts at the end of the stream.
pub fn request(prompt: &Prompt, model: &str, temperature: Option<f32>, usage: bool) -> Result<Value, OpenAIError> {
    let mut request = CreateChatCompletionRequestArgs::default();
    request.model(model).stream(true);
    request.messages(prompt.messages.iter().map(message).collect::<Result<Vec<_>, _>>()?);
    if !prompt.tools.is_empty() {
        request.tools(prompt.tools.iter().map(tool).collect::<Result<Vec<_>, _>>()?);
    }
    if let Some(temperature) = temperature {
        request.temperature(temperature);
    }
    if usage {
        request.stream_options(ChatCompletionStreamOptions { include_usage: Some(true), include_obfuscation: None });
    }
    serde_json::to_value(request.build()?).map_err(|e| OpenAIError::InvalidArgument(e.to_string()))
}

fn message(message: &Message) -> Result<ChatCompletionRequestMessage, OpenAIError> {
    let text = message.text.as_str();
    Ok(match message.role {
        Role::System => ChatCompletionRequestSystemMessageArgs::default().content(text).build()?.into(),
        Role::User => ChatCompletionRequestUserMessageArgs::default().content(text).build()?.into(),
        Role::Tool => ChatCompletionRequestToolMessageArgs::default()
            .content(text)
            .tool_call_id(message.answers.clone().unwrap_or_default())
            .build()?
            .into(),
        Role::Assistant => {
            let mut reply = ChatCompletionRequestAssistantMessageArgs::default();
            if !text.is_empty() || message.calls.is_empty() {
                reply.content(text);
            }
            if !message.calls.is_empty() {
                reply.tool_calls(message.calls.iter().map(call).collect::<Vec<_>>());
            }
            reply.build()?.into()
        }
    })
}

fn call(call: &crate::domain::message::ModelCall) -> ChatCompletionMessageToolCalls {
    // Some servers parse the arguments of earlier calls and refuse the whole request over bad ones; what was wrong
    // with them stands in the tool message that answers the call.
    let arguments = if call.malformed.is_some() { "{}".to_owned() } else { call.call.args.to_string() };
    let function = FunctionCall { name: call.call.tool.clone(), arguments };
    ChatCompletionMessageToolCalls::Function(ChatCompletionMessageToolCall { id: call.id.clone(), function })
}

fn tool(spec: &crate::domain::ToolSpec) -> Result<ChatCompletionTools, OpenAIError> {
    let function = FunctionObjectArgs::default()
        .name(&spec.name)
        .description(&spec.description)
        .parameters(spec.parameters.clone())
        .build()?;
    Ok(ChatCompletionTools::Function(ChatCompletionTool { function }))
}

/// One event of the stream, or a whole answer of a server that does not stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Value>,
    /// A failure after the stream began; `null` and absent are none.
    pub error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Choice {
    index: Option<Value>,
    delta: Option<Piece>,
    message: Option<Piece>,
    finish_reason: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Piece {
    content: Option<Value>,
    refusal: Option<Value>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct CallPiece {
    index: Option<Value>,
    id: Option<Value>,
    function: Option<FunctionPiece>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FunctionPiece {
    name: Option<Value>,
    arguments: Option<Value>,
}

impl Chunk {
    /// The first choice; no other was asked for.
    pub fn choice(&mut self) -> Option<Choice> {
        let choices = self.choices.take().unwrap_or_default();
        choices.into_iter().find(|c| c.index.as_ref().and_then(number).is_none_or(|i| i == 0))
    }

    pub fn usage(&self) -> Option<Usage> {
        let count = |name| self.usage.as_ref()?.get(name).and_then(number);
        Some(Usage { prompt: count("prompt_tokens")?, completion: count("completion_tokens").unwrap_or(0) })
    }
}

impl Choice {
    pub fn piece(&mut self) -> Option<Piece> {
        self.delta.take().or_else(|| self.message.take())
    }

    /// Servers that send `""` for "not yet" mean `null`.
    pub fn finish(&self) -> Option<&str> {
        self.finish_reason.as_ref().and_then(Value::as_str).filter(|reason| !reason.is_empty())
    }
}

impl Piece {
    pub fn text(&self) -> String {
        [&self.content, &self.refusal].into_iter().map(text).collect()
    }

    pub fn reasoning(&self) -> String {
        [&self.reasoning_content, &self.reasoning].into_iter().map(text).find(|t| !t.is_empty()).unwrap_or_default()
    }

    pub fn calls(&mut self) -> Vec<CallPiece> {
        self.tool_calls.take().unwrap_or_default()
    }
}

impl CallPiece {
    pub fn index(&self) -> Option<u64> {
        self.index.as_ref().and_then(number)
    }

    /// Empty where there is none.
    pub fn id(&self) -> String {
        text(&self.id)
    }

    pub fn name(&self) -> String {
        self.function.as_ref().map(|f| text(&f.name)).unwrap_or_default()
    }

    /// As text, also where the server sent JSON instead of a string that holds JSON.
    pub fn arguments(&self) -> String {
        match self.function.as_ref().and_then(|f| f.arguments.as_ref()) {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(whole) => whole.to_string(),
        }
    }
}

/// A string, or the `text` of a list of parts; anything else is no text.
fn text(value: &Option<Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|p| p.get("text").and_then(Value::as_str)).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Object(_)) | None => String::new(),
    }
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).or_else(|| value.as_f64().map(|f| f as u64))
}
