//! How a request leaves: one HTTP client without redirects, with the headers of the configuration, and every answer
//! that is no event stream turned into a typed error that keeps its status, `Retry-After` and body.
//!
//! What never lives here: trying again (the client library would retry by itself, which nobody could see).

use super::Config;
use crate::{model::install_tls, ports::ModelError};
use async_openai::{error::OpenAIError, middleware::HttpRequestFactory};
use reqwest::{
    Client, Response, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER},
    redirect::Policy,
};
use std::time::Duration;

/// A status other than 2xx.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("status {status}")]
pub struct Refusal {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub body: String,
    /// Where a redirect points.
    pub location: Option<String>,
}

/// The server answered with one JSON document although a stream was asked for.
#[derive(Debug, thiserror::Error)]
#[error("the server does not stream")]
pub struct Unstreamed(pub String);

/// Error bodies are read this far.
const MOST: usize = 64 * 1024;
/// And whole answers this far.
const WHOLE: usize = 16 * 1024 * 1024;
const CONNECT: Duration = Duration::from_secs(15);

/// The HTTP client. The idle time-out is counted between reads, so comments that keep a stream alive count.
pub fn client(config: &Config) -> Result<Client, ModelError> {
    install_tls();
    let url = Url::parse(&config.base_url).ok().filter(|u| matches!(u.scheme(), "http" | "https") && u.has_host());
    let Some(url) = url else {
        let hint = "write it like `http://localhost:11434/v1`";
        return Err(ModelError::Misconfigured(format!("`{}` is no base URL ({hint})", config.base_url)));
    };
    let mut client = Client::builder()
        .user_agent(concat!("weal/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .connect_timeout(CONNECT.min(config.idle_timeout))
        .read_timeout(config.idle_timeout);
    if matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]")) {
        client = client.no_proxy();
    }
    client.build().map_err(|e| ModelError::Misconfigured(format!("the HTTP client cannot be made: {e}")))
}

/// The headers that every request carries. They are set here and not through the library, which panics on a key
/// that cannot stand in a header and sends an empty one where there is none.
pub fn headers(config: &Config) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    if let Some(key) = &config.api_key {
        let bearer = HeaderValue::try_from(format!("Bearer {}", key.expose()));
        let mut bearer = bearer.map_err(|_| {
            ModelError::Misconfigured(
                "the API key holds characters that no key has (check OPENAI_API_KEY)".to_owned(),
            )
        })?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }
    for (name, value) in &config.headers {
        let bad = |_| ModelError::Misconfigured(format!("`{name}` is no usable header (check its name and value)"));
        let value = HeaderValue::try_from(value).map_err(|_| bad(()))?;
        headers.insert(HeaderName::try_from(name).map_err(|_| bad(()))?, value);
    }
    Ok(headers)
}

/// Sends what the library has built.
pub async fn send(client: Client, headers: HeaderMap, factory: HttpRequestFactory) -> Result<Response, OpenAIError> {
    let mut request = factory.build().await?;
    request.headers_mut().remove(AUTHORIZATION);
    request.headers_mut().extend(headers);
    let response = checked(client.execute(request).await?).await?;
    let kind = response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    if kind.starts_with("application/json") {
        return Err(OpenAIError::Boxed(Box::new(Unstreamed(body(response, WHOLE).await?))));
    }
    Ok(response)
}

/// Fetches a JSON document.
pub async fn get(client: &Client, headers: HeaderMap, url: &str) -> Result<String, OpenAIError> {
    let response = client.get(url).headers(headers).send().await?;
    body(checked(response).await?, WHOLE).await
}

async fn checked(response: Response) -> Result<Response, OpenAIError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let retry_after = retry_after(response.headers());
    let location = response.headers().get(LOCATION).and_then(|v| v.to_str().ok()).map(str::to_owned);
    let body = body(response, MOST).await.unwrap_or_default();
    Err(OpenAIError::Boxed(Box::new(Refusal { status: status.as_u16(), retry_after, body, location })))
}

async fn body(mut response: Response, most: usize) -> Result<String, OpenAIError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > most {
            bytes.truncate(most);
            break;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Seconds, or a date that is told by the server's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim);
    let after = text(RETRY_AFTER)?;
    if let Ok(seconds) = after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let moment = |text: &str| jiff::fmt::rfc2822::parse(text).ok().map(|at| at.timestamp());
    let wait = moment(after)?.duration_since(moment(text(DATE)?)?);
    Some(wait.try_into().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(n, v)| (n.clone(), HeaderValue::from_str(v).unwrap())).collect()
    }

    #[test]
    fn retry_after_is_read_as_seconds_or_as_a_date_by_the_servers_clock() {
        let date = "Wed, 21 Oct 2026 07:28:00 GMT";
        let cases = [
            (vec![], None),
            (vec![(RETRY_AFTER, "7")], Some(7)),
            (vec![(RETRY_AFTER, "-7")], None),
            (vec![(RETRY_AFTER, "NaN")], None),
            (vec![(RETRY_AFTER, "soon")], None),
            (vec![(RETRY_AFTER, "Wed, 21 Oct 2026 07:28:30 GMT"), (DATE, date)], Some(30)),
            (vec![(RETRY_AFTER, "Wed, 21 Oct 2026 07:27:00 GMT"), (DATE, date)], Some(0)),
            (vec![(RETRY_AFTER, "Wed, 21 Oct 2026 07:28:30 GMT")], None),
        ];
        for (given, want) in cases {
            assert_eq!(retry_after(&headers(&given)), want.map(Duration::from_secs), "{given:?}");
        }
    }
}
