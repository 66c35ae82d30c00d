//! The client and the classifier against a server that does what servers do at their worst: bytes on a socket, no
//! HTTP library in between, since it is the library's reading of broken answers that is in question.

use std::future::pending;
use std::time::Duration;

use partner::args::PartnerConfig;
use partner::platform::Platform;
use partner::{Answer, Partner, Pass, Prepared, Proof, Seen, Timeouts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::classify::{Class, NotProcessed, Rules, classify};

const SMALL: usize = 200;
/// More than the kernel's buffers hold.
const LARGE: usize = 8 << 20;

/// What the server does with a connection.
#[derive(Clone, Copy)]
enum Act {
    /// Closes at once; what comes is answered by a reset.
    Close,
    /// Never reads.
    Stall,
    /// Reads the head and the beginning of the body, then closes over the rest.
    CutBody,
    /// Reads everything, then closes.
    ReadThenClose,
    /// Reads everything, then resets the connection.
    ReadThenReset,
    /// Reads everything, then says nothing.
    ReadThenStall,
    /// Reads everything, writes these bytes, then closes.
    Say(&'static str),
    /// Reads everything, writes these bytes, then says nothing more.
    SayThenStall(&'static str),
    /// Writes these bytes after the head, then reads the rest.
    SayEarly(&'static str),
    /// Writes these bytes before it has read anything.
    Blurt(&'static str),
}

/// Serves `act` to every connection. The receiver gets one unit per connection.
async fn server(act: Act) -> (String, mpsc::UnboundedReceiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (connected, connections) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = connected.send(());
            tokio::spawn(serve(stream, act));
        }
    });
    (address, connections)
}

async fn serve(mut stream: TcpStream, act: Act) {
    match act {
        Act::Close => {}
        Act::Stall => pending().await,
        Act::CutBody => read(&mut stream, SMALL).await,
        Act::ReadThenClose => read(&mut stream, usize::MAX).await,
        Act::ReadThenReset => {
            read(&mut stream, usize::MAX).await;
            stream.set_zero_linger().unwrap();
        }
        Act::ReadThenStall => {
            read(&mut stream, usize::MAX).await;
            pending().await
        }
        Act::Say(bytes) => {
            read(&mut stream, usize::MAX).await;
            let _ = stream.write_all(bytes.as_bytes()).await;
        }
        Act::SayThenStall(bytes) => {
            read(&mut stream, usize::MAX).await;
            let _ = stream.write_all(bytes.as_bytes()).await;
            pending().await
        }
        Act::SayEarly(bytes) => {
            read(&mut stream, SMALL).await;
            let _ = stream.write_all(bytes.as_bytes()).await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
        Act::Blurt(bytes) => {
            let _ = stream.write_all(bytes.as_bytes()).await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
    }
}

/// Reads one request up to its end by `content-length`, or up to `limit` bytes.
async fn read(stream: &mut TcpStream, limit: usize) {
    let (mut all, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let text = String::from_utf8_lossy(&all[..all.len().min(2048)]).to_lowercase();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let length = head.split_once("content-length: ").unwrap().1;
            let length: usize = length.lines().next().unwrap().parse().unwrap();
            if all.len() >= head.len() + 4 + length {
                return;
            }
        }
        match stream.read(&mut buffer).await {
            Ok(read) if read > 0 && all.len() + read < limit => all.extend_from_slice(&buffer[..read]),
            _ => return,
        }
    }
}

fn contractor(base_url: &str) -> Box<dyn Partner> {
    let partner = PartnerConfig {
        base_url: base_url.to_owned(),
        user: "abisu".to_owned(),
        password: "word".to_owned().into(),
        password_file: None,
        search: false,
        platform: Platform::default(),
    };
    let ms = Duration::from_millis;
    let timeouts = Timeouts { connect: ms(300), send: ms(600), login: ms(600) };
    partner::connect(&partner, timeouts).unwrap()
}

fn prepared(endpoint: String, body: impl Into<bytes::Bytes>) -> Prepared {
    let external_code = "REF-2026-00001".to_owned();
    Prepared { external_code, endpoint, body: body.into(), body_sha256: [0; 32] }
}

async fn create(base_url: &str, length: usize) -> Seen {
    let prepared = prepared(format!("{base_url}/api/incidents"), vec![b' '; length]);
    contractor(base_url).create(&Pass("token".into()), &prepared).await
}

fn class(seen: &Seen) -> Class {
    classify(&seen.proof, Rules { fresh_pass: false, not_processed: &[] })
}

fn answer(seen: &Seen) -> &Answer {
    match &seen.proof {
        Proof::Answer(answer) => answer,
        other => panic!("an answer was expected: {other:?}"),
    }
}

async fn against(act: Act, length: usize) -> Seen {
    let (address, mut connections) = server(act).await;
    let seen = create(&format!("http://{address}"), length).await;
    assert!(connections.recv().await.is_some());
    assert!(connections.try_recv().is_err(), "there was a second request");
    seen
}

#[tokio::test]
async fn what_never_reached_the_server_was_not_sent() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert_eq!(class(&create(&format!("http://{gone}"), SMALL).await), Class::NotSent, "refused");
    assert_eq!(class(&create("http://nowhere.invalid", SMALL).await), Class::NotSent, "no such host");
    let (garbage, _connections) = server(Act::Blurt("this is not TLS\r\n\r\n")).await;
    assert_eq!(class(&create(&format!("https://{garbage}"), SMALL).await), Class::NotSent, "not TLS");
    let (stalled, _connections) = server(Act::Stall).await;
    assert_eq!(class(&create(&format!("https://{stalled}"), SMALL).await), Class::NotSent, "TLS stalls");
}

#[tokio::test]
async fn what_may_have_been_read_is_ambiguous() {
    for (what, act, length) in [
        ("stall before reading", Act::Stall, SMALL),
        ("stall in the body", Act::Stall, LARGE),
        ("cut body", Act::CutBody, LARGE),
        ("read and closed", Act::ReadThenClose, SMALL),
        ("read and reset", Act::ReadThenReset, SMALL),
        ("a large one read and reset", Act::ReadThenReset, LARGE),
        ("read and silent", Act::ReadThenStall, SMALL),
        ("asked to go on, and closed", Act::Say("HTTP/1.1 100 Continue\r\n\r\n"), SMALL),
        ("asked to go on, and silent", Act::SayThenStall("HTTP/1.1 100 Continue\r\n\r\n"), SMALL),
        ("garbage", Act::Say("SMTP ready\r\n\r\n"), SMALL),
        ("half a status line", Act::Say("HTTP/1.1 20"), SMALL),
        ("half a head", Act::SayThenStall("HTTP/1.1 201 Created\r\ncontent-le"), SMALL),
    ] {
        let seen = against(act, length).await;
        assert_eq!(class(&seen), Class::Ambiguous, "{what}: {seen:?}");
    }
    // A reset right after the accept can also be seen while connecting, which then proves that nothing was sent.
    let seen = against(Act::Close, SMALL).await;
    assert!(matches!(class(&seen), Class::Ambiguous | Class::NotSent), "{seen:?}");
}

#[tokio::test]
async fn an_accepting_head_stands_whatever_becomes_of_its_body() {
    for (what, act) in [
        ("cut", Act::Say("HTTP/1.1 201 Created\r\ncontent-length: 20\r\n\r\n{\"id\":")),
        ("stalled", Act::SayThenStall("HTTP/1.1 201 Created\r\ncontent-length: 20\r\n\r\n{\"id\":")),
        (
            "cut in a chunk",
            Act::Say("HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n9\r\n:"),
        ),
        ("not JSON", Act::Say("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")),
        ("empty", Act::Say("HTTP/1.1 204 No Content\r\n\r\n")),
        ("unusable id", Act::Say("HTTP/1.1 201 Created\r\ncontent-length: 9\r\n\r\n{\"id\":[]}")),
    ] {
        let seen = against(act, SMALL).await;
        assert_eq!(class(&seen), Class::AcceptedNoId, "{what}: {seen:?}");
    }
}

#[tokio::test]
async fn an_id_is_read_also_after_an_interim_answer() {
    for bytes in [
        "HTTP/1.1 201 Created\r\ncontent-length: 14\r\n\r\n{\"id\":\"INC-1\"}",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 14\r\n\r\n{\"id\":\"INC-1\"}",
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 14\r\n\r\n{\"id\":\"INC-1\"}",
        "HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n9;x=y\r\n:\"INC-1\"}\r\n0\r\n\r\n",
        // As long as the connection.
        "HTTP/1.0 201 Created\r\n\r\n{\"id\":\"INC-1\"}",
    ] {
        let seen = against(Act::Say(bytes), SMALL).await;
        assert_eq!(class(&seen), Class::Accepted);
        assert_eq!(answer(&seen).id.as_deref(), Some("INC-1"));
    }
}

#[tokio::test]
async fn redirects_and_server_errors_are_ambiguous_and_not_followed() {
    for bytes in [
        "HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 503 Busy\r\nretry-after: 5\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 408 Slow\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 425 Early\r\ncontent-length: 0\r\n\r\n",
    ] {
        let seen = against(Act::Say(bytes), SMALL).await;
        assert_eq!(class(&seen), Class::Ambiguous, "{bytes}");
    }
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let throttled = Class::NotProcessed(NotProcessed::Throttled);
    let spent = Class::NotProcessed(NotProcessed::PassSpent);
    for (bytes, expected) in [
        ("HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n", spent),
        ("HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n", Class::Misconfigured),
        ("HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n", Class::Misconfigured),
        ("HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n", Class::Misconfigured),
        ("HTTP/1.1 409 No\r\ncontent-length: 12\r\n\r\n{\"id\":\"I-1\"}", Class::AlreadyThere),
        ("HTTP/1.1 422 No\r\ncontent-length: 0\r\n\r\n", Class::Rejected),
        ("HTTP/1.1 429 No\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n", throttled),
    ] {
        let seen = against(Act::Say(bytes), SMALL).await;
        assert_eq!(class(&seen), expected, "{bytes}");
        let told = answer(&seen);
        assert_eq!(told.retry_after.is_some(), told.status == 429);
        assert_eq!(told.id.is_some(), told.status == 409);
    }
}

#[tokio::test]
async fn an_early_refusal_of_a_large_body_is_heard() {
    let seen = against(Act::SayEarly("HTTP/1.1 413 Large\r\ncontent-length: 0\r\n\r\n"), LARGE).await;
    assert_eq!((class(&seen), answer(&seen).status), (Class::Rejected, 413));
}

#[tokio::test]
async fn a_refusal_is_described_without_being_quoted() {
    let bytes = "HTTP/1.1 422 No\r\ncontent-length: 36\r\n\r\n{\"error\":\"note 'Aitor 600 000 000'\"} ";
    let seen = against(Act::Say(bytes), SMALL).await;
    assert_eq!(seen.detail, "http 422, naming note");
}

#[tokio::test]
async fn every_create_has_a_connection_of_its_own() {
    let answer = "HTTP/1.1 201 Created\r\ncontent-length: 14\r\n\r\n{\"id\":\"INC-1\"}";
    let (address, mut connections) = server(Act::SayThenStall(answer)).await;
    let base_url = format!("http://{address}");
    let contractor = contractor(&base_url);
    let prepared = prepared(format!("{base_url}/api/incidents"), "{}");
    for _ in 0..2 {
        let seen = contractor.create(&Pass("token".into()), &prepared).await;
        assert_eq!(class(&seen), Class::Accepted);
        assert!(connections.recv().await.is_some());
    }
}

#[tokio::test]
async fn what_cannot_be_built_concerns_everybody() {
    let (address, _connections) = server(Act::Close).await;
    let prepared = prepared(format!("http://{address}"), "{}");
    let seen = contractor("http://unused").create(&Pass("two\nlines".into()), &prepared).await;
    assert_eq!((seen.proof, seen.detail.contains("built")), (Proof::Unbuilt, true));
}
