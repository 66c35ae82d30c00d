//! Every answer that is not a success: its status, its words, and what the metrics call it. Problem documents say
//! what is wrong with the call, never what was in it.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use channel::signature::SignatureError;
use serde::Serialize;
use serde_json::Value;

use crate::body::LARGEST_BODY;
use crate::metrics::Outcome;

/// Seconds after which a provider may come again. Providers have their own schedule; honest clients read this.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("2");

/// Why a call is not answered with success.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("there is no such channel")]
    UnknownChannel,
    #[error("there is nothing here")]
    NotFound,
    #[error("this method is not answered here; the header Allow says which are")]
    MethodNotAllowed,
    #[error("the mode or the verify token is wrong")]
    Handshake,
    #[error("{0}")]
    Signature(#[from] SignatureError),
    #[error("the body is larger than {LARGEST_BODY} bytes")]
    TooLarge,
    #[error("the body did not arrive in time")]
    TooSlow,
    #[error("the body broke off")]
    BrokenBody,
    #[error("too much is in flight")]
    Overloaded,
    #[error("the delivery could not be stored in time; nothing that was not stored is acknowledged")]
    NotStored(#[source] Option<bus::append::Error>),
}

impl Error {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::UnknownChannel | Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Handshake | Self::Signature(_) => StatusCode::FORBIDDEN,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::BrokenBody => StatusCode::BAD_REQUEST,
            Self::Overloaded | Self::NotStored(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Self::UnknownChannel | Self::NotFound | Self::MethodNotAllowed => Outcome::NotFound,
            Self::Handshake => Outcome::BadHandshake,
            Self::Signature(_) => Outcome::BadSignature,
            Self::TooLarge => Outcome::TooLarge,
            Self::TooSlow | Self::BrokenBody => Outcome::BrokenBody,
            Self::Overloaded => Outcome::Overloaded,
            Self::NotStored(_) => Outcome::NotStored,
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = self.status();
        let mut response = problem(status, &self.to_string(), ());
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        response
    }
}

/// A problem document (RFC 9457), with members of its own where there are any.
pub(crate) fn problem(status: StatusCode, detail: &str, members: impl Serialize) -> Response {
    #[derive(Serialize)]
    struct Problem<'p> {
        r#type: &'static str,
        title: &'p str,
        status: u16,
        detail: &'p str,
    }
    let title = status.canonical_reason().unwrap_or("Error");
    let document = Problem { r#type: "about:blank", title, status: status.as_u16(), detail };
    let mut document = serde_json::to_value(document).unwrap_or_default();
    if let (Some(document), Ok(Value::Object(members))) =
        (document.as_object_mut(), serde_json::to_value(members))
    {
        document.extend(members);
    }
    let content_type = HeaderValue::from_static("application/problem+json");
    (status, [(header::CONTENT_TYPE, content_type)], document.to_string()).into_response()
}
