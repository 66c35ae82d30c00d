//! A contractor that takes everything, after a while.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

pub(super) struct Partner {
    pub(super) url: String,
    taken: Arc<AtomicU64>,
}

impl Partner {
    /// How many reports it has taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

/// Serves it on a runtime of its own, as a process would, until this one ends.
pub(super) fn serve(answers_after: Duration) -> anyhow::Result<Partner> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let url = format!("http://{}", listener.local_addr()?);
    let taken = Arc::new(AtomicU64::new(0));
    let router = Router::new()
        .route("/api/login", post(async || Json(json!({ "token": "bench", "expires_in": 3600 }))))
        .route("/api/incidents", post(create))
        .layer(DefaultBodyLimit::disable())
        .with_state((Arc::clone(&taken), answers_after));
    let runtime = tokio::runtime::Runtime::new().context("cannot make a runtime")?;
    std::thread::spawn(move || {
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, router).await
        })
    });
    Ok(Partner { url, taken })
}

/// The whole body is read, as a platform does, before the time begins.
async fn create(
    State((taken, answers_after)): State<(Arc<AtomicU64>, Duration)>,
    _body: Bytes,
) -> (StatusCode, Json<Value>) {
    tokio::time::sleep(answers_after).await;
    let number = taken.fetch_add(1, Ordering::Relaxed);
    (StatusCode::CREATED, Json(json!({ "id": number })))
}
