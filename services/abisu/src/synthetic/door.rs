//! Messages in the words of a generic webhook, signed, through the front door.

use std::time::Duration;

use anyhow::anyhow;
use channel::config::SYNTHETIC;
use channel::signature::{WEBHOOK_HEADER, sign};
use reqwest::StatusCode;
use secrecy::SecretString;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Failure;

/// A door that says "later" is knocked at again: an update may be under way.
const AGAIN: Duration = Duration::from_millis(500);

/// The address of the synthetic channel at ingest.
pub(super) struct Door {
    http: reqwest::Client,
    url: String,
    secret: SecretString,
    from: String,
    patience: Duration,
}

impl Door {
    pub(super) fn new(
        base: &str,
        secret: SecretString,
        from: String,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let second = Duration::from_secs(1);
        let http = runtime::http::client(3 * second, 10 * second, second)
            .map_err(|error| Failure::Failed(error.into()))?;
        Ok(Self { http, url: format!("{base}/api/v1/channels/{SYNTHETIC}/inbound"), secret, from, patience })
    }

    /// Sends one message. Its key stays the same however often it must be sent.
    ///
    /// # Errors
    /// It was not taken, and why.
    pub(super) async fn send(&self, mut message: Value) -> Result<(), Failure> {
        message["from"] = json!(self.from);
        message["idempotency_key"] = json!(Uuid::now_v7().to_string());
        let body = message.to_string().into_bytes();
        let signature = sign(&self.secret, &body);
        let knocking = async {
            loop {
                let request = self
                    .http
                    .post(&self.url)
                    .header("content-type", "application/json")
                    .header(WEBHOOK_HEADER, &signature)
                    .body(body.clone());
                match request.send().await.map(|answer| answer.status()) {
                    Ok(status) if status.is_success() => return Ok(()),
                    Ok(StatusCode::SERVICE_UNAVAILABLE) | Err(_) => tokio::time::sleep(AGAIN).await,
                    Ok(status) => return Err(self.refused(status)),
                }
            }
        };
        tokio::time::timeout(self.patience, knocking).await.unwrap_or_else(|_| Err(self.shut()))
    }

    fn refused(&self, status: StatusCode) -> Failure {
        let url = &self.url;
        let why = match status {
            StatusCode::NOT_FOUND => {
                "there is no channel synthetic; set ABISU_SYNTHETIC_CHANNEL_SECRET for ingest, or list the channel in its file"
            }
            StatusCode::FORBIDDEN => "the secret is not the one that ingest has",
            _ => "that is not what ingest answers; look at --url",
        };
        Failure::Failed(anyhow!("{url} answers {}: {why}", status.as_u16()))
    }

    fn shut(&self) -> Failure {
        Failure::Failed(anyhow!(
            "{} takes no message within {} s: ingest cannot be reached or cannot store",
            self.url,
            self.patience.as_secs()
        ))
    }
}
