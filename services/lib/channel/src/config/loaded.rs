//! The channels of a process: the list with its secrets, which may be read again.

use std::path::Path;

use super::account::{Account, Purpose};
use super::file::{ChannelsFile, FileError};
use super::secret::{Reread, Secrets};

/// A list of channels with the secrets of one purpose.
#[derive(Debug, Clone)]
pub struct Loaded {
    file: ChannelsFile,
    secrets: Secrets,
}

impl Loaded {
    /// Reads a file for a purpose, and the secrets that it takes. `env` looks a variable up.
    ///
    /// # Errors
    /// One line that names the file, and line and field of all that is wrong with it.
    pub fn read(path: &Path, purpose: Purpose, env: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let wrong = |problem: &dyn std::fmt::Display| format!("{}: {problem}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error.kind()))?;
        let file = ChannelsFile::parse(&text).map_err(|error| wrong(&error))?;
        Self::of(file, purpose, env).map_err(|error| wrong(&error))
    }

    /// A list that was made otherwise.
    ///
    /// # Errors
    /// What is missing for the purpose, by line and field.
    pub fn of(
        file: ChannelsFile,
        purpose: Purpose,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, FileError> {
        file.suits(purpose)?;
        let secrets = Secrets::read_for(&file, purpose, env)?;
        Ok(Self { file, secrets })
    }

    /// The list with one more channel, that stands in no file and takes no secret; `None` if it has one of that id.
    pub fn with(self, account: Account<super::SecretRef>) -> Option<Self> {
        Some(Self { file: self.file.with(account)?, secrets: self.secrets })
    }

    /// The accounts, with the secrets in force.
    pub fn accounts(&self) -> Vec<Account> {
        self.file.resolve(&self.secrets)
    }

    /// Looks at the files of the secrets again. Blocks: they may be on a volume that hangs.
    pub fn reread(&mut self) -> Reread {
        self.secrets.reread()
    }
}
