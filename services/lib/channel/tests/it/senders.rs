//! The contract of a sender, the same for every kind of channel, over real HTTP.

use std::sync::Arc;
use std::time::Duration;

use channel::config::{ChannelsFile, Loaded, Purpose};
use channel::outgoing::{Button, Choice, Field, FieldKind, FormShape, Row};
use channel::{Channel, Class, Failure, MediaClass, Outgoing, Recipient, Scope, signature};
use serde_json::{Value, json};

use crate::server::{Asked, Reply, Server};

const OUR_ID: &str = "0198c2f5-7d1a-7000-8000-000000000001";
const SECRETS: [&str; 3] = ["t0ken", "k3y", "s3cret"];

/// One kind of channel as this file configures it.
struct Kind {
    name: &'static str,
    /// An answer that takes a message, and the ids that it makes known.
    taken: Value,
    known: &'static [&'static str],
}

fn kinds() -> [Kind; 3] {
    [
        Kind {
            name: "whatsapp",
            taken: json!({"messages": [{"id": "wamid.1"}, {"id": "wamid.2"}]}),
            known: &["wamid.1", "wamid.2"],
        },
        Kind {
            name: "infobip",
            taken: json!({"to": "34600000001", "messageCount": 1, "messageId": "ib.1",
                          "status": {"groupId": 1, "groupName": "PENDING", "id": 7}}),
            known: &["ib.1", OUR_ID],
        },
        Kind { name: "app", taken: json!({"id": "a.1", "ids": ["a.2"]}), known: &["a.1", "a.2", OUR_ID] },
    ]
}

/// The channel of a file, as the service makes it.
fn connect(server: &Server, id: &str, timeout: Duration) -> Arc<dyn Channel> {
    let url = &server.url;
    let text = format!(
        "channels:\n  - {{id: whatsapp, kind: whatsapp_meta, default: true, phone_number_id: 100200300, graph_url: \
         \"{url}\", app_secrets: [{{env: X}}], verify_token: {{env: X}}, access_token: {{env: TOKEN}}}}\n  - {{id: \
         infobip, kind: whatsapp_infobip, sender: 34945000001, base_url: \"{url}\", api_key: {{env: KEY}}, basic: \
         {{user: u, passwords: [{{env: X}}]}}}}\n  - {{id: app, kind: webhook, url: \"{url}/in\", secrets: [{{env: \
         SECRET}}]}}\n"
    );
    let env = |name: &str| match name {
        "TOKEN" => Some(SECRETS[0].to_owned()),
        "KEY" => Some(SECRETS[1].to_owned()),
        "SECRET" => Some(SECRETS[2].to_owned()),
        _ => None,
    };
    let loaded = Loaded::of(ChannelsFile::parse(&text).unwrap(), Purpose::Send, env).unwrap();
    let account = loaded.accounts().into_iter().find(|account| account.id == id).unwrap();
    account.connect(timeout).unwrap()
}

fn phone() -> Recipient {
    Recipient { phone: Some("34600000001".into()), user_id: None }
}

fn messages() -> [Outgoing; 4] {
    [
        Outgoing::Text { text: "Kaixo Ane".into() },
        Outgoing::Buttons {
            text: "Kaixo Ane?".into(),
            buttons: vec![Button { id: "b1".into(), title: "Bai".into() }],
        },
        Outgoing::List {
            text: "Kaixo Ane?".into(),
            button: "Ireki".into(),
            rows: vec![
                Row { id: "r1".into(), title: "Bat".into(), description: Some("lehena".into()) },
                Row { id: "r2".into(), title: "Bi".into(), description: None },
            ],
        },
        Outgoing::LocationRequest { text: "Non, Ane?".into() },
    ]
}

fn flow() -> Outgoing {
    Outgoing::Form {
        text: "Bete".into(),
        cta: "Ireki".into(),
        token: "t1".into(),
        shape: FormShape::Flow {
            flow_id: "77".into(),
            first_screen: "ROOT".into(),
            data: json!({"address": "Kalea 1"}),
            draft: false,
        },
    }
}

fn fields() -> Outgoing {
    let option = Choice { value: "street/weeds".into(), labels: vec!["Kalea".into(), "Belarrak".into()] };
    Outgoing::Form {
        text: "Bete".into(),
        cta: "Ireki".into(),
        token: "t1".into(),
        shape: FormShape::Fields {
            version: "v1".into(),
            language: "eu".into(),
            address: "Kalea 1".into(),
            fields: vec![
                Field {
                    name: "route".into(),
                    kind: FieldKind::Choice { options: vec![option] },
                    required: true,
                },
                Field { name: "note".into(), kind: FieldKind::Text { max_length: 600 }, required: false },
                Field { name: "photo".into(), kind: FieldKind::Photo { max_count: 1 }, required: true },
            ],
        },
    }
}

async fn send(channel: &Arc<dyn Channel>, message: &Outgoing) -> Result<Vec<String>, channel::SendError> {
    channel.send(&phone(), message, OUR_ID).await.map(|accepted| accepted.provider_ids)
}

fn body(asked: &Asked) -> Value {
    serde_json::from_slice(&asked.body).unwrap()
}

const PATIENCE: Duration = Duration::from_secs(5);

#[tokio::test]
async fn every_message_leaves_with_our_id_and_what_is_said_and_every_id_of_it_becomes_known() {
    for kind in kinds() {
        let server = Server::start().await;
        let channel = connect(&server, kind.name, PATIENCE);
        let form = if kind.name == "app" { fields() } else { flow() };
        for message in messages().into_iter().chain([form]) {
            server.replies_json(200, &kind.taken);
            assert_eq!(send(&channel, &message).await.unwrap(), kind.known, "{} {message:?}", kind.name);
            let asked = server.asked().pop().unwrap();
            let said = String::from_utf8(asked.body.to_vec()).unwrap();
            assert!(asked.method == "POST" && said.contains(OUR_ID), "{said}");
            assert!(said.contains("34600000001"), "{said}");
            for word in ["Ane", "Bai", "Ireki", "lehena", "t1"] {
                let in_message = serde_json::to_string(&message).unwrap().contains(word);
                assert_eq!(said.contains(word), in_message, "{word}: {said}");
            }
        }
    }
}

#[tokio::test]
async fn infobip_is_spoken_to_in_its_own_words() {
    let server = Server::start().await;
    let channel = connect(&server, "infobip", PATIENCE);
    let table = [
        ("text", json!({"text": "Kaixo Ane", "previewUrl": false})),
        (
            "interactive/buttons",
            json!({"body": {"text": "Kaixo Ane?"},
                   "action": {"buttons": [{"type": "REPLY", "id": "b1", "title": "Bai"}]}}),
        ),
        (
            "interactive/list",
            json!({"body": {"text": "Kaixo Ane?"}, "action": {"title": "Ireki", "sections": [{"rows": [
                {"id": "r1", "title": "Bat", "description": "lehena"}, {"id": "r2", "title": "Bi"}]}]}}),
        ),
        ("interactive/location-request", json!({"body": {"text": "Non, Ane?"}})),
        (
            "interactive/flow",
            json!({"body": {"text": "Bete"}, "action": {
                "mode": "PUBLISHED", "flowMessageVersion": 3, "flowToken": "t1", "flowId": "77",
                "callToActionButton": "Ireki", "flowAction": "NAVIGATE",
                "flowActionPayload": {"screen": "ROOT", "data": {"address": "Kalea 1"}}}}),
        ),
    ];
    for (message, (path, content)) in messages().into_iter().chain([flow()]).zip(table) {
        server.replies_json(200, &json!({"messageId": OUR_ID, "status": {"groupName": "PENDING"}}));
        assert_eq!(send(&channel, &message).await.unwrap(), [OUR_ID]);
        let asked = server.asked().pop().unwrap();
        assert_eq!(asked.path, format!("/meta/whatsapp/1/message/{path}"));
        assert_eq!(asked.headers["authorization"], "App k3y");
        assert_eq!(
            body(&asked),
            json!({"from": "34945000001", "to": "34600000001", "messageId": OUR_ID, "callbackData": OUR_ID,
                   "content": content})
        );
    }
    server.replies(Reply::With { status: 204, headers: Vec::new(), body: Vec::new() });
    channel.working("wamid.7").await.unwrap();
    assert_eq!(
        server.asked().pop().unwrap().path,
        "/meta/whatsapp/1/senders/34945000001/message/wamid%2E7/read"
    );
}

#[tokio::test]
async fn a_webhook_is_posted_our_own_form_signed_over_its_exact_bytes() {
    let server = Server::start().await;
    let channel = connect(&server, "app", PATIENCE);
    let said = [
        json!({"type": "text", "text": "Kaixo Ane"}),
        json!({"type": "buttons", "text": "Kaixo Ane?", "buttons": [{"id": "b1", "title": "Bai"}]}),
        json!({"type": "list", "text": "Kaixo Ane?", "button": "Ireki", "rows": [
            {"id": "r1", "title": "Bat", "description": "lehena"}, {"id": "r2", "title": "Bi"}]}),
        json!({"type": "location_request", "text": "Non, Ane?"}),
        json!({"type": "form", "text": "Bete", "button": "Ireki", "token": "t1", "version": "v1", "language": "eu",
               "address": "Kalea 1", "fields": [
            {"name": "route", "type": "choice",
             "options": [{"value": "street/weeds", "labels": ["Kalea", "Belarrak"]}], "required": true},
            {"name": "note", "type": "text", "max_length": 600, "required": false},
            {"name": "photo", "type": "photo", "max_count": 1, "required": true}]}),
    ];
    for (message, said) in messages().into_iter().chain([fields()]).zip(said) {
        // Nothing at all is an answer too: then it is known by our id alone.
        server.replies(Reply::With { status: 202, headers: Vec::new(), body: Vec::new() });
        assert_eq!(send(&channel, &message).await.unwrap(), [OUR_ID]);
        let asked = server.asked().pop().unwrap();
        assert_eq!(asked.path, "/meta/in");
        assert_eq!(asked.headers["idempotency-key"], OUR_ID);
        let shown = asked.headers["x-abisu-signature-256"].to_str().unwrap();
        signature::verify(&[SECRETS[2].into()], Some(shown), &asked.body).unwrap();
        let mut expected = json!({"id": OUR_ID, "channel": "app", "to": "34600000001"});
        expected.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        assert_eq!(body(&asked), expected);
    }
    // Who has no phone is named by the id that they wrote under; who has both, by both.
    for (phone, id, to, beside) in [
        (None, Some("ane-7"), "ane-7", None),
        (Some("34600000001"), Some("ane-7"), "34600000001", Some("ane-7")),
    ] {
        server.replies_json(200, &json!({}));
        let recipient = Recipient { phone: phone.map(str::to_owned), user_id: id.map(str::to_owned) };
        channel.send(&recipient, &messages()[0], OUR_ID).await.unwrap();
        let body = body(&server.asked().pop().unwrap());
        assert_eq!((body["to"].as_str(), body.get("user_id").and_then(Value::as_str)), (Some(to), beside));
    }
}

#[tokio::test]
async fn a_refusal_has_the_class_of_its_providers_table_and_tells_nothing_of_the_message() {
    let later = Class::Defer(None);
    let rejected =
        |id: i64| json!({"messageId": "x", "status": {"groupName": "REJECTED", "groupId": 5, "id": id}});
    let old = json!({"requestError": {"serviceException": {"messageId": "X", "text": "to 34600000001"}}});
    let new = json!({"errorCode": "E400", "description": "Kaixo", "violations": []});
    let meta = |code: i64| json!({"error": {"code": code, "message": "to 34600000001"}});
    let plain = json!({"detail": "Kaixo Ane"});
    let table: [(&str, u16, Value, Class, Scope); 28] = [
        ("whatsapp", 401, meta(190), later, Scope::Number),
        ("whatsapp", 400, meta(131_026), Class::Drop, Scope::Message),
        ("whatsapp", 400, meta(132_068), later, Scope::Message),
        ("whatsapp", 500, meta(131_000), Class::Retry, Scope::Message),
        ("whatsapp", 503, meta(2), later, Scope::Number),
        ("infobip", 200, rejected(12), later, Scope::Number),
        ("infobip", 200, rejected(20), Class::Defer(Some(Duration::from_secs(6))), Scope::Recipient),
        ("infobip", 200, rejected(21), Class::Retry, Scope::Message),
        ("infobip", 200, rejected(14), Class::Drop, Scope::Message),
        ("infobip", 200, rejected(6), Class::Drop, Scope::Message),
        ("infobip", 400, old.clone(), Class::Drop, Scope::Message),
        ("infobip", 400, new.clone(), Class::Drop, Scope::Message),
        ("infobip", 401, old.clone(), later, Scope::Number),
        ("infobip", 403, new.clone(), Class::Drop, Scope::Message),
        ("infobip", 404, new.clone(), Class::Drop, Scope::Message),
        ("infobip", 429, new, later, Scope::Number),
        ("infobip", 500, old, later, Scope::Number),
        ("infobip", 200, json!({}), Class::Ambiguous, Scope::Message),
        ("app", 400, plain.clone(), Class::Drop, Scope::Message),
        ("app", 422, plain.clone(), Class::Drop, Scope::Message),
        ("app", 401, plain.clone(), later, Scope::Number),
        ("app", 403, plain.clone(), later, Scope::Number),
        ("app", 404, plain.clone(), later, Scope::Number),
        ("app", 408, plain.clone(), Class::Retry, Scope::Message),
        ("app", 429, plain.clone(), later, Scope::Number),
        ("app", 302, plain.clone(), later, Scope::Number),
        ("app", 500, plain.clone(), later, Scope::Number),
        ("app", 504, plain, later, Scope::Number),
    ];
    let server = Server::start().await;
    for (name, status, answer, class, scope) in table {
        let channel = connect(&server, name, PATIENCE);
        server.replies_json(status, &answer);
        let error = send(&channel, &messages()[0]).await.expect_err(name);
        assert_eq!((error.class(), error.scope()), (class, scope), "{name} {status} {answer}");
        let said = format!("{error} {error:?}");
        for secret in SECRETS.iter().chain(&["34600000001", "Kaixo"]) {
            assert!(!said.contains(secret), "{said}");
        }
    }
}

#[tokio::test]
async fn what_was_taken_before_is_taken() {
    let server = Server::start().await;
    let (infobip, app) = (connect(&server, "infobip", PATIENCE), connect(&server, "app", PATIENCE));
    let duplicate =
        json!({"status": {"groupName": "REJECTED", "id": 23, "name": "REJECTED_DUPLICATE_MESSAGE_ID"}});
    server.replies_json(200, &duplicate);
    assert_eq!(send(&infobip, &messages()[0]).await.unwrap(), [OUR_ID]);
    server.replies_json(409, &json!({}));
    assert_eq!(send(&app, &messages()[0]).await.unwrap(), [OUR_ID]);
}

#[tokio::test]
async fn what_never_left_is_told_from_what_may_have_arrived_and_a_named_time_is_kept() {
    for kind in kinds() {
        let server = Server::start().await;
        let hello = &messages()[0];
        server.replies(Reply::Never);
        let silent = connect(&server, kind.name, Duration::from_millis(200));
        let error = send(&silent, hello).await.unwrap_err();
        assert_eq!((error.failure, error.class()), (Failure::Lost, Class::Ambiguous), "{}", kind.name);

        server.replies(Reply::With {
            status: 429,
            headers: vec![("retry-after", "7".to_owned())],
            body: Vec::new(),
        });
        let channel = connect(&server, kind.name, PATIENCE);
        let error = send(&channel, hello).await.unwrap_err();
        assert_eq!(error.class(), Class::Defer(Some(Duration::from_secs(7))), "{}", kind.name);

        let nobody = Recipient { phone: None, user_id: None };
        let before = server.asked().len();
        assert_eq!(channel.send(&nobody, hello, OUR_ID).await.unwrap_err().class(), Class::Drop);
        // A form that this channel cannot show.
        let form = if kind.name == "app" { flow() } else { fields() };
        let error = send(&channel, &form).await.unwrap_err();
        assert_eq!((error.failure, error.class()), (Failure::Unsayable, Class::Drop), "{}", kind.name);
        assert_eq!(server.asked().len(), before, "nothing was sent");

        drop(server);
    }
}

#[tokio::test]
async fn a_probe_tells_a_refused_account_from_one_that_works_and_reaches_no_citizen() {
    for kind in kinds() {
        let server = Server::start().await;
        let channel = connect(&server, kind.name, PATIENCE);
        server.replies_json(200, &json!({"id": "x"}));
        channel.probe().await.unwrap();
        server.replies_json(401, &json!({"error": {"code": 190}, "errorCode": "E401"}));
        assert!(channel.probe().await.unwrap_err().needs_operator(), "{}", kind.name);
        server.replies_json(503, &json!({}));
        channel.probe().await.unwrap_err();
        for asked in server.asked() {
            assert!(asked.method == "GET" || body(&asked)["type"] == "ping", "{}", asked.path);
        }
    }
}

fn file(status: u16, content_type: &str, body: &[u8]) -> Reply {
    Reply::With { status, headers: vec![("content-type", content_type.to_owned())], body: body.to_vec() }
}

#[tokio::test]
async fn files_of_infobip_and_of_a_webhook_come_from_their_own_hosts_with_their_own_proof() {
    let server = Server::start().await;
    let (infobip, app) = (connect(&server, "infobip", PATIENCE), connect(&server, "app", PATIENCE));
    let absolute = format!("{}/photos/7", server.url);
    for (channel, id, path) in [
        (&infobip, "m.7", "/meta/whatsapp/1/senders/34945000001/media/m%2E7"),
        (&infobip, absolute.as_str(), "/meta/photos/7"),
        (&app, absolute.as_str(), "/meta/photos/7"),
        (&app, "photos/7", "/meta/photos/7"),
    ] {
        server.replies(file(200, "image/jpeg; x=y", b"abc"));
        let media = channel.fetch_media(id).await.unwrap();
        assert_eq!((&media.bytes[..], media.content_type.as_str()), (&b"abc"[..], "image/jpeg"));
        assert_eq!(server.asked().pop().unwrap().path, path);
    }
    let asked = server.asked();
    assert_eq!(asked[0].headers["authorization"], "App k3y");
    let shown = asked[2].headers["x-abisu-signature-256"].to_str().unwrap();
    signature::verify(&[SECRETS[2].into()], Some(shown), absolute.as_bytes()).unwrap();

    for channel in [&infobip, &app] {
        let before = server.asked().len();
        for foreign in ["http://127.0.0.1:1/x", "https://evil.example/x", "http://169.254.169.254/latest"] {
            assert_eq!(
                channel.fetch_media(foreign).await.unwrap_err().class(),
                MediaClass::Gone,
                "{foreign}"
            );
        }
        assert_eq!(server.asked().len(), before, "nothing leaves for another host");
        for (reply, class) in [
            (file(404, "text/plain", b""), MediaClass::Gone),
            (file(401, "text/plain", b""), MediaClass::Retry),
            (file(500, "text/plain", b""), MediaClass::Retry),
            (file(302, "text/plain", b""), MediaClass::Retry),
            (file(200, "text/html", b"<html>"), MediaClass::Retry),
            (file(200, "image/jpeg", &vec![0; channel::LARGEST_FILE + 1]), MediaClass::Gone),
        ] {
            server.replies(reply);
            assert_eq!(channel.fetch_media("photos-7").await.unwrap_err().class(), class);
        }
    }
}
