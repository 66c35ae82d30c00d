//! Why a file could not be fetched, and whether it ever can be.

use crate::send_error::SendError;

/// What to do about a file that could not be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaClass {
    /// Try again.
    Retry,
    /// It will never be there.
    Gone,
}

/// Why a file could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    /// Asking for its address failed.
    #[error("asking for the file failed")]
    Lookup(#[source] SendError),
    /// The answer, or what was sent in place of an id, has no usable address.
    #[error("the file's address is missing or not a URL")]
    NoAddress,
    /// The address is on a host that the token must not be sent to.
    #[error("the file's address is on a host that is not trusted with the token")]
    ForeignHost,
    /// The address that came with the message is on a host that files are not fetched from.
    #[error("the file's address is on a host that is not allowed")]
    NotAllowed,
    /// The keeper says that there is no such file, and there is no other address to ask for.
    #[error("there is no such file, HTTP {0}")]
    Missing(u16),
    /// The download was refused.
    #[error("the download was answered with HTTP {0}")]
    Refused(u16),
    /// The download broke off or took too long.
    #[error("the download broke off")]
    Broken,
    /// What came is a page or a JSON document, not the file.
    #[error("the download answered with something else than the file")]
    NotTheFile,
    /// The file is not the one that was promised.
    #[error("the file does not have the hash that was promised")]
    HashMismatch,
    /// The file is larger than we take.
    #[error("the file is larger than {limit} bytes")]
    TooLarge {
        /// What we take.
        limit: usize,
    },
    /// This channel keeps no files.
    #[error("this channel keeps no files")]
    NoFiles,
}

impl MediaError {
    /// What to do about it.
    pub fn class(&self) -> MediaClass {
        match self {
            // An unknown or expired id: code 100, whatever the subcode.
            Self::Lookup(error) if error.code == Some(100) => MediaClass::Gone,
            Self::TooLarge { .. } | Self::NotAllowed | Self::Missing(_) | Self::NoFiles => MediaClass::Gone,
            // A 404 of a download at an address that was asked for is one that has run out: the next attempt asks for
            // a new one.
            Self::Lookup(_)
            | Self::NoAddress
            | Self::ForeignHost
            | Self::Refused(_)
            | Self::Broken
            | Self::NotTheFile
            | Self::HashMismatch => MediaClass::Retry,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send_error::{Failure, Reason};

    #[test]
    fn an_id_that_meta_does_not_know_is_gone_and_a_bad_token_is_not() {
        let lookup = |code| {
            let refused = SendError::new("it", Failure::Refused(Reason::Never));
            MediaError::Lookup(SendError { code: Some(code), ..refused })
        };
        assert_eq!(lookup(100).class(), MediaClass::Gone);
        assert_eq!(lookup(190).class(), MediaClass::Retry);
    }
}
