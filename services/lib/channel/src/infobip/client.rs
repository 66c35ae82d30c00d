//! A WhatsApp sender at Infobip, over its API.
//!
//! The key goes to the account's own host and nowhere else, files included: a file's address on another host, as a
//! message may name one, is not followed.

use std::time::Duration;

use http::header::AUTHORIZATION;
use reqwest::{Method, RequestBuilder, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::code::{self, Verdict};
use super::send;
use crate::digest;
use crate::http_client::{self, Answered, BRIEFLY, ConnectError, download, exchange, segment};
use crate::media_error::MediaError;
use crate::outgoing::{Accepted, Answer, Channel, Forms, Media, Outgoing, Recipient};
use crate::send_error::{Failure, Reason, SendError};
use crate::value::{array, object, whole, word};

/// As a sentence names it.
const API: &str = "Infobip";

/// A client for one sender. Cheap to clone.
#[derive(Debug, Clone)]
pub struct InfobipClient {
    http: reqwest::Client,
    base: Url,
    sender: String,
    key: SecretString,
}

impl InfobipClient {
    /// Makes the client. Nothing is sent. `base_url` is the account's own, `timeout` how long a call may take.
    ///
    /// # Errors
    /// The base is not a URL, or the TLS backend cannot be set up.
    pub fn new(
        base_url: &str,
        sender: &str,
        key: SecretString,
        timeout: Duration,
    ) -> Result<Self, ConnectError> {
        let base = http_client::base(base_url)?;
        Ok(Self { http: http_client::client(timeout)?, base, sender: sender.to_owned(), key })
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}/{path}", self.base.as_str().trim_end_matches('/'));
        self.proven(self.http.request(method, url))
    }

    fn proven(&self, request: RequestBuilder) -> RequestBuilder {
        request.header(AUTHORIZATION, format!("App {}", self.key.expose_secret()))
    }

    async fn send_message(
        &self,
        recipient: &Recipient,
        message: &Outgoing,
        callback: &str,
    ) -> Result<Accepted, SendError> {
        let (path, body) = send::call(&self.sender, recipient, message, callback)
            .map_err(|failure| SendError::new(API, failure))?;
        let request = self.request(Method::POST, &format!("whatsapp/1/message/{path}"));
        let answer = exchange(API, request.json(&body)).await?;
        let document = answer.json();
        let sent = array(&document, "messages").first().unwrap_or(&document);
        let status = object(sent, "status");
        let verdict = status.and_then(code::of_status);
        let refused = |reason| SendError {
            code: status.and_then(|status| whole(status, "id")),
            ..refusal(&answer, reason)
        };
        match verdict {
            Some(Verdict::Refused(reason)) => Err(refused(reason)),
            _ if !answer.status.is_success() => {
                Err(refused(code::of_http(answer.status.as_u16(), &document)))
            }
            Some(Verdict::Taken) => Ok(accepted(sent, callback)),
            None if word(sent, "messageId").is_some() => Ok(accepted(sent, callback)),
            None => Err(SendError {
                http_status: Some(answer.status.as_u16()),
                ..SendError::new(API, Failure::Unreadable)
            }),
        }
    }

    /// Makes a call whose answer says nothing but whether it was taken.
    async fn simply(&self, request: RequestBuilder) -> Result<(), SendError> {
        let answer = exchange(API, request.timeout(BRIEFLY)).await?;
        if answer.status.is_success() {
            return Ok(());
        }
        Err(refusal(&answer, code::of_http(answer.status.as_u16(), &answer.json())))
    }

    async fn fetch(&self, media_id: &str) -> Result<Media, MediaError> {
        let request = if media_id.contains("://") {
            // A message that named no id of Infobip's form.
            let address = Url::parse(media_id).map_err(|_| MediaError::NoAddress)?;
            let own = address.scheme() == self.base.scheme()
                && address.host_str() == self.base.host_str()
                && address.port_or_known_default() == self.base.port_or_known_default();
            if !own {
                return Err(MediaError::NotAllowed);
            }
            self.proven(self.http.get(address))
        } else {
            let (sender, id) = (segment(&self.sender), segment(media_id));
            self.request(Method::GET, &format!("whatsapp/1/senders/{sender}/media/{id}"))
        };
        let (bytes, content_type) = download(request, None).await.map_err(|error| match error {
            // Its address is its id: there is no other to ask for.
            MediaError::Refused(status @ (404 | 410)) => MediaError::Missing(status),
            other => other,
        })?;
        let content_type = content_type.unwrap_or_else(|| "application/octet-stream".to_owned());
        Ok(Media { sha256: digest::sha256(&bytes), bytes, content_type })
    }
}

impl Channel for InfobipClient {
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

    fn shows_work(&self) -> bool {
        true
    }

    fn working<'a>(&'a self, message_id: &'a str) -> Answer<'a, (), SendError> {
        let (sender, message) = (segment(&self.sender), segment(message_id));
        let path = format!("whatsapp/1/senders/{sender}/message/{message}/read");
        Box::pin(self.simply(self.request(Method::POST, &path)))
    }

    fn probe(&self) -> Answer<'_, (), SendError> {
        let quality = self.request(Method::GET, "whatsapp/1/senders/quality");
        let request = quality.query(&[("senders", self.sender.as_str())]);
        Box::pin(async move {
            match self.simply(request).await {
                // The key is good; that this account has no such page says nothing about sending.
                Err(error) if matches!(error.http_status, Some(400 | 404 | 405)) => Ok(()),
                asked => asked,
            }
        })
    }

    fn fetch_media<'a>(&'a self, media_id: &'a str) -> Answer<'a, Media, MediaError> {
        Box::pin(self.fetch(media_id))
    }
}

/// Its own id of the message, which is ours unless it says otherwise; replies may name either.
fn accepted(sent: &Value, callback: &str) -> Accepted {
    let theirs = word(sent, "messageId").filter(|id| id != callback);
    Accepted { provider_ids: theirs.into_iter().chain([callback.to_owned()]).collect() }
}

fn refusal(answer: &Answered, reason: Reason) -> SendError {
    SendError {
        http_status: Some(answer.status.as_u16()),
        retry_after: http_client::retry_after(&answer.headers),
        ..SendError::new(API, Failure::Refused(reason))
    }
}
