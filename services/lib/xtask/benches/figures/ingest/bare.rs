//! A handler that verifies, takes apart and answers as the service does, and stores nothing.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use anyhow::Context;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use channel::inbound::Item;
use channel::{meta, signature};
use secrecy::SecretString;
use serde_json::{Value, json};
use uuid::Uuid;

/// Serves it on a runtime of its own, as a process would, until this one ends. Returns where.
pub(super) fn serve(secret: &str) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let secrets = Arc::new(vec![SecretString::from(secret)]);
    let router = Router::new().route("/whatsapp/webhook", post(inbound)).with_state(secrets);
    let runtime = tokio::runtime::Runtime::new().context("cannot make a runtime")?;
    std::thread::spawn(move || {
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(
                axum::serve::ListenerExt::tap_io(listener, |stream| {
                    let _ = stream.set_nodelay(true);
                }),
                router,
            )
            .await
        })
    });
    Ok(address)
}

async fn inbound(
    State(secrets): State<Arc<Vec<SecretString>>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Value>, StatusCode> {
    let header = headers.get(signature::META_HEADER).and_then(|value| value.to_str().ok());
    signature::verify(&secrets, header, &body).map_err(|_| StatusCode::UNAUTHORIZED)?;
    let parsed = meta::inbound::parse(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let mut ids = Vec::new();
    for item in parsed.items {
        if let Item::Message { message, .. } = item {
            // As it would be stored.
            serde_json::to_value(&*message).map_err(|_| StatusCode::BAD_REQUEST)?;
            ids.push(Uuid::now_v7());
        }
    }
    Ok(Json(json!({"activity_ids": ids})))
}
