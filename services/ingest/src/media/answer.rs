//! What is said to whoever asks for a photo.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use partner::media::{PhotoId, Refused};

use crate::error::problem;

/// A browser that opens the link runs nothing that the bytes may hold.
const POLICY: (HeaderName, HeaderValue) =
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
/// Kept by the platform alone, and asked for again each time: a citizen's photo can be erased.
const CACHE: (HeaderName, HeaderValue) =
    (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
const NO_SNIFF: (HeaderName, HeaderValue) =
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
/// Seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// A photo that was found.
pub(super) struct Photo {
    pub(super) id: PhotoId,
    pub(super) content_type: String,
    pub(super) bytes: Vec<u8>,
}

/// Why there is no photo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("the link is not one of ours")]
    Forged,
    #[error("the link has expired")]
    Expired,
    #[error("there is no such photo any more")]
    Gone,
    #[error("the photo cannot be read now")]
    Unavailable,
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Forged => Self::Forged,
            Refused::Expired => Self::Expired,
        }
    }
}

impl Photo {
    /// The photo, or that it is still the one that the caller has.
    pub(super) fn answer(self, asked: &HeaderMap) -> Response {
        let tag: String = self.id.iter().map(|byte| format!("{byte:02x}")).collect();
        let tag = format!("\"{tag}\"");
        let known = asked.get_all(header::IF_NONE_MATCH).iter().any(|value| names(value, &tag));
        // Hexadecimal digits in quotes.
        let tag = [(header::ETAG, HeaderValue::try_from(tag).unwrap_or(HeaderValue::from_static("")))];
        if known {
            return (StatusCode::NOT_MODIFIED, tag, [CACHE]).into_response();
        }
        // Whatever else might stand there is handed out as bytes, never as something that a browser would show.
        let image = self.content_type.strip_prefix("image/").is_some_and(|kind| kind != "svg+xml");
        let kind = if image { self.content_type.as_str() } else { "application/octet-stream" };
        let kind =
            HeaderValue::from_str(kind).unwrap_or(HeaderValue::from_static("application/octet-stream"));
        (tag, [(header::CONTENT_TYPE, kind), CACHE, POLICY, NO_SNIFF], self.bytes).into_response()
    }
}

/// Whether a list of tags names this one; a weak one does too.
fn names(value: &HeaderValue, tag: &str) -> bool {
    let tags = value.to_str().unwrap_or_default();
    tags.split(',').map(str::trim).any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match self {
            Self::Forged => StatusCode::FORBIDDEN,
            Self::Expired => StatusCode::GONE,
            Self::Gone => StatusCode::NOT_FOUND,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        };
        let mut response = problem(status, &self.to_string(), ());
        if self == Self::Unavailable {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_in_a_list_weak_or_not() {
        let names = |list: &str| names(&HeaderValue::from_str(list).unwrap(), "\"aa\"");
        assert!(names("\"aa\"") && names("W/\"aa\"") && names("\"bb\", \"aa\"") && names("*"));
        assert!(!names("") && !names("aa") && !names("\"bb\""));
    }

    #[test]
    fn what_is_no_picture_is_not_shown_as_one() {
        for (kept, told) in [
            ("image/jpeg", "image/jpeg"),
            ("text/html", "application/octet-stream"),
            ("image/svg+xml", "application/octet-stream"),
            ("image/\n", "application/octet-stream"),
        ] {
            let photo = Photo { id: [0; 32], content_type: kept.to_owned(), bytes: Vec::new() };
            assert_eq!(photo.answer(&HeaderMap::new()).headers()[header::CONTENT_TYPE], told, "{kept:?}");
        }
    }
}
