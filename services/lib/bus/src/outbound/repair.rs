//! The belt's look at the outgoing mailboxes.

use sqlx::PgPool;

/// Wakes the outgoing mailboxes of a channel that have replies, no time to send them and no lease. Gives their number,
/// which must be 0: anything else is a fault of ours or a hand in the rows.
///
/// # Errors
/// The database's.
pub async fn repair(pool: &PgPool, channel: &str) -> Result<usize, sqlx::Error> {
    let woken = sqlx::query_file_scalar!("src/store/repair_senders.sql", channel).fetch_all(pool).await?;
    for chat in &woken {
        tracing::error!(channel.id = channel, chat.id = %chat, "a chat slept over its replies and was woken");
    }
    Ok(woken.len())
}
