//! Fetching a file: ask for its address, which lives five minutes, then download it.
//!
//! The address comes from an answer, so the token goes along only to hosts that are known. What comes must be the
//! file: not a page, not a JSON document, not more than is taken, and with the hash that was promised.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::{Method, Response, Url};
use secrecy::ExposeSecret;
use serde_json::Value;

use super::graph::{GraphClient, segment};
use super::media_error::MediaError;
use crate::digest;
use crate::outgoing::Media;
use crate::value::{mime, word};

/// The largest file that is taken: what a form's photo may have (25,600 KiB).
pub const LARGEST_FILE: usize = 25 * 1024 * 1024;
/// Meta's host for files.
const MEDIA_HOST: &str = "lookaside.fbsbx.com";
/// A file of 25 MiB on a slow line.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) async fn fetch(client: &GraphClient, media_id: &str) -> Result<Media, MediaError> {
    let request = client
        .request(Method::GET, &segment(media_id))
        .query(&[("phone_number_id", client.config.phone_number_id.as_str())]);
    let found = client.call(request).await.map_err(MediaError::Lookup)?;
    if declared_size(&found).is_some_and(|size| size > LARGEST_FILE as u64) {
        return Err(MediaError::TooLarge { limit: LARGEST_FILE });
    }
    let address = word(&found, "url").and_then(|url| Url::parse(&url).ok()).ok_or(MediaError::NoAddress)?;
    if !trusted(&client.base, &address) {
        return Err(MediaError::ForeignHost);
    }
    let promised_type = mime(&found, "mime_type");
    let (bytes, content_type) = download(client, address, promised_type.as_deref()).await?;
    let sha256 = digest::sha256(&bytes);
    if word(&found, "sha256").is_some_and(|promised| digest::parse_sha256(&promised) != Some(sha256)) {
        return Err(MediaError::HashMismatch);
    }
    let content_type =
        promised_type.or(content_type).unwrap_or_else(|| "application/octet-stream".to_owned());
    Ok(Media { bytes, content_type, sha256 })
}

/// A string in the documentation, a number in practice.
fn declared_size(found: &Value) -> Option<u64> {
    word(found, "file_size")?.parse().ok()
}

/// Whether the token may go there: Meta's media host, or the host of the Graph API itself, by a scheme no weaker than
/// the configured one.
fn trusted(base: &Url, address: &Url) -> bool {
    match address.scheme() {
        "https" => address.host_str() == Some(MEDIA_HOST) || address.host_str() == base.host_str(),
        scheme => scheme == base.scheme() && scheme == "http" && address.host_str() == base.host_str(),
    }
}

async fn download(
    client: &GraphClient,
    address: Url,
    promised_type: Option<&str>,
) -> Result<(Bytes, Option<String>), MediaError> {
    let mut response = client
        .http
        .get(address)
        .bearer_auth(client.config.token.expose_secret())
        .timeout(DOWNLOAD_TIMEOUT)
        .send()
        .await
        .map_err(|_| MediaError::Broken)?;
    if response.status() != http::StatusCode::OK {
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
    fn the_token_goes_to_known_hosts_only() {
        let table = [
            ("https://graph.facebook.com", "https://lookaside.fbsbx.com/whatsapp?mid=1", true),
            ("https://graph.facebook.com", "https://graph.facebook.com/x", true),
            ("https://graph.facebook.com", "http://lookaside.fbsbx.com/x", false),
            ("https://graph.facebook.com", "http://graph.facebook.com/x", false),
            ("https://graph.facebook.com", "https://lookaside.fbsbx.com.example/x", false),
            ("https://graph.facebook.com", "https://lookaside.fbsbx.com@example.org/x", false),
            ("https://graph.facebook.com", "http://169.254.169.254/latest", false),
            ("http://127.0.0.1:9000/meta", "http://127.0.0.1:9000/meta/file", true),
            ("http://127.0.0.1:9000/meta", "http://10.0.0.1/file", false),
        ];
        for (base, address, expected) in table {
            let (base, parsed) = (Url::parse(base).unwrap(), Url::parse(address).unwrap());
            assert_eq!(trusted(&base, &parsed), expected, "{address}");
        }
    }
}
