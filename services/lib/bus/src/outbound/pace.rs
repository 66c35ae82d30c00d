//! How fast replies may leave: per pair of number and citizen, and per number, shared by all replicas.

use std::time::Duration;

use sqlx::PgPool;
use uuid::Uuid;

use crate::{Error, secs};

/// The limits of a channel.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Between two sends of the number.
    pub number_every: Duration,
    /// Between two sends to one citizen, in the long run.
    pub pair_every: Duration,
    /// Sends to one citizen at once, borrowed from the time after.
    pub pair_burst: u32,
}

/// Whether a reply may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// It may, so much later; the place is taken.
    In(Duration),
    /// This citizen was sent too much; room again after this time. Nothing is taken.
    Full(Duration),
}

/// Takes a place for one send to a chat.
///
/// # Errors
/// The database's.
pub async fn reserve(pool: &PgPool, channel: &str, chat_id: Uuid, pace: &Pace) -> Result<Slot, Error> {
    let ahead = pace.pair_every * pace.pair_burst.saturating_sub(1);
    let slot = sqlx::query_file!(
        "src/store/reserve_send.sql",
        chat_id,
        channel,
        secs(pace.pair_every),
        secs(ahead),
        secs(pace.number_every)
    )
    .fetch_one(pool)
    .await?;
    runtime::failpoint!("send.reserved");
    let duration = |secs: f64| Duration::try_from_secs_f64(secs.max(0.0)).unwrap_or_default();
    Ok(match slot.go_in {
        Some(go_in) => Slot::In(duration(go_in)),
        None => Slot::Full(duration(slot.full_for.unwrap_or_default()).max(Duration::from_millis(1))),
    })
}
