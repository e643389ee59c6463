//! Any OpenAI-compatible endpoint: streamed chat completions with tool calls, tried again where that can help.
//!
//! What never lives here: reading the environment or a configuration file; deciding what becomes of a call.

mod draft;
mod failure;
mod transport;
mod wire;

use crate::{
    domain::{Digest, Prompt, Reply},
    ports::{Delta, Model, ModelError},
};
use async_openai::{Client, config::OpenAIConfig, error::OpenAIError, types::stream::StreamResponse};
use draft::Draft;
use failure::{Endpoint, Failure};
use futures::{StreamExt, future::BoxFuture};
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use tokio::{sync::mpsc::UnboundedSender, time::Instant};
use tokio_util::sync::CancellationToken;
use transport::{Refusal, Unstreamed};
use wire::Chunk;

/// A key that no `Debug` output shows.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// `None` for an empty text: local servers want no key.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| ApiKey(text.to_owned()))
    }

    fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// Where to ask, for what, and how patiently.
#[derive(Debug, Clone)]
pub struct Config {
    /// With its version, without `/chat/completions`: `http://localhost:11434/v1`.
    pub base_url: String,
    pub api_key: Option<ApiKey>,
    pub model: String,
    pub temperature: Option<f32>,
    /// Sent with every request, over those set otherwise.
    pub headers: Vec<(String, String)>,
    /// The longest silence on the wire, before the first byte and between any two.
    pub idle_timeout: Duration,
    /// Attempts at one reply, the first included.
    pub max_attempts: u32,
    /// Pause before the second attempt; doubles with each further one, up to `longest_pause`.
    pub first_pause: Duration,
    pub longest_pause: Duration,
    /// No new attempt begins after so long; one that is under way goes on.
    pub patience: Duration,
    /// Spreads the pauses of many clients, the same way each time for one seed.
    pub seed: u64,
}

impl Config {
    pub fn new(base_url: &str, model: &str) -> Self {
        Config {
            base_url: base_url.trim().trim_end_matches('/').to_owned(),
            api_key: None,
            model: model.to_owned(),
            temperature: None,
            headers: Vec::new(),
            idle_timeout: Duration::from_secs(120),
            max_attempts: 6,
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(30),
            patience: Duration::from_secs(300),
            seed: 0,
        }
    }

    /// How long to wait after attempt number `attempt` failed: doubling, less up to a half by the seed.
    fn pause(&self, attempt: u32) -> Duration {
        let doubled = self.first_pause.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)));
        let (seed, attempt) = (self.seed.to_le_bytes(), attempt.to_le_bytes());
        let Digest([byte, ..]) = Digest::of_parts([seed.as_slice(), attempt.as_slice()]);
        doubled.min(self.longest_pause).mul_f64(1.0 - f64::from(byte) / 512.0)
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint { base_url: self.base_url.clone(), model: self.model.clone(), has_key: self.api_key.is_some() }
    }
}

/// The names of the models an endpoint has, in its order.
pub async fn discover(config: &Config) -> Result<Vec<String>, ModelError> {
    let (client, headers) = (transport::client(config)?, transport::headers(config)?);
    let url = format!("{}/models", config.base_url);
    let text = transport::get(&client, headers, &url).await;
    let text = text.map_err(|error| match failed(&config.endpoint(), &error) {
        Failure::Passing { why, .. } => ModelError::GaveUp { attempts: 1, why },
        Failure::Lasting(why) => ModelError::Refused(why),
    })?;
    let list: Value = serde_json::from_str(&text).unwrap_or_default();
    let models = list.get("data").or_else(|| list.get("models")).and_then(Value::as_array).cloned();
    let name = |model: &Value| ["id", "name"].iter().find_map(|key| model.get(key)?.as_str().map(str::to_owned));
    let names: Vec<String> = models.unwrap_or_default().iter().filter_map(name).collect();
    if names.is_empty() {
        return Err(ModelError::Refused(format!("`{url}` lists no model (set the model's name)")));
    }
    Ok(names)
}

/// One model at one endpoint.
pub struct OpenAi {
    config: Config,
    endpoint: Endpoint,
    client: Client<OpenAIConfig>,
    /// Until the server refuses to be asked for token counts.
    ask_usage: AtomicBool,
}

impl OpenAi {
    /// Nothing is sent yet; an error says what in the configuration cannot be used.
    pub fn new(config: Config) -> Result<Self, ModelError> {
        let (http, headers) = (transport::client(&config)?, transport::headers(&config)?);
        let base = OpenAIConfig::new().with_api_base(&config.base_url).with_api_key("");
        let client = Client::build(http.clone(), base.with_org_id("").with_project_id(""));
        let client = client.with_http_service(tower::service_fn(move |request| {
            transport::send(http.clone(), HeaderMap::clone(&headers), request)
        }));
        Ok(OpenAi { endpoint: config.endpoint(), config, client, ask_usage: AtomicBool::new(true) })
    }

    async fn insist(&self, prompt: &Prompt, deltas: &UnboundedSender<Delta>) -> Result<Reply, ModelError> {
        let begun = Instant::now();
        let mut attempt = 1;
        loop {
            let (why, after) = match self.attempt(prompt, deltas).await {
                Ok(reply) => return Ok(reply),
                Err(Failure::Lasting(why)) => return Err(ModelError::Refused(why)),
                Err(Failure::Passing { why, after }) => (why, after),
            };
            let pause = after.unwrap_or_else(|| self.config.pause(attempt));
            if attempt >= self.config.max_attempts || begun.elapsed() + pause > self.config.patience {
                return Err(ModelError::GaveUp { attempts: attempt, why });
            }
            // Nobody listens any more when the screen has gone; the reply is still wanted.
            let _ = deltas.send(Delta::Retrying { why, seconds: pause.as_secs_f64() });
            tokio::time::sleep(pause).await;
            attempt += 1;
            let _ = deltas.send(Delta::Restarted);
        }
    }

    async fn attempt(&self, prompt: &Prompt, deltas: &UnboundedSender<Delta>) -> Result<Reply, Failure> {
        let asked_usage = self.ask_usage.load(Ordering::Relaxed);
        let mut opened = self.open(prompt, asked_usage).await;
        if asked_usage && matches!(&opened, Err(e) if refusal(e).is_some_and(|r| matches!(r.status, 400 | 422))) {
            // Servers say in many ways that they do not know `stream_options`: try without, and remember if it helped.
            let without = self.open(prompt, false).await;
            if without.is_ok() {
                self.ask_usage.store(false, Ordering::Relaxed);
                opened = without;
            }
        }
        let mut draft = Draft::default();
        match opened {
            Ok(stream) => self.follow(stream, &mut draft, deltas).await?,
            Err(error) => match boxed::<Unstreamed>(&error) {
                Some(Unstreamed(body)) => {
                    let whole = serde_json::from_str(body).map_err(|e| OpenAIError::JSONDeserialize(e, body.clone()));
                    self.take(whole.map_err(|e| failed(&self.endpoint, &e))?, &mut draft, deltas)?;
                }
                None => return Err(failed(&self.endpoint, &error)),
            },
        }
        draft.finish(&Digest::of_json(prompt).short())
    }

    async fn open(&self, prompt: &Prompt, usage: bool) -> Result<StreamResponse<Chunk>, OpenAIError> {
        let request = wire::request(prompt, &self.config.model, self.config.temperature, usage)?;
        self.client.chat().create_stream_byot(request).await
    }

    async fn follow(
        &self,
        mut stream: StreamResponse<Chunk>,
        draft: &mut Draft,
        deltas: &UnboundedSender<Delta>,
    ) -> Result<(), Failure> {
        let mut last = Instant::now();
        while let Some(item) = stream.next().await {
            let chunk = item.map_err(|error| match error {
                OpenAIError::StreamError(_) if last.elapsed() >= self.config.idle_timeout => {
                    let seconds = self.config.idle_timeout.as_secs_f64();
                    Failure::passing(format!("`{}` fell silent for {seconds} s", self.config.base_url))
                }
                error => failed(&self.endpoint, &error),
            })?;
            last = Instant::now();
            self.take(chunk, draft, deltas)?;
        }
        Ok(())
    }

    fn take(&self, mut chunk: Chunk, draft: &mut Draft, deltas: &UnboundedSender<Delta>) -> Result<(), Failure> {
        if let Some(error) = &chunk.error {
            return Err(self.endpoint.of_error_object(error));
        }
        for delta in draft.take(&mut chunk) {
            let _ = deltas.send(delta);
        }
        Ok(())
    }
}

impl Model for OpenAi {
    fn name(&self) -> String {
        self.config.model.clone()
    }

    fn is_simulated(&self) -> bool {
        false
    }

    fn reply<'a>(
        &'a self,
        prompt: Prompt,
        deltas: UnboundedSender<Delta>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            // Dropping the attempt drops its stream, which closes the connection.
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ModelError::Cancelled),
                reply = self.insist(&prompt, &deltas) => reply,
            }
        })
    }
}

fn failed(endpoint: &Endpoint, error: &OpenAIError) -> Failure {
    match refusal(error) {
        Some(refusal) => endpoint.of_refusal(refusal),
        None => endpoint.of_error(error),
    }
}

fn refusal(error: &OpenAIError) -> Option<&Refusal> {
    boxed(error)
}

fn boxed<E: std::error::Error + 'static>(error: &OpenAIError) -> Option<&E> {
    match error {
        OpenAIError::Boxed(inner) => inner.downcast_ref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_within_bounds_and_are_the_same_for_one_seed() {
        let config = Config { longest_pause: Duration::from_secs(4), ..Config::new("http://x/v1", "m") };
        for attempt in 1..40 {
            let pause = config.pause(attempt);
            let full = Duration::from_millis(500 << (attempt - 1).min(20)).min(Duration::from_secs(4));
            assert!(pause <= full && pause >= full / 2, "attempt {attempt}: {pause:?} of {full:?}");
            assert_eq!(pause, config.clone().pause(attempt));
        }
        let other = Config { seed: 1, ..config.clone() };
        assert!((1..9).any(|n| other.pause(n) != config.pause(n)));
    }

    #[test]
    fn a_key_is_not_shown() {
        let config = Config { api_key: ApiKey::new(" sk-secret\n"), ..Config::new("http://x/v1/", "m") };
        assert!(!format!("{config:?}").contains("secret"));
        assert_eq!(config.api_key.as_ref().map(ApiKey::expose), Some("sk-secret"));
        assert_eq!(config.base_url, "http://x/v1");
        assert_eq!(ApiKey::new("  "), None);
    }
}
