//! What can go wrong with one attempt, in words that say what to do, and whether trying again can help.
//!
//! What never lives here: the trying again.

use super::transport::Refusal;
use async_openai::error::OpenAIError;
use serde_json::Value;
use std::{error::Error, time::Duration};

/// Why an attempt gave no reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// It may go better another time; the server may have said when.
    Passing { why: String, after: Option<Duration> },
    /// It will be the same every time.
    Lasting(String),
}

impl Failure {
    pub fn passing(why: impl Into<String>) -> Self {
        Failure::Passing { why: why.into(), after: None }
    }
}

/// What the texts speak of: where the request went and with what.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub base_url: String,
    pub model: String,
    pub has_key: bool,
}

impl Endpoint {
    /// A failure of the HTTP client: no answer, or one that broke off.
    pub fn of_error(&self, error: &OpenAIError) -> Failure {
        let url = &self.base_url;
        match error {
            OpenAIError::Reqwest(e) if e.is_builder() => {
                Failure::Lasting(format!("`{url}` is no usable base URL: {}", root(e)))
            }
            OpenAIError::Reqwest(e) if e.is_connect() => {
                Failure::passing(format!("cannot connect to `{url}` ({}): is the server running there?", root(e)))
            }
            OpenAIError::Reqwest(e) if e.is_timeout() => {
                Failure::passing(format!("`{url}` did not answer in time (raise `idle_timeout` for a slow server)"))
            }
            OpenAIError::Reqwest(e) => Failure::passing(format!("the connection to `{url}` failed: {}", root(e))),
            OpenAIError::StreamError(e) => Failure::passing(format!("the answer broke off: {e}")),
            OpenAIError::JSONDeserialize(e, text) => {
                Failure::passing(format!("the server sent `{}`, which is no chat completion ({e})", clip(text)))
            }
            OpenAIError::ApiError(e) => Failure::passing(e.to_string()),
            OpenAIError::InvalidArgument(why) => Failure::Lasting(why.clone()),
            OpenAIError::FileSaveError(why) | OpenAIError::FileReadError(why) => Failure::Lasting(why.clone()),
            OpenAIError::Boxed(e) => Failure::passing(e.to_string()),
        }
    }

    /// An answer with another status than 2xx.
    pub fn of_refusal(&self, refusal: &Refusal) -> Failure {
        let Refusal { status, retry_after, body, location } = refusal;
        let (url, model) = (&self.base_url, &self.model);
        let said = said(body);
        let hint = match status {
            401 | 403 if self.has_key => format!("`{url}` does not take this API key (check OPENAI_API_KEY)"),
            401 | 403 => format!("`{url}` wants an API key (set OPENAI_API_KEY)"),
            402 => format!("`{url}` wants to be paid (check the account behind the API key)"),
            404 => format!(
                "`{url}` knows no model `{model}`, or is not the base URL (check both; most base URLs end in `/v1`)"
            ),
            413 => format!("the prompt is too large for `{url}` (lower the context budget)"),
            429 if body.contains("insufficient_quota") => {
                format!("the account at `{url}` is used up (check its plan and billing)")
            }
            300..400 => match location {
                Some(to) => format!("`{url}` has moved to `{to}` (set that as the base URL)"),
                None => format!("`{url}` redirects to nowhere (check the base URL)"),
            },
            429 => format!("`{url}` asks to slow down"),
            408 | 500.. => format!("`{url}` has trouble"),
            400 | 422 if body.contains("context") => {
                format!("`{url}` cannot take this prompt (if it is too long, lower the context budget)")
            }
            _ => format!("`{url}` cannot take this request for model `{model}`"),
        };
        let why =
            if said.is_empty() { format!("{hint}: status {status}") } else { format!("{hint}: {status}, {said}") };
        let used_up = *status == 429 && body.contains("insufficient_quota");
        match status {
            408 | 429 | 500.. if !used_up => Failure::Passing { why, after: *retry_after },
            _ => Failure::Lasting(why),
        }
    }

    /// `{"error": …}` in the middle of a stream. Without a code that says otherwise it may pass.
    pub fn of_error_object(&self, error: &Value) -> Failure {
        let code = error.get("code").or_else(|| error.get("status"));
        let status = code.and_then(|c| c.as_u64().or_else(|| c.as_str()?.parse().ok()));
        let status = status.and_then(|s| u16::try_from(s).ok()).filter(|s| (400..600).contains(s));
        match status {
            Some(status) => {
                let body = serde_json::json!({ "error": error }).to_string();
                self.of_refusal(&Refusal { status, retry_after: None, body, location: None })
            }
            None => {
                let body = serde_json::json!({ "error": error }).to_string();
                Failure::passing(format!("`{}` broke off with an error: {}", self.base_url, said(&body)))
            }
        }
    }
}

/// The message in an error body, wherever servers put it; else the body itself, shortened.
fn said(body: &str) -> String {
    let json: Value = serde_json::from_str(body).unwrap_or_default();
    let places = ["/error/message", "/error", "/message", "/detail", "/error/metadata/raw"];
    let message = places.iter().find_map(|place| json.pointer(place).and_then(Value::as_str));
    clip(message.unwrap_or(body).trim())
}

fn clip(text: &str) -> String {
    const MOST: usize = 300;
    let mut short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// The last cause of an error: "connection refused" rather than "error sending request".
fn root(error: &dyn Error) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    last.to_string()
}
