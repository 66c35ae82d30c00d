//! What can go wrong, and which gRPC status says so. A provider that is away is none of it: that is a verdict.

use tonic::Status;

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A field of the request is malformed.
    #[error("{field}: {problem}")]
    Invalid {
        /// The field, as the proto names it.
        field: &'static str,
        /// What is wrong. Never quotes the value.
        problem: &'static str,
    },
    /// There is nothing to decide coverage by.
    #[error("no service area is loaded: load one with `abisu area load FILE.geojson`")]
    NoArea,
    /// The database is away or refuses.
    #[error("the database cannot be asked")]
    Database(#[from] sqlx::Error),
}

impl Error {
    /// A malformed field.
    pub(crate) fn invalid(field: &'static str, problem: &'static str) -> Self {
        Self::Invalid { field, problem }
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        match &error {
            Error::Invalid { .. } => Self::invalid_argument(error.to_string()),
            Error::NoArea => Self::failed_precondition(error.to_string()),
            Error::Database(cause) => {
                tracing::warn!(error.code = "database", error = %cause, "the database cannot be asked: {cause}");
                Self::unavailable(error.to_string())
            }
        }
    }
}
