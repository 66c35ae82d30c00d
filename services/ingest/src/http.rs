//! The routes, and the one order of an inbound call: verify → take apart → append → answer.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequestParts, MatchedPath, OptionalFromRequestParts, Path, Query, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use bus::append::{Appender, Stored};
use bus::wake::Notifier;
use channel::config::{Account, Provider};
use secrecy::ExposeSecret;
use serde::Deserialize;
use subtle::ConstantTimeEq;
use tokio::time::Instant;
use tracing::Instrument;
use tracing::field::Empty;
use uuid::Uuid;

use crate::answer::Answer;
use crate::body::{Bodies, Held};
use crate::channels::Channels;
use crate::current::Current;
use crate::error::Error;
use crate::metrics::{MessageOutcome, Metrics, Outcome};
use crate::openapi;
use crate::seats::{At, Seat};
use crate::split::{Call, Split, split};
use crate::store::{append, why};

/// Who shows a wrong proof is told so a moment later. It is nothing to somebody whose secret is wrong, and keeps a forger
/// who goes on at once from taking the processor from the honest.
const BEFORE_A_REFUSAL: Duration = Duration::from_millis(10);

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) channels: Current<Channels>,
    pub(crate) appender: Appender,
    pub(crate) notifier: Notifier,
    pub(crate) bodies: Bodies,
    pub(crate) metrics: Metrics,
}

pub(crate) fn router(app: App) -> Router {
    Router::new()
        .route("/whatsapp/webhook", get(handshake).post(inbound))
        .route("/api/v1/channels/{channel_id}/inbound", get(handshake).post(inbound))
        .route("/openapi.json", get(async || openapi::document()))
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

/// The channel that a call is addressed to, and the channels in force when it came.
struct Addressed {
    channel: Arc<Account>,
    channels: Arc<Channels>,
}

impl FromRequestParts<App> for Addressed {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let id = <Path<String> as OptionalFromRequestParts<App>>::from_request_parts(parts, app).await;
        let channels = app.channels.now();
        let channel = match id {
            Ok(Some(Path(id))) => channels.get(&id),
            Ok(None) => channels.default_meta(),
            // An id that does not decode names no channel.
            Err(_) => None,
        };
        match channel.map(Arc::clone) {
            Some(channel) => Ok(Self { channel, channels }),
            None => Err(app.refuse(Error::UnknownChannel)),
        }
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
    Addressed { channel, channels: _ }: Addressed,
    query: Result<Query<Handshake>, axum::extract::rejection::QueryRejection>,
) -> Response {
    // Only Meta shakes hands.
    let Provider::Meta(meta) = &channel.provider else {
        let mut refused = app.refuse(Error::MethodNotAllowed);
        refused.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        return refused;
    };
    let challenge = query.ok().and_then(|Query(query)| {
        let shown = query.verify_token?;
        let right = bool::from(shown.as_bytes().ct_eq(meta.verify_token.expose_secret().as_bytes()));
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
    addressed: Result<Addressed, Response>,
    path: MatchedPath,
    headers: HeaderMap,
    seat: Option<Extension<Arc<Seat>>>,
    body: Body,
) -> Response {
    let addressed = match addressed {
        Ok(addressed) => addressed,
        Err(refused) => {
            app.bodies.discard(body).await;
            return refused;
        }
    };
    let delivery_id = Uuid::now_v7();
    let span = tracing::info_span!(
        "inbound",
        otel.name = format!("POST {}", path.as_str()),
        otel.kind = "server",
        http.request.method = "POST",
        http.route = path.as_str(),
        http.response.status_code = Empty,
        channel.id = addressed.channel.id,
        delivery.id = %delivery_id,
    );
    let received =
        receive(&app, &addressed, delivery_id, &headers, seat.as_deref(), body).instrument(span.clone());
    let response = match received.await {
        Ok(answer) => {
            app.metrics.request(answer.outcome());
            answer.into_response()
        }
        Err(error) => {
            span.in_scope(|| log(&error, delivery_id));
            if let Error::Signature(_) = error {
                if let Some(seat) = &seat {
                    // Nothing is worked meanwhile: others may have its place.
                    seat.is(At::Rest);
                }
                tokio::time::sleep(BEFORE_A_REFUSAL).await;
            }
            app.refuse(error)
        }
    };
    span.record("http.response.status_code", response.status().as_u16());
    response
}

async fn receive(
    app: &App,
    addressed: &Addressed,
    delivery_id: Uuid,
    headers: &HeaderMap,
    seat: Option<&Arc<Seat>>,
    body: Body,
) -> Result<Answer, Error> {
    let channel = &*addressed.channel;
    if let Err(error) = channel.precheck(headers) {
        // Whoever shows no proof gets no room.
        app.bodies.discard(body).await;
        return Err(error.into());
    }
    let Held { bytes, room } = app.bodies.read(body).await?;
    if let Some(seat) = seat {
        seat.is(At::Work);
    }
    let began = Instant::now();
    let secret = channel.verify(headers, &bytes)?;
    let call = Call {
        channels: &addressed.channels,
        addressed: channel,
        secret,
        delivery_id,
        trace_context: runtime::trace::current(),
    };
    let split = split(&call, bytes);
    seen(&app.metrics, channel, &split);
    let messages = split.messages();
    let first_reason = reason(&split);
    let order = split.order;
    let parts = [split.delivery].into_iter().chain(split.others).collect();
    let stored = append(app.appender.clone(), app.notifier.clone(), parts, room).await;
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
    Ok(Answer::new(channel, &order, messages, &stored))
}

/// Why the first of the messages that cannot be handled cannot.
fn reason(split: &Split) -> Option<String> {
    let parts = [&split.delivery].into_iter().chain(&split.others);
    parts.flat_map(|part| &part.rejections).next().map(|rejection| rejection.reason.clone())
}

/// Counts what is not stored, and says aloud what a person should look at.
fn seen(metrics: &Metrics, channel: &Account, split: &Split) {
    metrics.notices.inc_by(split.notices);
    metrics.foreign_receipts.inc_by(split.foreign_receipts);
    metrics.foreign_messages.inc_by(split.foreign_messages);
    for alert in &split.alerts {
        metrics.alert(alert.kind);
        tracing::warn!(
            channel.id = channel.id,
            kind = ?alert.kind,
            detail = alert.detail,
            "the provider tells of trouble with the account or a form"
        );
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
