//! One connection per command, with the limits of [`runtime::database::connect_options`].

use std::time::{Duration, Instant};

use runtime::config::DatabaseArgs;
use runtime::database::connect_options;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection};

use crate::Failure;

/// How long `migrate` waits for a database that is still starting.
const STARTING: Duration = Duration::from_secs(30);
/// How often it looks.
const POLL: Duration = Duration::from_millis(200);

/// Connects once.
pub(crate) async fn connect(database: DatabaseArgs) -> Result<PgConnection, Failure> {
    let options = options(database)?;
    options.connect().await.map_err(|error| not_reached(error, &options))
}

/// Connects without limits on statements and locks, waiting for a database that is starting.
pub(crate) async fn connect_patiently(database: DatabaseArgs) -> Result<PgConnection, Failure> {
    // A migration may have to wait for another that holds the migrator's lock; each sets its own lock limit.
    let options = options(database)?.options([("statement_timeout", "0"), ("lock_timeout", "0")]);
    let deadline = Instant::now() + STARTING;
    loop {
        match options.connect().await {
            Ok(connection) => return Ok(connection),
            Err(error) if is_starting(&error) && Instant::now() < deadline => tokio::time::sleep(POLL).await,
            Err(error) => return Err(not_reached(error, &options)),
        }
    }
}

fn options(database: DatabaseArgs) -> Result<PgConnectOptions, Failure> {
    Ok(connect_options("cli", &database.config()?.url)?)
}

/// Nobody listens yet, or the server says that it cannot accept connections now.
fn is_starting(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| code == "57P03"),
        _ => false,
    }
}

fn not_reached(error: sqlx::Error, options: &PgConnectOptions) -> Failure {
    // Host, port and database only: the rest of the URL may hold a password.
    let (host, port) = (options.get_host(), options.get_port());
    let database = options.get_database().unwrap_or_default();
    let context = format!("ABISU_DATABASE_URL: cannot use database {database:?} at {host}:{port}");
    Failure::Failed(anyhow::Error::new(error).context(context))
}
