//! Fetching a file: ask for its address, which lives five minutes, then download it.
//!
//! The address comes from an answer, so the token goes along only to hosts that are known. What comes must be the
//! file: not a page, not a JSON document, not more than is taken, and with the hash that was promised.

use reqwest::{Method, Url};
use secrecy::ExposeSecret;
use serde_json::Value;

use super::graph::GraphClient;
use crate::digest;
use crate::http_client::{LARGEST_FILE, download, segment};
use crate::media_error::MediaError;
use crate::outgoing::Media;
use crate::value::{mime, word};

/// Meta's host for files.
const MEDIA_HOST: &str = "lookaside.fbsbx.com";

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
    let request = client.http.get(address).bearer_auth(client.config.token.expose_secret());
    let (bytes, content_type) = download(request, promised_type.as_deref()).await?;
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
