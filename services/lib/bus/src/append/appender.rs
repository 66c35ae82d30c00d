//! Stores deliveries, with patience for a database that is away and none for data that it refuses.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sqlx::PgPool;
use tokio::time::Instant;

use super::lanes::Lanes;
use super::store::patiently;
use super::ticket::{Limits, Room, Ticket};
use super::{Delivery, Error, Stored, pieces, write};
use crate::error::{Class, classify};
use crate::metrics::AppendMetrics;

/// What may wait to be stored, whoever sent it: seconds of work for a database that is well.
const LIMITS: Limits = Limits { rows: 20_000, bytes: 32 << 20 };

/// Stores deliveries. Cheap to clone; clones share their lanes.
#[derive(Clone)]
pub struct Appender {
    lanes: Arc<Lanes>,
    room: Arc<Room>,
    limits: Limits,
    patience: Duration,
}

impl Appender {
    /// `patience` bounds how long a delivery is tried before the provider is told to come again.
    pub fn new(pool: PgPool, patience: Duration) -> Self {
        let lanes = Arc::new(Lanes::new(pool, AppendMetrics::default()));
        Self { lanes, room: Arc::default(), limits: LIMITS, patience }
    }

    /// With other limits on what may wait: rows, and bytes of memory.
    #[must_use]
    pub fn with_limits(mut self, rows: usize, bytes: usize) -> Self {
        self.limits = Limits { rows, bytes };
        self
    }

    /// What is counted, to be registered.
    pub fn metrics(&self) -> &AppendMetrics {
        &self.lanes.metrics
    }

    /// Rows that wait or are being stored.
    pub fn waiting(&self) -> usize {
        self.room.rows()
    }

    /// Stores one delivery, whole. Returns after COMMIT.
    ///
    /// What comes at the same time from many calls goes in one commit. A statement whose outcome is unknown is repeated
    /// safely: the activity ids tell our rows from others'. What the database refuses for its data is split off and kept
    /// as a rejection, and the rest goes on. A caller that no longer waits changes nothing.
    ///
    /// # Errors
    /// Something is not stored; what is stored will be found as a duplicate when the delivery comes again.
    pub async fn append(&self, mut delivery: Delivery) -> Result<Stored, Error> {
        let deadline = Instant::now() + self.patience;
        let rows = pieces::count(&delivery);
        let bytes = pieces::bytes(&delivery);
        let Some(place) = self.room.enter(self.limits, rows, bytes) else {
            self.lanes.metrics.overloaded.inc();
            return Err(Error::Overloaded);
        };
        // They are idempotent of themselves, so they go first.
        let origin = write::Origin::from(&delivery);
        patiently(deadline, || write::insert_rejections(&self.lanes.pool, &origin, &delivery.rejections))
            .await
            .map_err(|error| match classify(&error) {
                Class::Repeat | Class::Unavailable => Error::Unavailable(Arc::new(error)),
                Class::Data | Class::Bug => Error::Refused(Arc::new(error)),
            })?;
        let (ids, rejected) = (pieces::ids(&delivery), delivery.rejections.len());
        let (ticket, answered) = Ticket::new(&mut delivery, rows, deadline, place);
        self.lanes.submit(pieces::items(delivery, bytes / rows, &ticket));
        let tally = match tokio::time::timeout_at(deadline, answered).await {
            Ok(Ok(answer)) => answer?,
            Ok(Err(_)) => return Err(Error::Unavailable(Arc::new(sqlx::Error::WorkerCrashed))),
            Err(_) if ticket.tried.load(Ordering::Acquire) => {
                return Err(Error::Unavailable(Arc::new(sqlx::Error::PoolTimedOut)));
            }
            Err(_) => {
                self.lanes.metrics.overloaded.inc();
                return Err(Error::Overloaded);
            }
        };
        Ok(Stored {
            created: ids.into_iter().filter(|id| tally.created.contains(id)).collect(),
            duplicates: tally.duplicates,
            rejected: rejected + tally.rejected,
            receipts: tally.receipts,
        })
    }
}

impl std::fmt::Debug for Appender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Appender").field("waiting", &self.waiting()).finish_non_exhaustive()
    }
}
