//! Keyed hashes of a body, in the algorithms and spellings that providers let one choose.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use secrecy::{ExposeSecret, SecretString};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

/// The hash of an HMAC. The weak ones are there because a provider offers them; what is known against them does not
/// touch their use with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// 16 bytes.
    Md5,
    /// 20 bytes.
    Sha1,
    /// 28 bytes.
    Sha224,
    /// 32 bytes.
    Sha256,
    /// 48 bytes.
    Sha384,
    /// 64 bytes.
    Sha512,
}

/// How a hash is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Two hexadecimal digits a byte, of either case.
    Hex,
    /// Base64 with its padding.
    Base64,
}

impl Algorithm {
    pub(crate) const WORDS: &str = "md5, sha1, sha224, sha256, sha384, sha512";

    pub(crate) fn parse(word: &str) -> Option<Self> {
        match word {
            "md5" => Some(Self::Md5),
            "sha1" => Some(Self::Sha1),
            "sha224" => Some(Self::Sha224),
            "sha256" => Some(Self::Sha256),
            "sha384" => Some(Self::Sha384),
            "sha512" => Some(Self::Sha512),
            _ => None,
        }
    }

    /// Whether `claimed` is the hash of `body` under `secret`, in constant time.
    pub(crate) fn verifies(self, secret: &SecretString, body: &[u8], claimed: &[u8]) -> bool {
        match self {
            Self::Md5 => holds::<Hmac<Md5>>(secret, body, claimed),
            Self::Sha1 => holds::<Hmac<Sha1>>(secret, body, claimed),
            Self::Sha224 => holds::<Hmac<Sha224>>(secret, body, claimed),
            Self::Sha256 => holds::<Hmac<Sha256>>(secret, body, claimed),
            Self::Sha384 => holds::<Hmac<Sha384>>(secret, body, claimed),
            Self::Sha512 => holds::<Hmac<Sha512>>(secret, body, claimed),
        }
    }
}

impl Encoding {
    pub(crate) const WORDS: &str = "hex, base64";

    pub(crate) fn parse(word: &str) -> Option<Self> {
        match word {
            "hex" => Some(Self::Hex),
            "base64" => Some(Self::Base64),
            _ => None,
        }
    }

    pub(crate) fn decode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Hex => hex::decode(text).ok(),
            Self::Base64 => STANDARD.decode(text).ok(),
        }
    }
}

fn holds<M: Mac + KeyInit>(secret: &SecretString, body: &[u8], claimed: &[u8]) -> bool {
    // HMAC takes keys of any length.
    <M as KeyInit>::new_from_slice(secret.expose_secret().as_bytes())
        .is_ok_and(|mac| mac.chain_update(body).verify_slice(claimed).is_ok())
}

/// The HMAC with SHA-256 of `body` under `secret`.
pub(crate) fn sha256_with_key(secret: &SecretString, body: &[u8]) -> [u8; 32] {
    let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret.expose_secret().as_bytes());
    mac.expect("HMAC takes keys of any length").chain_update(body).finalize().into_bytes().into()
}
