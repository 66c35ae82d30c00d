//! Deliveries: Meta's envelope, its escapes, its signature, and its insistence.
//!
//! What is not answered with 200 is sent again, exactly the same bytes, until it is or ten minutes have
//! passed. Nothing orders two deliveries.

use std::time::{Duration, Instant};

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::header::CONTENT_TYPE;
use serde_json::{Map, Value, json};
use sha2::Sha256;

use crate::{
    config::Config,
    state::{Citizen, Shared, State, unix_seconds},
};

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
const GIVES_UP_AFTER: Duration = Duration::from_secs(600);

/// The end of a delivery.
pub(crate) struct Delivered {
    /// The last status; 0 when there was no answer.
    pub(crate) status: u16,
    pub(crate) attempts: u32,
}

/// A message of a citizen, as a delivery.
pub(crate) fn message(
    config: &Config,
    citizen: &Citizen,
    wamid: &str,
    kind: &str,
    content: Value,
    context: Option<&str>,
) -> Bytes {
    let mut message = Map::new();
    if let Some(phone) = &citizen.phone {
        message.insert("from".to_owned(), json!(phone));
    }
    message.insert("from_user_id".to_owned(), json!(citizen.user_id));
    message.insert("id".to_owned(), json!(wamid));
    message.insert("timestamp".to_owned(), json!(unix_seconds()));
    message.insert("type".to_owned(), json!(kind));
    message.insert(kind.to_owned(), content);
    if let Some(id) = context {
        message.insert("context".to_owned(), json!({"from": config.display_phone_number, "id": id}));
    }
    let mut contact = contact(citizen);
    contact["profile"] = json!({"name": citizen.name});
    envelope(config, &json!([contact]), "messages", json!([message]))
}

/// Tells that a message was sent, delivered and read, one after the other, in the background.
pub(crate) fn statuses(state: &Shared, citizen: Citizen, wamid: String, callback_data: Option<String>) {
    let state = state.clone();
    tokio::spawn(async move {
        for name in ["sent", "delivered", "read"] {
            let mut status = status(&citizen, &wamid, callback_data.as_deref(), name);
            status["recipient_user_id"] = json!(citizen.user_id);
            status["pricing"] = json!({
                "billable": true, "pricing_model": "PMP", "category": "service", "type": "regular",
            });
            tell(&state, &citizen, status).await;
        }
    });
}

/// Tells that a message which was taken has failed, in the background. One to a phone does not name the user id.
pub(crate) fn failure(
    state: &Shared,
    citizen: Citizen,
    wamid: String,
    callback_data: Option<String>,
    code: i64,
) {
    let state = state.clone();
    tokio::spawn(async move {
        let mut status = status(&citizen, &wamid, callback_data.as_deref(), "failed");
        if citizen.phone.is_none() {
            status["recipient_user_id"] = json!(citizen.user_id);
        }
        status["errors"] = json!([{
            "code": code, "title": "Injected by a test", "message": "Injected by a test",
            "error_data": {"details": "Injected by a test"},
        }]);
        tell(&state, &citizen, status).await;
    });
}

fn status(citizen: &Citizen, wamid: &str, callback_data: Option<&str>, name: &str) -> Value {
    let mut status = json!({"id": wamid, "status": name, "timestamp": unix_seconds()});
    if let Some(phone) = &citizen.phone {
        status["recipient_id"] = json!(phone);
    }
    if let Some(data) = callback_data {
        status["biz_opaque_callback_data"] = json!(data);
    }
    status
}

async fn tell(state: &Shared, citizen: &Citizen, status: Value) {
    let contacts = json!([contact(citizen)]);
    deliver(state, envelope(&state.config, &contacts, "statuses", json!([status]))).await;
}

fn contact(citizen: &Citizen) -> Value {
    let mut contact = json!({});
    if let Some(phone) = &citizen.phone {
        contact["wa_id"] = json!(phone);
    }
    contact["user_id"] = json!(citizen.user_id);
    contact
}

fn envelope(config: &Config, contacts: &Value, key: &str, list: Value) -> Bytes {
    let mut value = json!({
        "messaging_product": "whatsapp",
        "metadata": {
            "display_phone_number": config.display_phone_number,
            "phone_number_id": config.phone_number_id,
        },
        "contacts": contacts,
    });
    value[key] = list;
    let body = json!({
        "object": "whatsapp_business_account",
        "entry": [{"id": config.waba_id, "changes": [{"value": value, "field": "messages"}]}],
    });
    escape(&body.to_string()).into()
}

/// Non-ASCII as `\uxxxx` in lower case, surrogate pairs included, and `/` as `\/`, as Meta writes.
///
/// In JSON text both stand only inside strings, so no parsing is needed.
fn escape(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if character == '/' {
            out.push_str("\\/");
        } else if character.is_ascii() {
            out.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// The value of `X-Hub-Signature-256` for these bytes.
pub(crate) fn signature(config: &Config, body: &[u8]) -> String {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(config.app_secret.as_bytes()).expect("HMAC takes a key of any length");
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

/// Posts a body once. An empty signature leaves the header out.
pub(crate) async fn post(
    state: &State,
    url: &str,
    body: Bytes,
    signature: &str,
) -> reqwest::Result<reqwest::Response> {
    let mut request = state.http.post(url).header(CONTENT_TYPE, "application/json").body(body);
    if !signature.is_empty() {
        request = request.header("X-Hub-Signature-256", signature);
    }
    request.send().await
}

/// Delivers until it is accepted, given up, or the simulator ends.
pub(crate) async fn deliver(state: &State, body: Bytes) -> Delivered {
    let signature = signature(&state.config, &body);
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    let mut attempts = 0;
    loop {
        // Read anew each time: a receiver that comes back elsewhere gets what waited.
        let url = state.lock().webhook_url.clone();
        let mut status = 0;
        if let Some(url) = url {
            attempts += 1;
            let sent = tokio::select! {
                sent = post(state, &url, body.clone(), &signature) => sent,
                () = state.stop.cancelled() => return Delivered { status, attempts },
            };
            status = sent.map_or(0, |response| response.status().as_u16());
        }
        if status == 200 || started.elapsed() > GIVES_UP_AFTER {
            return Delivered { status, attempts };
        }
        tracing::debug!(status, attempts, "a delivery was not accepted");
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = state.stop.cancelled() => return Delivered { status, attempts },
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The handshake that Meta makes when a URL is saved.
pub(crate) async fn handshake(state: &State, url: &str) -> Result<(), String> {
    let challenge = crate::state::numeric_id();
    let query = [
        ("hub.mode", "subscribe"),
        ("hub.challenge", challenge.as_str()),
        ("hub.verify_token", state.config.verify_token.as_str()),
    ];
    let response = state.http.get(url).query(&query).send().await.map_err(|_| "no answer".to_owned())?;
    let status = response.status();
    let body = response.bytes().await.map_err(|_| "no body".to_owned())?;
    if status.as_u16() != 200 || body != challenge.as_bytes() {
        return Err(format!("status {status}, and the challenge must come back as it is"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_escaped_and_signed_as_meta_does() {
        let config = Config { app_secret: "pc-test-secret".to_owned(), ..Config::default() };
        let body = escape("{\"t\":\"é😮\"}");
        assert_eq!(body, "{\"t\":\"\\u00e9\\ud83d\\ude2e\"}");
        assert_eq!(
            signature(&config, body.as_bytes()),
            "sha256=0ae9b2ca2f3cd302f8dbaac8099119793492f4394ece673272f303334ff0c8b8"
        );
        assert_eq!(escape("\"a/b\""), "\"a\\/b\"");
    }
}
