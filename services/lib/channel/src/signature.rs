//! Whether a webhook comes from who it says, decided on the raw bytes before anything is parsed.
//!
//! The provider signs the body as sent, so a body that was parsed and written again would not verify. Several secrets
//! may be valid at once, which is how one is rotated without losing a delivery.

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// The header that carries Meta's signature.
pub const META_HEADER: &str = "x-hub-signature-256";

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
    /// It was made with another secret or over other bytes.
    #[error("the signature does not belong to this body")]
    Mismatch,
}

/// Checks `sha256=<hex>` over `body` against each of `secrets`.
///
/// All secrets are tried and compared in constant time, so the answer's timing tells nothing about them.
///
/// # Errors
/// The first thing that is wrong, in the order of [`SignatureError`].
pub fn verify(secrets: &[SecretString], header: Option<&str>, body: &[u8]) -> Result<(), SignatureError> {
    let header = header.ok_or(SignatureError::Missing)?;
    let digits = header.strip_prefix("sha256=").ok_or(SignatureError::Scheme)?;
    let mut claimed = [0; 32];
    hex::decode_to_slice(digits, &mut claimed).map_err(|_| SignatureError::Malformed)?;
    let valid = secrets.iter().fold(false, |valid, secret| valid | signed_by(secret, &claimed, body));
    if valid { Ok(()) } else { Err(SignatureError::Mismatch) }
}

fn signed_by(secret: &SecretString, claimed: &[u8; 32], body: &[u8]) -> bool {
    // HMAC takes keys of any length.
    Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes())
        .is_ok_and(|mac| mac.chain_update(body).verify_slice(claimed).is_ok())
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
            assert_eq!(verify(&secrets(&all), Some(&header), BODY.as_bytes()), Ok(()));
        }
        assert_eq!(verify(&secrets(&["new"]), Some(&header), BODY.as_bytes()), Err(SignatureError::Mismatch));
        assert_eq!(verify(&[], Some(&header), BODY.as_bytes()), Err(SignatureError::Mismatch));
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
            assert_eq!(verify(&secrets, header.as_deref(), BODY.as_bytes()), Err(error), "{header:?}");
        }
    }
}
