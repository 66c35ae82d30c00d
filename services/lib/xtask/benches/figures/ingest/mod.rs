//! Signed webhooks over HTTP: to the service, and to a handler of the same shape that stores nothing.

mod bare;
mod wire;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tokio::task::JoinSet;
use uuid::Uuid;
use xtask::stack::{Options, Stack};
use xtask::tree::{STATE, binaries};

use crate::Bench;
use crate::board::{Board, percentile};
use crate::yardstick;
use wire::Connection;

/// Opens nothing: it signs what this program sends to itself.
const SECRET: &str = "bench-app-secret";
const NUMBER: &str = "100000000000001";
const CONNECTIONS: [usize; 3] = [1, 8, 64];
const MESSAGES: [usize; 2] = [1, 10];
/// Citizens who write.
const CITIZENS: usize = 5_000;

/// What many connections came to.
struct Load {
    per_second: f64,
    p50_ms: f64,
    p99_ms: f64,
}

/// Measures all of it, round by round.
pub(crate) async fn measure(bench: &Bench, board: &mut Board) -> anyhow::Result<()> {
    let mut options = Options::new(binaries().await?);
    options.services = vec!["ingest"];
    options.simulator = false;
    options.database = Some(bench.cluster.url("abisu"));
    options.logs = STATE.join("bench-logs");
    let environment = [
        ("ABISU_META_APP_SECRET", SECRET),
        ("ABISU_META_VERIFY_TOKEN", "bench-verify-token"),
        ("ABISU_META_PHONE_NUMBER_ID", NUMBER),
    ];
    options.environment.extend(environment.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let stack = Stack::start(options).await?;
    let url = stack.urls.ingest.strip_prefix("http://").context("the service listens on HTTP")?;
    let service: SocketAddr = url.parse()?;
    let bare = bare::serve(SECRET)?;
    for _ in bench.rounds() {
        for connections in CONNECTIONS {
            bench.yardstick(board, connections).await?;
            for messages in MESSAGES {
                for (who, address) in [("ingest", service), ("without database", bare)] {
                    let load = load(address, connections, messages, bench.length).await?;
                    let name = name(who, connections, messages);
                    board.add(&name, "webhooks/s", load.per_second);
                    board.add(&format!("{name}, p50"), "ms", load.p50_ms);
                    board.add(&format!("{name}, p99"), "ms", load.p99_ms);
                }
            }
        }
    }
    for connections in CONNECTIONS {
        for messages in MESSAGES {
            let ratio = format!("ingest / without database, {connections} connections, {messages} a webhook");
            let of = |who| name(who, connections, messages);
            board.ratio(&ratio, &of("ingest"), &of("without database"));
        }
    }
    let p50 = format!("{}, p50", name("ingest", 1, 1));
    board.ratio("ingest p50 / pgbench p50, 1 connection", &p50, &yardstick::p50_name(1));
    Ok(())
}

fn name(who: &str, connections: usize, messages: usize) -> String {
    format!("{who}, {connections} connections, {messages} a webhook")
}

/// Sends webhooks over so many connections, each answered before the next goes out on it.
async fn load(
    address: SocketAddr,
    connections: usize,
    messages: usize,
    length: Duration,
) -> anyhow::Result<Load> {
    let mut open = Vec::new();
    for _ in 0..connections {
        open.push(Connection::open(address).await?);
    }
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for mut connection in open {
        tasks.spawn(async move {
            let mut samples = Vec::new();
            while began.elapsed() < length {
                let body = webhook(messages);
                let signature = sign(&body)?;
                let start = Instant::now();
                let status = connection.post("/whatsapp/webhook", &signature, &body).await?;
                samples.push(start.elapsed().as_secs_f64() * 1000.0);
                ensure!(status == 200, "a webhook was answered with {status}");
            }
            anyhow::Ok(samples)
        });
    }
    let mut samples = Vec::new();
    while let Some(one) = tasks.join_next().await {
        samples.extend(one??);
    }
    let per_second = samples.len() as f64 / began.elapsed().as_secs_f64();
    Ok(Load { per_second, p50_ms: percentile(&mut samples, 0.5), p99_ms: percentile(&mut samples, 0.99) })
}

/// A webhook of Meta with so many texts of different citizens.
fn webhook(messages: usize) -> String {
    let texts: Vec<String> = (0..messages)
        .map(|_| {
            let (citizen, id) = (rand::random_range(0..CITIZENS), Uuid::now_v7().simple());
            format!(
                r#"{{"from":"346{citizen:08}","id":"wamid.{id}","timestamp":"1764500000","type":"text","text":{{"body":"Hay botellas en la acera desde el domingo"}}}}"#
            )
        })
        .collect();
    format!(
        r#"{{"object":"whatsapp_business_account","entry":[{{"id":"900","changes":[{{"field":"messages","value":{{"messaging_product":"whatsapp","metadata":{{"display_phone_number":"34945000000","phone_number_id":"{NUMBER}"}},"messages":[{}]}}}}]}}]}}"#,
        texts.join(",")
    )
}

fn sign(body: &str) -> anyhow::Result<String> {
    let mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes())?.chain_update(body);
    Ok(format!("sha256={}", hex::encode(mac.finalize().into_bytes())))
}
