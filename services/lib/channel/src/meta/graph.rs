//! The Graph API of one number.
//!
//! One client, with timeouts and without redirects: the token goes to the configured host and, for files, to Meta's
//! media host, and nowhere else.

use std::time::Duration;

use http::HeaderMap;
use reqwest::{Method, RequestBuilder, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::error::{Failure, SendError};
use super::{MediaError, media, send};
use crate::outgoing::{Accepted, Answer, Channel, Media, Outgoing, Recipient};
use crate::value::{array, flag, object, whole, word};

/// How long a connection may take to be made; below any total timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Shorter than the other side keeps an idle connection, so that none is closed while a request is written.
const IDLE: Duration = Duration::from_secs(20);
/// An answer of the Graph API is a few hundred bytes; this only bounds what a broken one can cost.
const LARGEST_ANSWER: usize = 4 * 1024 * 1024;

/// How to reach the Graph API.
#[derive(Debug, Clone)]
pub struct GraphConfig {
    /// The address before the version, e.g. `https://graph.facebook.com`.
    pub base_url: String,
    /// e.g. `v26.0`.
    pub version: String,
    /// The number that sends.
    pub phone_number_id: String,
    /// Access token.
    pub token: SecretString,
    /// How long a call may take; a sender's lease must be longer.
    pub timeout: Duration,
}

/// A client of the Graph API for one number. Cheap to clone.
#[derive(Debug, Clone)]
pub struct GraphClient {
    pub(super) http: reqwest::Client,
    pub(super) config: GraphConfig,
    pub(super) base: Url,
}

impl GraphClient {
    /// Makes the client. Nothing is sent.
    ///
    /// # Errors
    /// The base is not a URL, or the TLS backend cannot be set up.
    pub fn new(config: GraphConfig) -> Result<Self, GraphConfigError> {
        let base = Url::parse(&config.base_url).map_err(|_| GraphConfigError::Base)?;
        if base.host_str().is_none() || !matches!(base.scheme(), "http" | "https") {
            return Err(GraphConfigError::Base);
        }
        let http = reqwest::Client::builder()
            .user_agent(concat!("abisu/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT.min(config.timeout))
            .timeout(config.timeout)
            .pool_idle_timeout(IDLE)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(GraphConfigError::Client)?;
        Ok(Self { http, config, base })
    }

    /// A request to `/{version}/{path}` with the token. Segments of `path` that come from outside must be checked by
    /// the caller; ids are made safe with [`segment`].
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}/{}/{path}", self.config.base_url.trim_end_matches('/'), self.config.version);
        self.http.request(method, url).bearer_auth(self.config.token.expose_secret())
    }

    /// Sends and reads the answer.
    pub(super) async fn call(&self, request: RequestBuilder) -> Result<Value, SendError> {
        let response = request.send().await.map_err(|error| {
            // Only a connection that was never made proves that nothing arrived.
            let unsent = error.is_connect() || error.is_builder();
            SendError::new(if unsent { Failure::NotSent } else { Failure::Lost })
        })?;
        let (status, headers) = (response.status(), response.headers().clone());
        let answer = bounded(response, LARGEST_ANSWER).await;
        if status.is_success() {
            let unreadable =
                || SendError { http_status: Some(status.as_u16()), ..SendError::new(Failure::Unreadable) };
            return answer.and_then(|bytes| serde_json::from_slice(&bytes).ok()).ok_or_else(unreadable);
        }
        let document: Value =
            answer.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Err(refusal(status.as_u16(), &headers, &document))
    }

    async fn send_message(
        &self,
        recipient: &Recipient,
        message: &Outgoing,
        callback: &str,
    ) -> Result<Accepted, SendError> {
        let body =
            send::body(recipient, message, callback).ok_or_else(|| SendError::new(Failure::NoRecipient))?;
        let answer = self.call(self.messages().json(&body)).await?;
        let provider_ids: Vec<String> =
            array(&answer, "messages").iter().filter_map(|message| word(message, "id")).collect();
        if provider_ids.is_empty() {
            Err(SendError::new(Failure::Unreadable))
        } else {
            Ok(Accepted { provider_ids })
        }
    }

    fn messages(&self) -> RequestBuilder {
        self.request(Method::POST, &format!("{}/messages", segment(&self.config.phone_number_id)))
    }
}

impl Channel for GraphClient {
    fn send<'a>(
        &'a self,
        recipient: &'a Recipient,
        message: &'a Outgoing,
        callback: &'a str,
    ) -> Answer<'a, Accepted, SendError> {
        Box::pin(self.send_message(recipient, message, callback))
    }

    fn mark_read<'a>(&'a self, message_id: &'a str) -> Answer<'a, (), SendError> {
        let body = json!({"messaging_product": "whatsapp", "status": "read", "message_id": message_id});
        Box::pin(async move { self.call(self.messages().json(&body)).await.map(drop) })
    }

    fn fetch_media<'a>(&'a self, media_id: &'a str) -> Answer<'a, Media, MediaError> {
        Box::pin(media::fetch(self, media_id))
    }
}

/// Why no client can be made.
#[derive(Debug, thiserror::Error)]
pub enum GraphConfigError {
    /// Not an address.
    #[error("the base of the Graph API is not an http or https URL")]
    Base,
    /// The TLS backend.
    #[error("the HTTP client cannot be set up")]
    Client(#[source] reqwest::Error),
}

/// An id as one segment of a path, whatever is in it.
pub(super) fn segment(id: &str) -> String {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    id.bytes()
        .map(|byte| if safe(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// The body, or `None` if it breaks off or is larger than `limit` bytes.
async fn bounded(mut response: Response, limit: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        if bytes.len() + chunk.len() > limit {
            return None;
        }
        bytes.extend_from_slice(&chunk);
    }
    Some(bytes)
}

fn refusal(status: u16, headers: &HeaderMap, document: &Value) -> SendError {
    let error = object(document, "error");
    let number = |key| error.and_then(|error| whole(error, key));
    SendError {
        code: number("code"),
        subcode: number("error_subcode"),
        http_status: Some(status),
        retry_after: retry_after(headers),
        transient: error.is_some_and(|error| flag(error, "is_transient")),
        trace: error.and_then(|error| word(error, "fbtrace_id")),
        ..SendError::new(Failure::Refused)
    }
}

/// `Retry-After` in seconds, else the minutes that the usage header names.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok();
    if let Some(seconds) = header("retry-after").and_then(|value| value.trim().parse().ok()) {
        return Some(Duration::from_secs(seconds));
    }
    let usage: Value = serde_json::from_str(header("x-business-use-case-usage")?).ok()?;
    let minutes = usage
        .as_object()?
        .values()
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(|entry| whole(entry, "estimated_time_to_regain_access"))
        .max()
        .and_then(|minutes| u64::try_from(minutes).ok())
        .filter(|minutes| *minutes > 0)?;
    Some(Duration::from_secs(minutes.saturating_mul(60)))
}
