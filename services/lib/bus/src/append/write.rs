//! The statements of append.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use sqlx::PgPool;
use sqlx::types::Json;
use uuid::Uuid;

use super::ticket::{Item, Ticket, What};
use super::{Delivery, NewRejection};
use crate::key;

/// The activity ids that are stored as ours.
pub(super) type Mine = HashSet<Uuid>;

/// One call: rows as columns, which borrow from the pieces.
#[derive(Default)]
pub(super) struct Call<'a> {
    channel: &'a str,
    deliveries: Vec<&'a Ticket>,
    ids: Vec<Uuid>,
    bodies: Vec<Vec<u8>>,
    traces: Vec<Option<&'a str>>,
    rejected: Vec<i32>,
    events: Events<'a>,
    receipts: Receipts<'a>,
}

#[derive(Default)]
struct Events<'a> {
    deliveries: Vec<i32>,
    keys: Vec<Uuid>,
    activity_ids: Vec<Uuid>,
    message_ids: Vec<&'a str>,
    kinds: Vec<&'a str>,
    user_ids: Vec<Option<&'a str>>,
    phones: Vec<Option<&'a str>>,
    payloads: Vec<Json<&'a serde_json::Value>>,
    sent_at: Vec<Option<DateTime<Utc>>>,
    chat_ids: Vec<Uuid>,
}

#[derive(Default)]
struct Receipts<'a> {
    deliveries: Vec<i32>,
    keys: Vec<Uuid>,
    provider_ids: Vec<&'a str>,
    outbound_ids: Vec<Option<Uuid>>,
    statuses: Vec<&'a str>,
    error_codes: Vec<Option<i64>>,
    occurred_at: Vec<DateTime<Utc>>,
}

impl<'a> Call<'a> {
    /// Takes along what the delivery rows of these pieces have to say; see [`Call::give_back`].
    pub(super) fn new(items: &'a [Item]) -> Self {
        let mut call = Self::default();
        let mut places: HashMap<*const Ticket, i32> = HashMap::new();
        for item in items {
            let place = *places
                .entry(std::ptr::from_ref(&*item.ticket))
                .or_insert_with(|| call.add_delivery(&item.ticket));
            call.add(place, item);
        }
        call
    }

    /// Its place, counted from 1.
    fn add_delivery(&mut self, ticket: &'a Ticket) -> i32 {
        let (body, rejected) = ticket.take_row();
        self.channel = &ticket.channel;
        self.deliveries.push(ticket);
        self.ids.push(ticket.delivery_id);
        self.bodies.push(body);
        self.traces.push(ticket.trace_context.as_deref());
        self.rejected.push(rejected);
        // A batch has some hundred rows.
        i32::try_from(self.deliveries.len()).unwrap_or(i32::MAX)
    }

    fn add(&mut self, place: i32, item: &'a Item) {
        let channel = self.channel.as_bytes();
        match &item.what {
            What::Event(event) => {
                let to = &mut self.events;
                to.deliveries.push(place);
                to.keys.push(key::of(&[channel, event.message_id.as_bytes()]));
                to.activity_ids.push(event.activity_id);
                to.message_ids.push(&event.message_id);
                to.kinds.push(&event.kind);
                to.user_ids.push(event.user_id.as_deref());
                to.phones.push(event.phone.as_deref());
                to.payloads.push(Json(&event.payload));
                to.sent_at.push(event.sent_at);
                to.chat_ids.push(Uuid::now_v7());
            }
            What::Receipt(receipt) => {
                let to = &mut self.receipts;
                to.deliveries.push(place);
                to.keys.push(key::of(&[
                    channel,
                    receipt.provider_id.as_bytes(),
                    receipt.status.as_bytes(),
                    receipt.recipient.as_bytes(),
                    &receipt.occurred_at.timestamp().to_be_bytes(),
                ]));
                to.provider_ids.push(&receipt.provider_id);
                to.outbound_ids.push(receipt.outbound_id);
                to.statuses.push(&receipt.status);
                to.error_codes.push(receipt.error_code);
                to.occurred_at.push(receipt.occurred_at);
            }
            What::Nothing => {}
        }
    }

    /// Stores it.
    pub(super) async fn run(&self, pool: &PgPool) -> Result<Mine, sqlx::Error> {
        let Self { channel, events, receipts, .. } = self;
        runtime::failpoint!("append.call");
        let mine = sqlx::query_file_scalar!(
            "src/store/append_batch.sql",
            channel,
            &self.ids,
            &self.bodies,
            &self.traces as &[Option<&str>],
            &self.rejected,
            &events.deliveries,
            &events.keys,
            &events.activity_ids,
            &events.message_ids as &[&str],
            &events.kinds as &[&str],
            &events.user_ids as &[Option<&str>],
            &events.phones as &[Option<&str>],
            &events.payloads as &[Json<&serde_json::Value>],
            &events.sent_at as &[Option<DateTime<Utc>>],
            &events.chat_ids,
            &receipts.deliveries,
            &receipts.keys,
            &receipts.provider_ids as &[&str],
            &receipts.outbound_ids as &[Option<Uuid>],
            &receipts.statuses as &[&str],
            &receipts.error_codes as &[Option<i64>],
            &receipts.occurred_at,
        )
        .fetch_all(pool)
        .await?;
        runtime::failpoint!("append.stored");
        Ok(mine.into_iter().collect())
    }

    /// It was not carried out: another call takes along what its delivery rows had to say.
    pub(super) fn give_back(self) {
        let rows = self.bodies.into_iter().zip(self.rejected);
        for (ticket, row) in self.deliveries.iter().zip(rows) {
            ticket.give_row_back(row);
        }
    }
}

/// Where a rejection comes from.
pub(super) struct Origin<'a> {
    channel: &'a str,
    delivery_id: Uuid,
    trace_context: Option<&'a str>,
}

impl<'a> Origin<'a> {
    pub(super) fn of(ticket: &'a Ticket) -> Self {
        let trace_context = ticket.trace_context.as_deref();
        Self { channel: &ticket.channel, delivery_id: ticket.delivery_id, trace_context }
    }
}

impl<'a> From<&'a Delivery> for Origin<'a> {
    fn from(delivery: &'a Delivery) -> Self {
        let trace_context = delivery.trace_context.as_deref();
        Self { channel: &delivery.channel, delivery_id: delivery.delivery_id, trace_context }
    }
}

/// Keeps rejections. Nothing in them may be refused in its turn: they are where refusals end, so their texts are made
/// storable here.
pub(super) async fn insert_rejections(
    pool: &PgPool,
    from: &Origin<'_>,
    rejections: &[NewRejection],
) -> Result<(), sqlx::Error> {
    if rejections.is_empty() {
        return Ok(());
    }
    let channel = from.channel;
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
        from.delivery_id,
        from.trace_context,
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
