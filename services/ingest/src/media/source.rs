//! The secret that links are verified with, and the file that it may be in.

use std::path::PathBuf;

use partner::media::{MediaKeys, MediaSecretArgs};
use runtime::config::{ConfigError, required_secret};
use secrecy::{ExposeSecret, SecretString};

const NAME: &str = "ABISU_MEDIA_SECRET";

/// The keys, and where to look for them again.
#[derive(Debug, Clone)]
pub struct MediaSource {
    keys: MediaKeys,
    file: Option<PathBuf>,
    /// What the file held when it was last looked at.
    held: SecretString,
}

impl MediaSource {
    /// The keys of a command line, if it has any.
    ///
    /// # Errors
    /// They cannot be used.
    pub fn given(args: &MediaSecretArgs) -> Result<Option<Self>, ConfigError> {
        let Some(keys) = args.clone().config()? else { return Ok(None) };
        let Some(file) = args.file() else { return Ok(Some(Self::fixed(keys))) };
        Self::in_file(file.to_owned()).map(Some)
    }

    /// Keys that do not change.
    pub fn fixed(keys: MediaKeys) -> Self {
        Self { keys, file: None, held: SecretString::default() }
    }

    /// Keys in a file.
    ///
    /// # Errors
    /// It cannot be read, or holds none that can be used.
    pub fn in_file(file: PathBuf) -> Result<Self, ConfigError> {
        let held = required_secret(NAME, None, Some(file.clone()))?;
        Ok(Self { keys: MediaKeys::parse(&held)?, file: Some(file), held })
    }

    /// The keys as they were first read.
    pub(crate) fn keys(&self) -> MediaKeys {
        self.keys.clone()
    }

    /// New keys, if the file holds other ones. What it held is compared and not only what could be used, so that what
    /// cannot be used is an error each time.
    pub(crate) fn reread(&mut self) -> Result<Option<MediaKeys>, (PathBuf, String)> {
        let Some(file) = self.file.clone() else { return Ok(None) };
        let found =
            required_secret(NAME, None, Some(file.clone())).map_err(|_| "cannot be read, or is empty");
        let found = found.map_err(|why| (file.clone(), why.to_owned()))?;
        if found.expose_secret() == self.held.expose_secret() {
            return Ok(None);
        }
        let keys = MediaKeys::parse(&found);
        let keys = keys.map_err(|_| (file, "holds what is no secret of links".to_owned()))?;
        self.held = found;
        Ok(Some(keys))
    }
}
