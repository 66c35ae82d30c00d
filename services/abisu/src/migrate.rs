//! `abisu migrate`: applies what is missing and makes partitions for the days ahead.
//!
//! Services never migrate; they wait until the schema is as new as they are. Two of these at once are safe: an
//! advisory lock lets one pass after the other, and the second finds nothing to do.

use std::collections::BTreeSet;
use std::fmt::Write;

use runtime::config::DatabaseArgs;
use runtime::database::{MIGRATIONS, schema_version};
use sqlx::PgConnection;
use sqlx::migrate::MigrateError;

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
            if let Err(error) = MIGRATIONS.run(&mut on).await {
                let hint = hint(&mut on, &error).await;
                return Err(Failure::Failed(anyhow::Error::new(error).context(hint)));
            }
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

/// What to do about a migration that failed: mostly the owner of a managed database may less than it needs to.
async fn hint(on: &mut PgConnection, error: &MigrateError) -> String {
    const FAILED: &str = "a migration failed and was rolled back";
    let code = match error {
        MigrateError::ExecuteMigration(sqlx::Error::Database(error), _) => error.code(),
        _ => None,
    };
    let what = match code.as_deref() {
        Some("42501") => forbidden(on).await,
        // The extension is not on the server's list, or its files are not there.
        Some("0A000" | "58P01") => {
            "the server lacks an extension: it must offer PostGIS and pg_trgm".to_owned()
        }
        Some(_) | None => return FAILED.to_owned(),
    };
    format!("{FAILED}: {what}")
}

/// Which right the owner lacks.
async fn forbidden(on: &mut PgConnection) -> String {
    let asked = sqlx::query_as(
        "select rolname::text, rolcreaterole or rolsuper from pg_catalog.pg_roles where rolname = current_user",
    );
    match asked.fetch_one(on).await {
        Ok((role, false)) => format!(
            "the role {role} lacks CREATEROLE, which the first migration takes also where all roles are there: have an \
             administrator run `alter role {role} createrole`, and take it back afterwards if you like"
        ),
        Ok((role, true)) => {
            let role: String = role;
            format!(
                "the role {role} lacks a right: it must own the database, and PostGIS must be there if it may not make it"
            )
        }
        Err(_) => "the role lacks a right".to_owned(),
    }
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
