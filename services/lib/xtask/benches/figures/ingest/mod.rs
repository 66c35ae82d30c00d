//! Signed webhooks over HTTP: to the service, and to a handler of the same shape that stores nothing.

mod bare;
pub(crate) mod door;
pub(crate) mod wire;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::ensure;
use tokio::task::JoinSet;

use crate::Bench;
use crate::board::Board;
use crate::stats::percentile;
use crate::yardstick;
use door::{Door, SECRET, message_id, sign, webhook};
use wire::Connection;

const CONNECTIONS: [usize; 3] = [1, 8, 64];
const MESSAGES: [usize; 2] = [1, 10];

/// What many connections came to.
struct Load {
    per_second: f64,
    p50_ms: f64,
    p99_ms: f64,
}

/// Measures all of it, round by round.
pub(crate) async fn measure(bench: &Bench, board: &mut Board) -> anyhow::Result<()> {
    let door = Door::open(&bench.cluster.url("abisu"), &[]).await?;
    let service = door.address;
    let bare = bare::serve(SECRET)?;
    for _ in bench.rounds() {
        for connections in CONNECTIONS {
            bench.yardstick(board, connections).await?;
            for messages in MESSAGES {
                for (who, address) in [("ingest", service), ("without database", bare)] {
                    let name = name(who, connections, messages);
                    if !bench.args.wants(&name) {
                        continue;
                    }
                    let load = load(address, connections, messages, bench.length).await?;
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
                let body = webhook(&(0..messages).map(|_| message_id()).collect::<Vec<_>>());
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
