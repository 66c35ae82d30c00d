//! A secret that may be in a file: read there again each time it is used, so that it is rotated while the service runs.

use std::path::PathBuf;

use secrecy::SecretString;

/// A secret, and where it came from.
#[derive(Debug, Clone)]
pub(crate) struct Rotating {
    at_start: SecretString,
    file: Option<PathBuf>,
}

impl Rotating {
    pub(crate) const fn new(at_start: SecretString, file: Option<PathBuf>) -> Self {
        Self { at_start, file }
    }

    /// As its file says it now; where that cannot be read or says nothing, as it was at the start.
    pub(crate) async fn now(&self) -> SecretString {
        let Some(path) = &self.file else { return self.at_start.clone() };
        let text = tokio::fs::read_to_string(path).await.unwrap_or_default();
        let text = text.trim_end_matches(['\r', '\n']);
        if text.is_empty() { self.at_start.clone() } else { SecretString::from(text) }
    }
}
