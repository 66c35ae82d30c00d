//! Hashes as providers write them: base64 in webhooks, hex in some answers of the media API.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE};
use sha2::{Digest, Sha256};

/// SHA-256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Reads a SHA-256 in hex or base64. `None` for anything that is neither.
pub fn parse_sha256(text: &str) -> Option<[u8; 32]> {
    let text = text.trim();
    // 32 bytes are 64 hex digits and 43 or 44 base64 characters, so the length tells them apart.
    let bytes = if text.len() == 64 {
        hex::decode(text).ok()?
    } else {
        STANDARD
            .decode(text)
            .or_else(|_| STANDARD_NO_PAD.decode(text))
            .or_else(|_| URL_SAFE.decode(text))
            .ok()?
    };
    bytes.try_into().ok()
}

/// Whether `claimed`, in hex or base64, is the SHA-256 of `bytes`. False for a claim that is no hash at all.
pub fn is_sha256_of(claimed: &str, bytes: &[u8]) -> bool {
    parse_sha256(claimed) == Some(sha256(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_name_the_same_hash() {
        let bytes = b"abc";
        for claimed in [
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0",
            "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0=",
        ] {
            assert!(is_sha256_of(claimed, bytes), "{claimed}");
            assert!(!is_sha256_of(claimed, b"abd"), "{claimed}");
        }
        for nothing in ["", "abc", "ba7816"] {
            assert!(!is_sha256_of(nothing, bytes));
        }
    }
}
