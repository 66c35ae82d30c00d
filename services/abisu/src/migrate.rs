//! `abisu migrate`: applies what is missing and makes partitions for the days ahead.
//!
//! Services never migrate; they wait until the schema is as new as they are. Two of these at once are safe: an
//! advisory lock lets one pass after the other, and the second finds nothing to do.

use std::collections::BTreeSet;
use std::fmt::Write;

use anyhow::Context;
use runtime::config::DatabaseArgs;
use runtime::database::{MIGRATIONS, schema_version};
use sqlx::PgConnection;

use crate::Failure;
use crate::connect::connect_patiently;

/// Partitions made ahead. Ingest makes further ones hourly; a week covers an ingest that is down.
const DAYS_AHEAD: i32 = 7;

pub(crate) async fn run(database: DatabaseArgs) -> Result<String, Failure> {
    let mut on = connect_patiently(database).await?;
    // Held until the connection closes, so that what is printed as applied was applied here.
    sqlx::query("select pg_advisory_lock(hashtext('abisu migrate'))").execute(&mut on).await?;
    let before = applied(&mut on).await?;
    let known = schema_version();
    let mut text = String::new();
    match before.last() {
        Some(&newest) if newest > known => {
            // After a roll-back of the software: migrations only expand, so an older version runs on a newer schema.
            let _ = writeln!(
                text,
                "the schema is at {newest}, newer than this version's {known}: nothing applied"
            );
        }
        _ => {
            MIGRATIONS.run(&mut on).await.context("a migration failed and was rolled back")?;
            let after = applied(&mut on).await?;
            for migration in
                MIGRATIONS.iter().filter(|m| after.contains(&m.version) && !before.contains(&m.version))
            {
                let _ = writeln!(text, "applied {} {}", migration.version, migration.description);
            }
            if before == after {
                let _ = writeln!(text, "the schema is at {known}: nothing to apply");
            }
        }
    }
    let made = sqlx::query_scalar!(r#"select inbound.make_partitions_v1($1) as "made!""#, DAYS_AHEAD)
        .fetch_one(&mut on)
        .await?;
    if made > 0 {
        let _ = writeln!(text, "made {made} daily partitions");
    }
    Ok(text)
}

/// Versions that the database has. Not a checked macro: the table belongs to the migrator and an empty database has
/// none.
async fn applied(on: &mut PgConnection) -> Result<BTreeSet<i64>, sqlx::Error> {
    let found =
        sqlx::query_scalar("select version from public._sqlx_migrations where success").fetch_all(on).await;
    match found {
        Ok(versions) => Ok(versions.into_iter().collect()),
        Err(sqlx::Error::Database(error)) if error.code().is_some_and(|code| code == "42P01") => {
            Ok(BTreeSet::new())
        }
        Err(error) => Err(error),
    }
}
