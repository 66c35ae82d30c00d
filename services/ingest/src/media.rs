//! `GET /media/{token}`: a photo, for whoever holds a link that `partner-push` signed and that has not expired.
//!
//! The token says which photo; it is verified before the database is asked, so nobody who guesses costs us anything. Only
//! `report.read_photo_v1` is called: this service's role can read nothing else of a report. The path is a capability, so
//! it stands in no log line and no span.

mod answer;
mod metrics;
mod source;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
pub(crate) use partner::media::MediaKeys;
use partner::media::PhotoId;
use sqlx::PgPool;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tracing::Instrument;
use tracing::field::Empty;

use self::answer::{Photo, Refusal};
pub(crate) use self::metrics::MediaMetrics;
pub use self::source::MediaSource;
use crate::current::Current;
use crate::error::Error;

/// Photos that are read at the same time. Deliveries come first: most of the pool's connections stay theirs.
const AT_ONCE: usize = 2;
/// For a turn, and for the bytes.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the handler needs.
#[derive(Clone)]
pub(crate) struct Media {
    keys: Current<MediaKeys>,
    pool: PgPool,
    turns: Arc<Semaphore>,
    metrics: MediaMetrics,
}

impl Media {
    pub(crate) fn new(keys: Current<MediaKeys>, pool: PgPool, metrics: MediaMetrics) -> Self {
        Self { keys, pool, turns: Arc::new(Semaphore::new(AT_ONCE)), metrics }
    }
}

pub(crate) fn router(media: Media) -> Router {
    let refuse = async || Error::MethodNotAllowed.into_response();
    Router::new().route("/media/{token}", get(serve).fallback(refuse)).with_state(media)
}

async fn serve(
    State(media): State<Media>,
    token: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let span = tracing::info_span!(
        "media",
        otel.name = "GET /media/{token}",
        otel.kind = "server",
        http.request.method = "GET",
        http.route = "/media/{token}",
        http.response.status_code = Empty,
    );
    let found = find(&media, token).instrument(span.clone()).await;
    media.metrics.count(found.as_ref().err());
    let response = match found {
        Ok(photo) => photo.answer(&headers),
        Err(refusal) => refusal.into_response(),
    };
    span.record("http.response.status_code", response.status().as_u16());
    response
}

async fn find(media: &Media, token: Result<Path<String>, PathRejection>) -> Result<Photo, Refusal> {
    // What does not decode was not made by us.
    let Ok(Path(token)) = token else { return Err(Refusal::Forged) };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let id = media.keys.now().open(&token, i64::try_from(now.as_secs()).unwrap_or(i64::MAX))?;
    let (pool, turns) = (media.pool.clone(), Arc::clone(&media.turns));
    // In a task of its own: a caller who hangs up must not cancel a statement half way, which would cost the pool its
    // connection.
    let reading = tokio::spawn(read(pool, turns, id).in_current_span());
    match timeout(PATIENCE, reading).await {
        Ok(Ok(Ok(photo))) => photo.ok_or(Refusal::Gone),
        Ok(Ok(Err(error))) => {
            let code = error.as_database_error().and_then(|error| error.code());
            tracing::warn!(error.code = code.as_deref(), "a photo could not be read");
            Err(Refusal::Unavailable)
        }
        Ok(Err(_)) | Err(_) => {
            tracing::warn!("a photo was not read in time");
            Err(Refusal::Unavailable)
        }
    }
}

async fn read(pool: PgPool, turns: Arc<Semaphore>, id: PhotoId) -> Result<Option<Photo>, sqlx::Error> {
    // Never closed.
    let _turn = turns.acquire().await.map_err(|_| sqlx::Error::PoolClosed)?;
    let found = sqlx::query!(
        r#"select content_type as "content_type!", bytes as "bytes!" from report.read_photo_v1($1)"#,
        &id
    )
    .fetch_optional(&pool)
    .await?;
    Ok(found.map(|row| Photo { id, content_type: row.content_type, bytes: row.bytes }))
}
