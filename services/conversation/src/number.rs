//! What is asked of the number itself, beside sending: whether it can be used, and to show that a message is worked on.

use std::time::Duration;

use channel::meta::graph::GraphConfig;
use secrecy::ExposeSecret;
use serde_json::json;

use crate::lookup::Pending;

/// Neither a probe nor a mark may take long: nobody waits for a mark, and a probe is made again.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Shorter than the other side keeps an idle connection.
const IDLE: Duration = Duration::from_secs(20);

/// The number that replies leave from.
pub trait Number: Send + Sync {
    /// Reads the number's own record. True: the account answers for it.
    fn probe(&self) -> Pending<'_, bool>;
    /// Shows the citizen that a message, with those before it, was read and is being worked on. False: it was not
    /// shown, and nothing depends on it.
    fn working<'a>(&'a self, message_id: &'a str) -> Pending<'a, bool>;
}

/// The number at the Graph API.
pub struct GraphNumber {
    http: reqwest::Client,
    config: GraphConfig,
}

impl GraphNumber {
    /// A client that connects when it is first used.
    ///
    /// # Errors
    /// The TLS backend cannot be set up.
    pub fn new(config: GraphConfig) -> anyhow::Result<Self> {
        let timeout = config.timeout.min(TIMEOUT);
        Ok(Self { http: runtime::http::client(timeout, timeout, IDLE)?, config })
    }

    fn url(&self, rest: &str) -> String {
        let GraphConfig { base_url, version, phone_number_id, .. } = &self.config;
        format!("{}/{version}/{phone_number_id}{rest}", base_url.trim_end_matches('/'))
    }

    async fn call(&self, request: reqwest::RequestBuilder) -> bool {
        let answer = request.bearer_auth(self.config.token.expose_secret()).send().await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }
}

impl Number for GraphNumber {
    fn probe(&self) -> Pending<'_, bool> {
        Box::pin(self.call(self.http.get(self.url("?fields=id"))))
    }

    fn working<'a>(&'a self, message_id: &'a str) -> Pending<'a, bool> {
        let body = json!({
            "messaging_product": "whatsapp",
            "status": "read",
            "message_id": message_id,
            "typing_indicator": {"type": "text"},
        });
        Box::pin(self.call(self.http.post(self.url("/messages")).json(&body)))
    }
}
