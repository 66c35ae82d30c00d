//! Counters of the three loops. Labels come from enums, never from data.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// How something ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct OutcomeLabel {
    outcome: &'static str,
}

/// The channel's id, which is configuration.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ChannelLabel {
    channel: String,
}

/// The counters.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    /// Events by what the dialogue made of them.
    events: Family<OutcomeLabel, Counter>,
    /// Replies by what became of them.
    outbounds: Family<OutcomeLabel, Counter>,
    /// Photos by what became of the attempt.
    photos: Family<OutcomeLabel, Counter>,
    /// Marks of what is worked on, by what became of them.
    marks: Family<OutcomeLabel, Counter>,
    /// Channels that are paused: then a person must act.
    paused: Family<ChannelLabel, Gauge>,
    /// Chats in work.
    pub in_flight: Gauge,
}

impl Metrics {
    /// Registers all of them.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register("events", "Events handled, by outcome", metrics.events.clone());
        registry.register("outbounds", "Replies finished, by outcome", metrics.outbounds.clone());
        registry.register("photos", "Photo attempts, by outcome", metrics.photos.clone());
        registry.register("marks", "Messages marked as read, by outcome", metrics.marks.clone());
        registry.register("channel_paused", "1 while the channel is paused", metrics.paused.clone());
        registry.register("chats_in_flight", "Chats in work", metrics.in_flight.clone());
        metrics
    }

    /// Whether a channel is paused.
    pub fn paused(&self, channel: &str, is: bool) {
        let label = ChannelLabel { channel: channel.to_owned() };
        self.paused.get_or_create(&label).set(i64::from(is));
    }

    /// An event was handled.
    pub fn event(&self, outcome: &'static str) {
        self.events.get_or_create(&OutcomeLabel { outcome }).inc();
    }

    /// A reply was finished.
    pub fn outbound(&self, outcome: &'static str) {
        self.outbounds.get_or_create(&OutcomeLabel { outcome }).inc();
    }

    /// A mark was tried.
    pub fn mark(&self, outcome: &'static str) {
        self.marks.get_or_create(&OutcomeLabel { outcome }).inc();
    }

    /// A photo was tried.
    pub fn photo(&self, outcome: &'static str) {
        self.photos.get_or_create(&OutcomeLabel { outcome }).inc();
    }
}
