//! What the queues count. Each struct is cheap to clone and is registered by the service that has it; labels come from
//! enums, never from data.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::error::{Class, classify};
use crate::mailbox::{Claimed, MAX_DEFERS, Outcome};
use crate::outbound;

/// How often the rows are looked at.
const INTERVAL: Duration = Duration::from_secs(10);

/// Up to the most that one commit takes.
const ROWS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 200.0];

/// What append counts.
#[derive(Clone)]
pub struct AppendMetrics {
    pub(crate) rows: Histogram,
    pub(crate) split: Counter,
    pub(crate) deadlocked: Counter,
    pub(crate) set_aside: Counter,
    pub(crate) overloaded: Counter,
}

impl Default for AppendMetrics {
    fn default() -> Self {
        Self {
            rows: Histogram::new(ROWS),
            split: Counter::default(),
            deadlocked: Counter::default(),
            set_aside: Counter::default(),
            overloaded: Counter::default(),
        }
    }
}

impl AppendMetrics {
    /// Registers all of them.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("append_batch_rows", "Rows that went in one commit", self.rows.clone());
        registry.register("append_split", "Batches that were tried again in halves", self.split.clone());
        registry.register("append_deadlocked", "Batches that lost a deadlock", self.deadlocked.clone());
        registry.register(
            "append_set_aside",
            "Chats that waited for a lock on their own",
            self.set_aside.clone(),
        );
        registry.register(
            "append_overloaded",
            "Deliveries refused because too much was waiting",
            self.overloaded.clone(),
        );
    }

    pub(crate) fn batch(&self, rows: usize) {
        #[expect(clippy::cast_precision_loss, reason = "a batch has some hundred rows")]
        self.rows.observe(rows as f64);
    }
}

/// A queue of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QueueLabels {
    /// `inbound` or `outbound`.
    queue: &'static str,
    /// The channel's id, which is configuration.
    channel: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SettleLabels {
    queue: &'static str,
    channel: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ChannelLabels {
    channel: String,
}

type Level = Family<QueueLabels, Gauge>;

/// The queue of messages.
const INBOUND: &str = "inbound";
/// The queue of replies.
const OUTBOUND: &str = "outbound";

/// What the mailboxes count: how they stand, read from their rows, and what became of the loans of this process.
#[derive(Clone, Default)]
pub struct QueueMetrics {
    ready: Level,
    depth: Level,
    in_flight: Level,
    oldest_seconds: Family<QueueLabels, Gauge<f64, AtomicU64>>,
    dead: Family<ChannelLabels, Gauge>,
    settles: Family<SettleLabels, Counter>,
    races: Family<QueueLabels, Counter>,
    expired: Family<QueueLabels, Counter>,
    stalled: Family<ChannelLabels, Counter>,
    woken: Family<ChannelLabels, Counter>,
}

impl QueueMetrics {
    /// Registers all of them.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("queue_ready_chats", "Chats with work that may be taken now", self.ready.clone());
        registry.register("queue_depth", "Rows that are not settled", self.depth.clone());
        registry.register("queue_in_flight_chats", "Chats on loan, of all processes", self.in_flight.clone());
        registry.register(
            "queue_oldest_seconds",
            "Age of the oldest row that is not settled",
            self.oldest_seconds.clone(),
        );
        registry.register("queue_dead", "Dead events that wait for a person", self.dead.clone());
        registry.register("queue_settles", "Loans of this process, by how they ended", self.settles.clone());
        registry.register(
            "queue_races",
            "Settles that lost a deadlock or another race and were made again",
            self.races.clone(),
        );
        registry.register("queue_expired", "Leases that ran out, as claims find them", self.expired.clone());
        registry.register(
            "queue_stalled",
            "Claims of an event that was deferred beyond the cap",
            self.stalled.clone(),
        );
        registry.register("queue_woken", "Chats that slept over their work; must be 0", self.woken.clone());
    }

    /// Reads how the mailboxes of a channel stand.
    ///
    /// # Errors
    /// The database's.
    pub async fn sample(&self, pool: &PgPool, channel: &str) -> Result<(), sqlx::Error> {
        let inbound = sqlx::query_file!("src/store/sample_inbound.sql", channel).fetch_one(pool).await?;
        let outbound = sqlx::query_file!("src/store/sample_outbound.sql", channel).fetch_one(pool).await?;
        self.level(INBOUND, channel, inbound.ready, inbound.depth, inbound.in_flight, inbound.oldest_s);
        self.level(OUTBOUND, channel, outbound.ready, outbound.depth, outbound.in_flight, outbound.oldest_s);
        self.dead.get_or_create(&ChannelLabels { channel: channel.to_owned() }).set(inbound.dead);
        Ok(())
    }

    /// Samples the channels until `stopping`. A sample that fails leaves the last values.
    pub async fn run(self, pool: PgPool, channels: Vec<String>, stopping: CancellationToken) {
        loop {
            for channel in &channels {
                if let Err(error) = self.sample(&pool, channel).await {
                    let code = error.as_database_error().and_then(|error| error.code());
                    tracing::debug!(channel.id = channel, error.code = ?code, "the queues were not measured");
                }
            }
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                () = stopping.cancelled() => return,
            }
        }
    }

    /// A loan of this process ended, was fenced, or was refused by the database: for its data or a fault of ours
    /// (`refused`), after races lost too often (`deadlocked`), or because the database was away.
    pub fn settled(&self, channel: &str, outcome: Outcome, settled: &Result<(), Error>) {
        self.ended(INBOUND, channel, outcome, settled);
    }

    /// A settle was made again so often, because the database let it lose a race (40P01, 40001).
    pub fn raced(&self, channel: &str, times: u64) {
        if times > 0 {
            let labels = QueueLabels { queue: INBOUND, channel: channel.to_owned() };
            self.races.get_or_create(&labels).inc_by(times);
        }
    }

    /// As [`QueueMetrics::settled`], of a loan of replies.
    pub fn replies_settled(&self, channel: &str, outcome: Outcome, settled: &Result<(), Error>) {
        self.ended(OUTBOUND, channel, outcome, settled);
    }

    /// Outgoing mailboxes were claimed.
    pub fn replies_claimed(&self, channel: &str, claimed: &[outbound::Claimed]) {
        self.expired(OUTBOUND, channel, claimed.iter().filter(|chat| chat.expired).count());
    }

    fn ended(&self, queue: &'static str, channel: &str, outcome: Outcome, settled: &Result<(), Error>) {
        let outcome = match settled {
            Ok(()) => outcome.name(),
            Err(Error::Fenced) => "fenced",
            Err(Error::Database(error)) => match classify(error) {
                Class::Repeat => "deadlocked",
                Class::Unavailable => "unavailable",
                Class::Data | Class::Bug => "refused",
            },
        };
        self.settles.get_or_create(&SettleLabels { queue, channel: channel.to_owned(), outcome }).inc();
    }

    pub(crate) fn claimed(&self, channel: &str, claimed: &[Claimed]) {
        self.expired(INBOUND, channel, claimed.iter().filter(|chat| chat.expired).count());
        let stalled = claimed.iter().filter(|chat| chat.defers >= MAX_DEFERS).count();
        if stalled > 0 {
            self.stalled.get_or_create(&ChannelLabels { channel: channel.to_owned() }).inc_by(stalled as u64);
        }
    }

    fn expired(&self, queue: &'static str, channel: &str, count: usize) {
        if count > 0 {
            let labels = QueueLabels { queue, channel: channel.to_owned() };
            self.expired.get_or_create(&labels).inc_by(count as u64);
        }
    }

    pub(crate) fn woken(&self, channel: &str, count: usize) {
        self.woken.get_or_create(&ChannelLabels { channel: channel.to_owned() }).inc_by(count as u64);
    }

    fn level(&self, queue: &'static str, channel: &str, ready: i64, depth: i64, in_flight: i64, oldest: f64) {
        let labels = QueueLabels { queue, channel: channel.to_owned() };
        self.ready.get_or_create(&labels).set(ready);
        self.depth.get_or_create(&labels).set(depth);
        self.in_flight.get_or_create(&labels).set(in_flight);
        self.oldest_seconds.get_or_create(&labels).set(oldest);
    }
}
