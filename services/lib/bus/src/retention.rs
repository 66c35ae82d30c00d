//! What leaves, and when. With the owner's rights; one purge at a time, kept apart by an advisory lock.
//!
//! Days of history are partitions: detached concurrently, so that no append waits whoever reads, then dropped, and only
//! when nothing in them is unsettled. Rows of plain tables go in chunks, each a transaction of its own. A purge that
//! was cut at any point is simply run again: a detach that was interrupted is finished, a day that was detached and not
//! dropped is found by its name.

use std::time::Duration;

use sqlx::postgres::types::PgInterval;
use sqlx::{AssertSqlSafe, Executor, PgConnection};

/// Rows that one transaction deletes.
const CHUNK: i64 = 5_000;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Repeats a statement that deletes a chunk until there is none left, and gives the sum.
macro_rules! chunks {
    ($on:ident, $file:literal, $age:ident) => {{
        let mut sum = 0;
        loop {
            let gone = sqlx::query_file!($file, $age, CHUNK).execute(&mut *$on).await?.rows_affected();
            sum += gone;
            if gone == 0 {
                break sum;
            }
        }
    }};
}

/// How long things are kept.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    /// Raw deliveries, events, receipts, and replies that ended.
    pub history: Duration,
    /// Keys by which a message is known again.
    pub dedup: Duration,
    /// Dead events and rejections.
    pub dead: Duration,
    /// Drafts and prompts that nobody touched.
    pub untouched: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self { history: 7 * DAY, dedup: 9 * DAY, dead: 90 * DAY, untouched: 7 * DAY }
    }
}

/// What a purge did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Purged {
    /// Days that were dropped.
    pub dropped: Vec<String>,
    /// Days that stay although they are old: something in them is not settled.
    pub unsettled: Vec<String>,
    /// Days that somebody read for too long; the next purge finishes them.
    pub busy: Vec<String>,
    /// Keys deleted.
    pub dedup: u64,
    /// Receipts deleted.
    pub receipts: u64,
    /// Replies deleted.
    pub replies: u64,
    /// Dead events deleted.
    pub dead: u64,
    /// Rejections deleted.
    pub rejected: u64,
    /// Sessions that went back to idle.
    pub sessions: u64,
    /// Drafts deleted.
    pub drafts: u64,
}

/// Deletes what is older than its retention. `None`: another purge is running. `step` hears what is done next.
///
/// # Errors
/// The database's. What was done until then is done.
pub async fn purge(
    on: &mut PgConnection,
    retention: Retention,
    step: &mut (dyn FnMut(&str) + Send),
) -> Result<Option<Purged>, sqlx::Error> {
    let alone = sqlx::query_scalar!(r#"select pg_try_advisory_lock(hashtext('inbound.purge')) as "alone!""#);
    if !alone.fetch_one(&mut *on).await? {
        return Ok(None);
    }
    let purged = purge_alone(on, retention, step).await;
    // Ends with the connection where this fails.
    let _ = on.execute("select pg_advisory_unlock(hashtext('inbound.purge'))").await;
    purged.map(Some)
}

async fn purge_alone(
    on: &mut PgConnection,
    retention: Retention,
    step: &mut (dyn FnMut(&str) + Send),
) -> Result<Purged, sqlx::Error> {
    // A large day takes long to be looked through; a wait for a lock stays short.
    on.execute("set statement_timeout = 0").await?;
    on.execute("set lock_timeout = '5s'").await?;
    let mut purged = Purged::default();
    step("days");
    drop_days(on, interval(retention.history)?, &mut purged).await?;
    step("keys");
    let age = interval(retention.dedup)?;
    purged.dedup = chunks!(on, "src/store/purge_dedup.sql", age);
    step("receipts");
    let age = interval(retention.history)?;
    purged.receipts = chunks!(on, "src/store/purge_receipts.sql", age);
    step("replies");
    let age = interval(retention.history)?;
    purged.replies = chunks!(on, "src/store/purge_outbounds.sql", age);
    step("dead messages and rejections");
    let age = interval(retention.dead)?;
    purged.dead = chunks!(on, "src/store/purge_dead.sql", age);
    purged.rejected = chunks!(on, "src/store/purge_rejected.sql", age);
    step("drafts");
    let untouched = sqlx::query!(
        r#"select sessions as "sessions!", drafts as "drafts!" from chat.purge_untouched_v1($1)"#,
        interval(retention.untouched)?
    );
    let untouched = untouched.fetch_one(&mut *on).await?;
    purged.sessions = untouched.sessions.unsigned_abs();
    purged.drafts = untouched.drafts.unsigned_abs();
    Ok(purged)
}

async fn drop_days(on: &mut PgConnection, age: PgInterval, purged: &mut Purged) -> Result<(), sqlx::Error> {
    let days = sqlx::query_file!("src/store/list_old_days.sql", age).fetch_all(&mut *on).await?;
    // A table takes one detach at a time: while one waits for its readers, no other can begin.
    let mut blocked: Vec<String> = Vec::new();
    for day in days {
        if let Some(parent) = &day.parent {
            if blocked.contains(parent) {
                purged.busy.push(day.name);
                continue;
            }
            if !day.pending_detach && pending(on, &day.name).await? {
                purged.unsettled.push(day.name);
                continue;
            }
            let how = if day.pending_detach { "finalize" } else { "concurrently" };
            // The names are the catalogue's and were matched against a pattern of letters, digits and underscores.
            let detach = format!("alter table inbound.{parent} detach partition inbound.{} {how}", day.name);
            match on.execute(AssertSqlSafe(detach)).await {
                Ok(_) => {}
                Err(error) if is_busy(&error) => {
                    blocked.push(parent.clone());
                    purged.busy.push(day.name);
                    continue;
                }
                Err(error) => return Err(error),
            }
        }
        let dropped = sqlx::query_scalar!(r#"select inbound.drop_detached_v1($1) as "dropped!""#, day.name);
        match dropped.fetch_one(&mut *on).await {
            Ok(true) => purged.dropped.push(day.name),
            Ok(false) => purged.unsettled.push(day.name),
            Err(error) if is_busy(&error) => purged.busy.push(day.name),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn pending(on: &mut PgConnection, name: &str) -> Result<bool, sqlx::Error> {
    let pending = sqlx::query_scalar!(r#"select inbound.partition_pending_v1($1) as "pending!""#, name);
    pending.fetch_one(on).await
}

/// A wait for a lock was given up.
fn is_busy(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.code().as_deref() == Some("55P03"))
}

fn interval(age: Duration) -> Result<PgInterval, sqlx::Error> {
    PgInterval::try_from(age).map_err(sqlx::Error::Encode)
}
