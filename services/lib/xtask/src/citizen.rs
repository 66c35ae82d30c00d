//! A person with a phone, played by the simulator through its control API.

use std::time::Duration;

use anyhow::{Context, bail};
use reqwest::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The simulators' control API.
#[derive(Debug, Clone)]
pub struct Simulator {
    url: String,
    client: reqwest::Client,
}

/// One person.
#[derive(Debug, Clone)]
pub struct Citizen {
    simulator: Simulator,
    id: String,
    /// The name in the address book of the simulated WhatsApp.
    pub name: String,
}

/// A message of a conversation. `direction` is `in` for what the citizen sent, `out` for what Abisu sent.
#[derive(Debug, Clone, Deserialize)]
pub struct Message {
    /// Place in the conversation.
    pub index: u64,
    /// `in` or `out`.
    pub direction: String,
    /// As WhatsApp calls it.
    pub kind: String,
    /// What a person reads.
    #[serde(default)]
    pub text: Option<String>,
    /// What a person may tap.
    #[serde(default)]
    pub buttons: Vec<Button>,
    /// The form that can be opened.
    #[serde(default)]
    pub flow: Option<Value>,
    /// The message's id.
    #[serde(default)]
    pub wamid: Option<String>,
    /// When the citizen sent it, before the webhook left, or when the request arrived that brought it; to the millisecond.
    #[serde(default)]
    pub at: Option<chrono::DateTime<chrono::Utc>>,
}

/// A reply button.
#[derive(Debug, Clone, Deserialize)]
pub struct Button {
    /// Sent back when it is tapped.
    pub id: String,
    /// What it says.
    pub title: String,
}

/// How a form is filled.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Form {
    /// Titles of the items that are tapped, screen by screen.
    pub path: Vec<String>,
    /// The note, if one is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// `true` for some photo, or `{"base64","mime_type"}`.
    pub photo: Value,
}

/// What the contractor stored.
#[derive(Debug, Clone, Deserialize)]
pub struct Incident {
    /// The contractor's id.
    pub id: String,
    /// Our reference.
    pub external_code: String,
    /// The contractor's category.
    pub category: String,
    /// Degrees.
    pub latitude: f64,
    /// Degrees.
    pub longitude: f64,
    /// As we wrote it.
    pub address: Option<String>,
    /// The citizen's words and the waste fraction.
    pub note: Option<String>,
    /// Of the decoded photo, hex.
    pub photo_sha256: Option<String>,
}

impl Simulator {
    /// The simulators at this base URL.
    ///
    /// # Errors
    /// No HTTP client can be made.
    pub fn new(url: &str) -> anyhow::Result<Self> {
        let client = reqwest::Client::builder().timeout(Duration::from_secs(60)).build()?;
        Ok(Self { url: url.to_owned(), client })
    }

    /// A new person with a phone number.
    ///
    /// # Errors
    /// The simulator refuses.
    pub async fn citizen(&self, name: &str, phone: &str, language: &str) -> anyhow::Result<Citizen> {
        let body = json!({"name": name, "phone": phone, "language": language});
        let made = self.post("/control/citizens", &body).await?;
        let id = match &made["id"] {
            Value::String(id) => id.clone(),
            other => other.to_string(),
        };
        Ok(Citizen { simulator: self.clone(), id, name: name.to_owned() })
    }

    /// Everything that the contractor has stored.
    ///
    /// # Errors
    /// The simulator does not answer.
    pub async fn incidents(&self) -> anyhow::Result<Vec<Incident>> {
        let incidents = self.get("/control/partner/incidents").await?;
        serde_json::from_value(incidents).context("the contractor's records have an unknown shape")
    }

    /// Calls the control API, for what has no function here.
    ///
    /// # Errors
    /// The simulator refuses; the message is its own.
    pub async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.call(Method::GET, path, None).await
    }

    /// As [`Simulator::get`], with a body.
    ///
    /// # Errors
    /// The simulator refuses; the message is its own.
    pub async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.call(Method::POST, path, Some(body)).await
    }

    /// Removes what [`Simulator::post`] made.
    ///
    /// # Errors
    /// The simulator refuses; the message is its own.
    pub async fn delete(&self, path: &str) -> anyhow::Result<Value> {
        self.call(Method::DELETE, path, None).await
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let mut request = self.client.request(method.clone(), format!("{}{path}", self.url));
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.with_context(|| format!("simulator: {method} {path}"))?;
        let status = answer.status();
        let text = answer.text().await?;
        if status == StatusCode::REQUEST_TIMEOUT {
            bail!("nothing came in time: {method} {path}");
        }
        if !status.is_success() {
            bail!("simulator: {method} {path}: {status} {text}");
        }
        Ok(if text.is_empty() {
            Value::Null
        } else {
            serde_json::from_str(&text).context("simulator: not JSON")?
        })
    }
}

impl Citizen {
    /// What the simulator calls this person.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Types a text.
    ///
    /// # Errors
    /// It was not delivered.
    pub async fn say(&self, text: &str) -> anyhow::Result<Value> {
        self.act("say", &json!({"text": text})).await
    }

    /// Taps a button of the newest message that has buttons.
    ///
    /// # Errors
    /// There is no such button, or the tap was not delivered.
    pub async fn tap(&self, title: &str) -> anyhow::Result<Value> {
        self.act("tap", &json!({"title": title})).await
    }

    /// Sends a pin.
    ///
    /// # Errors
    /// It was not delivered.
    pub async fn pin(&self, latitude: f64, longitude: f64) -> anyhow::Result<Value> {
        self.act("location", &json!({"latitude": latitude, "longitude": longitude})).await
    }

    /// Opens the newest form, walks it and sends it. The answer holds `photo_sha256_hex`.
    ///
    /// # Errors
    /// The form cannot be walked that way, or was not delivered.
    pub async fn form(&self, form: &Form) -> anyhow::Result<Value> {
        self.act("form", &serde_json::to_value(form)?).await
    }

    /// Does anything that the control API offers (`say`, `tap`, `location`, `form`, `photo`).
    ///
    /// # Errors
    /// It was refused or not delivered.
    pub async fn act(&self, action: &str, body: &Value) -> anyhow::Result<Value> {
        let path = format!("/control/citizens/{}/{action}", self.id);
        self.simulator.post(&path, body).await.with_context(|| format!("{}: {action}", self.name))
    }

    /// The conversation so far.
    ///
    /// # Errors
    /// The simulator does not answer.
    pub async fn messages(&self) -> anyhow::Result<Vec<Message>> {
        let messages = self.simulator.get(&format!("/control/citizens/{}/messages", self.id)).await?;
        serde_json::from_value(messages).context("the conversation has an unknown shape")
    }

    /// Waits for the next message of Abisu after the place `after` in the conversation.
    ///
    /// # Errors
    /// None came within `patience`.
    pub async fn reply(&self, after: Option<u64>, patience: Duration) -> anyhow::Result<Message> {
        let after = after.map(|index| format!("after={index}&")).unwrap_or_default();
        let query = format!("{after}direction=out&count=1&timeout_ms={}", patience.as_millis());
        let messages = self.simulator.get(&format!("/control/citizens/{}/wait?{query}", self.id)).await;
        let messages = messages.with_context(|| format!("{} waits for an answer", self.name))?;
        let messages: Vec<Message> =
            serde_json::from_value(messages).context("a message of unknown shape")?;
        messages.into_iter().next().with_context(|| format!("{} got no answer", self.name))
    }
}
