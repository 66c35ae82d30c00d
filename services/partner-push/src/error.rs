//! What keeps one report from being put together. What the partner says is not an error: it is classified.

use std::time::Duration;

use crate::push::SOON;

/// Each look says again that somebody must act.
const UNTIL_SOMEBODY_ACTS: Duration = Duration::from_secs(300);

/// A report that cannot be put together now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The database could not be asked.
    #[error("the taxonomy cannot be read from the database")]
    Database(#[from] sqlx::Error),
    /// Nobody knows the taxonomy version that the report was made with.
    #[error("taxonomy version {0} is unknown here")]
    UnknownVersion(String),
    /// A release is there, but this version of the service cannot read it.
    #[error("the release of taxonomy version {version} cannot be read")]
    UnreadableRelease {
        version: String,
        #[source]
        source: flow_json::CompiledError,
    },
    /// The taxonomy has no contractor's category for the route.
    #[error("route {route} of taxonomy version {version} has no category of the contractor")]
    Unmapped { version: String, route: String },
}

impl Error {
    /// The stable name in the report's row, in timelines and in logs.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Database(_) => "database_unavailable",
            Self::UnknownVersion(_) => "taxonomy_unknown",
            Self::UnreadableRelease { .. } => "taxonomy_unreadable",
            Self::Unmapped { .. } => "category_unmapped",
        }
    }

    /// How soon it is worth another look. None of these is the report's own fault, and each ends when somebody has put
    /// it right, so none of them is charged to it.
    pub(crate) const fn wait(&self) -> Duration {
        match self {
            Self::Database(_) => SOON,
            Self::UnknownVersion(_) | Self::UnreadableRelease { .. } | Self::Unmapped { .. } => {
                UNTIL_SOMEBODY_ACTS
            }
        }
    }
}
