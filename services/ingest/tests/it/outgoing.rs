//! What is posted to a channel of our own form, against the document that stands at the door.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use channel::outgoing::{Button, Choice, Field, FieldKind, FormShape, Row};
use channel::webhook::WebhookClient;
use channel::{Channel, Outgoing, Recipient};
use serde_json::Value;
use uuid::Uuid;

use crate::schema::check;

fn every_kind() -> Vec<Outgoing> {
    let text = || "Kaixo".to_owned();
    let option = Choice { value: "street/weeds".into(), labels: vec!["Kalea".into(), "Belarrak".into()] };
    let field = |name: &str, kind| Field { name: name.into(), kind, required: true };
    vec![
        Outgoing::Text { text: text() },
        Outgoing::Buttons { text: text(), buttons: vec![Button { id: "a".into(), title: "A".into() }] },
        Outgoing::List {
            text: text(),
            button: "Ireki".into(),
            rows: vec![
                Row { id: "a".into(), title: "A".into(), description: Some("lehena".into()) },
                Row { id: "b".into(), title: "B".into(), description: None },
            ],
        },
        Outgoing::LocationRequest { text: text() },
        Outgoing::Form {
            text: text(),
            cta: "Ireki".into(),
            token: Uuid::now_v7().to_string(),
            shape: FormShape::Fields {
                version: "v".into(),
                language: "eu".into(),
                address: "Kalea 1".into(),
                fields: vec![
                    field("route", FieldKind::Choice { options: vec![option] }),
                    field("note", FieldKind::Text { max_length: 600 }),
                    field("photo", FieldKind::Photo { max_count: 1 }),
                ],
            },
        },
    ]
}

#[tokio::test]
async fn every_message_that_is_posted_to_a_webhook_is_as_the_document_says_and_no_other() {
    let posted: Arc<Mutex<Vec<Value>>> = Arc::default();
    let kept = Arc::clone(&posted);
    let router = Router::new().route(
        "/",
        post(async move |body: Bytes| {
            kept.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
        }),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let client = WebhookClient::new("app", &url, &[], "s3cret".into(), Duration::from_secs(5)).unwrap();
    let recipient = Recipient { phone: Some("34600000001".into()), user_id: Some("ane-7".into()) };

    for message in every_kind() {
        client.send(&recipient, &message, &Uuid::now_v7().to_string()).await.unwrap();
    }

    let document: Value = serde_json::from_str(include_str!("../../src/openapi.json")).unwrap();
    let schema =
        &document["webhooks"]["message"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    let posted = posted.lock().unwrap().clone();
    assert_eq!(posted.len(), 5);
    for message in &posted {
        check(&document, schema, message).unwrap();
        // Without any of its members it is not what the document says.
        for member in message.as_object().unwrap().keys().filter(|member| *member != "user_id") {
            let mut less = message.clone();
            less.as_object_mut().unwrap().remove(member);
            assert!(check(&document, schema, &less).is_err(), "{member} of {message}");
        }
    }
}
