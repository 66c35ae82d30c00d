//! The database away, the service stopping, callers that never finish.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::eventually;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::app::{App, problem, signature, text, webhook};

#[tokio::test]
async fn while_the_database_is_away_the_answer_is_503_and_the_repeat_succeeds() {
    let app = App::start().await;
    app.post(&webhook(&[text("a")])).await;
    app.proxy.cut();
    let body = webhook(&[text("b")]).to_string();
    let began = Instant::now();
    let response = app.post_bytes(body.clone()).await;
    assert!(began.elapsed() < Duration::from_millis(2500), "{:?}", began.elapsed());
    assert_eq!(response.headers()["retry-after"], "2");
    problem(response, 503).await;
    app.proxy.mend();
    let answer = eventually("the delivery is taken again", async || {
        let response = app.post_bytes(body.clone()).await;
        match response.status().as_u16() {
            200 => Some(response.json::<serde_json::Value>().await.unwrap()),
            _ => None,
        }
    })
    .await;
    assert_eq!(answer["status"], json!("accepted"));
    assert_eq!(app.stored().await, ["a", "b"]);
}

#[tokio::test]
async fn a_request_that_was_begun_is_answered_when_the_service_stops() {
    let app = App::start().await;
    let body = webhook(&[text("a")]).to_string();
    let mut stream = TcpStream::connect(app.url.strip_prefix("http://").unwrap()).await.unwrap();
    let head = format!(
        "POST /whatsapp/webhook HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\nx-hub-signature-256: {}\r\nexpect: 100-continue\r\n\r\n",
        body.len(),
        signature(body.as_bytes()),
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // The service says that it has begun to read.
    let mut begun = [0; 25];
    stream.read_exact(&mut begun).await.unwrap();
    assert!(begun.starts_with(b"HTTP/1.1 100"));
    let shell = app.shell.clone();
    let stopping = shell.stopping();
    let stopped = tokio::spawn(async move { shell.stop().await });
    stopping.cancelled().await;
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    stopped.await.unwrap();
    assert_eq!(app.stored().await, ["a"]);
}

#[tokio::test]
async fn a_body_that_never_ends_is_given_up() {
    let app = App::start().await;
    let mut stream = TcpStream::connect(app.url.strip_prefix("http://").unwrap()).await.unwrap();
    stream
        .write_all(b"POST /whatsapp/webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
        .await
        .unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
    assert_eq!(app.deliveries().await, 0);
}
