//! A secret that may be in a file: read there again each time it is used, so that it is rotated while the service runs.
//!
//! A file that cannot be read, or holds what cannot be used, leaves in force what it last held that could: a rotation
//! that went wrong must neither stop the service nor bring back a secret that has been replaced. That is said once, by
//! the file's name and never by what is in it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use secrecy::SecretString;

/// A volume that hangs must not keep a report from going.
const PATIENCE: Duration = Duration::from_secs(2);

/// A secret in the form in which it is used, and where it comes from. Clones share what was last good.
#[derive(Debug, Clone)]
pub(crate) struct Rotating<T> {
    file: Option<PathBuf>,
    read: fn(SecretString) -> Option<T>,
    held: Arc<Mutex<Held<T>>>,
}

#[derive(Debug)]
struct Held<T> {
    good: T,
    /// The file has been told of.
    failing: bool,
}

impl<T: Clone> Rotating<T> {
    /// What was read at the start, the file that it came from, if it did, and what makes of a file's text what is used.
    pub(crate) fn new(at_start: T, file: Option<PathBuf>, read: fn(SecretString) -> Option<T>) -> Self {
        Self { file, read, held: Arc::new(Mutex::new(Held { good: at_start, failing: false })) }
    }

    /// As its file says it now, or as it last could be used.
    pub(crate) async fn now(&self) -> T {
        let found = match &self.file {
            None => None,
            Some(path) => Some((
                path,
                text(path)
                    .await
                    .and_then(|text| (self.read)(text).ok_or_else(|| "holds what cannot be used".to_owned())),
            )),
        };
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match found {
            None => {}
            Some((_, Ok(good))) => *held = Held { good, failing: false },
            Some((path, Err(why))) => {
                if !held.failing {
                    tracing::error!(path = %path.display(), "a secret's file {why}; what it held before stays in force");
                }
                held.failing = true;
            }
        }
        held.good.clone()
    }
}

/// What a secret's file says, or why that is of no use.
async fn text(path: &Path) -> Result<SecretString, String> {
    let text = match tokio::time::timeout(PATIENCE, tokio::fs::read_to_string(path)).await {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => return Err(format!("cannot be read ({})", error.kind())),
        Err(_) => return Err("cannot be read in time".to_owned()),
    };
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() { Err("is empty".to_owned()) } else { Ok(SecretString::from(text)) }
}
