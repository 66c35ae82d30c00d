//! The database away, the service stopping, callers that never finish.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::json;
use testkit::eventually;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::app::{App, MOST_CONNECTIONS, problem, signature, text, webhook};

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
async fn before_a_stop_every_answer_asks_for_another_connection_and_who_has_reached_us_is_still_let_in() {
    let app = App::start().await;
    let kept = app.post_bytes(webhook(&[text("a")]).to_string()).await;
    assert_eq!((kept.status().as_u16(), kept.headers().get("connection")), (200, None));
    app.shell.drain();
    let last = app.post_bytes(webhook(&[text("b")]).to_string()).await;
    assert_eq!((last.status().as_u16(), last.headers()["connection"].to_str().unwrap()), (200, "close"));
    // A connection that the system has taken for us, with its request, at the moment of the stop.
    let body = webhook(&[text("c")]).to_string();
    let head = format!(
        "POST /whatsapp/webhook HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\nx-hub-signature-256: {}\r\n\r\n",
        body.len(),
        signature(body.as_bytes()),
    );
    // From here to the stop nothing gives the service a turn, which runs on this very thread.
    let mut stream = std::net::TcpStream::connect(app.url.strip_prefix("http://").unwrap()).unwrap();
    std::io::Write::write_all(&mut stream, format!("{head}{body}").as_bytes()).unwrap();
    app.shell.clone().stop().await;
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(app.stored().await, ["a", "b", "c"]);
}

#[tokio::test]
async fn a_body_that_never_ends_is_given_up() {
    let app = App::start().await;
    let mut stream = TcpStream::connect(app.url.strip_prefix("http://").unwrap()).await.unwrap();
    stream
        .write_all(
            format!(
                "POST /whatsapp/webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\nx-hub-signature-256: {}\r\n\r\n{{",
                signature(b"")
            )
            .as_bytes(),
        )
        .await
        .unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
    assert_eq!(app.deliveries().await, 0);
}

#[tokio::test]
async fn while_the_database_is_slow_the_same_bound_holds_for_everyone() {
    let app = App::start().await;
    app.post(&webhook(&[text("a")])).await;
    let mut holder = app.database.pool.acquire().await.unwrap();
    sqlx::raw_sql("begin; lock table inbound.dedup in access exclusive mode")
        .execute(&mut *holder)
        .await
        .unwrap();
    let calls = (0..40).map(|n| {
        let (body, app) = (webhook(&[text(&format!("slow-{n}"))]).to_string(), &app);
        async move {
            let began = Instant::now();
            let status = app.post_bytes(body).await.status().as_u16();
            (status, began.elapsed())
        }
    });
    for (status, took) in join_all(calls).await {
        assert_eq!(status, 503);
        assert!(took < Duration::from_millis(2500), "{took:?}");
    }
    sqlx::raw_sql("rollback").execute(&mut *holder).await.unwrap();
    eventually("the delivery is taken again", async || {
        let status = app.post_bytes(webhook(&[text("slow-1")]).to_string()).await.status();
        (status.as_u16() == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn nothing_acked_is_lost_while_the_database_comes_and_goes_under_load() {
    let app = App::start().await;
    let sent = AtomicUsize::new(0);
    let over = AtomicBool::new(false);
    let caller = async || {
        let mut acked = Vec::new();
        while !over.load(Ordering::Relaxed) {
            let id = format!("m{}", sent.fetch_add(1, Ordering::Relaxed));
            let began = Instant::now();
            let status = app.post_bytes(webhook(&[text(&id)]).to_string()).await.status().as_u16();
            assert!(matches!(status, 200 | 503), "{status}");
            assert!(began.elapsed() < Duration::from_millis(2500), "{:?}", began.elapsed());
            if status == 200 {
                acked.push(id);
            }
        }
        acked
    };
    let weather = async {
        let stored = async |least: i64| {
            eventually("more is stored", async || {
                (app.database.count("select count(*) from inbound.event").await >= least).then_some(())
            })
            .await;
        };
        stored(50).await;
        for _ in 0..2 {
            app.proxy.cut();
            let body = webhook(&[text("probe")]).to_string();
            assert_eq!(app.post_bytes(body).await.status().as_u16(), 503);
            let before = app.database.count("select count(*) from inbound.event").await;
            app.proxy.mend();
            let back = Instant::now();
            stored(before + 50).await;
            assert!(back.elapsed() < Duration::from_secs(5), "full speed soon: {:?}", back.elapsed());
        }
        over.store(true, Ordering::Relaxed);
    };
    let (acked, ()) = futures::future::join(join_all((0..32).map(|_| caller())), weather).await;
    let stored: HashSet<String> = app.stored().await.into_iter().collect();
    let acked: Vec<String> = acked.into_iter().flatten().collect();
    assert!(acked.len() >= 150);
    assert!(acked.iter().all(|id| stored.contains(id)), "acked means stored");
}

#[tokio::test]
async fn a_stop_under_load_answers_every_call_it_took_and_loses_none_it_acked() {
    let app = App::start().await;
    let sent = AtomicUsize::new(0);
    // Until nobody is there any more; a refused or closed connection was not taken.
    let caller = async || {
        let mut acked = Vec::new();
        loop {
            let id = format!("m{}", sent.fetch_add(1, Ordering::Relaxed));
            let body = webhook(&[text(&id)]).to_string();
            let request = app.http.post(format!("{}/whatsapp/webhook", app.url));
            let request = request.header("x-hub-signature-256", signature(body.as_bytes())).body(body);
            match request.send().await {
                Ok(response) => {
                    assert_eq!(response.status().as_u16(), 200);
                    acked.push(id);
                }
                Err(_) => return acked,
            }
        }
    };
    let stop = async {
        eventually("the load is there", async || {
            (app.database.count("select count(*) from inbound.event").await >= 50).then_some(())
        })
        .await;
        app.shell.clone().stop().await;
    };
    let (acked, ()) = futures::future::join(join_all((0..16).map(|_| caller())), stop).await;
    let stored: HashSet<String> = app.stored().await.into_iter().collect();
    let acked: HashSet<String> = acked.into_iter().flatten().collect();
    assert!(acked.len() >= 50);
    assert!(acked.is_subset(&stored), "acked means stored");
    // Each caller ended with one call that was not answered; what of these is stored had been taken and should have
    // been answered.
    let unanswered = stored.difference(&acked).count();
    assert_eq!(unanswered, 0, "every call that was taken is answered");
}

#[tokio::test]
async fn a_crowd_that_only_holds_connections_open_keeps_nobody_out() {
    let app = App::start().await;
    let address = app.url.strip_prefix("http://").unwrap().to_owned();
    let open = async |said: &str| {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        // A connection that must make room may be closed before it has spoken.
        let _ = stream.write_all(said.as_bytes()).await;
        stream
    };
    let head =
        format!("POST /whatsapp/webhook HTTP/1.1\r\nhost: x\r\nx-hub-signature-256: {}\r\n", signature(b""));
    let mut crowd = Vec::new();
    for _ in 0..MOST_CONNECTIONS {
        crowd.push(open("").await);
        crowd.push(open("POST /whatsapp/webhook HTT").await);
        crowd.push(open(&format!("{head}content-length: 100\r\n\r\n{{")).await);
    }
    let began = Instant::now();
    let calls = (0..20).map(|n| {
        let (body, app) = (webhook(&[text(&format!("honest-{n}"))]).to_string(), &app);
        // A client of its own, so that each comes by a new connection.
        let client = reqwest::Client::builder().timeout(Duration::from_secs(10)).build().unwrap();
        async move {
            let request = client.post(format!("{}/whatsapp/webhook", app.url));
            let request = request.header("x-hub-signature-256", signature(body.as_bytes())).body(body);
            request.send().await.unwrap().status().as_u16()
        }
    });
    assert!(join_all(calls).await.into_iter().all(|status| status == 200));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(app.stored().await.len(), 20);
}

#[tokio::test]
async fn callers_without_the_secret_fill_no_memory_and_store_nothing() {
    let app = App::start().await;
    let wrong = signature(b"other");
    let large = vec![b'x'; 64 * 1024];
    let calls = (0..60).map(|n| {
        let (app, large, wrong) = (&app, &large, &wrong);
        async move {
            let shown = if n % 2 == 0 { Some(wrong.as_str()) } else { None };
            app.post_signed(large.clone(), shown).await.status().as_u16()
        }
    });
    let honest = app.post_bytes(webhook(&[text("a")]).to_string());
    let (refused, honest) = futures::future::join(join_all(calls), honest).await;
    // Those that come when the room is taken are told to come again.
    assert!(refused.iter().all(|status| matches!(status, 403 | 503)), "{refused:?}");
    assert_eq!(honest.status().as_u16(), 200);
    assert_eq!((app.deliveries().await, app.stored().await), (1, vec!["a".to_owned()]));
}
