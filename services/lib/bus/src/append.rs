//! Append: the messages of one delivery, stored once, in order, before the provider gets its answer.

use std::collections::HashSet;
use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::PgPool;
use tokio::time::Instant;
use uuid::Uuid;

use crate::error::{Class, classify};
use crate::key;

/// One HTTP call of a provider, taken apart.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The channel's id.
    pub channel: String,
    /// Our id for this call.
    pub delivery_id: Uuid,
    /// The body as received.
    pub body: Vec<u8>,
    /// `traceparent` of the request.
    pub trace_context: Option<String>,
    /// Messages, in the provider's order.
    pub events: Vec<NewEvent>,
    /// What can never be handled.
    pub rejections: Vec<NewRejection>,
    /// Statuses of what we sent.
    pub receipts: Vec<NewReceipt>,
}

/// A message to store.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// Our id for it, the answer's `activity_id`.
    pub activity_id: Uuid,
    /// The provider's id, unique on the channel.
    pub message_id: String,
    /// The normalised kind.
    pub kind: String,
    /// Business-scoped id of the sender. One of `user_id` and `phone` must be there.
    pub user_id: Option<String>,
    /// Phone of the sender, digits.
    pub phone: Option<String>,
    /// The normalised message.
    pub payload: serde_json::Value,
    /// The provider's time.
    pub sent_at: Option<DateTime<Utc>>,
}

/// A message that can never be handled, kept with its raw bytes.
#[derive(Debug, Clone)]
pub struct NewRejection {
    /// The provider's id, where there is one.
    pub message_id: Option<String>,
    /// A stable word, e.g. `unknown_number`.
    pub reason: String,
    /// What exactly is wrong, for a person.
    pub detail: String,
    /// The message as received.
    pub raw: Vec<u8>,
}

/// A delivery status.
#[derive(Debug, Clone)]
pub struct NewReceipt {
    /// Provider's id of the message it speaks of.
    pub provider_id: String,
    /// Our own id of it, where the provider echoes it.
    pub outbound_id: Option<Uuid>,
    /// `sent`, `delivered`, `read`, `played`, `failed`, or what the provider says.
    pub status: String,
    /// Whom it was for. Used for the key only, never stored.
    pub recipient: String,
    /// Why it failed.
    pub error_code: Option<i64>,
    /// The provider's time.
    pub occurred_at: DateTime<Utc>,
}

/// What became of a delivery.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stored {
    /// Activity ids of the events that this call stored, in the provider's order.
    pub created: Vec<Uuid>,
    /// Messages that were there already.
    pub duplicates: usize,
    /// Messages kept as rejections, those included that the database refused.
    pub rejected: usize,
    /// Receipts taken.
    pub receipts: usize,
}

/// Why a delivery is not stored. The provider must be told to send it again.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database did not answer in time.
    #[error("the database is not available")]
    Unavailable(#[source] sqlx::Error),
    /// The statement itself is at fault: ours, not the message's.
    #[error("the append was refused")]
    Refused(#[source] sqlx::Error),
}

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
    /// Receipts and rejections go first and are idempotent of themselves; the events and the delivery are one
    /// statement. A statement whose outcome is unknown is repeated safely: the activity ids tell our rows from others'.
    /// Events that the database refuses for their data are split off until the poison message stands alone.
    ///
    /// # Errors
    /// Something is not stored; what is stored will be found as a duplicate when the delivery comes again.
    pub async fn append(&self, delivery: &Delivery) -> Result<Stored, Error> {
        let deadline = Instant::now() + self.patience;
        let receipts = self.patiently(deadline, || self.insert_receipts(delivery)).await?;
        self.patiently(deadline, || self.insert_rejections(delivery, &delivery.rejections)).await?;
        let mut stored = Stored { receipts, rejected: delivery.rejections.len(), ..Stored::default() };
        // Halves still to be stored, the earliest last, so that a chat's events keep their order.
        let mut parts = vec![(delivery.delivery_id, &delivery.events[..])];
        while let Some((delivery_id, events)) = parts.pop() {
            match self.patiently(deadline, || self.append_events(delivery, delivery_id, events)).await {
                Ok(created) => {
                    stored.duplicates += events.len() - created.len();
                    stored.created.extend(created);
                }
                Err(Error::Refused(error)) if classify(&error) == Class::Data && !events.is_empty() => {
                    if let [poison] = events {
                        let rejection = refused(poison, &error);
                        self.patiently(deadline, || {
                            self.insert_rejections(delivery, std::slice::from_ref(&rejection))
                        })
                        .await?;
                        stored.rejected += 1;
                    } else {
                        let (first, second) = events.split_at(events.len() / 2);
                        parts.push((Uuid::now_v7(), second));
                        parts.push((delivery_id, first));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(stored)
    }

    /// Repeats `statement` while the database says that it may, until the deadline.
    async fn patiently<T>(
        &self,
        deadline: Instant,
        statement: impl AsyncFn() -> Result<T, sqlx::Error>,
    ) -> Result<T, Error> {
        loop {
            let error = match tokio::time::timeout_at(deadline, statement()).await {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(error)) => error,
                Err(_) => return Err(Error::Unavailable(sqlx::Error::PoolTimedOut)),
            };
            match classify(&error) {
                Class::Repeat | Class::Unavailable if Instant::now() < deadline => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Class::Repeat | Class::Unavailable => return Err(Error::Unavailable(error)),
                Class::Data | Class::Bug => return Err(Error::Refused(error)),
            }
        }
    }

    async fn append_events(
        &self,
        delivery: &Delivery,
        delivery_id: Uuid,
        events: &[NewEvent],
    ) -> Result<Vec<Uuid>, sqlx::Error> {
        let channel = delivery.channel.as_str();
        let keys: Vec<Uuid> =
            events.iter().map(|event| key::of(&[channel.as_bytes(), event.message_id.as_bytes()])).collect();
        let activity_ids: Vec<Uuid> = events.iter().map(|event| event.activity_id).collect();
        let message_ids: Vec<String> = events.iter().map(|event| event.message_id.clone()).collect();
        let kinds: Vec<String> = events.iter().map(|event| event.kind.clone()).collect();
        let user_ids: Vec<Option<String>> = events.iter().map(|event| event.user_id.clone()).collect();
        let phones: Vec<Option<String>> = events.iter().map(|event| event.phone.clone()).collect();
        let payloads: Vec<serde_json::Value> = events.iter().map(|event| event.payload.clone()).collect();
        let sent_at: Vec<Option<DateTime<Utc>>> = events.iter().map(|event| event.sent_at).collect();
        let chat_ids: Vec<Uuid> = events.iter().map(|_| Uuid::now_v7()).collect();
        let mine = sqlx::query_file_scalar!(
            "src/store/append_events.sql",
            channel,
            delivery_id,
            &delivery.body,
            delivery.trace_context,
            i32::try_from(delivery.rejections.len()).unwrap_or(i32::MAX),
            i32::try_from(delivery.receipts.len()).unwrap_or(i32::MAX),
            &keys,
            &activity_ids,
            &message_ids,
            &kinds,
            &user_ids as &[Option<String>],
            &phones as &[Option<String>],
            &payloads,
            &sent_at as &[Option<DateTime<Utc>>],
            &chat_ids,
        )
        .fetch_all(&self.pool)
        .await?;
        let mine: HashSet<Uuid> = mine.into_iter().collect();
        // In the provider's order, which the database does not promise.
        Ok(activity_ids.into_iter().filter(|id| mine.contains(id)).collect())
    }

    async fn insert_receipts(&self, delivery: &Delivery) -> Result<usize, sqlx::Error> {
        let receipts = &delivery.receipts;
        if receipts.is_empty() {
            return Ok(0);
        }
        let channel = delivery.channel.as_str();
        let keys: Vec<Uuid> = receipts
            .iter()
            .map(|receipt| {
                let at = receipt.occurred_at.timestamp().to_be_bytes();
                let parts = [channel, &receipt.provider_id, &receipt.status, &receipt.recipient];
                key::of(&[
                    parts[0].as_bytes(),
                    parts[1].as_bytes(),
                    parts[2].as_bytes(),
                    parts[3].as_bytes(),
                    &at,
                ])
            })
            .collect();
        sqlx::query_file!(
            "src/store/insert_receipts.sql",
            channel,
            &keys,
            &receipts.iter().map(|receipt| receipt.provider_id.clone()).collect::<Vec<_>>(),
            &receipts.iter().map(|receipt| receipt.outbound_id).collect::<Vec<_>>() as &[Option<Uuid>],
            &receipts.iter().map(|receipt| receipt.status.clone()).collect::<Vec<_>>(),
            &receipts.iter().map(|receipt| receipt.error_code).collect::<Vec<_>>() as &[Option<i64>],
            &receipts.iter().map(|receipt| receipt.occurred_at).collect::<Vec<_>>(),
        )
        .execute(&self.pool)
        .await?;
        Ok(receipts.len())
    }

    async fn insert_rejections(
        &self,
        delivery: &Delivery,
        rejections: &[NewRejection],
    ) -> Result<(), sqlx::Error> {
        if rejections.is_empty() {
            return Ok(());
        }
        let channel = delivery.channel.as_str();
        let keys: Vec<Uuid> = rejections
            .iter()
            .map(|rejection| match &rejection.message_id {
                Some(id) => key::of(&[channel.as_bytes(), b"id", id.as_bytes()]),
                None => key::of(&[channel.as_bytes(), b"raw", &rejection.raw]),
            })
            .collect();
        sqlx::query_file!(
            "src/store/insert_rejections.sql",
            channel,
            delivery.delivery_id,
            delivery.trace_context,
            &rejections.iter().map(|_| Uuid::now_v7()).collect::<Vec<_>>(),
            &keys,
            &rejections.iter().map(|rejection| rejection.message_id.clone()).collect::<Vec<_>>()
                as &[Option<String>],
            &rejections.iter().map(|rejection| rejection.reason.clone()).collect::<Vec<_>>(),
            &rejections.iter().map(|rejection| rejection.detail.clone()).collect::<Vec<_>>(),
            &rejections.iter().map(|rejection| rejection.raw.clone()).collect::<Vec<_>>(),
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}

fn refused(poison: &NewEvent, error: &sqlx::Error) -> NewRejection {
    let code = error.as_database_error().and_then(|error| error.code()).unwrap_or_default();
    NewRejection {
        message_id: Some(poison.message_id.replace('\0', "\u{fffd}")),
        reason: "refused_by_database".to_owned(),
        // The code only: the database's words may quote the message.
        detail: format!("the database refuses its data with SQLSTATE {code}"),
        raw: poison.payload.to_string().into_bytes(),
    }
}
