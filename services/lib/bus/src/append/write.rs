//! The statements of append.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use sqlx::PgPool;
use uuid::Uuid;

use super::{Delivery, NewEvent, NewReceipt, NewRejection};
use crate::key;

/// Events of a delivery that go in one call, and what its delivery row says of the rest.
pub(super) struct Part<'a> {
    /// Empty when another part has it.
    pub(super) body: &'a [u8],
    pub(super) rejected: usize,
    pub(super) receipts: usize,
    pub(super) events: &'a [NewEvent],
}

/// Stores a part. Returns the activity ids that are stored as ours, in the provider's order.
pub(super) async fn append_events(
    pool: &PgPool,
    delivery: &Delivery,
    part: &Part<'_>,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let channel = delivery.channel.as_str();
    let events = part.events;
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
        delivery.delivery_id,
        part.body,
        delivery.trace_context,
        i32::try_from(part.rejected).unwrap_or(i32::MAX),
        i32::try_from(part.receipts).unwrap_or(i32::MAX),
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
    .fetch_all(pool)
    .await?;
    let mine: HashSet<Uuid> = mine.into_iter().collect();
    // In the provider's order, which the database does not promise.
    Ok(activity_ids.into_iter().filter(|id| mine.contains(id)).collect())
}

/// Stores receipts. One that is there already changes nothing.
pub(super) async fn insert_receipts(
    pool: &PgPool,
    delivery: &Delivery,
    receipts: &[NewReceipt],
) -> Result<(), sqlx::Error> {
    let channel = delivery.channel.as_str();
    let keys: Vec<Uuid> = receipts
        .iter()
        .map(|receipt| {
            key::of(&[
                channel.as_bytes(),
                receipt.provider_id.as_bytes(),
                receipt.status.as_bytes(),
                receipt.recipient.as_bytes(),
                &receipt.occurred_at.timestamp().to_be_bytes(),
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
    .execute(pool)
    .await?;
    Ok(())
}

/// Keeps rejections. Nothing in them may be refused in its turn: they are where refusals end, so their texts are made
/// storable here.
pub(super) async fn insert_rejections(
    pool: &PgPool,
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
        &rejections.iter().map(|rejection| rejection.message_id.as_deref().map(storable)).collect::<Vec<_>>()
            as &[Option<String>],
        &rejections.iter().map(|rejection| storable(&rejection.reason)).collect::<Vec<_>>(),
        &rejections.iter().map(|rejection| storable(&rejection.detail)).collect::<Vec<_>>(),
        &rejections.iter().map(|rejection| rejection.raw.clone()).collect::<Vec<_>>(),
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Postgres takes any text but one with a NUL.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
