//! A channel whose number cannot send until a person acts: its replies are kept and none of them is claimed.
//!
//! Resuming needs no reply to be tried: whoever takes the next probe asks the provider for the number itself. Pauses
//! that follow each other closely, because the probe cannot see what is wrong, are probed at growing intervals.

use std::time::Duration;

use sqlx::PgPool;

use crate::{Error, secs};

/// How often a paused channel is probed.
#[derive(Debug, Clone, Copy)]
pub struct Probing {
    /// After the first pause.
    pub first: Duration,
    /// At most, after many pauses in a row.
    pub longest: Duration,
}

/// Pauses a channel. True: it was not paused before.
///
/// # Errors
/// The database's.
pub async fn pause(pool: &PgPool, channel: &str, reason: &str, probing: &Probing) -> Result<bool, Error> {
    let (first, longest) = (secs(probing.first), secs(probing.longest));
    let paused = sqlx::query_file!("src/store/pause_channel.sql", channel, reason, first, longest)
        .execute(pool)
        .await?;
    Ok(paused.rows_affected() == 1)
}

/// Why a channel is paused, if it is.
///
/// # Errors
/// The database's.
pub async fn reason(pool: &PgPool, channel: &str) -> Result<Option<String>, Error> {
    let reason =
        sqlx::query_scalar!("select pause_reason from chat.channel_state where channel = $1", channel);
    Ok(reason.fetch_optional(pool).await?.flatten())
}

/// Takes the next probe of a paused channel, if it is due. True: it is the caller's to make.
///
/// # Errors
/// The database's.
pub async fn take_probe(pool: &PgPool, channel: &str, probing: &Probing) -> Result<bool, Error> {
    let (first, longest) = (secs(probing.first), secs(probing.longest));
    let taken = sqlx::query_file!("src/store/take_probe.sql", channel, first, longest).execute(pool).await?;
    Ok(taken.rows_affected() == 1)
}

/// Ends a pause. True: there was one.
///
/// # Errors
/// The database's.
pub async fn resume(pool: &PgPool, channel: &str) -> Result<bool, Error> {
    let resumed = sqlx::query_file!("src/store/resume_channel.sql", channel).execute(pool).await?;
    Ok(resumed.rows_affected() == 1)
}
