//! Writes down how things ended, and does not give up: an answer that is not written makes a person look for it.

use std::time::Duration;

use bus::Class;
use bus::outbox::{self, Evidence};
use runtime::backoff::Backoff;
use sqlx::PgPool;
use uuid::Uuid;

use crate::metrics::Metrics;
use crate::store::{self, Settlement};

/// Between tries to write while the database is away. The end of the process ends them.
const AGAIN: Backoff = Backoff { first: Duration::from_millis(200), longest: Duration::from_secs(5) };

/// The books.
#[derive(Clone)]
pub(crate) struct Ledger {
    pub(crate) pool: PgPool,
    pub(crate) metrics: Metrics,
}

impl Ledger {
    /// Settles, for as long as it takes. False: the report was in other hands, or the database refused for good;
    /// both have been said.
    pub(crate) async fn settle(&self, end: Settlement) -> bool {
        let report_id = end.report_id;
        let outcome = end.outcome.clone();
        let settled = insist(|| {
            let (pool, end) = (self.pool.clone(), end.clone());
            async move {
                if end.unconfirmed {
                    let written =
                        runtime::with_tx(&pool, end, |tx, end| Box::pin(store::settle_unconfirmed(tx, end)));
                    return written.await;
                }
                let mut connection = pool.acquire().await?;
                store::settle(&mut connection, &end).await
            }
        });
        match settled.await {
            Ok(true) => {
                self.metrics.settle(&outcome);
                true
            }
            Ok(false) => {
                self.metrics.fence();
                tracing::warn!(
                    report.id = %report_id,
                    outcome = outcome.name(),
                    "the report is in other hands: only what the partner answered was written"
                );
                false
            }
            Err(error) => {
                let error = anyhow::Error::from(error);
                tracing::error!(
                    report.id = %report_id,
                    outcome = outcome.name(),
                    error = format!("{error:#}"),
                    "the end of a push cannot be written; the report comes back when its lease ends"
                );
                false
            }
        }
    }

    /// Closes an attempt whose report goes on. False: it could not be written, so nothing more may be sent.
    pub(crate) async fn close(&self, attempt_id: Uuid, evidence: &Evidence) -> bool {
        let closed = insist(|| {
            let (pool, evidence) = (self.pool.clone(), evidence.clone());
            async move {
                let mut connection = pool.acquire().await?;
                outbox::close_attempt(&mut connection, attempt_id, &evidence).await
            }
        });
        match closed.await {
            Ok(()) => true,
            Err(error) => {
                let error = anyhow::Error::from(error);
                tracing::error!(error = format!("{error:#}"), "an attempt cannot be closed");
                false
            }
        }
    }
}

/// Runs `write` until the database takes it or refuses it for good.
async fn insist<T, F, Fut>(write: F) -> Result<T, bus::Error>
where
    F: Fn() -> Fut,
    Fut: Future<Output = Result<T, bus::Error>>,
{
    let mut failures = 0;
    loop {
        let error = match write().await {
            Err(bus::Error::Database(error)) => error,
            other => return other,
        };
        match bus::classify(&error) {
            Class::Repeat | Class::Unavailable => {}
            Class::Data | Class::Bug => return Err(bus::Error::Database(error)),
        }
        failures += 1;
        tracing::warn!(%error, failures, "the database is away; what the partner answered is kept until it is back");
        tokio::time::sleep(AGAIN.after(failures, rand::random())).await;
    }
}
