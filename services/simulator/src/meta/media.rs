//! Files that citizens sent: a lookup that gives a short-lived link, and the download behind it.

use std::time::Duration;

use axum::{
    extract::{Path, State as Extract},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{error::GraphError, graph::Caller};
use crate::state::{Shared, State};

/// `GET /{media-id}`. The hash is hexadecimal here and base64 in deliveries, as with Meta.
pub(crate) fn read(state: &State, id: &str) -> Result<Value, GraphError> {
    let media = state.lock().media.get(id).cloned();
    let media = media
        .filter(|media| media.since.elapsed() < state.config.media_life)
        .ok_or_else(|| GraphError::no_object(id))?;
    Ok(json!({
        "messaging_product": "whatsapp",
        "url": state.link(id),
        "mime_type": media.mime_type,
        "sha256": hex::encode(Sha256::digest(&media.bytes)),
        "file_size": media.bytes.len(),
        "id": id,
    }))
}

/// `GET /media-download/{token}`: a dead link is 404, and the token of the Graph API is needed.
pub(crate) async fn download(
    _: Caller,
    Extract(state): Extract<Shared>,
    Path(token): Path<String>,
) -> Response {
    let inner = state.lock();
    let alive = |since: std::time::Instant, life: Duration| since.elapsed() < life;
    let media = inner
        .links
        .get(&token)
        .filter(|link| alive(link.since, state.config.media_link_life))
        .and_then(|link| inner.media.get(&link.media_id))
        .cloned();
    drop(inner);
    match media {
        Some(media) => ([(CONTENT_TYPE, media.mime_type)], media.bytes).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
