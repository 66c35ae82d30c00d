//! Posting to a webhook, signed as its own calls are.
//!
//! Our id of a message is its idempotency key: whoever takes the same id twice shows it once. So a repeat does no harm,
//! and everything that may pass is simply repeated.

use std::time::Duration;

use http::HeaderName;
use http::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, Url};
use secrecy::SecretString;
use serde_json::{Value, json};

use super::send;
use crate::digest;
use crate::http_client::{self, Answered, BRIEFLY, ConnectError, download, exchange};
use crate::media_error::MediaError;
use crate::outgoing::{Accepted, Answer, Channel, Forms, Media, Outgoing, Recipient};
use crate::send_error::{Failure, Reason, SendError, by_status};
use crate::signature::{WEBHOOK_HEADER, sign};
use crate::value::{array, word};

/// As a sentence names it.
const API: &str = "the webhook";
/// Our id of what is posted.
const KEY_HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// A client for one webhook. Cheap to clone.
#[derive(Debug, Clone)]
pub struct WebhookClient {
    http: reqwest::Client,
    channel: String,
    url: Url,
    media_hosts: Vec<String>,
    secret: SecretString,
}

impl WebhookClient {
    /// Makes the client of a channel. Nothing is sent. Files are fetched from the host of `url` and from `media_hosts`;
    /// `timeout` is how long a call may take.
    ///
    /// # Errors
    /// The address is not a URL, or the TLS backend cannot be set up.
    pub fn new(
        channel: &str,
        url: &str,
        media_hosts: &[String],
        secret: SecretString,
        timeout: Duration,
    ) -> Result<Self, ConnectError> {
        Ok(Self {
            http: http_client::client(timeout)?,
            channel: channel.to_owned(),
            url: http_client::base(url)?,
            media_hosts: media_hosts.to_vec(),
            secret,
        })
    }

    /// A signed post of exactly these bytes.
    fn post(&self, body: &Value) -> RequestBuilder {
        let bytes = body.to_string().into_bytes();
        self.http
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(WEBHOOK_HEADER, sign(&self.secret, &bytes))
            .body(bytes)
    }

    async fn send_message(
        &self,
        recipient: &Recipient,
        message: &Outgoing,
        callback: &str,
    ) -> Result<Accepted, SendError> {
        let body = send::body(&self.channel, recipient, message, callback)
            .map_err(|failure| SendError::new(API, failure))?;
        let answer = exchange(API, self.post(&body).header(KEY_HEADER, callback)).await?;
        match answer.status.as_u16() {
            // A conflict is with itself: the id is known there.
            200..=299 | 409 => Ok(Accepted { provider_ids: ids(&answer.json(), callback) }),
            _ => Err(refusal(&answer)),
        }
    }

    async fn fetch(&self, media_id: &str) -> Result<Media, MediaError> {
        // An id that is no address is one below the webhook's own.
        let address = self.url.join(media_id).map_err(|_| MediaError::NoAddress)?;
        if !self.trusts(&address) {
            return Err(MediaError::NotAllowed);
        }
        let signature = sign(&self.secret, address.as_str().as_bytes());
        let request = self.http.get(address).header(WEBHOOK_HEADER, signature);
        let (bytes, content_type) = download(request, None).await.map_err(|error| match error {
            MediaError::Refused(status @ (404 | 410)) => MediaError::Missing(status),
            other => other,
        })?;
        let content_type = content_type.unwrap_or_else(|| "application/octet-stream".to_owned());
        Ok(Media { sha256: digest::sha256(&bytes), bytes, content_type })
    }

    /// Whether a file may be fetched from there: the webhook's own host, by a scheme no weaker than its own, or one that
    /// is listed, by HTTPS.
    fn trusts(&self, address: &Url) -> bool {
        let Some(host) = address.host_str() else { return false };
        let own = Some(host) == self.url.host_str()
            && address.port_or_known_default() == self.url.port_or_known_default();
        let listed = self.media_hosts.iter().any(|listed| listed == host);
        match address.scheme() {
            "https" => own || listed,
            "http" => own && self.url.scheme() == "http",
            _ => false,
        }
    }
}

impl Channel for WebhookClient {
    fn send<'a>(
        &'a self,
        recipient: &'a Recipient,
        message: &'a Outgoing,
        callback: &'a str,
    ) -> Answer<'a, Accepted, SendError> {
        Box::pin(self.send_message(recipient, message, callback))
    }

    fn forms(&self) -> Forms {
        Forms::Fields
    }

    fn shows_work(&self) -> bool {
        false
    }

    fn working<'a>(&'a self, _message_id: &'a str) -> Answer<'a, (), SendError> {
        Box::pin(std::future::ready(Err(SendError::new(API, Failure::Unsayable))))
    }

    fn probe(&self) -> Answer<'_, (), SendError> {
        let ping = self.post(&json!({"type": "ping", "channel": self.channel})).timeout(BRIEFLY);
        Box::pin(async move {
            let answer = exchange(API, ping).await?;
            match refusal(&answer) {
                _ if answer.status.is_success() => Ok(()),
                // It knows us, and not the word.
                error if error.failure == Failure::Refused(Reason::Never) => Ok(()),
                error => Err(error),
            }
        })
    }

    fn fetch_media<'a>(&'a self, media_id: &'a str) -> Answer<'a, Media, MediaError> {
        Box::pin(self.fetch(media_id))
    }
}

/// Every id that the answer gives, and ours: an answer to this message may name any of them.
fn ids(answer: &Value, callback: &str) -> Vec<String> {
    let mut ids: Vec<String> = word(answer, "id").into_iter().collect();
    ids.extend(array(answer, "ids").iter().filter_map(Value::as_str).map(str::to_owned));
    ids.extend(array(answer, "messages").iter().filter_map(|message| word(message, "id")));
    ids.retain(|id| !id.is_empty() && id != callback);
    ids.push(callback.to_owned());
    ids
}

fn refusal(answer: &Answered) -> SendError {
    let status = answer.status.as_u16();
    let reason = match status {
        // The address or the secret is wrong, for every message.
        401 | 403 | 404 | 405 | 410 => Reason::Blocked,
        500..=599 => Reason::Outage,
        _ => by_status(Some(status), true, false),
    };
    SendError {
        http_status: Some(status),
        retry_after: http_client::retry_after(&answer.headers),
        ..SendError::new(API, Failure::Refused(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_from_listed_hosts_only() {
        let client = |url: &str| {
            let hosts = ["files.example".to_owned()];
            WebhookClient::new("app", url, &hosts, "s".into(), BRIEFLY).unwrap()
        };
        let table = [
            ("https://app.example/in", "https://app.example/photos/1", true),
            ("https://app.example/in", "photos/1", true),
            ("https://app.example/in", "https://files.example/1", true),
            ("https://app.example/in", "http://files.example/1", false),
            ("https://app.example/in", "http://app.example/1", false),
            ("https://app.example/in", "https://app.example:8443/1", false),
            ("https://app.example/in", "//10.0.0.1/1", false),
            ("https://app.example/in", "https://files.example.org/1", false),
            ("https://app.example/in", "https://files.example@evil.example/1", false),
            ("https://app.example/in", "file:///etc/passwd", false),
            ("http://127.0.0.1:9000/in", "http://127.0.0.1:9000/1", true),
            ("http://127.0.0.1:9000/in", "http://127.0.0.1:5432/1", false),
            ("http://127.0.0.1:9000/in", "http://169.254.169.254/latest", false),
        ];
        for (url, address, expected) in table {
            let client = client(url);
            let resolved = client.url.join(address).unwrap();
            assert_eq!(client.trusts(&resolved), expected, "{address}");
        }
    }
}
