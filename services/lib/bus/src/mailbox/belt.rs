//! The belt: finds what no step of the protocol leaves behind, and says so aloud. In both mailboxes of a chat: a message
//! that nobody handles and a reply that nobody sends are the same silence to a citizen.

use std::time::Duration;

use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use crate::metrics::QueueMetrics;
use crate::outbound;

const INTERVAL: Duration = Duration::from_secs(60 * 60);

/// Wakes the chats of a channel that have work, no time to do it, no lease and no hold. Gives their number, which must
/// be 0: anything else is a fault of ours or a hand in the rows.
///
/// # Errors
/// The database's.
pub async fn repair(pool: &PgPool, channel: &str) -> Result<usize, sqlx::Error> {
    let woken = sqlx::query_file_scalar!("src/store/repair_chats.sql", channel).fetch_all(pool).await?;
    for chat in &woken {
        tracing::error!(channel.id = channel, chat.id = %chat, "a chat slept over its work and was woken");
    }
    Ok(woken.len())
}

/// Looks at once and then every hour, until `stopping`. One call per process is enough; several do no harm.
pub async fn belt(pool: PgPool, channel: String, metrics: QueueMetrics, stopping: CancellationToken) {
    loop {
        for looked in [repair(&pool, &channel).await, outbound::repair(&pool, &channel).await] {
            match looked {
                Ok(woken) => metrics.woken(&channel, woken),
                // The next hour will do.
                Err(error) => {
                    tracing::warn!(code = ?error.as_database_error().and_then(|e| e.code()), "the belt did not run")
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(INTERVAL) => {}
            () = stopping.cancelled() => return,
        }
    }
}
