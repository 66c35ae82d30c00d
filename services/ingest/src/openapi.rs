//! The contract, as the server gives it to whoever asks. It is written by hand and tested against the server.

use axum::http::header;
use axum::response::{IntoResponse, Response};

const DOCUMENT: &str = include_str!("openapi.json");

pub(crate) fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}
