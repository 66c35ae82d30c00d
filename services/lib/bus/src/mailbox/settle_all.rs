//! Ending many loans in one call.

use sqlx::PgConnection;
use uuid::Uuid;

use super::{MAX_DEFERS, SELDOM, Settlement};
use crate::{Error, secs};

/// Ends several loans and says which of them still stood: a chat that is not among them is somebody else's, and nothing
/// may be written for it. First in the transaction that also writes what the loans did.
///
/// The same as [`settle`](super::settle) for each, in one round trip and with the locks in the order of the chats' ids,
/// so that it waits in no circle with appends or with another of its kind. What the database refuses for one it refuses
/// for all: split the call then.
///
/// # Errors
/// The database's. Being fenced is none.
pub async fn settle_all(tx: &mut PgConnection, settlements: &[Settlement]) -> Result<Vec<Uuid>, Error> {
    let of = settlements.iter();
    Ok(sqlx::query_file_scalar!(
        "src/store/settle_chats.sql",
        &of.clone().map(|one| one.chat_id).collect::<Vec<_>>(),
        &of.clone().map(|one| one.epoch).collect::<Vec<_>>(),
        &of.clone().map(|one| one.from_seq).collect::<Vec<_>>(),
        &of.clone().map(|one| one.done_seq).collect::<Vec<_>>(),
        &of.clone().map(|one| one.outcome.name().to_owned()).collect::<Vec<_>>(),
        &of.clone().map(|one| secs(one.outcome.delay())).collect::<Vec<_>>(),
        &of.clone().map(|one| one.error.clone()).collect::<Vec<_>>() as &[Option<String>],
        &of.map(|one| one.last_received_at).collect::<Vec<_>>() as &[Option<chrono::DateTime<chrono::Utc>>],
        MAX_DEFERS,
        secs(SELDOM),
    )
    .fetch_all(tx)
    .await?)
}
