//! Tests only: a private, migrated database per test, and waiting without sleeping blindly.
//!
//! `ABISU_TEST_DATABASE_URL` names a server on which databases may be created; `cargo xtask test` starts one. The
//! migrations run once per server, version and day into a template, which each test's database is a copy of.
#![deny(missing_docs)]

use std::collections::hash_map::DefaultHasher;
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::time::Duration;

use prometheus_client::registry::Registry;
use runtime::Shell;
use runtime::database::MIGRATIONS;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, PgPool};
use uuid::Uuid;

/// A migrated database of one test, on its own. It is dropped with this value.
pub struct Database {
    /// A pool with the owner's rights.
    pub pool: PgPool,
    /// The owner's URL.
    pub url: String,
    name: String,
    server: PgConnectOptions,
}

/// Makes a database for one test.
///
/// # Panics
/// Without a server to make it on: a test that cannot run must not pass.
pub async fn database() -> Database {
    let server = std::env::var("ABISU_TEST_DATABASE_URL")
        .expect("ABISU_TEST_DATABASE_URL is not set: run the tests with `cargo xtask test`");
    let server = PgConnectOptions::from_str(&server).expect("ABISU_TEST_DATABASE_URL is a Postgres URL");
    let template = template(&server).await.expect("the template database can be made");
    let name = format!("abisu_test_{}", Uuid::now_v7().simple());
    let mut connection = server.connect().await.expect("the test server answers");
    // The names are our own: letters, digits and underscores.
    let sql = format!("create database {name} template {template}");
    connection.execute(AssertSqlSafe(sql)).await.expect("the template can be copied");
    let options = server.clone().database(&name);
    let url = options.to_url_lossy().to_string();
    let pool = PgPoolOptions::new()
        .max_connections(10)
        .connect_with(options)
        .await
        .expect("the new database answers");
    Database { pool, url, name, server }
}

impl Database {
    /// The URL by which the given role connects. The test server trusts local connections.
    pub fn url_as(&self, role: &str) -> String {
        self.server.clone().database(&self.name).username(role).to_url_lossy().to_string()
    }

    /// Counts the rows that `sql` selects: `count(*)` of it.
    ///
    /// # Panics
    /// If the statement is refused.
    pub async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.expect("the count is a valid statement")
    }

    /// How many connections wait for a lock that another one holds.
    pub async fn lock_waits(&self) -> i64 {
        self.count(
            "select count(*) from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock'",
        )
        .await
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), std::mem::take(&mut self.name));
        // Drop cannot await; a thread of its own can. What it cannot drop goes with the private server.
        let _ = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            if let Ok(runtime) = runtime {
                runtime.block_on(async {
                    if let Ok(mut connection) = server.connect().await {
                        let sql = format!("drop database if exists {name} with (force)");
                        let _ = connection.execute(AssertSqlSafe(sql)).await;
                    }
                });
            }
        })
        .join();
    }
}

/// Makes the template once per server; processes that race for it wait for the winner.
async fn template(server: &PgConnectOptions) -> Result<String, sqlx::Error> {
    let mut hasher = DefaultHasher::new();
    for migration in MIGRATIONS.iter() {
        migration.checksum.hash(&mut hasher);
    }
    let mut connection = server.connect().await?;
    // It has partitions for the days around the one on which it was made.
    let today: String =
        sqlx::query_scalar("select to_char(now(), 'YYYYMMDD')").fetch_one(&mut connection).await?;
    let name = format!("abisu_template_{:016x}_{today}", hasher.finish());
    connection.execute("select pg_advisory_lock(hashtext('abisu_template'))").await?;
    let made = make_template(&mut connection, server, &name).await;
    connection.close().await?;
    made.map(|()| name)
}

async fn make_template(
    on: &mut PgConnection,
    server: &PgConnectOptions,
    name: &str,
) -> Result<(), sqlx::Error> {
    let known: bool = sqlx::query_scalar("select exists (select from pg_database where datname = $1)")
        .bind(name)
        .fetch_one(&mut *on)
        .await?;
    if known {
        return Ok(());
    }
    let building = format!("{name}_building");
    on.execute(AssertSqlSafe(format!("drop database if exists {building}"))).await?;
    on.execute(AssertSqlSafe(format!("create database {building}"))).await?;
    let mut fresh = server.clone().database(&building).connect().await?;
    MIGRATIONS
        .run_direct(None, &mut fresh, false)
        .await
        .map_err(|error| sqlx::Error::Migrate(Box::new(error)))?;
    fresh.close().await?;
    // Renamed when complete, so that a run that is cut half way leaves no half template behind.
    on.execute(AssertSqlSafe(format!("alter database {building} rename to {name}"))).await?;
    Ok(())
}

/// What a scrape of these metrics gives.
///
/// # Panics
/// If they cannot be written down.
pub fn scraped(registry: &Registry) -> String {
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, registry).expect("a String takes all");
    text
}

/// Waits until the admin port of the service would tell this line.
///
/// # Panics
/// As [`eventually`].
pub async fn until_metric(shell: &Shell, line: &str) {
    eventually(line, async || {
        let text = shell.metrics(|registry| scraped(registry));
        text.lines().any(|told| told == line).then_some(())
    })
    .await;
}

/// Polls `condition` until it gives a value.
///
/// # Panics
/// After 20 s, naming `what` was awaited.
pub async fn eventually<T, F, Fut>(what: &str, condition: F) -> T
where
    F: Fn() -> Fut,
    Fut: Future<Output = Option<T>>,
{
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(value) = condition().await {
            return value;
        }
        assert!(tokio::time::Instant::now() < deadline, "not within 20 s: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
