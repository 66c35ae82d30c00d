//! Secrets and where they are.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use secrecy::{ExposeSecret, SecretString};

use super::account::Purpose;
use super::file::{ChannelsFile, FileError, Problem};

/// Where a secret is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// In an environment variable of this name.
    Env(String),
    /// In a file; the line end at its end is not part of it.
    File(PathBuf),
}

/// A secret as a file refers to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRef {
    /// Where it is.
    pub source: Source,
    /// The line that says so.
    pub line: u64,
    /// The field that says so.
    pub field: &'static str,
}

/// The secrets of all channels. The same place is read once, so that channels which share a secret always agree on it.
#[derive(Debug, Clone)]
pub struct Secrets {
    values: BTreeMap<Source, SecretString>,
}

/// What a second look at the files found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reread {
    /// Whether any secret is another one now.
    pub changed: bool,
    /// Files that hold no secret now; the one that they held stays in force.
    pub failed: Vec<(PathBuf, String)>,
}

impl Secrets {
    /// Reads every secret that the file refers to. `env` looks a variable up.
    ///
    /// # Errors
    /// Those that are not there, by line and field.
    pub fn read(file: &ChannelsFile, env: impl Fn(&str) -> Option<String>) -> Result<Self, FileError> {
        Self::of(file.secrets(Purpose::Receive).chain(file.secrets(Purpose::Send)), env)
    }

    /// Reads the secrets that are needed for one purpose: a process has no others.
    ///
    /// # Errors
    /// Those that are not there, by line and field.
    pub fn read_for(
        file: &ChannelsFile,
        purpose: Purpose,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, FileError> {
        Self::of(file.secrets(purpose), env)
    }

    fn of<'s>(
        secrets: impl Iterator<Item = &'s SecretRef>,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, FileError> {
        let (mut values, mut problems) = (BTreeMap::new(), Vec::new());
        for secret in secrets {
            if values.contains_key(&secret.source) {
                continue;
            }
            let found = match &secret.source {
                Source::Env(name) => {
                    env(name).and_then(usable).ok_or_else(|| format!("the variable {name} is not set"))
                }
                Source::File(path) => read(path).map_err(|why| format!("{}: {why}", path.display())),
            };
            match found {
                Ok(value) => drop(values.insert(secret.source.clone(), value)),
                Err(problem) => {
                    problems.push(Problem { line: secret.line, field: secret.field.to_owned(), problem });
                }
            }
        }
        if problems.is_empty() { Ok(Self { values }) } else { Err(FileError(problems)) }
    }

    /// Looks at the files again.
    pub fn reread(&mut self) -> Reread {
        let mut reread = Reread::default();
        for (source, value) in &mut self.values {
            let Source::File(path) = source else { continue };
            match read(path) {
                Ok(now) if now.expose_secret() == value.expose_secret() => {}
                Ok(now) => {
                    *value = now;
                    reread.changed = true;
                }
                Err(why) => reread.failed.push((path.clone(), why)),
            }
        }
        reread
    }

    pub(super) fn get(&self, source: &Source) -> SecretString {
        // What is not read for a purpose is not used for it.
        self.values.get(source).cloned().unwrap_or_default()
    }
}

fn read(path: &PathBuf) -> Result<SecretString, String> {
    let text = std::fs::read_to_string(path).map_err(|error| reason(error.kind()))?;
    usable(text).ok_or_else(|| "is empty".to_owned())
}

fn usable(text: String) -> Option<SecretString> {
    let text = text.trim_end_matches(['\r', '\n']);
    (!text.is_empty()).then(|| SecretString::from(text))
}

fn reason(kind: io::ErrorKind) -> String {
    format!("cannot be read: {kind}")
}
