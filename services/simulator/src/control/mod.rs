//! The control API: drives citizens, injects faults, tells what arrived. JSON in, JSON out; a refusal is
//! `{"error"}` with a fitting status.

mod act;
mod citizens;

use axum::{
    Json, Router,
    extract::{Path, Query, State as Extract},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{delete, get, post},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    faults::{FaultRequest, Surface},
    meta::{FlowStatus, webhook},
    state::Shared,
};

/// A refusal of the control API.
pub(crate) struct ControlError(StatusCode, String);

impl ControlError {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self(status, message.into())
    }

    fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no such {what}"))
    }

    fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }
}

impl IntoResponse for ControlError {
    fn into_response(self) -> Response {
        (self.0, Json(json!({"error": self.1}))).into_response()
    }
}

type Answer = Result<Json<Value>, ControlError>;

pub(crate) fn router() -> Router<Shared> {
    Router::new()
        .route("/health", get(async || Json(json!({"status": "ok"}))))
        .route("/webhook", post(set_webhook))
        .route("/webhook/raw", post(post_raw))
        .route("/citizens", get(citizens::list).post(citizens::create))
        .route("/citizens/{id}/messages", get(citizens::messages))
        .route("/citizens/{id}/wait", get(citizens::wait))
        .route("/feed", get(citizens::feed))
        .route("/citizens/{id}/silence", post(citizens::silence))
        .route("/citizens/{id}/say", post(act::say))
        .route("/citizens/{id}/tap", post(act::tap))
        .route("/citizens/{id}/location", post(act::location))
        .route("/citizens/{id}/photo", post(act::photo))
        .route("/citizens/{id}/form", post(act::form))
        .route("/media/{id}", delete(forget_media))
        .route("/flows/{id}", post(set_flow))
        .route("/requests", get(requests))
        .route("/partner/incidents", get(incidents))
        .route("/partner/posts", get(posts))
        .route("/faults", post(add_fault).delete(clear_faults))
        .fallback(async || ControlError::not_found("path"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Webhook {
    url: String,
    /// Makes Meta's handshake first; a receiver that fails it is not taken.
    #[serde(default)]
    verify: bool,
}

async fn set_webhook(Extract(state): Extract<Shared>, Json(body): Json<Webhook>) -> Answer {
    if body.verify {
        webhook::handshake(&state, &body.url)
            .await
            .map_err(|problem| ControlError::unprocessable(format!("handshake failed: {problem}")))?;
    }
    state.lock().webhook_url = Some(body.url.clone());
    Ok(Json(json!({"url": body.url})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    body: String,
    /// Header as it is; absent: the right one; empty: no header.
    signature: Option<String>,
}

async fn post_raw(Extract(state): Extract<Shared>, Json(raw): Json<Raw>) -> Answer {
    let url = state.lock().webhook_url.clone();
    let url = url.ok_or_else(|| ControlError::new(StatusCode::CONFLICT, "no webhook URL is set"))?;
    let signature = raw.signature.unwrap_or_else(|| webhook::signature(&state.config, raw.body.as_bytes()));
    let sent = webhook::post(&state, &url, raw.body.into(), &signature).await;
    let unreachable = |_| ControlError::new(StatusCode::BAD_GATEWAY, "the webhook does not answer");
    let response = sent.map_err(unreachable)?;
    let status = response.status().as_u16();
    let body = response.text().await.map_err(unreachable)?;
    Ok(Json(json!({"status": status, "body": body})))
}

async fn requests(Extract(state): Extract<Shared>) -> Json<Value> {
    Json(state.lock().journal.iter().map(|entry| entry.to_json()).collect())
}

async fn incidents(Extract(state): Extract<Shared>) -> Json<Value> {
    Json(json!(state.lock().incidents))
}

async fn posts(Extract(state): Extract<Shared>) -> Json<Value> {
    let posts = state.lock().posts.clone();
    Json(json!({"count": posts.len(), "posts": posts}))
}

/// Makes a file one that Meta no longer has.
async fn forget_media(Extract(state): Extract<Shared>, Path(id): Path<String>) -> Answer {
    let media = state.lock().media.remove(&id);
    media.ok_or_else(|| ControlError::not_found("file"))?;
    Ok(Json(json!({"id": id})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowState {
    status: FlowStatus,
}

/// Puts a form in a state that Meta alone can put it in, such as BLOCKED.
async fn set_flow(
    Extract(state): Extract<Shared>,
    Path(id): Path<String>,
    Json(body): Json<FlowState>,
) -> Answer {
    let mut inner = state.lock();
    let flow = inner.flows.iter_mut().find(|flow| flow.id == id);
    flow.ok_or_else(|| ControlError::not_found("flow"))?.status = body.status;
    Ok(Json(json!({"id": id})))
}

async fn add_fault(Extract(state): Extract<Shared>, Json(request): Json<FaultRequest>) -> Json<Value> {
    Json(json!({"id": state.lock().add_fault(request)}))
}

#[derive(Deserialize)]
struct Which {
    surface: Option<Surface>,
}

async fn clear_faults(Extract(state): Extract<Shared>, Query(which): Query<Which>) -> Json<Value> {
    state.lock().clear_faults(which.surface);
    Json(json!({}))
}
