//! The pool, the schema gate and transactions.

use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, PgConnection, PgPool};
use tracing::Instrument;

use crate::config::{ConfigError, DatabaseConfig};

/// All migrations, in order. `abisu migrate` applies them; services only compare.
pub static MIGRATIONS: Migrator = sqlx::migrate!("../../../migrations");

/// The newest migration that this binary knows.
pub fn schema_version() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0)
}

/// Idle for so long, a connection is asked whether it is alive before it is used.
const ASK_AFTER: Duration = Duration::from_secs(1);

/// How long a connection is waited for.
const ACQUIRE: Duration = Duration::from_secs(2);
/// How often a transaction is run again when the database says that it lost a race.
const RACE_REPEATS: u32 = 5;

pub(crate) fn check_url(url: &SecretString) -> Result<(), ConfigError> {
    match PgConnectOptions::from_str(url.expose_secret()) {
        Ok(_) if url.expose_secret().starts_with("postgres") => Ok(()),
        // The reason is left out: it may quote the password.
        _ => Err(ConfigError::invalid(
            "ABISU_DATABASE_URL",
            "not a URL like postgres://role:password@host:5432/database",
        )),
    }
}

/// Options for a connection of `service`, with the limits that keep one stalled client from holding others up.
///
/// A session keeps the plans that it made on the small tables of a new city while these grow a hundredfold within minutes,
/// so no statement may be planned to read a whole table where an index serves. What has no index is read as before; the
/// price that is then put on it must not look like a reason to compile the statement.
///
/// # Errors
/// The URL is not one that Postgres accepts.
pub fn connect_options(service: &str, url: &SecretString) -> Result<PgConnectOptions, sqlx::Error> {
    Ok(PgConnectOptions::from_str(url.expose_secret())?
        .application_name(&format!("abisu-{service}"))
        .options([
            ("idle_in_transaction_session_timeout", "5s"),
            ("statement_timeout", "30s"),
            ("lock_timeout", "5s"),
            ("client_connection_check_interval", "5s"),
            ("enable_seqscan", "off"),
            ("jit", "off"),
        ]))
}

/// A pool that connects when it is first used, so that a service starts, and says that it is not ready, while its
/// database is away.
///
/// # Errors
/// The URL is not one that Postgres accepts.
pub fn connect_lazy(service: &str, config: &DatabaseConfig) -> Result<PgPool, sqlx::Error> {
    Ok(PgPoolOptions::new()
        .max_connections(config.pool)
        .acquire_timeout(ACQUIRE)
        .max_lifetime(Duration::from_secs(15 * 60))
        // A busy connection showed a moment ago that it is alive; asking it again would be a round trip for every
        // statement. One that dies meanwhile is an error that every caller takes for *the database is away*.
        .test_before_acquire(false)
        .before_acquire(|connection, about| {
            Box::pin(async move { Ok(about.idle_for <= ASK_AFTER || connection.ping().await.is_ok()) })
        })
        .connect_lazy_with(connect_options(service, &config.url)?))
}

/// The newest migration that the database has, or `None` where there is none yet.
///
/// # Errors
/// The database cannot be asked.
pub async fn applied_version(pool: &PgPool) -> Result<Option<i64>, sqlx::Error> {
    // Not a checked macro: the table belongs to the migrator and is not there in an empty database.
    let found = sqlx::query_scalar::<_, Option<i64>>(
        "select max(version) from public._sqlx_migrations where success",
    )
    .fetch_one(pool)
    .await;
    match found {
        Ok(version) => Ok(version),
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("42P01") => Ok(None),
        Err(error) => Err(error),
    }
}

/// Why the database cannot be asked. The pool only says that no connection came in time, so it is tried once without.
pub(crate) async fn why(pool: &PgPool, error: sqlx::Error) -> String {
    if !matches!(error, sqlx::Error::PoolTimedOut) {
        return error.to_string();
    }
    let options = pool.connect_options();
    let at = format!("{}:{}", options.get_host(), options.get_port());
    match tokio::time::timeout(ACQUIRE, PgConnection::connect_with(&options)).await {
        Ok(Ok(_)) => error.to_string(),
        Ok(Err(error)) => format!("{at}: {error}"),
        Err(_) => format!("{at}: no answer within {} s", ACQUIRE.as_secs()),
    }
}

/// Whether a failed transaction may simply be run again.
pub trait LostRace {
    /// True for a serialisation failure or a deadlock (40001, 40P01): nothing was written, nobody else was told.
    fn lost_race(&self) -> bool;
}

impl LostRace for sqlx::Error {
    fn lost_race(&self) -> bool {
        matches!(self, Self::Database(error) if matches!(error.code().as_deref(), Some("40001" | "40P01")))
    }
}

/// A future that borrows from the transaction it runs in.
pub type TxFuture<'c, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'c>>;

/// Runs `work` on `input` in a transaction and commits when it returns `Ok`.
///
/// The transaction runs in a task of its own: a cancelled `begin` of sqlx 0.9.0 can leave an open transaction on a
/// pooled connection, so nothing that awaits this function can cancel it half way. `work` is run again when the
/// database reports a lost race, so it must have no effect but through the connection.
///
/// # Errors
/// What `work` returned, or the database's error as `E`.
pub async fn with_tx<A, T, E, F>(pool: &PgPool, input: A, work: F) -> Result<T, E>
where
    A: Send + Sync + 'static,
    T: Send + 'static,
    E: From<sqlx::Error> + LostRace + Send + 'static,
    F: for<'c> Fn(&'c mut PgConnection, &'c A) -> TxFuture<'c, T, E> + Send + Sync + 'static,
{
    let pool = pool.clone();
    let span = tracing::Span::current();
    let task = async move {
        let mut races = 0;
        loop {
            match once(&pool, &input, &work).await {
                Err(error) if error.lost_race() && races < RACE_REPEATS => races += 1,
                other => return other,
            }
        }
    };
    match tokio::spawn(task.instrument(span)).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only the end of the runtime cancels the task.
            Err(_) => Err(sqlx::Error::WorkerCrashed.into()),
        },
    }
}

async fn once<A, T, E, F>(pool: &PgPool, input: &A, work: &F) -> Result<T, E>
where
    E: From<sqlx::Error>,
    F: for<'c> Fn(&'c mut PgConnection, &'c A) -> TxFuture<'c, T, E>,
{
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that opens transactions, and it is never cancelled"
    )]
    let mut transaction = pool.begin().await?;
    let value = work(&mut transaction, input).await?;
    crate::failpoint!("tx.written");
    transaction.commit().await?;
    crate::failpoint!("tx.committed");
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_database_that_is_away_is_said_to_be_away() {
        // Nobody listens there.
        let url = SecretString::from("postgres://nobody@127.0.0.1:9/nothing");
        let pool = connect_lazy("test", &DatabaseConfig { url, pool: 2, file: None }).unwrap();
        let why = why(&pool, sqlx::Error::PoolTimedOut).await;
        assert!(why.starts_with("127.0.0.1:9: ") && why.contains("refused"), "{why}");
    }
}
