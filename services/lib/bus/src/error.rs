//! What can go wrong between a worker and its queue, and whether it may simply be done again.

/// A queue operation that did not happen.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database refused or was not there.
    #[error("the queue's database refused")]
    Database(#[from] sqlx::Error),
    /// The lease was lost: another worker has the row now, or had it since. Nothing was written.
    #[error("the lease was lost")]
    Fenced,
}

/// What a database error says about the statement that met it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Nothing was written or it does not matter: run it again.
    Repeat,
    /// The database is away or overloaded.
    Unavailable,
    /// The data itself is refused (22xxx, 23xxx, 54xxx): it would be refused again.
    Data,
    /// Anything else: a fault of ours or of the schema.
    Bug,
}

/// Sorts database errors by what the caller may do about them.
pub fn classify(error: &sqlx::Error) -> Class {
    match error {
        sqlx::Error::Database(database) => {
            let code = database.code().unwrap_or_default();
            match (code.as_ref(), code.get(..2).unwrap_or_default()) {
                ("40001" | "40P01" | "55P03", _) => Class::Repeat,
                // A read-only server during a failover; a transaction that the server gave up on; "unknown outcome".
                ("25006" | "25P03" | "40003", _) => Class::Unavailable,
                // A violated check has a name. Without one it is a row that finds no partition for its day: every
                // message would meet it, and none is to blame.
                ("23514", _) if database.constraint().is_none() => Class::Unavailable,
                // Connection trouble, out of resources, operator's shutdown or a timeout, the server's disk.
                (_, "08" | "53" | "57" | "58") => Class::Unavailable,
                // Refused values, violated constraints, values beyond a limit (an index row, a nesting).
                (_, "22" | "23" | "54") => Class::Data,
                _ => Class::Bug,
            }
        }
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::BeginFailed
        | sqlx::Error::Protocol(_) => Class::Unavailable,
        sqlx::Error::Encode(_) => Class::Data,
        sqlx::Error::Configuration(_)
        | sqlx::Error::InvalidArgument(_)
        | sqlx::Error::RowNotFound
        | sqlx::Error::TypeNotFound { .. }
        | sqlx::Error::ColumnIndexOutOfBounds { .. }
        | sqlx::Error::ColumnNotFound(_)
        | sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::Decode(_)
        | sqlx::Error::Migrate(_)
        | sqlx::Error::InvalidSavePointStatement => Class::Bug,
        // The enum is open; what it may add is a fault until it is understood.
        _ => Class::Bug,
    }
}

impl runtime::database::LostRace for Error {
    fn lost_race(&self) -> bool {
        match self {
            Self::Database(error) => error.lost_race(),
            Self::Fenced => false,
        }
    }
}
