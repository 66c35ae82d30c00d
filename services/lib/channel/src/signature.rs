//! Whether a webhook comes from who it says, decided on the raw bytes before anything is parsed.
//!
//! The provider signs the body as sent, so a body that was parsed and written again would not verify. Several secrets
//! may be valid at once, which is how one is rotated without losing a delivery.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, header};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use crate::config::{Account, Provider, Verification};
use crate::keyed_hash::sha256_with_key;
pub use crate::keyed_hash::{Algorithm, Encoding};

/// The header that carries Meta's signature.
pub const META_HEADER: &str = "x-hub-signature-256";
/// The header that carries the signature of a generic webhook.
pub const WEBHOOK_HEADER: &str = "x-abisu-signature-256";

/// Why a body is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// There is no signature.
    #[error("the signature header is missing")]
    Missing,
    /// It does not begin with `sha256=`.
    #[error("the signature does not begin with sha256=")]
    Scheme,
    /// What follows is not 64 hexadecimal digits.
    #[error("the signature is not 64 hexadecimal digits")]
    Malformed,
    /// It does not look as this channel is configured to expect it.
    #[error("the signature does not have this channel's prefix and encoding")]
    Spelling,
    /// It was made with another secret or over other bytes.
    #[error("the signature does not belong to this body")]
    Mismatch,
    /// User or password are missing or wrong.
    #[error("user and password are missing or wrong")]
    Credentials,
}

/// Checks `sha256=<hex>` over `body` against each of `secrets`, and says which one it was.
///
/// All secrets are tried and compared in constant time, so the answer's timing tells nothing about them.
///
/// # Errors
/// The first thing that is wrong, in the order of [`SignatureError`].
pub fn verify<'s>(
    secrets: &'s [SecretString],
    header: Option<&str>,
    body: &[u8],
) -> Result<&'s SecretString, SignatureError> {
    let claimed = claimed(header)?;
    which(secrets, |secret| Algorithm::Sha256.verifies(secret, body, &claimed))
        .ok_or(SignatureError::Mismatch)
}

fn claimed(header: Option<&str>) -> Result<[u8; 32], SignatureError> {
    let header = header.ok_or(SignatureError::Missing)?;
    let digits = header.strip_prefix("sha256=").ok_or(SignatureError::Scheme)?;
    let mut claimed = [0; 32];
    hex::decode_to_slice(digits, &mut claimed).map_err(|_| SignatureError::Malformed)?;
    Ok(claimed)
}

/// The signature of `body`, as [`verify`] wants it.
pub fn sign(secret: &SecretString, body: &[u8]) -> String {
    format!("sha256={}", hex::encode(sha256_with_key(secret, body)))
}

impl Account {
    /// Checks that a call to this channel comes from who may make it, over its exact bytes. Returns the secret that it
    /// proved to know.
    ///
    /// # Errors
    /// What is wrong with its proof.
    pub fn verify(&self, headers: &HeaderMap, body: &[u8]) -> Result<&SecretString, SignatureError> {
        match &self.provider {
            Provider::Meta(meta) => verify(&meta.app_secrets, text(headers, META_HEADER), body),
            Provider::Webhook(webhook) => verify(&webhook.secrets, text(headers, WEBHOOK_HEADER), body),
            Provider::Infobip(infobip) => match &infobip.verification {
                Verification::Hmac { header, algorithm, encoding, prefix, secrets } => {
                    let value = text(headers, header.as_str()).ok_or(SignatureError::Missing)?;
                    let claimed = value.strip_prefix(prefix.as_str()).and_then(|rest| encoding.decode(rest));
                    let claimed = claimed.ok_or(SignatureError::Spelling)?;
                    which(secrets, |secret| algorithm.verifies(secret, body, &claimed))
                        .ok_or(SignatureError::Mismatch)
                }
                Verification::Basic { user, passwords } => basic(user, passwords, headers),
            },
        }
    }

    /// What can be said against a call before its body is read: that there is no proof, or none of the right form.
    ///
    /// # Errors
    /// What is wrong, as [`Account::verify`] would say it.
    pub fn precheck(&self, headers: &HeaderMap) -> Result<(), SignatureError> {
        match &self.provider {
            Provider::Meta(_) => claimed(text(headers, META_HEADER)).map(drop),
            Provider::Webhook(_) => claimed(text(headers, WEBHOOK_HEADER)).map(drop),
            Provider::Infobip(infobip) => match &infobip.verification {
                Verification::Hmac { header, .. } => {
                    text(headers, header.as_str()).map(drop).ok_or(SignatureError::Missing)
                }
                Verification::Basic { user, passwords } => basic(user, passwords, headers).map(drop),
            },
        }
    }

    /// Whether a call that proved to know `secret` may speak for this channel too: an app or an account posts for all
    /// its numbers to one address.
    pub fn trusts(&self, secret: &SecretString) -> bool {
        let secrets = match &self.provider {
            Provider::Meta(meta) => meta.app_secrets.as_slice(),
            Provider::Infobip(infobip) => infobip.verification.secrets(),
            Provider::Webhook(webhook) => webhook.secrets.as_slice(),
        };
        which(secrets, |own| same(own.expose_secret(), secret.expose_secret())).is_some()
    }
}

fn basic<'s>(
    user: &str,
    passwords: &'s [SecretString],
    headers: &HeaderMap,
) -> Result<&'s SecretString, SignatureError> {
    let shown = text(headers, header::AUTHORIZATION.as_str())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"))
        .and_then(|(_, encoded)| STANDARD.decode(encoded.trim()).ok())
        .and_then(|decoded| String::from_utf8(decoded).ok());
    let (shown_user, shown_password) =
        shown.as_deref().and_then(|pair| pair.split_once(':')).ok_or(SignatureError::Credentials)?;
    let known = which(passwords, |password| same(password.expose_secret(), shown_password));
    known.filter(|_| same(user, shown_user)).ok_or(SignatureError::Credentials)
}

/// The first secret that is right. None is skipped, whatever the earlier ones said.
fn which(secrets: &[SecretString], right: impl Fn(&SecretString) -> bool) -> Option<&SecretString> {
    let mut found = None;
    for secret in secrets {
        if right(secret) {
            found = found.or(Some(secret));
        }
    }
    found
}

fn same(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"object":"whatsapp_business_account","entry":[]}"#;
    const DIGITS: &str = "f28df493743ad283122dcbcb244223d0faf2a75f5194b6c29988bd431a98cb39";

    fn secrets(all: &[&str]) -> Vec<SecretString> {
        all.iter().map(|secret| SecretString::from(*secret)).collect()
    }

    #[test]
    fn the_exact_bytes_decide() {
        let vectors = [
            (BODY, DIGITS),
            (
                r#"{"object": "whatsapp_business_account", "entry": []}"#,
                "8c4c3047738f47591abb97cf21d536d26540f09ee72cb6f7e75332e9408e8a25",
            ),
            (r#"{"t":"é😮"}"#, "d1573c4b4c381c8aafc739acd326c57764eefcc8dc80fd23fb9b53efb49cc2df"),
            (
                r#"{"t":"\u00e9\ud83d\ude2e"}"#,
                "0ae9b2ca2f3cd302f8dbaac8099119793492f4394ece673272f303334ff0c8b8",
            ),
            (r#"{"t":"a\/b \u0040"}"#, "4383a26292c7b3490420011e9d55beebc6701386fe902b528c14daf1cb417feb"),
            (r#"{"t":"a/b @"}"#, "6b4563650ec47412c384b9f7203dc4350009732198d524367712a80486ab4086"),
        ];
        let secrets = secrets(&["pc-test-secret"]);
        for (place, (_, digits)) in vectors.iter().enumerate() {
            for (other, (body, _)) in vectors.iter().enumerate() {
                let verified = verify(&secrets, Some(&format!("sha256={digits}")), body.as_bytes());
                assert_eq!(verified.is_ok(), place == other, "{body}");
            }
        }
    }

    #[test]
    fn either_of_two_secrets_is_good_while_one_is_rotated() {
        let header = format!("sha256={DIGITS}");
        for all in [["pc-test-secret", "new"], ["old", "pc-test-secret"]] {
            assert!(verify(&secrets(&all), Some(&header), BODY.as_bytes()).is_ok());
        }
        for none in [secrets(&["new"]), Vec::new()] {
            let error = verify(&none, Some(&header), BODY.as_bytes()).unwrap_err();
            assert_eq!(error, SignatureError::Mismatch);
        }
    }

    #[test]
    fn what_is_wrong_is_said_in_order() {
        let secrets = secrets(&["pc-test-secret"]);
        let table = [
            (None, SignatureError::Missing),
            (Some(String::new()), SignatureError::Scheme),
            (Some(DIGITS.to_owned()), SignatureError::Scheme),
            (Some(format!("sha1={DIGITS}")), SignatureError::Scheme),
            (Some(format!("sha256={}", &DIGITS[1..])), SignatureError::Malformed),
            (Some(format!("sha256={DIGITS}00")), SignatureError::Malformed),
            (Some(format!("sha256=x{}", &DIGITS[1..])), SignatureError::Malformed),
            (Some(format!("sha256=0{}", &DIGITS[1..])), SignatureError::Mismatch),
        ];
        for (header, error) in table {
            assert_eq!(
                verify(&secrets, header.as_deref(), BODY.as_bytes()).unwrap_err(),
                error,
                "{header:?}"
            );
        }
    }
}
