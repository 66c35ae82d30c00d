//! Keys of 128 bits over identities that must be unique but need not be readable.

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Hashes the parts, each with its length, so that no two lists of parts meet.
pub(crate) fn of(parts: &[&[u8]]) -> Uuid {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    Uuid::from_bytes(key)
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn the_border_between_parts_counts() {
        assert_ne!(of(&[b"ab", b"c"]), of(&[b"a", b"bc"]));
        assert_eq!(of(&[b"ab", b"c"]), of(&[b"ab", b"c"]));
    }
}
