//! The books of a soak, and what must hold at its end.

use anyhow::ensure;
use runtime::config::DatabaseConfig;
use runtime::database::connect_lazy;
use secrecy::SecretString;
use sqlx::{Executor, PgPool};

use super::feed::Sent;

/// Written in the transaction that settles. The place tells in which order.
const TABLE: &str = "create table if not exists public.handled (place bigint generated always as identity, \
                     chat_id uuid, seq bigint, epoch bigint, primary key (chat_id, seq))";

/// What must be zero, with what it counts.
const RULES: [(&str, &str); 4] = [
    ("messages stored more than once", "select count(*) - count(distinct message_id) from inbound.event"),
    (
        "events handled out of order, with a hole, or by a stale worker",
        "select count(*) from (
           select seq, epoch, row_number() over chat as place, lag(epoch) over chat as before
           from public.handled window chat as (partition by chat_id order by handled.place)
         ) h where seq <> place or epoch < before",
    ),
    (
        "events without a line in the books, or lines without an event",
        "select count(*) from inbound.event e full join public.handled h using (chat_id, seq)
         where e.activity_id is null or h.place is null",
    ),
    (
        "chats that are not at rest",
        "select count(*) from chat.chat where owner is not null or ready_at is not null or done_seq <> next_seq - 1",
    ),
];

/// A database with books.
pub(crate) struct World {
    /// Straight to the server, whatever happens on the way that the workers take.
    pub(crate) pool: PgPool,
    pub(crate) url: String,
}

impl World {
    pub(crate) async fn open(url: &str) -> anyhow::Result<Self> {
        let pool = pool(url)?;
        pool.execute(TABLE).await?;
        Ok(Self { pool, url: url.to_owned() })
    }

    /// What was sent is stored, once; what is stored was handled, once and in order; nothing is left.
    pub(crate) async fn check(&self, sent: &Sent) -> anyhow::Result<()> {
        let stored: i64 =
            sqlx::query_scalar("select count(*) from inbound.event").fetch_one(&self.pool).await?;
        ensure!(stored == sent.all, "{} messages were accepted and {stored} are stored", sent.all);
        for (what, rule) in RULES {
            let count: i64 = sqlx::query_scalar(rule).fetch_one(&self.pool).await?;
            ensure!(count == 0, "{count} {what}");
        }
        Ok(())
    }
}

/// A pool as the services have it.
pub(super) fn pool(url: &str) -> anyhow::Result<PgPool> {
    Ok(connect_lazy("soak", &DatabaseConfig { url: SecretString::from(url), pool: 8, file: None })?)
}
