//! Who is posted to on the channels that are not Meta's: a server that answers as Infobip does, or as somebody's own
//! app, and keeps what it was sent. People there write through the parsers of `channel`, as at the door.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use channel::signature;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::World;

/// A picture that any app may send.
pub(crate) const PICTURE: &str = "photos/7.jpg";

#[derive(Clone, Default)]
struct Kept {
    posts: Arc<Mutex<Vec<Value>>>,
    proven: Arc<Mutex<Vec<bool>>>,
    picture: Arc<Mutex<Vec<u8>>>,
}

/// The server.
pub(crate) struct Receiver {
    pub(crate) url: String,
    kept: Kept,
    read: AtomicUsize,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let kept = Kept::default();
        *kept.picture.lock().unwrap() = picture();
        let router = Router::new().fallback(answer).with_state(kept.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, kept, read: AtomicUsize::new(0) }
    }

    /// The channels that are posted to here.
    pub(crate) fn channels(&self) -> String {
        let url = &self.url;
        format!(
            "  - {{id: app, kind: webhook, url: \"{url}/app\", secrets: [{{env: S}}]}}\n  - {{id: infobip, kind: \
             whatsapp_infobip, sender: 34945000001, base_url: \"{url}/infobip\", api_key: {{env: S}}, basic: {{user: \
             u, passwords: [{{env: S}}]}}}}\n"
        )
    }

    /// What was posted.
    pub(crate) fn posts(&self) -> Vec<Value> {
        self.kept.posts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The next post that was not yet read.
    pub(crate) async fn hears(&self) -> Value {
        let next = self.read.fetch_add(1, Ordering::SeqCst);
        testkit::eventually("another message is posted", async || self.posts().get(next).cloned()).await
    }

    /// Whether every call proved to come from us.
    pub(crate) fn all_were_proven(&self) -> bool {
        let proven = self.kept.proven.lock().unwrap_or_else(PoisonError::into_inner);
        !proven.is_empty() && proven.iter().all(|proven| *proven)
    }
}

async fn answer(
    State(kept): State<Kept>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let of_infobip = uri.path().starts_with("/infobip/");
    let signed =
        |bytes: &[u8]| signature::verify(&["s3cret".into()], text("x-abisu-signature-256"), bytes).is_ok();
    let proven = if of_infobip {
        text("authorization") == Some("App s3cret")
    } else if method == Method::GET {
        signed(format!("http://{}{uri}", text("host").unwrap()).as_bytes())
    } else {
        signed(&body)
    };
    kept.proven.lock().unwrap().push(proven);
    if method == Method::GET {
        let bytes = kept.picture.lock().unwrap().clone();
        return ([(header::CONTENT_TYPE, "image/jpeg")], bytes).into_response();
    }
    if uri.path().ends_with("/read") {
        return StatusCode::NO_CONTENT.into_response();
    }
    let mut posted: Value = serde_json::from_slice(&body).unwrap();
    posted["path"] = json!(uri.path());
    let mut posts = kept.posts.lock().unwrap();
    posts.push(posted.clone());
    let answer = if of_infobip {
        json!({"to": posted["to"], "messageCount": 1, "messageId": posted["messageId"],
               "status": {"groupId": 1, "groupName": "PENDING", "id": 7, "name": "PENDING_ENROUTE"}})
    } else {
        json!({"id": format!("app-{}", posts.len())})
    };
    axum::Json(answer).into_response()
}

/// A small picture, as a camera would give it.
fn picture() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = image::RgbImage::from_pixel(16, 16, image::Rgb([120, 60, 30]));
    picture.write_to(&mut bytes, image::ImageFormat::Jpeg).unwrap();
    bytes.into_inner()
}

/// A person who writes through somebody's own app.
pub(crate) struct AppUser<'w> {
    pub(crate) world: &'w World,
    pub(crate) channel: &'static str,
    pub(crate) from: &'static str,
}

impl AppUser<'_> {
    /// Sends a message in our own form.
    pub(crate) async fn sends(&self, mut message: Value) {
        message["from"] = json!(self.from);
        message["idempotency_key"] = json!(Uuid::now_v7().to_string());
        let body = message.to_string();
        let parsed = channel::webhook::inbound::parse(body.as_bytes(), || "minted".to_owned()).unwrap();
        self.world.webhook.store_on(self.channel, parsed.items, body.as_bytes()).await;
    }

    /// Taps the button of this title in what was posted.
    pub(crate) async fn taps(&self, posted: &Value, title: &str) {
        let button =
            posted["buttons"].as_array().unwrap().iter().find(|button| button["title"] == title).unwrap();
        self.sends(json!({"type": "button_reply", "interactive_reply": button})).await;
    }
}

/// A person with WhatsApp, through Infobip.
pub(crate) struct InfobipUser<'w> {
    pub(crate) world: &'w World,
    pub(crate) phone: &'static str,
}

impl InfobipUser<'_> {
    /// Sends a message in Infobip's older dialect.
    pub(crate) async fn sends(&self, message: Value) {
        let body = json!({"results": [{
            "from": self.phone, "to": "34945000001", "integrationType": "WHATSAPP",
            "receivedAt": "2026-11-30T10:00:00.000+0000", "messageId": Uuid::now_v7().to_string(),
            "message": message}], "messageCount": 1, "pendingMessageCount": 0})
        .to_string();
        let parsed = channel::infobip::inbound::parse(body.as_bytes()).unwrap();
        self.world.webhook.store_on("infobip", parsed.items, body.as_bytes()).await;
    }
}
