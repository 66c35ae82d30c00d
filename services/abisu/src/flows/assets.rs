//! The calls of the Graph API for forms that only the command line needs: what is stored, and taking out of use.

use std::time::Duration;

use anyhow::{Context, anyhow};
use reqwest::Client;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::Value;

/// The platform's own limit of a document, and some.
const LARGEST: usize = 12 * 1024 * 1024;
/// Already deprecated, or never published: as good as done.
const NOT_DEPRECATED: i64 = 139_003;

pub(super) struct Assets {
    http: Client,
    base: String,
    token: SecretString,
}

#[derive(Deserialize)]
struct Listing {
    data: Vec<Asset>,
}

#[derive(Deserialize)]
struct Asset {
    asset_type: String,
    download_url: String,
}

impl Assets {
    pub(super) fn new(
        graph_url: &str,
        version: &str,
        token: SecretString,
        timeout: Duration,
    ) -> anyhow::Result<Self> {
        let http = Client::builder()
            .timeout(timeout)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .context("the HTTP client cannot be made")?;
        Ok(Self { http, base: format!("{}/{version}", graph_url.trim_end_matches('/')), token })
    }

    /// The document that a form has; none if what is stored is no JSON.
    pub(super) async fn document(&self, flow_id: &str) -> anyhow::Result<Option<Value>> {
        let url = format!("{}/{flow_id}/assets", self.base);
        let answer = self.http.get(url).bearer_auth(self.token.expose_secret()).send().await?;
        let listing: Listing =
            answer.error_for_status()?.json().await.context("the list of assets has another shape")?;
        let asset = listing.data.into_iter().find(|asset| asset.asset_type == "FLOW_JSON");
        let asset = asset.context("no document is listed")?;
        // The address is signed; the token stays with the Graph API.
        let bytes = self.http.get(asset.download_url).send().await?.error_for_status()?.bytes().await?;
        if bytes.len() > LARGEST {
            return Err(anyhow!("the stored document is larger than any form"));
        }
        Ok(serde_json::from_slice(&bytes).ok())
    }

    /// Takes a form out of use.
    pub(super) async fn deprecate(&self, flow_id: &str) -> anyhow::Result<()> {
        let url = format!("{}/{flow_id}/deprecate", self.base);
        let answer = self.http.post(url).bearer_auth(self.token.expose_secret()).send().await?;
        if answer.status().is_success() {
            return Ok(());
        }
        let status = answer.status();
        let body: Value = answer.json().await.unwrap_or_default();
        match body["error"]["code"].as_i64() {
            Some(NOT_DEPRECATED) => Ok(()),
            Some(code) => Err(anyhow!("form {flow_id} cannot be deprecated: code {code}")),
            None => Err(anyhow!("form {flow_id} cannot be deprecated: {status}")),
        }
    }
}
