//! The admin port of every service: `/livez`, `/readyz`, `/metrics`, `/version`.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use serde_json::json;
use tokio::net::TcpListener;

use crate::shell::Inner;

pub(crate) async fn serve(listener: TcpListener, inner: Arc<Inner>) -> anyhow::Result<()> {
    let router = Router::new()
        .route("/livez", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/version", get(version))
        .with_state(inner);
    Ok(axum::serve(listener, router).await?)
}

async fn ready(State(inner): State<Arc<Inner>>) -> impl IntoResponse {
    match inner.waiting_for() {
        None => (StatusCode::OK, "ready".to_owned()),
        Some(reason) => (StatusCode::SERVICE_UNAVAILABLE, reason),
    }
}

async fn metrics(State(inner): State<Arc<Inner>>) -> impl IntoResponse {
    let mut text = String::new();
    let encoded = inner.registry(|registry| prometheus_client::encoding::text::encode(&mut text, registry));
    let status = if encoded.is_ok() { StatusCode::OK } else { StatusCode::INTERNAL_SERVER_ERROR };
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    (status, [(header::CONTENT_TYPE, content_type)], text)
}

async fn version(State(inner): State<Arc<Inner>>) -> impl IntoResponse {
    Json(json!({
        "service": inner.service,
        "version": crate::VERSION,
        "commit": crate::COMMIT,
        "schema_version": crate::database::schema_version(),
    }))
}
