//! What the processes hold in memory while a hundred thousand messages wait, and the database does not answer.

use std::time::{Duration, Instant};

use ::bus::append::{Appender, Delivery, NewEvent};
use anyhow::{Context, ensure};
use channel::inbound::Item;
use channel::meta;
use sqlx::{Connection as _, PgConnection};
use tokio::task::JoinSet;
use uuid::Uuid;
use xtask::progress::say;
use xtask::stack::{Options, Stack};
use xtask::tree::{STATE, binaries};

use crate::Bench;
use crate::board::Board;
use crate::bus::CHANNEL;
use crate::ingest::door::{Door, PATH, message_id, sign, webhook};
use crate::ingest::wire::Connection;
use crate::soak::proxy::{Proxy, Way};
use crate::watch::{peak_while, resident_mib};

/// Messages that wait.
const WAITING: usize = 100_000;
/// Messages of a webhook: as many as Meta says that it sends at most.
const BATCH: usize = 1_000;
/// How long the database does not answer.
const SILENCE: Duration = Duration::from_secs(10);
/// How long a fill may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Measures all of it, round by round.
pub(crate) async fn measure(bench: &Bench, board: &mut Board) -> anyhow::Result<()> {
    for round in bench.rounds() {
        if bench.args.wants("ingest") {
            ingest(bench, board, &format!("memory_ingest_{round}")).await?;
        }
        if bench.args.wants("conversation") {
            conversation(bench, board, &format!("memory_conversation_{round}")).await?;
        }
    }
    Ok(())
}

/// A hundred thousand messages at the door at once, and nobody behind it.
async fn ingest(bench: &Bench, board: &mut Board, database: &str) -> anyhow::Result<()> {
    bench.cluster.database(database).await?;
    let proxy = Proxy::before(&bench.cluster.url(database)).await?;
    let door = Door::open(&proxy.url(&bench.cluster.url(database))?, &[]).await?;
    board.add("ingest, at rest", "MiB", resident_mib(door.pid()?)?);
    say("the database falls silent under webhooks");
    proxy.set(Way::Hole);
    let began = Instant::now();
    let mut callers = JoinSet::new();
    let address = door.address;
    for _ in 0..WAITING / BATCH {
        callers.spawn(async move {
            let mut refused = 0;
            while began.elapsed() < SILENCE {
                let body = webhook(&(0..BATCH).map(|_| message_id()).collect::<Vec<_>>());
                let signature = sign(&body)?;
                let status = Connection::open(address).await?.post(PATH, &signature, &body).await?;
                // Refused in whatever way: as overload, or because its body took too long on a busy machine.
                ensure!(status >= 400, "a webhook was answered with {status} while nothing could be stored");
                refused += 1;
            }
            anyhow::Ok(refused)
        });
    }
    let all = async {
        let mut refused = 0;
        while let Some(one) = callers.join_next().await {
            refused += one??;
        }
        anyhow::Ok(refused)
    };
    let (peak, refused) = peak_while(door.pid()?, all).await?;
    board.add(&format!("ingest, {WAITING} messages at once, database silent, most"), "MiB", peak);
    board.add("ingest, webhooks of 1000 that were refused meanwhile", "webhooks", f64::from(refused));
    proxy.set(Way::Open);
    Ok(())
}

/// A hundred thousand messages in the queue, and a database that falls silent while they are worked off.
async fn conversation(bench: &Bench, board: &mut Board, database: &str) -> anyhow::Result<()> {
    let pool = bench.database(database).await?;
    say(format!("putting {WAITING} messages into the queue"));
    fill(&pool).await?;
    let url = bench.cluster.url(database);
    let proxy = Proxy::before(&url).await?;
    let mut options = Options::new(binaries().await?);
    options.services = vec!["geocode", "conversation"];
    options.database = Some(proxy.url(&url)?);
    options.logs = STATE.join("bench-logs");
    let stack = Stack::start(options).await?;
    let pid = stack.pid("conversation").context("conversation is down")?;
    let (peak, ()) = peak_while(pid, async {
        tokio::time::sleep(SILENCE).await;
        Ok(())
    })
    .await?;
    let mut on = PgConnection::connect(&url).await?;
    let left: i64 = sqlx::query_scalar("select sum(next_seq - 1 - done_seq)::bigint from chat.chat")
        .fetch_one(&mut on)
        .await?;
    board.add(&format!("conversation, {WAITING} messages waiting, at work, most"), "MiB", peak);
    board.add(
        &format!("conversation, handled within {} s", SILENCE.as_secs()),
        "messages",
        (WAITING as f64) - left as f64,
    );
    proxy.set(Way::Hole);
    let (peak, ()) = peak_while(pid, async {
        tokio::time::sleep(SILENCE).await;
        Ok(())
    })
    .await?;
    board.add("conversation, the rest waiting, database silent, most", "MiB", peak);
    proxy.set(Way::Open);
    Ok(())
}

/// Ten messages in each of ten thousand chats, as the door would have stored them.
async fn fill(pool: &sqlx::PgPool) -> anyhow::Result<()> {
    let appender = Appender::new(pool.clone(), PATIENCE);
    for first in (0..WAITING).step_by(BATCH) {
        let body = webhook(&(0..BATCH).map(|_| message_id()).collect::<Vec<_>>());
        let parsed = meta::inbound::parse(body.as_bytes()).context("our own webhook")?;
        let messages = parsed.items.into_iter().filter_map(|item| match item {
            Item::Message { message, .. } => Some(message),
            Item::Receipt { .. } | Item::Rejected { .. } | Item::Notice { .. } => None,
        });
        let mut events = Vec::new();
        for (place, message) in messages.enumerate() {
            let activity_id = Uuid::now_v7();
            events.push(NewEvent {
                activity_id,
                message_id: format!("wamid.{}", activity_id.simple()),
                kind: "text".to_owned(),
                user_id: None,
                phone: Some(format!("346{:08}", (first + place) / 10)),
                payload: serde_json::to_value(&*message)?,
                sent_at: None,
            });
        }
        let delivery = Delivery {
            channel: CHANNEL.to_owned(),
            delivery_id: Uuid::now_v7(),
            body: body.into_bytes(),
            trace_context: None,
            events,
            rejections: Vec::new(),
            receipts: Vec::new(),
        };
        let stored = appender.append(delivery).await?;
        ensure!(stored.created.len() == BATCH, "a delivery ended as {stored:?}");
    }
    Ok(())
}
