//! Why a command ends without having done its work, and the exit code that says so to scripts.

use std::process::ExitCode;

use runtime::ConfigError;

/// Exit code for bad usage and configuration (`EX_USAGE`).
pub(crate) const EXIT_USAGE: u8 = 64;

/// Exit code for a comparison that found a difference.
const EXIT_FINDINGS: u8 = 2;

/// A command that failed. Displayed as one line.
#[derive(Debug)]
pub enum Failure {
    /// A setting is missing or wrong.
    Config(ConfigError),
    /// What was given on the command line cannot be used.
    Usage(String),
    /// The command has done its work, and what it found is not as it should be: its text, to be printed like any other.
    Findings(String),
    /// Everything else.
    Failed(anyhow::Error),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Config(_) | Self::Usage(_) => EXIT_USAGE.into(),
            Self::Findings(_) => EXIT_FINDINGS.into(),
            Self::Failed(_) => ExitCode::FAILURE,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Usage(text) | Self::Findings(text) => text.fmt(f),
            Self::Failed(error) => write!(f, "{error:#}"),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        let missing = error
            .as_database_error()
            .and_then(|e| e.code())
            .is_some_and(|code| code == "42P01" || code == "3F000");
        let error = anyhow::Error::new(error);
        Self::Failed(if missing {
            error.context("the schema is not complete: run `abisu migrate`")
        } else {
            error
        })
    }
}
