//! Keeps the daily partitions made ahead. The service is not ready before they are there: without a partition for
//! today nothing can be stored.

use std::time::Duration;

use runtime::Initialised;
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

/// A week, so that an installation whose ingest cannot make them is noticed long before it hurts.
const DAYS_AHEAD: i32 = 7;
const INTERVAL: Duration = Duration::from_secs(60 * 60);
const AFTER_FAILURE: Duration = Duration::from_secs(1);

pub(crate) async fn keep(
    pool: PgPool,
    ready: Initialised,
    stopping: CancellationToken,
) -> anyhow::Result<()> {
    let mut ready = Some(ready);
    let mut failing = false;
    loop {
        let pause = match make(&pool).await {
            Ok(made) => {
                if made > 0 {
                    tracing::info!(made, "{made} partitions made ahead");
                }
                failing = false;
                if let Some(ready) = ready.take() {
                    ready.done();
                }
                INTERVAL
            }
            Err(error) => {
                // Said once per outage. While the database is away the schema gate says so as well.
                if !failing {
                    tracing::warn!(%error, "partitions cannot be made ahead: {error}");
                }
                failing = true;
                AFTER_FAILURE
            }
        };
        tokio::select! {
            () = stopping.cancelled() => return Ok(()),
            () = tokio::time::sleep(pause) => {}
        }
    }
}

async fn make(pool: &PgPool) -> Result<i32, sqlx::Error> {
    let made = sqlx::query_scalar!(r#"select inbound.make_partitions_v1($1) as "made!""#, DAYS_AHEAD);
    made.fetch_one(pool).await
}
