//! Stores deliveries, with patience for a database that is away and none for data that it refuses.

use std::time::Duration;

use sqlx::PgPool;
use tokio::time::Instant;

use super::parts::Parts;
use super::write::{self, Part};
use super::{Delivery, Error, NewEvent, NewReceipt, NewRejection, Stored};
use crate::error::{Class, classify};

/// How long a statement that may be repeated waits before it is.
const PAUSE: Duration = Duration::from_millis(20);

/// Stores deliveries.
#[derive(Debug, Clone)]
pub struct Appender {
    pool: PgPool,
    patience: Duration,
}

impl Appender {
    /// `patience` bounds how long a delivery is tried before the provider is told to come again.
    pub fn new(pool: PgPool, patience: Duration) -> Self {
        Self { pool, patience }
    }

    /// Stores one delivery, whole. Returns after COMMIT.
    ///
    /// Receipts and rejections go first and are idempotent of themselves. A statement whose outcome is unknown is
    /// repeated safely: the activity ids tell our rows from others'. What the database refuses for its data is split
    /// off and kept as a rejection, and the rest goes on.
    ///
    /// # Errors
    /// Something is not stored; what is stored will be found as a duplicate when the delivery comes again.
    pub async fn append(&self, delivery: &Delivery) -> Result<Stored, Error> {
        let deadline = Instant::now() + self.patience;
        let mut stored = Stored::default();
        self.patiently(deadline, || write::insert_rejections(&self.pool, delivery, &delivery.rejections))
            .await?;
        stored.rejected = delivery.rejections.len();
        self.append_receipts(deadline, delivery, &mut stored).await?;
        self.append_events(deadline, delivery, &mut stored).await?;
        Ok(stored)
    }

    async fn append_receipts(
        &self,
        deadline: Instant,
        delivery: &Delivery,
        stored: &mut Stored,
    ) -> Result<(), Error> {
        let mut parts = Parts::of(&delivery.receipts);
        while let Some(part) = parts.next() {
            match self.patiently(deadline, || write::insert_receipts(&self.pool, delivery, part)).await {
                Ok(()) => stored.receipts += part.len(),
                Err(Error::Refused(error)) if is_poison(&error) => {
                    if let Some(poison) = parts.split(part) {
                        self.reject(deadline, delivery, refused_receipt(poison, &error)).await?;
                        stored.rejected += 1;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Each part that is stored leaves a delivery row under the same id: the first with the body, the counts of all of
    /// them together those of the delivery.
    async fn append_events(
        &self,
        deadline: Instant,
        delivery: &Delivery,
        stored: &mut Stored,
    ) -> Result<(), Error> {
        let mut body = Some(delivery.body.as_slice());
        let (mut told_rejected, mut told_receipts) = (0, 0);
        let mut parts = Parts::of(&delivery.events);
        let mut last = false;
        while !last {
            let events = parts.next().unwrap_or_else(|| {
                last = true;
                &[]
            });
            if last && body.is_none() && told_rejected == stored.rejected {
                break;
            }
            let part = Part {
                body: body.unwrap_or_default(),
                rejected: stored.rejected - told_rejected,
                receipts: stored.receipts - told_receipts,
                events,
            };
            match self.patiently(deadline, || write::append_events(&self.pool, delivery, &part)).await {
                Ok(created) => {
                    body = None;
                    (told_rejected, told_receipts) = (stored.rejected, stored.receipts);
                    stored.duplicates += events.len() - created.len();
                    stored.created.extend(created);
                }
                Err(Error::Refused(error)) if is_poison(&error) && !events.is_empty() => {
                    if let Some(poison) = parts.split(events) {
                        self.reject(deadline, delivery, refused_event(poison, &error)).await?;
                        stored.rejected += 1;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn reject(
        &self,
        deadline: Instant,
        delivery: &Delivery,
        rejection: NewRejection,
    ) -> Result<(), Error> {
        let rejections = std::slice::from_ref(&rejection);
        self.patiently(deadline, || write::insert_rejections(&self.pool, delivery, rejections)).await
    }

    /// Repeats `statement` while the database says that it may, until the deadline.
    // Not `AsyncFn`: its future cannot be named, so nothing could say that it may cross threads.
    async fn patiently<T, F>(&self, deadline: Instant, statement: impl Fn() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        loop {
            let error = match tokio::time::timeout_at(deadline, statement()).await {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(error)) => error,
                Err(_) => return Err(Error::Unavailable(sqlx::Error::PoolTimedOut)),
            };
            match classify(&error) {
                Class::Repeat | Class::Unavailable if Instant::now() + PAUSE < deadline => {
                    tokio::time::sleep(PAUSE).await;
                }
                Class::Repeat | Class::Unavailable => return Err(Error::Unavailable(error)),
                Class::Data | Class::Bug => return Err(Error::Refused(error)),
            }
        }
    }
}

/// Whether a message is to blame. A place that is taken (23505) is our own corruption: no message can cause it, so none
/// may be rejected for it.
fn is_poison(error: &sqlx::Error) -> bool {
    classify(error) == Class::Data
        && error.as_database_error().is_none_or(|error| error.code().as_deref() != Some("23505"))
}

fn refused_event(poison: &NewEvent, error: &sqlx::Error) -> NewRejection {
    NewRejection {
        message_id: Some(poison.message_id.clone()),
        reason: REFUSED.to_owned(),
        detail: detail(error),
        raw: poison.payload.to_string().into_bytes(),
    }
}

/// The recipient is left out: it is a person's number, and nothing would be done with it.
fn refused_receipt(poison: &NewReceipt, error: &sqlx::Error) -> NewRejection {
    let raw = serde_json::json!({
        "provider_id": poison.provider_id,
        "status": poison.status,
        "occurred_at": poison.occurred_at.timestamp(),
    });
    NewRejection {
        message_id: None,
        reason: REFUSED.to_owned(),
        detail: detail(error),
        raw: raw.to_string().into_bytes(),
    }
}

const REFUSED: &str = "refused_by_database";

/// The code only: the database's own words may quote the message.
fn detail(error: &sqlx::Error) -> String {
    match error.as_database_error().and_then(|error| error.code()) {
        Some(code) => format!("the database refuses its data with SQLSTATE {code}"),
        None => "its data cannot be given to the database".to_owned(),
    }
}
