//! The Graph API of one number.
//!
//! One client, with timeouts and without redirects: the token goes to the configured host and, for files, to Meta's
//! media host, and nowhere else.

use std::time::Duration;

use http::HeaderMap;
use reqwest::{Method, RequestBuilder, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::{code, media, send};
use crate::http_client::{self, Answered, BRIEFLY, ConnectError, LONGEST_WAIT, exchange, segment};
use crate::media_error::MediaError;
use crate::outgoing::{Accepted, Answer, Channel, Forms, Media, Outgoing, Recipient};
use crate::send_error::{self, Failure, SendError};
use crate::value::{array, flag, object, whole, word};

/// As a sentence names it.
pub(super) const API: &str = "the Graph API";

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
    pub fn new(config: GraphConfig) -> Result<Self, ConnectError> {
        let base = http_client::base(&config.base_url)?;
        let http = http_client::client(config.timeout)?;
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
        let answer = exchange(API, request).await?;
        if !answer.status.is_success() {
            return Err(refusal(&answer));
        }
        let document = answer.body.as_deref().and_then(|bytes| serde_json::from_slice(bytes).ok());
        document.ok_or_else(|| SendError { http_status: Some(answer.status.as_u16()), ..unreadable() })
    }

    async fn send_message(
        &self,
        recipient: &Recipient,
        message: &Outgoing,
        callback: &str,
    ) -> Result<Accepted, SendError> {
        let body =
            send::body(recipient, message, callback).map_err(|failure| SendError::new(API, failure))?;
        let answer = self.call(self.messages().json(&body)).await?;
        let provider_ids: Vec<String> =
            array(&answer, "messages").iter().filter_map(|message| word(message, "id")).collect();
        if provider_ids.is_empty() { Err(unreadable()) } else { Ok(Accepted { provider_ids }) }
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

    fn forms(&self) -> Forms {
        Forms::Flow
    }

    fn failed_later(&self, code: i64) -> Option<SendError> {
        let refused = Failure::Refused(code::reported(code));
        Some(SendError { code: Some(code), ..SendError::new(API, refused) })
    }

    fn shows_work(&self) -> bool {
        true
    }

    fn working<'a>(&'a self, message_id: &'a str) -> Answer<'a, (), SendError> {
        let body = json!({
            "messaging_product": "whatsapp",
            "status": "read",
            "message_id": message_id,
            "typing_indicator": {"type": "text"},
        });
        Box::pin(async move { self.call(self.messages().timeout(BRIEFLY).json(&body)).await.map(drop) })
    }

    fn probe(&self) -> Answer<'_, (), SendError> {
        let number = self.request(Method::GET, &segment(&self.config.phone_number_id));
        Box::pin(async move { self.call(number.query(&[("fields", "id")]).timeout(BRIEFLY)).await.map(drop) })
    }

    fn fetch_media<'a>(&'a self, media_id: &'a str) -> Answer<'a, Media, MediaError> {
        Box::pin(media::fetch(self, media_id))
    }
}

/// An answer that says yes in words that we cannot read.
pub(super) fn unreadable() -> SendError {
    SendError::new(API, Failure::Unreadable)
}

/// What a refusal says.
pub(super) fn refusal(answer: &Answered) -> SendError {
    let (document, status) = (answer.json(), answer.status.as_u16());
    let error = object(&document, "error");
    let number = |key| error.and_then(|error| whole(error, key));
    let (code, subcode) = (number("code"), number("error_subcode"));
    let told = |key| error.and_then(|error| word(error, key));
    let told: Vec<String> = ["error_user_title", "error_user_msg"].into_iter().filter_map(told).collect();
    let transient = error.is_some_and(|error| flag(error, "is_transient"));
    let reason = code::reason(code, subcode, Some(status), transient);
    SendError {
        code,
        subcode,
        http_status: Some(status),
        retry_after: retry_after(&answer.headers),
        trace: error.and_then(|error| word(error, "fbtrace_id")),
        advice: send_error::advice(&told.join(": ")),
        ..SendError::new(API, Failure::Refused(reason))
    }
}

/// `Retry-After`, else the minutes that the usage header names.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    if let Some(told) = http_client::retry_after(headers) {
        return Some(told);
    }
    let usage = headers.get("x-business-use-case-usage")?.to_str().ok()?;
    let usage: Value = serde_json::from_str(usage).ok()?;
    let minutes = usage
        .as_object()?
        .values()
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(|entry| whole(entry, "estimated_time_to_regain_access"))
        .max()
        .and_then(|minutes| u64::try_from(minutes).ok())
        .filter(|minutes| *minutes > 0)?;
    Some(Duration::from_secs(minutes.saturating_mul(60)).min(LONGEST_WAIT))
}
