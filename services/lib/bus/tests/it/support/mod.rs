//! What the tests speak in: messages, loans, and the mailbox as it stands.

pub(crate) mod proxy;
pub(crate) mod reports;

use std::str::FromStr;
use std::time::Duration;

use bus::append::{Appender, Delivery, NewEvent, Stored};
use bus::mailbox::{self, Claim, Claimed, Outcome, Settlement};
use bus::metrics::QueueMetrics;
use bus::{Error, Lease};
use prometheus_client::registry::Registry;
use runtime::database::with_tx;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, PgConnection, PgPool};
use testkit::{Database, eventually};
use uuid::Uuid;

pub(crate) const CHANNEL: &str = "whatsapp";
pub(crate) const LEASE: Lease = Lease { length: Duration::from_secs(30) };
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A database of its own, and an appender on it.
pub(crate) struct World {
    pub(crate) db: Database,
    pub(crate) pool: PgPool,
    pub(crate) appender: Appender,
}

pub(crate) async fn world() -> World {
    let db = testkit::database().await;
    let pool = db.pool.clone();
    let appender = Appender::new(pool.clone(), PATIENCE);
    World { db, pool, appender }
}

/// A message of somebody who is known by phone.
pub(crate) fn by_phone(phone: &str, message: &str) -> NewEvent {
    NewEvent {
        activity_id: Uuid::now_v7(),
        message_id: message.to_owned(),
        kind: "text".to_owned(),
        user_id: None,
        phone: Some(phone.to_owned()),
        payload: serde_json::json!({ "text": message }),
        sent_at: None,
    }
}

/// A message of somebody who is known by a business-scoped id.
pub(crate) fn by_user(user: &str, message: &str) -> NewEvent {
    NewEvent { user_id: Some(user.to_owned()), phone: None, ..by_phone("", message) }
}

/// A message that names both identities.
pub(crate) fn by_both(user: &str, phone: &str, message: &str) -> NewEvent {
    NewEvent { user_id: Some(user.to_owned()), ..by_phone(phone, message) }
}

pub(crate) fn delivery(events: Vec<NewEvent>) -> Delivery {
    Delivery {
        channel: CHANNEL.to_owned(),
        delivery_id: Uuid::now_v7(),
        body: b"{\"as\":\"received\"}".to_vec(),
        trace_context: None,
        events,
        rejections: Vec::new(),
        receipts: Vec::new(),
    }
}

/// The row of a chat, as the protocol reads it.
#[derive(Debug, Clone, PartialEq, sqlx::FromRow)]
pub(crate) struct Mailbox {
    pub(crate) next_seq: i64,
    pub(crate) done_seq: i64,
    pub(crate) lent_to: i64,
    /// Claimable at this moment.
    pub(crate) ready: bool,
    /// Scheduled at all.
    pub(crate) scheduled: bool,
    pub(crate) owner: Option<Uuid>,
    pub(crate) epoch: i64,
    pub(crate) head_attempts: i16,
    pub(crate) lost: i16,
    pub(crate) head_defers: i32,
    pub(crate) head_error: Option<String>,
    pub(crate) merged_into: Option<Uuid>,
}

impl World {
    pub(crate) async fn append(&self, events: Vec<NewEvent>) -> Stored {
        self.appender.append(delivery(events)).await.expect("the append is stored")
    }

    /// `count` messages of one phone, each in a delivery of its own. Returns the chat.
    pub(crate) async fn chat_with(&self, phone: &str, count: usize) -> Uuid {
        for index in 1..=count {
            self.append(vec![by_phone(phone, &format!("{phone}-{index}"))]).await;
        }
        self.chat_of(&format!("{phone}-1")).await
    }

    /// Up to `chats` chats with up to `events` events of each, for a worker of its own.
    pub(crate) async fn claim(&self, chats: i64, events: i64) -> Vec<Claimed> {
        self.claim_on(CHANNEL, chats, events, false).await
    }

    pub(crate) async fn claim_on(&self, channel: &str, chats: i64, events: i64, solo: bool) -> Vec<Claimed> {
        let claim = Claim { channel, owner: Uuid::now_v7(), chats, events, lease: LEASE, solo };
        mailbox::claim(&self.pool, &claim).await.expect("the claim is a valid statement")
    }

    /// The one chat that is ready.
    pub(crate) async fn claim_one(&self, events: i64) -> Claimed {
        let mut claimed = self.claim(10, events).await;
        assert_eq!(claimed.len(), 1, "one chat is ready: {claimed:?}");
        claimed.remove(0)
    }

    /// Ends a loan with its first `done` events done, in a transaction as the workers do.
    pub(crate) async fn settle(&self, loan: &Claimed, done: usize, outcome: Outcome) -> Result<(), Error> {
        with_tx(&self.pool, settlement(loan, done, outcome), |tx, settlement| {
            Box::pin(async move { mailbox::settle(tx, settlement).await })
        })
        .await
    }

    /// The chat that a message went to.
    pub(crate) async fn chat_of(&self, message: &str) -> Uuid {
        self.place_of(message).await.0
    }

    /// The chat and the sequence number of a message.
    pub(crate) async fn place_of(&self, message: &str) -> (Uuid, i64) {
        sqlx::query_as("select chat_id, seq from inbound.event where message_id = $1")
            .bind(message)
            .fetch_one(&self.pool)
            .await
            .expect("the message is stored once")
    }

    pub(crate) async fn mailbox(&self, chat: Uuid) -> Mailbox {
        sqlx::query_as(
            "select next_seq, done_seq, lent_to, coalesce(ready_at <= clock_timestamp(), false) as ready, \
             ready_at is not null as scheduled, owner, epoch, head_attempts, lost, head_defers, head_error, \
             merged_into from chat.chat where id = $1",
        )
        .bind(chat)
        .fetch_one(&self.pool)
        .await
        .expect("the chat exists")
    }

    /// Everybody who holds a lease is late.
    pub(crate) async fn expire_leases(&self) {
        self.run("update chat.chat set ready_at = now() - interval '1 second' where owner is not null").await;
        self.run("update chat.sender set ready_at = now() - interval '1 second' where owner is not null")
            .await;
        self.run(
            "update report.report set push_visible_at = now() - interval '1 second' where push_owner is not null",
        )
        .await;
        self.run(
            "update report.photo_fetch set visible_at = now() - interval '1 second' where owner is not null",
        )
        .await;
    }

    /// Backoffs and defers are over.
    pub(crate) async fn end_waits(&self) {
        self.run("update chat.chat set ready_at = now() where ready_at > now() and owner is null").await;
        self.run("update chat.sender set ready_at = now() where ready_at > now() and owner is null").await;
        self.run(
            "update report.report set push_visible_at = now() where push_visible_at > now() and push_owner is null",
        )
        .await;
        self.run(
            "update report.photo_fetch set visible_at = now() where visible_at > now() and owner is null",
        )
        .await;
    }

    pub(crate) async fn run(&self, statement: &'static str) {
        sqlx::query(statement).execute(&self.pool).await.expect("the statement is valid");
    }

    /// A connection outside the pool, for a transaction that is held open.
    pub(crate) async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.db.url).await.expect("the database answers")
    }

    /// A pool with settings of its own, `name=value`.
    pub(crate) async fn pool_with(&self, settings: &[(&str, &str)]) -> PgPool {
        self.pool_of(4, settings).await
    }

    /// As [`World::pool_with`], with so many connections: all that is asked of one comes in its order.
    pub(crate) async fn pool_of(&self, connections: u32, settings: &[(&str, &str)]) -> PgPool {
        let options = PgConnectOptions::from_str(&self.db.url).expect("the URL is valid");
        PgPoolOptions::new()
            .max_connections(connections)
            .connect_with(options.options(settings.iter().copied()))
            .await
            .expect("the database answers")
    }

    /// Waits until some connection waits for a lock that another one holds.
    pub(crate) async fn someone_waits(&self) {
        eventually("a connection waits for a lock", async || (self.db.lock_waits().await > 0).then_some(()))
            .await;
    }

    /// From now on the services of `abisu_conversation` wait in each scan of `table` while somebody has the advisory lock
    /// 42: after their snapshot is taken, and before they lock a row.
    pub(crate) async fn gate(&self, table: &str) {
        self.run(
            "create function public.gate() returns boolean language plpgsql volatile as \
             $$ begin perform pg_advisory_xact_lock_shared(42); return true; end $$",
        )
        .await;
        for sql in [
            format!("alter table {table} enable row level security"),
            format!("create policy gate on {table} to abisu_conversation using (public.gate())"),
        ] {
            sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&self.db.pool).await.unwrap();
        }
    }
}

/// What a scrape of these metrics gives.
pub(crate) fn told(metrics: &QueueMetrics) -> String {
    let mut registry = Registry::default();
    metrics.register(&mut registry);
    testkit::scraped(&registry)
}

/// What ends a loan whose first `done` events are done.
pub(crate) fn settlement(loan: &Claimed, done: usize, outcome: Outcome) -> Settlement {
    Settlement {
        chat_id: loan.chat_id,
        epoch: loan.epoch,
        from_seq: loan.from_seq,
        done_seq: loan.from_seq + i64::try_from(done).expect("a small number"),
        outcome,
        error: matches!(outcome, Outcome::Retry(_) | Outcome::Defer(_)).then(|| "away".to_owned()),
        last_received_at: done.checked_sub(1).map(|index| loan.events[index].received_at),
    }
}

/// The ids of the messages on loan, in the order of the loan.
pub(crate) fn messages(loan: &Claimed) -> Vec<&str> {
    loan.events.iter().map(|event| event.message_id.as_str()).collect()
}

/// Begins a transaction and appends one event in it. Whoever needs the same rows waits until it ends.
pub(crate) async fn append_held<'c>(
    connection: &'c mut PgConnection,
    event: &NewEvent,
) -> sqlx::Transaction<'c, sqlx::Postgres> {
    let mut transaction = connection.begin().await.expect("the database answers");
    append_on(&mut transaction, std::slice::from_ref(event)).await;
    transaction
}

/// One call, as an appender makes it, on this connection.
pub(crate) async fn append_on(connection: &mut PgConnection, events: &[NewEvent]) {
    // Any keys will do, so long as no other message has them.
    append_keyed(connection, &events.iter().map(|_| Uuid::now_v7()).collect::<Vec<_>>(), events).await;
}

/// As [`append_on`], with these keys.
pub(crate) async fn append_keyed(connection: &mut PgConnection, keys: &[Uuid], events: &[NewEvent]) {
    sqlx::query(
        "select inbound.append_v1($1, array[$2], array[''::bytea], array[null], array[0], $3, $4, $5, $6, \
         array_fill('text'::text, array[cardinality($4)]), $7, $8, array_fill('{}'::jsonb, array[cardinality($4)]), \
         array_fill(null::timestamptz, array[cardinality($4)]), $9, '{}', '{}', '{}', '{}', '{}', '{}', '{}')",
    )
    .bind(CHANNEL)
    .bind(Uuid::now_v7())
    .bind(vec![1_i32; events.len()])
    .bind(keys)
    .bind(events.iter().map(|event| event.activity_id).collect::<Vec<_>>())
    .bind(events.iter().map(|event| event.message_id.clone()).collect::<Vec<_>>())
    .bind(events.iter().map(|event| event.user_id.clone()).collect::<Vec<_>>())
    .bind(events.iter().map(|event| event.phone.clone()).collect::<Vec<_>>())
    .bind(events.iter().map(|_| Uuid::now_v7()).collect::<Vec<_>>())
    .execute(connection)
    .await
    .expect("the append goes through");
}
