//! What the admin port tells: how the outbox stands, how requests and pushes ended. Labels come from enums and from
//! configuration.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use bus::outbox::Outcome;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use crate::classify::Class;
use crate::store;

/// How often the outbox is measured.
const MEASURE_EVERY: Duration = Duration::from_secs(10);

type Label = [(&'static str, &'static str); 1];
/// The channel's id, which is configuration.
type Channel = [(&'static str, String); 1];

/// The service's metrics.
#[derive(Clone)]
pub(crate) struct Metrics {
    requests: Family<Label, Counter>,
    settled: Family<Label, Counter>,
    fenced: Counter,
    send_seconds: Histogram,
    pub(crate) in_flight: Gauge,
    breaker_open: Family<Channel, Gauge>,
    paused: Family<Channel, Gauge>,
    pending: Gauge,
    ready: Gauge,
    oldest_seconds: Gauge<f64, AtomicU64>,
    review: Gauge,
    dead: Gauge,
}

impl Metrics {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let new = Self {
            requests: Family::default(),
            settled: Family::default(),
            fenced: Counter::default(),
            // 25 ms to 51 s: the send timeout is 30 s.
            send_seconds: Histogram::new(exponential_buckets(0.025, 2.0, 12)),
            in_flight: Gauge::default(),
            breaker_open: Family::default(),
            paused: Family::default(),
            pending: Gauge::default(),
            ready: Gauge::default(),
            oldest_seconds: Gauge::default(),
            review: Gauge::default(),
            dead: Gauge::default(),
        };
        registry.register("requests", "Creates sent to the partner, by class", new.requests.clone());
        registry.register("settled", "Claims that ended, by what became of the push", new.settled.clone());
        registry.register("fenced", "Claims that ended in other hands", new.fenced.clone());
        registry.register_with_unit(
            "send",
            "Time from a create to its answer or failure",
            Unit::Seconds,
            new.send_seconds.clone(),
        );
        registry.register("in_flight", "Reports claimed and not settled yet", new.in_flight.clone());
        registry.register(
            "breaker_open",
            "Whether the breaker is open or on trial",
            new.breaker_open.clone(),
        );
        registry.register("paused", "Whether somebody has paused the outbox", new.paused.clone());
        registry.register("outbox_pending", "Reports not handed over yet", new.pending.clone());
        registry.register("outbox_ready", "Reports that are due now", new.ready.clone());
        registry.register("outbox_review", "Reports that wait for a person", new.review.clone());
        registry.register("outbox_dead", "Reports that were given up", new.dead.clone());
        registry.register_with_unit(
            "outbox_oldest",
            "Age of the oldest report not handed over",
            Unit::Seconds,
            new.oldest_seconds.clone(),
        );
        new
    }

    /// How the gate of a channel stands.
    pub(crate) fn gate(&self, channel: &str, paused: bool, breaker_open: bool) {
        let label = [("channel", channel.to_owned())];
        self.paused.get_or_create(&label).set(i64::from(paused));
        self.breaker_open.get_or_create(&label).set(i64::from(breaker_open));
    }

    pub(crate) fn request(&self, class: Class, took: Duration) {
        self.requests.get_or_create(&[("class", class.name())]).inc();
        self.send_seconds.observe(took.as_secs_f64());
    }

    pub(crate) fn settle(&self, outcome: &Outcome) {
        self.settled.get_or_create(&[("outcome", outcome.name())]).inc();
    }

    pub(crate) fn fence(&self) {
        self.fenced.inc();
    }

    /// Measures the outbox until `stopping` is cancelled, with the gate open or shut.
    pub(crate) async fn measure(self, pool: PgPool, channels: Vec<String>, stopping: CancellationToken) {
        loop {
            match store::depth(&pool, &channels).await {
                Ok(depth) => {
                    self.pending.set(depth.pending);
                    self.ready.set(depth.ready);
                    self.oldest_seconds.set(depth.oldest_seconds);
                    self.review.set(depth.review);
                    self.dead.set(depth.dead);
                }
                Err(error) => tracing::debug!(%error, "the outbox was not measured"),
            }
            tokio::select! {
                () = tokio::time::sleep(MEASURE_EVERY) => {}
                () = stopping.cancelled() => return,
            }
        }
    }
}
