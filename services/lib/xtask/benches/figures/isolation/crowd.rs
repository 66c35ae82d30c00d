//! The crowd of one channel, and where its answers go.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ::bus::append::{Appender, Delivery, NewEvent};
use anyhow::{Context, ensure};
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use channel::inbound::Item;
use serde_json::{Value, json};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

/// The id of the crowded channel.
pub(super) const CHANNEL: &str = "crowd";
/// Messages of a delivery.
const BATCH: usize = 1_000;
/// How long a delivery may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The app that the crowd uses: it takes every answer. On a runtime of its own, as a process would be.
pub(super) fn serve() -> anyhow::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let url = format!("http://{}", listener.local_addr()?);
    let router = Router::new().route("/", post(take)).with_state(Arc::new(AtomicU64::new(0)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, router).await
        })
    });
    Ok(url)
}

async fn take(State(taken): State<Arc<AtomicU64>>, _body: Bytes) -> Json<Value> {
    Json(json!({"id": format!("app-{}", taken.fetch_add(1, Ordering::Relaxed))}))
}

/// A first message in each of so many chats, as the door would have stored it.
pub(super) async fn fill(pool: &PgPool, chats: usize) -> anyhow::Result<()> {
    let appender = Appender::new(pool.clone(), PATIENCE);
    for first in (0..chats).step_by(BATCH) {
        let messages: Vec<Value> = (first..first + BATCH)
            .map(|n| json!({"idempotency_key": format!("k{n}"), "from": format!("vecina-{n}"), "type": "text", "text": "Kaixo"}))
            .collect();
        let body = json!({ "messages": messages }).to_string();
        let parsed = channel::webhook::inbound::parse(body.as_bytes(), || Uuid::now_v7().to_string())
            .map_err(|_| anyhow::anyhow!("our own webhook cannot be read"))?;
        let mut events = Vec::new();
        for item in parsed.items {
            let Item::Message { message, .. } = item else { continue };
            events.push(NewEvent {
                activity_id: Uuid::now_v7(),
                message_id: message.message_id.clone(),
                kind: message.kind.as_str().to_owned(),
                user_id: message.user_id.clone(),
                phone: message.phone.clone(),
                payload: serde_json::to_value(&*message)?,
                sent_at: message.sent_at,
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
        let stored = appender.append(delivery).await.context("the crowd cannot be stored")?;
        ensure!(stored.created.len() == BATCH, "a delivery ended as {stored:?}");
    }
    Ok(())
}

/// Chats of the crowd that nobody has looked at yet.
pub(super) async fn ready(on: &mut PgConnection) -> anyhow::Result<f64> {
    let sql = "select count(*)::float8 from chat.chat where channel = $1 and done_seq < next_seq - 1";
    Ok(sqlx::query_scalar(sql).bind(CHANNEL).fetch_one(on).await?)
}
