//! Sending over HTTP.

use std::time::Duration;

use channel::{Channel, Class, Failure, Outgoing, Recipient, Scope};
use serde_json::{Value, json};

use crate::server::{Reply, Server, client};

fn recipient() -> Recipient {
    Recipient { phone: Some("34600000001".into()), user_id: None }
}

fn hello() -> Outgoing {
    Outgoing::Text { text: "Kaixo Ane".into() }
}

#[tokio::test]
async fn a_message_is_sent_with_the_token_and_its_id_comes_back() {
    let server = Server::start().await;
    server.replies_json(200, &json!({"messaging_product": "whatsapp", "messages": [{"id": "wamid.1"}]}));
    let accepted = server.client().send(&recipient(), &hello(), "cb").await.unwrap();
    assert_eq!(accepted.provider_ids, ["wamid.1"]);
    let [asked] = &server.asked()[..] else { panic!("one request") };
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/meta/v26.0/100200300/messages"));
    assert_eq!(asked.headers["authorization"], "Bearer t0ken");
    assert!(asked.headers["user-agent"].to_str().unwrap().starts_with("abisu/"));
    let body: Value = serde_json::from_slice(&asked.body).unwrap();
    assert_eq!(body["to"], json!("+34600000001"));
}

#[tokio::test]
async fn a_mark_names_the_message_and_shows_that_an_answer_is_written() {
    let server = Server::start().await;
    server.replies_json(200, &json!({"success": true}));
    server.client().working("wamid.7").await.unwrap();
    let body: Value = serde_json::from_slice(&server.asked()[0].body).unwrap();
    assert_eq!(
        body,
        json!({"messaging_product": "whatsapp", "status": "read", "message_id": "wamid.7",
               "typing_indicator": {"type": "text"}})
    );
}

#[tokio::test]
async fn a_probe_reads_the_number_and_sends_nothing() {
    let server = Server::start().await;
    server.replies_json(200, &json!({"id": "100200300"}));
    server.replies_json(401, &json!({"error": {"code": 190}}));
    server.client().probe().await.unwrap();
    assert!(server.client().probe().await.unwrap_err().needs_operator());
    let asked = &server.asked()[0];
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("GET", "/meta/v26.0/100200300?fields=id"));
}

#[tokio::test]
async fn a_refusal_carries_its_code_and_nothing_of_the_message() {
    let server = Server::start().await;
    server.replies_json(
        400,
        &json!({"error": {
        "message": "(#131026) undeliverable to 34600000001", "code": 131_026, "error_subcode": 7,
        "error_data": {"details": "34600000001"}, "fbtrace_id": "AbC"}}),
    );
    let error = server.client().send(&recipient(), &hello(), "cb").await.unwrap_err();
    assert_eq!(
        (error.class(), error.code, error.trace.as_deref()),
        (Class::Drop, Some(131_026), Some("AbC"))
    );
    let said = format!("{error} {error:?}");
    for secret in ["34600000001", "Kaixo", "t0ken"] {
        assert!(!said.contains(secret), "{said}");
    }
}

#[tokio::test]
async fn a_refusal_says_to_the_operator_what_the_provider_says_to_one() {
    let server = Server::start().await;
    server.replies_json(
        400,
        &json!({"error": {
        "message": "(#131042) payment", "code": 131_042, "error_user_title": "Payment issue",
        "error_user_msg": "Add a payment method to account 1234567890 in the Business Manager."}}),
    );
    let error = server.client().send(&recipient(), &hello(), "cb").await.unwrap_err();
    assert!(error.needs_operator());
    let words = "the Graph API refused, code 131042, HTTP 400: Payment issue: Add a payment method to account … in \
                 the Business Manager.";
    assert_eq!(error.to_string(), words);
}

#[tokio::test]
async fn a_throttle_says_when_to_come_back() {
    let server = Server::start().await;
    let usage = r#"{"900":[{"call_count":1,"estimated_time_to_regain_access":3}]}"#;
    let throttled = json!({"error": {"code": 130_429}}).to_string().into_bytes();
    for (header, wait) in [(("retry-after", "7"), 7), (("x-business-use-case-usage", usage), 180)] {
        server.replies(Reply::With {
            status: 429,
            headers: vec![(header.0, header.1.to_owned())],
            body: throttled.clone(),
        });
        let error = server.client().send(&recipient(), &hello(), "cb").await.unwrap_err();
        assert_eq!(
            (error.class(), error.scope()),
            (Class::Defer(Some(Duration::from_secs(wait))), Scope::Number)
        );
    }
}

#[tokio::test]
async fn what_never_left_is_told_from_what_may_have_arrived() {
    let server = Server::start().await;
    server.replies(Reply::Never);
    let silent = client(&server.url, Duration::from_millis(200));
    let error = silent.send(&recipient(), &hello(), "cb").await.unwrap_err();
    assert_eq!((error.failure, error.class()), (Failure::Lost, Class::Ambiguous));

    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let nobody = client(&format!("http://{closed}"), Duration::from_secs(5));
    let error = nobody.send(&recipient(), &hello(), "cb").await.unwrap_err();
    assert_eq!((error.failure, error.class()), (Failure::NotSent, Class::Defer(None)));

    server.replies_json(200, &json!({"messages": []}));
    let error = server.client().send(&recipient(), &hello(), "cb").await.unwrap_err();
    assert_eq!(error.class(), Class::Ambiguous);
}

#[tokio::test]
async fn a_page_of_something_in_between_is_not_held_against_the_message() {
    let server = Server::start().await;
    for (status, class) in [(404, Class::Defer(None)), (503, Class::Defer(None)), (504, Class::Ambiguous)] {
        server.replies(Reply::With { status, headers: Vec::new(), body: b"<html>".to_vec() });
        let error = server.client().send(&recipient(), &hello(), "cb").await.unwrap_err();
        assert_eq!(error.class(), class, "{status}");
    }
}

#[tokio::test]
async fn nobody_to_send_to_is_found_before_anything_is_sent() {
    let server = Server::start().await;
    let nobody = Recipient { phone: None, user_id: None };
    let error = server.client().send(&nobody, &hello(), "cb").await.unwrap_err();
    assert_eq!(error.class(), Class::Drop);
    assert!(server.asked().is_empty());
}
