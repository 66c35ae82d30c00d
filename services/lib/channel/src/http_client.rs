//! What all providers' clients share: one way to make a client, to send a call, to download a file.
//!
//! Always with timeouts, never a redirect: what proves us to a provider goes to its host and nowhere else. Whatever
//! comes back is bounded.

use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use chrono::{DateTime, Utc};
use http::{HeaderMap, StatusCode};
use reqwest::{Client, RequestBuilder, Response, Url};

use crate::media_error::MediaError;
use crate::send_error::{Failure, SendError};

/// The largest file that is taken: what a form's photo may have (25,600 KiB).
pub const LARGEST_FILE: usize = 25 * 1024 * 1024;
/// Neither a probe nor a mark may take long: nobody waits for a mark, and a probe is made again.
pub(crate) const BRIEFLY: Duration = Duration::from_secs(5);
/// How long a connection may take to be made; below any total timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Shorter than the other side keeps an idle connection, so that none is closed while a request is written.
const IDLE: Duration = Duration::from_secs(20);
/// A file of 25 MiB on a slow line.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(60);
/// The longest that an answer is obeyed which names a time: whoever names more is asked again after it.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(3600);
/// An answer is a few hundred bytes; this only bounds what a broken one can cost.
const LARGEST_ANSWER: usize = 4 * 1024 * 1024;

/// Why no client can be made.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Not an address.
    #[error("the base is not an http or https URL")]
    Base,
    /// It can receive and has nothing to send with.
    #[error("{0} is missing, which it sends with")]
    Missing(&'static str),
    /// The TLS backend.
    #[error("the HTTP client cannot be set up")]
    Client(#[source] reqwest::Error),
}

pub(crate) fn client(timeout: Duration) -> Result<Client, ConnectError> {
    Client::builder()
        .user_agent(concat!("abisu/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT.min(timeout))
        .timeout(timeout)
        .pool_idle_timeout(IDLE)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(ConnectError::Client)
}

pub(crate) fn base(text: &str) -> Result<Url, ConnectError> {
    let base = Url::parse(text).map_err(|_| ConnectError::Base)?;
    let usable = base.host_str().is_some() && matches!(base.scheme(), "http" | "https");
    if usable { Ok(base) } else { Err(ConnectError::Base) }
}

/// What was answered.
pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// `None`: it broke off, or was larger than any answer.
    pub(crate) body: Option<Vec<u8>>,
}

impl Answered {
    /// The body as JSON; `null` where it is none.
    pub(crate) fn json(&self) -> serde_json::Value {
        self.body.as_deref().and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
    }
}

/// Sends a call and reads the answer, whatever it says.
pub(crate) async fn exchange(api: &'static str, request: RequestBuilder) -> Result<Answered, SendError> {
    let response = request.send().await.map_err(|error| {
        // Only a connection that was never made proves that nothing arrived.
        let unsent = error.is_connect() || error.is_builder();
        SendError::new(api, if unsent { Failure::NotSent } else { Failure::Lost })
    })?;
    let (status, headers) = (response.status(), response.headers().clone());
    Ok(Answered { status, headers, body: bounded(response, LARGEST_ANSWER).await })
}

/// `Retry-After`, in seconds or as a date. `None` also for no time at all: then our own pauses are better.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?;
    named_wait(value.trim(), SystemTime::now().into())
}

fn named_wait(value: &str, now: DateTime<Utc>) -> Option<Duration> {
    let wait = match value.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        // The date of HTTP is one of RFC 2822; one that is past is no time at all.
        Err(_) => {
            let at = DateTime::parse_from_rfc2822(value).ok()?;
            at.with_timezone(&Utc).signed_duration_since(now).to_std().ok()?
        }
    };
    Some(wait.min(LONGEST_WAIT)).filter(|wait| !wait.is_zero())
}

/// An id as one segment of a path, whatever is in it.
pub(crate) fn segment(id: &str) -> String {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    id.bytes()
        .map(|byte| if safe(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// The body, or `None` if it breaks off or is larger than `limit` bytes.
async fn bounded(mut response: Response, limit: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        if bytes.len() + chunk.len() > limit {
            return None;
        }
        bytes.extend_from_slice(&chunk);
    }
    Some(bytes)
}

/// Downloads a file: not a page, not a JSON document where something else was promised, not more than is taken. The
/// address must have been checked, and the request carries what proves us to it.
pub(crate) async fn download(
    request: RequestBuilder,
    promised_type: Option<&str>,
) -> Result<(Bytes, Option<String>), MediaError> {
    let sent = request.timeout(DOWNLOAD_TIMEOUT).send().await;
    let mut response = sent.map_err(|_| MediaError::Broken)?;
    if response.status() != StatusCode::OK {
        return Err(MediaError::Refused(response.status().as_u16()));
    }
    let content_type = content_type(&response);
    // Documents may be of any type, so a page is only wrong where something else was promised.
    let page = matches!(content_type.as_deref(), Some("application/json" | "text/html" | "text/javascript"));
    if page && promised_type != content_type.as_deref() {
        return Err(MediaError::NotTheFile);
    }
    let too_large = || MediaError::TooLarge { limit: LARGEST_FILE };
    if response.content_length().is_some_and(|length| length > LARGEST_FILE as u64) {
        return Err(too_large());
    }
    let mut bytes = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| MediaError::Broken)? {
        if bytes.len() + chunk.len() > LARGEST_FILE {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok((bytes.freeze(), content_type))
}

fn content_type(response: &Response) -> Option<String> {
    let full = response.headers().get(http::header::CONTENT_TYPE)?.to_str().ok()?;
    Some(full.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_time_is_seconds_or_a_date_and_at_most_an_hour() {
        let now = DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc();
        let seconds = |value| named_wait(value, now).map(|wait| wait.as_secs());
        for (value, expected) in [
            ("7", Some(7)),
            ("86400", Some(3600)),
            ("18446744073709551615", Some(3600)),
            ("Mon, 30 Nov 2026 12:00:09 GMT", Some(9)),
            ("Tue, 30 Nov 2027 12:00:00 GMT", Some(3600)),
            ("Mon, 30 Nov 2026 11:00:00 GMT", None),
            ("0", None),
            ("-3", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(seconds(value), expected, "{value}");
        }
    }
}
