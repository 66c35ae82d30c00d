//! A running service on a database of its own.

use std::time::Duration;

use channel::config::{ChannelsFile, Loaded, Purpose};
use hmac::{Hmac, KeyInit, Mac};
use ingest::{ChannelSource, Config, MediaSource};
use partner::media::MediaKeys;
use reqwest::{Response, StatusCode, Url};
use runtime::Shell;
use runtime::config::DatabaseConfig;
use serde_json::{Value, json};
use sha2::Sha256;
use testkit::Database;

use crate::proxy::Proxy;

pub(crate) const SECRET: &str = "app-secret";
pub(crate) const OTHER_SECRET: &str = "other-secret";
pub(crate) const MEDIA_SECRET: &str = "the new secret of links,the old secret of links";
pub(crate) const VERIFY_TOKEN: &str = "verify me";
/// Few enough for a test to fill.
pub(crate) const MOST_CONNECTIONS: usize = 128;
pub(crate) const NUMBER: &str = "100200300";

pub(crate) struct App {
    pub(crate) database: Database,
    pub(crate) url: String,
    pub(crate) http: reqwest::Client,
    pub(crate) proxy: Proxy,
    pub(crate) shell: Shell,
}

/// The channel that most tests post to.
const WHATSAPP: &str = "
channels:
  - id: whatsapp
    kind: whatsapp_meta
    default: true
    phone_number_id: 100200300
    app_secrets: [{env: NEXT}, {env: SECRET}]
    verify_token: {env: VERIFY}
";

/// Channels as a file lists them, with secrets in variables of the tests' own.
pub(crate) fn channels(text: &str) -> ChannelSource {
    let env = |name: &str| {
        let value = match name {
            "SECRET" => SECRET,
            "NEXT" => "next-secret",
            "OTHER" => OTHER_SECRET,
            "VERIFY" => VERIFY_TOKEN,
            _ => return None,
        };
        Some(value.to_owned())
    };
    let file = ChannelsFile::parse(text).unwrap();
    ChannelSource::of(Loaded::of(file, Purpose::Receive, env).unwrap())
}

impl App {
    pub(crate) async fn start() -> Self {
        Self::of(channels(WHATSAPP)).await
    }

    pub(crate) async fn of(channels: ChannelSource) -> Self {
        let media = MediaSource::fixed(MediaKeys::parse(&MEDIA_SECRET.into()).unwrap());
        Self::with(channels, media).await
    }

    pub(crate) async fn with(channels: ChannelSource, media: MediaSource) -> Self {
        let database = testkit::database().await;
        let mut url = Url::parse(&database.url_as("abisu_ingest")).unwrap();
        let server = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432));
        let proxy = Proxy::start(server).await;
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(proxy.port)).unwrap();
        let config = Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            most_connections: MOST_CONNECTIONS,
            idle: Duration::from_secs(60),
            database: DatabaseConfig { url: String::from(url).into(), pool: 4, file: None },
            channels,
            media: Some(media),
            reread: Duration::from_millis(20),
        };
        let shell = Shell::detached("ingest");
        let address = ingest::start(config, &shell).await.unwrap();
        let http = reqwest::Client::builder().timeout(Duration::from_secs(30)).build().unwrap();
        Self { database, url: format!("http://{address}"), http, proxy, shell }
    }

    /// Posts exact bytes with a given signature header.
    pub(crate) async fn post_signed(&self, body: impl Into<Vec<u8>>, signature: Option<&str>) -> Response {
        let mut request = self.http.post(format!("{}/whatsapp/webhook", self.url)).body(body.into());
        if let Some(signature) = signature {
            request = request.header("X-Hub-Signature-256", signature);
        }
        request.send().await.unwrap()
    }

    /// Posts exact bytes, rightly signed.
    pub(crate) async fn post_bytes(&self, body: impl Into<Vec<u8>>) -> Response {
        let body = body.into();
        let signature = signature(&body);
        self.post_signed(body, Some(&signature)).await
    }

    /// Posts to a channel with the given headers.
    pub(crate) async fn post_to(
        &self,
        channel: &str,
        headers: &[(&str, String)],
        body: impl Into<Vec<u8>>,
    ) -> Response {
        let url = format!("{}/api/v1/channels/{channel}/inbound", self.url);
        let request =
            headers.iter().fold(self.http.post(url), |request, (name, value)| request.header(*name, value));
        request.body(body.into()).send().await.unwrap()
    }

    /// Posts a webhook, rightly signed, and returns the answer, which must be 200.
    pub(crate) async fn post(&self, body: &Value) -> Value {
        let response = self.post_bytes(body.to_string()).await;
        assert_eq!(response.status(), StatusCode::OK);
        response.json().await.unwrap()
    }

    /// Ids of the messages of each chat, in sequence.
    pub(crate) async fn stored(&self) -> Vec<String> {
        sqlx::query_scalar("select message_id from inbound.event order by chat_id, seq")
            .fetch_all(&self.database.pool)
            .await
            .unwrap()
    }

    /// Reasons and ids of what was rejected.
    pub(crate) async fn rejected(&self) -> Vec<(String, Option<String>)> {
        sqlx::query_as("select reason, message_id from inbound.rejection order by reason, message_id")
            .fetch_all(&self.database.pool)
            .await
            .unwrap()
    }

    /// The service's own metrics, as they are scraped.
    pub(crate) fn metrics(&self) -> String {
        self.shell.metrics(|registry| testkit::scraped(registry))
    }

    pub(crate) async fn deliveries(&self) -> i64 {
        self.database.count("select count(*) from inbound.delivery").await
    }
}

pub(crate) fn signature(body: &[u8]) -> String {
    signature_with(SECRET, body)
}

pub(crate) fn signature_with(secret: &str, body: &[u8]) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap().chain_update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

/// Asserts a problem document of this status and returns its detail.
pub(crate) async fn problem(response: Response, status: u16) -> String {
    assert_eq!(response.status().as_u16(), status);
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let document: Value = response.json().await.unwrap();
    assert_eq!(document["status"], json!(status));
    document["detail"].as_str().unwrap().to_owned()
}

pub(crate) fn text(id: &str) -> Value {
    json!({"from": "34600000001", "id": id, "timestamp": "1764500000", "type": "text", "text": {"body": format!("text {id}")}})
}

pub(crate) fn webhook(messages: &[Value]) -> Value {
    of_number(NUMBER, json!({"messages": messages}))
}

pub(crate) fn of_number(number: &str, mut value: Value) -> Value {
    value["messaging_product"] = json!("whatsapp");
    value["metadata"] = json!({"display_phone_number": "34945000000", "phone_number_id": number});
    json!({"object": "whatsapp_business_account",
           "entry": [{"id": "900", "changes": [{"field": "messages", "value": value}]}]})
}
