//! The OpenAPI document against the server: every answer it names can be had, and every answer is as it says.

use std::collections::BTreeSet;

use reqwest::Response;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::app::{App, SECRET, VERIFY_TOKEN, channels, signature, text, webhook};
use crate::generic::post;
use crate::schema::check;

const BOTH: &str = "
channels:
  - id: whatsapp
    kind: whatsapp_meta
    default: true
    phone_number_id: 100200300
    app_secrets: [{env: SECRET}]
    verify_token: {env: VERIFY}
  - id: city-app
    kind: webhook
    secrets: [{env: SECRET}]
";
const BY_ID: &str = "/api/v1/channels/{channel_id}/inbound";
const DEFAULT: &str = "/whatsapp/webhook";
pub(crate) const MEDIA: &str = "/media/{token}";

/// The contract, and which of its answers were seen.
pub(crate) struct Contract {
    document: Value,
    seen: BTreeSet<(String, String, String)>,
}

impl Contract {
    pub(crate) async fn of(app: &App) -> Self {
        let response = app.http.get(format!("{}/openapi.json", app.url)).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "application/json");
        let document: Value = response.json().await.unwrap();
        let seen = BTreeSet::from([("/openapi.json".to_owned(), "get".to_owned(), "200".to_owned())]);
        Self { document, seen }
    }

    pub(crate) async fn saw(&mut self, path: &str, method: &str, response: Response) {
        let status = response.status().as_u16();
        let content_type = response.headers()["content-type"].to_str().unwrap().to_owned();
        let headers = response.headers().clone();
        let body = response.text().await.unwrap();
        self.check(path, method, status, &content_type, &body);
        let documented = &self.document["paths"][path][method]["responses"][status.to_string()]["headers"];
        for name in documented.as_object().into_iter().flat_map(|all| all.keys()) {
            assert!(headers.contains_key(name.as_str()), "{method} {path} {status}: {name}");
        }
    }

    pub(crate) fn check(&mut self, path: &str, method: &str, status: u16, content_type: &str, body: &str) {
        let status = status.to_string();
        let answer = &self.document["paths"][path][method]["responses"][&status];
        assert!(answer.is_object(), "{method} {path} answers {status}, which the contract does not name");
        let bare = content_type.split(';').next().unwrap();
        let schema = &answer["content"][bare]["schema"];
        assert!(schema.is_object(), "{method} {path} {status} is {bare}, which the contract does not name");
        let value = if bare == "text/plain" { json!(body) } else { serde_json::from_str(body).unwrap() };
        check(&self.document, schema, &value).unwrap();
        self.seen.insert((path.to_owned(), method.to_owned(), status));
    }

    /// Every answer of a path that the contract names and nobody has seen yet.
    pub(crate) fn unseen(&self, path: &str) -> Vec<(String, String, String)> {
        self.named().difference(&self.seen).filter(|(named, _, _)| named == path).cloned().collect()
    }

    /// Every answer that the contract names.
    fn named(&self) -> BTreeSet<(String, String, String)> {
        let mut named = BTreeSet::new();
        for (path, methods) in self.document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                for status in operation["responses"].as_object().unwrap().keys() {
                    named.insert((path.clone(), method.clone(), status.clone()));
                }
            }
        }
        named
    }
}

#[tokio::test]
async fn every_answer_of_the_contract_can_be_had_and_no_other_is_given() {
    let app = App::of(channels(BOTH)).await;
    let mut contract = Contract::of(&app).await;
    assert_eq!(contract.document["openapi"], json!("3.1.0"));

    let shake = async |path: &str, token: &str| {
        let query = [("hub.mode", "subscribe"), ("hub.challenge", "7"), ("hub.verify_token", token)];
        app.http.get(format!("{}{path}", app.url)).query(&query).send().await.unwrap()
    };
    for (named, path, token) in [
        (DEFAULT, DEFAULT, VERIFY_TOKEN),
        (DEFAULT, DEFAULT, "guess"),
        (BY_ID, "/api/v1/channels/whatsapp/inbound", VERIFY_TOKEN),
        (BY_ID, "/api/v1/channels/whatsapp/inbound", "guess"),
        (BY_ID, "/api/v1/channels/nobody/inbound", VERIFY_TOKEN),
        (BY_ID, "/api/v1/channels/city-app/inbound", VERIFY_TOKEN),
    ] {
        contract.saw(named, "get", shake(path, token).await).await;
    }

    let body = webhook(&[text("a")]).to_string();
    let too_large = vec![b' '; 3 * 1024 * 1024 + 1];
    for (named, path) in [(DEFAULT, DEFAULT), (BY_ID, "/api/v1/channels/whatsapp/inbound")] {
        let post = async |body: &[u8], signature: &str| {
            let request = app.http.post(format!("{}{path}", app.url)).body(body.to_vec());
            request.header("x-hub-signature-256", signature).send().await.unwrap()
        };
        contract.saw(named, "post", post(body.as_bytes(), &signature(body.as_bytes())).await).await;
        contract.saw(named, "post", post(b"x", &signature(b"x")).await).await;
        contract.saw(named, "post", post(body.as_bytes(), "").await).await;
        contract.saw(named, "post", post(&too_large, &signature(&too_large)).await).await;
        // A chunk whose length is no number.
        let broken = raw(&app, path, "transfer-encoding: chunked", "zz\r\n").await;
        contract.check(named, "post", broken.0, &broken.1, &broken.2);
        let slow = raw(&app, path, "content-length: 9", "{").await;
        contract.check(named, "post", slow.0, &slow.1, &slow.2);
        app.proxy.cut();
        contract.saw(named, "post", post(body.as_bytes(), &signature(body.as_bytes())).await).await;
        app.proxy.mend();
    }
    let unknown = app.post_to("nobody", &[], "x").await;
    contract.saw(BY_ID, "post", unknown).await;
    testkit::eventually("the database is back", async || {
        let again = app.post_bytes(body.clone()).await;
        (again.status().as_u16() == 200).then_some(())
    })
    .await;
    for own in [r#"{"from": "1", "type": "text", "text": "x"}"#, "no json"] {
        let signature = crate::app::signature_with(SECRET, own.as_bytes());
        let answer = app.post_to("city-app", &[("x-abisu-signature-256", signature)], own).await;
        contract.saw(BY_ID, "post", answer).await;
    }

    let mut missing: Vec<_> = contract.named().difference(&contract.seen).cloned().collect();
    // Photos have a test of their own. The default channel cannot be missing while there is a channel of Meta; that answer has a test of its own.
    missing.retain(|(path, _, status)| !(path == DEFAULT && status == "404") && path != MEDIA);
    assert_eq!(missing, [], "the contract names answers that nobody gets");
}

/// Sends a head and a beginning by hand and reads the answer: status, content type, body.
async fn raw(app: &App, path: &str, header: &str, begin: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(app.url.strip_prefix("http://").unwrap()).await.unwrap();
    let signature = signature(b"");
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-hub-signature-256: {signature}\r\n{header}\r\n\r\n{begin}"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let content_type = head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap();
    (status, content_type.to_owned(), body.to_owned())
}

/// One message of every kind in our own form, valid by the contract.
fn valid() -> Vec<Value> {
    let kinds = json!([
        {"type": "text", "text": "kaixo", "sent_at": "2026-11-30T10:00:00Z", "reply_to": "m0", "user_id": "u1"},
        {"type": "image", "attachments": [{"contentType": "image/jpeg", "providerMediaId": 7}], "text": "caption"},
        {"type": "video", "attachments": [{"contentType": "video/mp4", "providerMediaId": "7"}]},
        {"type": "audio", "attachments": [{"contentType": "audio/ogg; codecs=opus", "providerMediaId": "7"}]},
        {"type": "document", "attachments": [{"contentType": "application/pdf", "providerMediaId": "7", "name": "a"}]},
        {"type": "sticker", "attachments": [{"contentType": "image/webp", "providerMediaId": "7"}]},
        {"type": "location", "location": {"latitude": 42.8, "longitude": "-2.6", "name": "Plaza"}},
        {"type": "contacts", "contacts": [{"name": "Jon"}]},
        {"type": "button_reply", "interactive_reply": {"id": "b", "title": "Yes"}},
        {"type": "list_reply", "interactive_reply": {"id": 7, "title": "First", "description": "d"}},
        {"type": "template_button", "interactive_reply": {"id": "p"}},
        {"type": "form", "interactive_reply": {"response": {"route": "a/b"}}},
        {"type": "form", "interactive_reply": {"response": "{\"route\": \"a/b\"}"}},
        {"type": "reaction", "reaction": {"message_id": "m0", "emoji": "👍"}},
        {"type": "reaction", "reaction": {"message_id": "m0"}},
        {"type": "order", "order": {"catalog_id": "1"}},
        {"type": "edit", "edit": {"original_message_id": "m0"}, "text": "new"},
        {"type": "revoke", "revoke": {"original_message_id": "m0"}},
        {"type": "system", "system": {"type": "user_changed_number"}},
        {"type": "unsupported"},
        {"type": "unknown"},
        {"type": "hologram", "hologram": {"a": 1}, "metadata": {"b": 2}, "group": true},
    ]);
    let all = kinds.as_array().unwrap().iter().enumerate();
    all.map(|(place, kind)| {
        let mut message = json!({"from": "+34600000001", "idempotency_key": format!("k{place}")});
        message.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
        message
    })
    .collect()
}

#[tokio::test]
async fn what_the_schema_allows_is_created_and_what_it_forbids_is_invalid() {
    let app = App::of(channels(BOTH)).await;
    let document = Contract::of(&app).await.document;
    let schema = json!({"$ref": "#/components/schemas/Message"});
    let valid = valid();
    for message in &valid {
        check(&document, &schema, message).unwrap();
        let (status, answer) = post(&app, message).await;
        assert_eq!(status, 201, "{message}: {answer}");
    }
    let stored: Vec<String> = sqlx::query_scalar("select kind from inbound.event order by seq")
        .fetch_all(&app.database.pool)
        .await
        .unwrap();
    let kinds = valid.iter().map(|message| message["type"].as_str().unwrap());
    assert!(
        stored.iter().zip(kinds).all(|(stored, kind)| stored == kind || kind == "hologram"),
        "{stored:?}"
    );

    // Without any one of the fields that the schema asks for, and with each of them of another type.
    let mut forbidden = Vec::new();
    for message in &valid {
        for name in message.as_object().unwrap().keys() {
            let mut without = message.clone();
            without.as_object_mut().unwrap().remove(name);
            let mut other = message.clone();
            other[name] = json!([[]]);
            forbidden
                .extend([without, other].into_iter().filter(|one| check(&document, &schema, one).is_err()));
        }
    }
    assert!(forbidden.len() > 60, "{}", forbidden.len());
    for (place, message) in forbidden.iter_mut().enumerate() {
        if message["idempotency_key"].is_string() {
            message["idempotency_key"] = json!(format!("f{place}"));
        }
        let (status, answer) = post(&app, &*message).await;
        let harmless = harmless(message);
        assert_eq!(status, if harmless { 201 } else { 422 }, "{message}: {answer}");
    }
}

/// Fields that only say more about a message: of another type than the schema asks for they are as good as absent,
/// since a message is worth more than what is said about it.
fn harmless(message: &Value) -> bool {
    let odd = |name: &str| message[name] == json!([[]]);
    let needed = match message["type"].as_str() {
        Some("text") => "text",
        Some("location") => "location",
        Some("contacts") => "contacts",
        Some("reaction") => "reaction",
        Some("form" | "button_reply" | "list_reply" | "template_button") => "interactive_reply",
        _ => "type",
    };
    ["text", "sent_at", "reply_to", "user_id", "metadata", "group", "location", "contacts", "reaction"]
        .iter()
        .any(|name| odd(name) && *name != needed)
}
