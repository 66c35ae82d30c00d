//! Append: messages, stored once, in order, before the provider gets its answer.
//!
//! What is here is data; [`Appender`] does the work. What many calls bring at once goes in one commit: a delivery is
//! taken apart by chat (`pieces`), each chat keeps to a lane, and a lane commits whatever gathered while its previous
//! commit ran (`lanes`). A batch is one statement in autocommit (`inbound.append_v1`), so that a stalled process holds no
//! lock; one that the database refuses for its data is split until the poison stands alone and becomes a rejection
//! (`store`), and nothing of a chat overtakes. A delivery is answered when all of it is committed.

mod appender;
mod lanes;
mod pieces;
mod refused;
mod store;
mod ticket;
mod write;

pub use appender::Appender;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use uuid::Uuid;

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

/// Why a delivery is not stored. The provider must be told to send it again. One cause may fail many deliveries.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database did not answer in time.
    #[error("the database is not available")]
    Unavailable(#[source] Arc<sqlx::Error>),
    /// The statement itself is at fault: ours, not the message's.
    #[error("the append was refused")]
    Refused(#[source] Arc<sqlx::Error>),
    /// Too much waits to be stored, or has waited too long for its turn.
    #[error("too much waits to be stored")]
    Overloaded,
}
