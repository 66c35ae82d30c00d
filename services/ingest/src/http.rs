//! The routes: verify → take apart → append → answer, in this order and no other.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, MatchedPath, OptionalFromRequestParts, Path, Query, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router, body::Body};
use bus::append::{Appender, Delivery, Stored};
use bus::wake::{Notifier, Queue};
use channel::signature::{META_HEADER, verify};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout};
use tracing::Instrument;
use tracing::field::Empty;
use uuid::Uuid;

use crate::body::{Bodies, Held};
use crate::config::{Channels, MetaChannel};
use crate::error::Error;
use crate::metrics::{MessageOutcome, Metrics, Outcome};
use crate::split::split;

/// Beyond the appender's own patience, so that it is the appender that gives up, except where it cannot.
const LAST_RESORT: Duration = Duration::from_millis(2350);

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) channels: Arc<Channels>,
    pub(crate) appender: Appender,
    pub(crate) notifier: Notifier,
    pub(crate) bodies: Bodies,
    pub(crate) metrics: Metrics,
}

/// The answer to a delivery that is stored.
#[derive(Debug, Serialize)]
struct Answer {
    status: &'static str,
    activity_id: Option<Uuid>,
    activity_ids: Vec<Uuid>,
    duplicates: usize,
    rejected: usize,
    receipts_processed: usize,
}

pub(crate) fn router(app: App) -> Router {
    Router::new()
        .route("/whatsapp/webhook", get(handshake).post(inbound))
        .route("/api/v1/channels/{channel_id}/inbound", get(handshake).post(inbound))
        .fallback(async |State(app): State<App>| app.refuse(Error::NotFound))
        .method_not_allowed_fallback(async |State(app): State<App>| app.refuse(Error::MethodNotAllowed))
        .with_state(app)
}

impl App {
    fn refuse(&self, error: Error) -> Response {
        self.metrics.request(error.outcome());
        error.into_response()
    }
}

/// The channel that a call is addressed to.
struct Addressed(Arc<MetaChannel>);

impl FromRequestParts<App> for Addressed {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let id = <Path<String> as OptionalFromRequestParts<App>>::from_request_parts(parts, app).await;
        let channel = match id {
            Ok(Some(Path(id))) => app.channels.get(&id),
            Ok(None) => app.channels.default_meta(),
            // An id that does not decode names no channel.
            Err(_) => None,
        };
        channel.map(|channel| Self(Arc::clone(channel))).ok_or_else(|| app.refuse(Error::UnknownChannel))
    }
}

#[derive(Deserialize)]
struct Handshake {
    #[serde(rename = "hub.mode")]
    mode: Option<String>,
    #[serde(rename = "hub.challenge")]
    challenge: Option<String>,
    #[serde(rename = "hub.verify_token")]
    verify_token: Option<String>,
}

/// Answers with the challenge as it came: quoted or wrapped it would not be accepted.
async fn handshake(
    State(app): State<App>,
    Addressed(channel): Addressed,
    query: Result<Query<Handshake>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let challenge = query.ok().and_then(|Query(query)| {
        let shown = query.verify_token?;
        let right = bool::from(shown.as_bytes().ct_eq(channel.verify_token.expose_secret().as_bytes()));
        (right && query.mode.as_deref() == Some("subscribe")).then_some(query.challenge?)
    });
    match challenge {
        Some(challenge) => {
            app.metrics.request(Outcome::Handshake);
            ([(header::CONTENT_TYPE, "text/plain"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")], challenge)
                .into_response()
        }
        None => app.refuse(Error::Handshake),
    }
}

async fn inbound(
    State(app): State<App>,
    Addressed(channel): Addressed,
    path: MatchedPath,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let delivery_id = Uuid::now_v7();
    let span = tracing::info_span!(
        "inbound",
        otel.name = format!("POST {}", path.as_str()),
        otel.kind = "server",
        http.request.method = "POST",
        http.route = path.as_str(),
        http.response.status_code = Empty,
        channel.id = channel.id,
        delivery.id = %delivery_id,
    );
    let received = receive(&app, &channel, delivery_id, &headers, body).instrument(span.clone()).await;
    let response = match received {
        Ok(answer) => {
            app.metrics.request(Outcome::Stored);
            Json(answer).into_response()
        }
        Err(error) => {
            span.in_scope(|| log(&error, delivery_id));
            app.refuse(error)
        }
    };
    span.record("http.response.status_code", response.status().as_u16());
    response
}

async fn receive(
    app: &App,
    channel: &MetaChannel,
    delivery_id: Uuid,
    headers: &HeaderMap,
    body: Body,
) -> Result<Answer, Error> {
    let Held { bytes, room } = app.bodies.read(body).await?;
    let began = Instant::now();
    let signature = headers.get(META_HEADER).and_then(|value| value.to_str().ok());
    verify(&channel.app_secrets, signature, &bytes)?;
    let split = split(channel, delivery_id, runtime::trace::current(), bytes);
    app.metrics.notices.inc_by(split.notices);
    app.metrics.foreign_receipts.inc_by(split.foreign_receipts);
    let first_reason = split.delivery.rejections.first().map(|first| first.reason.clone());
    let stored = append(app.appender.clone(), app.notifier.clone(), split.delivery, room).await;
    app.metrics.seconds.observe(began.elapsed().as_secs_f64());
    let stored = stored?;
    count(&app.metrics, &stored);
    if stored.rejected > 0 {
        tracing::warn!(
            channel.id = channel.id,
            delivery.id = %delivery_id,
            rejected = stored.rejected,
            reason = first_reason.as_deref().unwrap_or("refused_by_database"),
            "a delivery has messages that cannot be handled; they are kept as rejections"
        );
    }
    Ok(Answer {
        status: "accepted",
        activity_id: stored.created.first().copied(),
        activity_ids: stored.created,
        duplicates: stored.duplicates,
        rejected: stored.rejected,
        receipts_processed: stored.receipts,
    })
}

/// Appends in a task of its own: a caller who hangs up must not cancel a statement half way, which would cost the pool
/// its connection. The body's room stays taken until the appender is through with it.
async fn append(
    appender: Appender,
    notifier: Notifier,
    delivery: Delivery,
    room: Option<OwnedSemaphorePermit>,
) -> Result<Stored, Error> {
    let task = async move {
        let stored = appender.append(&delivery).await;
        // After the commit, and whatever the answer: a part may be stored although the whole is not.
        if !delivery.events.is_empty() {
            notifier.notify(Queue::Inbound);
        }
        drop(room);
        stored
    };
    match timeout(LAST_RESORT, tokio::spawn(task.in_current_span())).await {
        Ok(Ok(stored)) => stored.map_err(|error| Error::NotStored(Some(error))),
        // Too late, or the task panicked: in doubt, the provider must send it again.
        Err(_) | Ok(Err(_)) => Err(Error::NotStored(None)),
    }
}

fn count(metrics: &Metrics, stored: &Stored) {
    metrics.messages(MessageOutcome::Created, stored.created.len());
    metrics.messages(MessageOutcome::Duplicate, stored.duplicates);
    metrics.messages(MessageOutcome::Rejected, stored.rejected);
    metrics.receipts.inc_by(stored.receipts as u64);
}

/// What the sender did wrong is counted and not shouted about, since anyone can do it; what we could not do is.
fn log(error: &Error, delivery_id: Uuid) {
    match error {
        Error::NotStored(cause) => {
            let (reason, code) = cause.as_ref().map_or(("no answer in time", None), why);
            tracing::error!(
                delivery.id = %delivery_id,
                error.code = code.as_deref(),
                "a delivery could not be stored: {reason}"
            );
        }
        Error::Overloaded => tracing::warn!("a delivery was refused: too much is in flight"),
        Error::UnknownChannel
        | Error::NotFound
        | Error::MethodNotAllowed
        | Error::Handshake
        | Error::Signature(_)
        | Error::TooLarge
        | Error::TooSlow
        | Error::BrokenBody => tracing::debug!(%error, "a call was refused: {error}"),
    }
}

/// The database's own words may quote the message, so only its code is logged.
fn why(error: &bus::append::Error) -> (&'static str, Option<String>) {
    let (reason, cause) = match error {
        bus::append::Error::Unavailable(cause) => ("the database is not available", cause),
        bus::append::Error::Refused(cause) => ("the database refuses the statement", cause),
    };
    (reason, cause.as_database_error().and_then(|cause| cause.code()).map(Into::into))
}
