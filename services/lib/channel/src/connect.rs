//! From a configured account to what sends.

use std::sync::Arc;
use std::time::Duration;

use crate::config::{Account, Provider};
use crate::http_client::ConnectError;
use crate::infobip::InfobipClient;
use crate::meta::{GraphClient, GraphConfig};
use crate::outgoing::Channel;
use crate::synthetic::Sink;
use crate::webhook::WebhookClient;

impl Account {
    /// What sends for this account. Nothing is sent yet. `timeout` is how long a call may take; a sender's lease must
    /// be longer.
    ///
    /// # Errors
    /// Something to send with is missing, an address is no URL, or the TLS backend cannot be set up.
    pub fn connect(&self, timeout: Duration) -> Result<Arc<dyn Channel>, ConnectError> {
        let missing = || ConnectError::Missing(self.lacks().unwrap_or("a secret"));
        Ok(match &self.provider {
            Provider::Meta(meta) => Arc::new(GraphClient::new(GraphConfig {
                base_url: meta.graph_url.clone(),
                version: meta.graph_version.clone(),
                phone_number_id: meta.phone_number_id.clone(),
                token: meta.access_token.clone().ok_or_else(missing)?,
                timeout,
            })?),
            Provider::Infobip(infobip) => {
                let base_url = infobip.base_url.as_deref().ok_or_else(missing)?;
                let key = infobip.api_key.clone().ok_or_else(missing)?;
                Arc::new(InfobipClient::new(base_url, &infobip.sender, key, timeout)?)
            }
            Provider::Webhook(webhook) if webhook.synthetic => Arc::new(Sink),
            Provider::Webhook(webhook) => {
                let url = webhook.url.as_deref().ok_or_else(missing)?;
                let secret = webhook.secrets.first().cloned().ok_or_else(missing)?;
                Arc::new(WebhookClient::new(&self.id, url, &webhook.media_hosts, secret, timeout)?)
            }
        })
    }
}
