//! What refuses to start, and what is turned away at the door.

use std::process::Command;

use crate::town::{Town, binaries};

/// Runs a service with nothing but these variables.
fn start(service: &str, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let output =
        Command::new(binaries().join(service)).env_clear().envs(variables.iter().copied()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn without_its_secret_a_service_refuses_with_one_line_and_exit_code_64() {
    let database = ("ABISU_DATABASE_URL", "postgres://nobody@127.0.0.1:1/none");
    let table = [
        (
            "ingest",
            "ABISU_META_APP_SECRET",
            vec![database, ("ABISU_META_PHONE_NUMBER_ID", "1"), ("ABISU_META_VERIFY_TOKEN", "t")],
        ),
        (
            "ingest",
            "ABISU_META_VERIFY_TOKEN",
            vec![database, ("ABISU_META_PHONE_NUMBER_ID", "1"), ("ABISU_META_APP_SECRET", "s")],
        ),
        (
            "ingest",
            "ABISU_DATABASE_URL",
            vec![
                ("ABISU_META_PHONE_NUMBER_ID", "1"),
                ("ABISU_META_APP_SECRET", "s"),
                ("ABISU_META_VERIFY_TOKEN", "t"),
            ],
        ),
        ("conversation", "ABISU_META_ACCESS_TOKEN", vec![database, ("ABISU_META_PHONE_NUMBER_ID", "1")]),
        ("conversation", "ABISU_META_PHONE_NUMBER_ID", vec![database, ("ABISU_META_ACCESS_TOKEN", "t")]),
        ("geocode", "ABISU_DATABASE_URL", vec![]),
        ("partner-push", "ABISU_PARTNER_URL", vec![database, ("ABISU_PARTNER_ENABLED", "true")]),
        ("abisu", "", vec![]),
    ];
    for (service, missing, variables) in table {
        let (code, said) = start(service, &variables);
        assert_eq!(code, Some(64), "{service} without {missing}: {said}");
        assert!(said.contains(missing), "{service} names {missing}: {said}");
        if !missing.is_empty() {
            assert_eq!(said.trim().lines().count(), 1, "{service} says one line: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_webhook_is_turned_away_and_leaves_no_trace() {
    let town = Town::start("forged", &[]).await;
    let url = format!("{}/whatsapp/webhook", town.stack.urls.ingest);
    let client = reqwest::Client::builder().build().unwrap();
    let body = r#"{"object":"whatsapp_business_account","entry":[]}"#;
    let wrong = format!("sha256={}", "0".repeat(64));
    for signature in [None, Some(""), Some("sha256=abc"), Some(wrong.as_str())] {
        let mut request = client.post(&url).body(body);
        if let Some(signature) = signature {
            request = request.header("x-hub-signature-256", signature);
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 403);
        assert_eq!(answer.headers()["content-type"], "application/problem+json");
    }
    let kept = "select (select count(*) from inbound.delivery) + (select count(*) from inbound.rejection)";
    assert_eq!(town.database.count(kept).await, 0);
}
