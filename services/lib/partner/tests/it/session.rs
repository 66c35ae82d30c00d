//! The login: one for all who wait, kept until shortly before its end, shared when it fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::Parser;
use partner::args::PartnerArgs;
use partner::{NoPass, Partner, Timeouts};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    partner: PartnerArgs,
}

/// A platform whose logins are answered one by one, with tokens that live for so many seconds; 0: they fail.
struct Door {
    partner: Arc<dyn Partner>,
    logins: Arc<AtomicUsize>,
    answers: Arc<Semaphore>,
}

async fn door(life: u64) -> Door {
    door_with(life, "--partner-password=pass word").await
}

async fn door_with(life: u64, password: &str) -> Door {
    let (logins, answers) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let (count, turns) = (Arc::clone(&logins), Arc::clone(&answers));
    let login = async move |Json(body): Json<Value>| {
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        turns.acquire().await.unwrap().forget();
        match life {
            0 => Err(StatusCode::SERVICE_UNAVAILABLE),
            _ if body["password"] != "pass word" => Err(StatusCode::UNAUTHORIZED),
            life => Ok(Json(json!({ "token": format!("token-{number}"), "expires_in": life }))),
        }
    };
    let partner = connect(Router::new().route("/api/login", post(login)), &[password]).await;
    Door { partner, logins, answers }
}

/// The adapter for a platform; further flags win.
async fn connect(router: Router, flags: &[&str]) -> Arc<dyn Partner> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("--partner-url=http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let password = flags.iter().any(|flag| flag.contains("password"));
    let always = ["test", &url, "--partner-user=abisu"].into_iter();
    let flags = always.chain((!password).then_some("--partner-password=word")).chain(flags.iter().copied());
    let config = Args::try_parse_from(flags).unwrap().partner.config().unwrap();
    let second = Duration::from_secs(1);
    let timeouts = Timeouts { connect: second, send: second * 20, login: second * 20 };
    partner::connect(&config, timeouts).unwrap().into()
}

/// Eight who want a pass at the same time, of whom one logs in.
async fn eight(door: &Door) -> Vec<Result<Arc<str>, NoPass>> {
    let mut waiting = JoinSet::new();
    for _ in 0..8 {
        let partner = Arc::clone(&door.partner);
        waiting.spawn(async move { partner.pass().await.map(|pass| pass.0) });
    }
    while door.logins.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    door.answers.add_permits(8);
    waiting.join_all().await
}

#[tokio::test]
async fn all_who_wait_share_one_login_or_its_failure() {
    let good = door(300).await;
    let passes = eight(&good).await;
    assert!(passes.iter().all(|pass| pass.as_deref() == Ok("token-1")), "{passes:?}");
    assert_eq!(good.logins.load(Ordering::SeqCst), 1);

    let bad = door(0).await;
    let failures = eight(&bad).await;
    let away = NoPass::Unavailable("http 503".to_owned());
    assert!(failures.iter().all(|failure| failure.as_ref() == Err(&away)), "{failures:?}");
    assert_eq!(bad.logins.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_token_is_replaced_before_it_ends_and_when_it_is_refused_and_only_then() {
    let door = door(2).await;
    door.answers.add_permits(8);
    let first = door.partner.pass().await.unwrap();
    let had = Instant::now();
    let second = loop {
        let asked = had.elapsed();
        let pass = door.partner.pass().await.unwrap();
        if pass.0 != first.0 {
            break pass;
        }
        assert!(asked < Duration::from_secs(2), "a token was given out that has ended");
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    // Who still holds the old one takes nothing from the others.
    door.partner.forget(&first).await;
    assert_eq!(door.partner.pass().await.unwrap().0, second.0);
    door.partner.forget(&second).await;
    assert_ne!(door.partner.pass().await.unwrap().0, second.0);
}

/// As many platforms answer: a token by itself, or named and without its life, that says when it ends and not since when
/// it is good.
#[tokio::test]
async fn a_token_that_says_only_when_it_ends_is_replaced_before_that() {
    for named in [true, false] {
        let login = async move || {
            let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
            // Their clock is their own; the answer's date tells it.
            let (there, nonce) = (1_000_000_000, rand::random::<u32>());
            let token = format!("{}.{}.c2ln", part(json!({})), part(json!({ "exp": there + 2, "n": nonce })));
            let body = if named { json!({ "token": token }).to_string() } else { token };
            ([("date", "Sun, 09 Sep 2001 01:46:40 GMT")], body)
        };
        let partner = connect(Router::new().route("/api/login", post(login)), &[]).await;
        let (had, first) = (Instant::now(), partner.pass().await.unwrap());
        assert_eq!(partner.pass().await.unwrap().0, first.0, "it is kept for as long as it is good");
        while partner.pass().await.unwrap().0 == first.0 {
            assert!(had.elapsed() < Duration::from_secs(2), "a token was given out that has ended");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The pass may end among thousands of questions.
#[tokio::test]
async fn a_list_goes_on_where_a_token_ends() {
    let logins = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&logins);
    let login = async move || {
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        Json(json!({ "token": format!("token-{number}") }))
    };
    let all = async move |headers: HeaderMap| {
        let spent = headers["authorization"] == "Bearer token-1";
        if spent { Err(StatusCode::UNAUTHORIZED) } else { Ok(Json(json!([]))) }
    };
    let file = std::env::temp_dir().join(format!("abisu-listing-{}.yaml", rand::random::<u64>()));
    std::fs::write(&file, "list: {path: /all}\n").unwrap();
    let router = Router::new().route("/api/login", post(login)).route("/all", get(all));
    let partner = connect(router, &[&format!("--partner-platform-file={}", file.display())]).await;
    std::fs::remove_file(file).unwrap();
    let at = |seconds| chrono::DateTime::from_timestamp(seconds, 0).unwrap();
    assert_eq!(partner::list::all(partner.as_ref(), at(0), at(60)).await, Ok(Vec::new()));
    assert_eq!(logins.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_token_ages_while_its_login_takes_its_time() {
    let door = door(1).await;
    let partner = Arc::clone(&door.partner);
    let slow = tokio::spawn(async move { partner.pass().await.unwrap() });
    while door.logins.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let asked = Instant::now();
    while asked.elapsed() < Duration::from_millis(900) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    door.answers.add_permits(2);
    let old = slow.await.unwrap();
    assert_ne!(door.partner.pass().await.unwrap().0, old.0, "it was as good as over when it came");
}

#[tokio::test]
async fn a_password_in_a_file_is_rotated_while_the_service_runs() {
    let file = std::env::temp_dir().join(format!("abisu-password-{}", rand::random::<u64>()));
    std::fs::write(&file, "the old one\n").unwrap();
    let door = door_with(300, &format!("--partner-password-file={}", file.display())).await;
    door.answers.add_permits(8);
    assert_eq!(door.partner.pass().await.map(|_| ()), Err(NoPass::Refused(401)));
    std::fs::write(&file, "pass word\n").unwrap();
    let pass = door.partner.pass().await.unwrap();
    // Without its file, or with nothing in it, it is what it was last, and not what it was at the start.
    std::fs::write(&file, "\n").unwrap();
    door.partner.forget(&pass).await;
    let pass = door.partner.pass().await.unwrap();
    std::fs::remove_file(&file).unwrap();
    door.partner.forget(&pass).await;
    assert!(door.partner.pass().await.is_ok());
}

#[tokio::test]
async fn the_key_of_an_open311_endpoint_is_rotated_in_its_file() {
    let path = |name: &str| std::env::temp_dir().join(format!("abisu-{name}-{}", rand::random::<u64>()));
    let (key, platform) = (path("key"), path("platform"));
    std::fs::write(&key, "the old one\n").unwrap();
    std::fs::write(&platform, "adapter: open311\n").unwrap();
    let flags = [
        "test",
        "--partner-url=http://127.0.0.1:9",
        &format!("--partner-password-file={}", key.display()),
        &format!("--partner-platform-file={}", platform.display()),
    ];
    let config = Args::try_parse_from(flags).unwrap().partner.config().unwrap();
    let second = Duration::from_secs(1);
    let timeouts = Timeouts { connect: second, send: second, login: second };
    let partner = partner::connect(&config, timeouts).unwrap();
    let pass = async || partner.pass().await.unwrap().0.to_string();
    assert_eq!(pass().await, "the old one");
    std::fs::write(&key, "the new one\n").unwrap();
    assert_eq!(pass().await, "the new one");
    std::fs::remove_file(key).unwrap();
    std::fs::remove_file(platform).unwrap();
    assert_eq!(pass().await, "the new one");
}
