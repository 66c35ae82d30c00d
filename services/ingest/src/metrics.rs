//! What is counted at the door.

use channel::inbound::AlertKind;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Where the interesting differences are: a commit takes about a millisecond, and 2.5 s is the bound.
const SECONDS: [f64; 11] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5];

/// The metrics of the service. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Metrics {
    requests: Family<RequestLabels, Counter>,
    messages: Family<MessageLabels, Counter>,
    pub(crate) receipts: Counter,
    pub(crate) foreign_receipts: Counter,
    pub(crate) foreign_messages: Counter,
    pub(crate) notices: Counter,
    alerts: Family<AlertLabels, Counter>,
    pub(crate) secrets_changed: Counter,
    pub(crate) evicted: Counter,
    pub(crate) connections: Gauge,
    pub(crate) seconds: Histogram,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    outcome: Outcome,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum Outcome {
    Stored,
    Invalid,
    Handshake,
    NotFound,
    BadHandshake,
    BadSignature,
    TooLarge,
    BrokenBody,
    Overloaded,
    NotStored,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MessageLabels {
    outcome: MessageOutcome,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum MessageOutcome {
    Created,
    Duplicate,
    Rejected,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AlertLabels {
    kind: AlertLabel,
}

/// The label of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
enum AlertLabel {
    AccountRestricted,
    AccountViolation,
    AccountDisabled,
    AccountAlert,
    FlowBlocked,
    FlowThrottled,
    FlowUnhealthy,
}

impl From<AlertKind> for AlertLabel {
    fn from(kind: AlertKind) -> Self {
        match kind {
            AlertKind::AccountRestricted => Self::AccountRestricted,
            AlertKind::AccountViolation => Self::AccountViolation,
            AlertKind::AccountDisabled => Self::AccountDisabled,
            AlertKind::AccountAlert => Self::AccountAlert,
            AlertKind::FlowBlocked => Self::FlowBlocked,
            AlertKind::FlowThrottled => Self::FlowThrottled,
            AlertKind::FlowUnhealthy => Self::FlowUnhealthy,
        }
    }
}

impl Metrics {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            requests: Family::default(),
            messages: Family::default(),
            receipts: Counter::default(),
            foreign_receipts: Counter::default(),
            foreign_messages: Counter::default(),
            notices: Counter::default(),
            alerts: Family::default(),
            secrets_changed: Counter::default(),
            evicted: Counter::default(),
            connections: Gauge::default(),
            seconds: Histogram::new(SECONDS),
        };
        registry.register("requests", "Calls by how they ended", metrics.requests.clone());
        registry.register("messages", "Messages by what became of them", metrics.messages.clone());
        registry.register("receipts", "Receipts stored", metrics.receipts.clone());
        registry.register(
            "foreign_receipts",
            "Receipts for numbers that are not ours",
            metrics.foreign_receipts.clone(),
        );
        registry.register(
            "foreign_messages",
            "Messages to numbers that are not ours",
            metrics.foreign_messages.clone(),
        );
        registry.register("alerts", "Trouble that providers tell of, by its kind", metrics.alerts.clone());
        registry.register(
            "secrets_changed",
            "Times that a secret was taken from a file that changed",
            metrics.secrets_changed.clone(),
        );
        registry.register(
            "evicted_connections",
            "Connections closed to make room while there were too many",
            metrics.evicted.clone(),
        );
        registry.register("notices", "News that is acknowledged and not stored", metrics.notices.clone());
        registry.register("connections", "Open connections", metrics.connections.clone());
        registry.register(
            "append_duration_seconds",
            "From the whole body to the commit, or to giving up",
            metrics.seconds.clone(),
        );
        metrics
    }

    pub(crate) fn request(&self, outcome: Outcome) {
        self.requests.get_or_create(&RequestLabels { outcome }).inc();
    }

    pub(crate) fn alert(&self, kind: AlertKind) {
        self.alerts.get_or_create(&AlertLabels { kind: kind.into() }).inc();
    }

    pub(crate) fn messages(&self, outcome: MessageOutcome, count: usize) {
        self.messages.get_or_create(&MessageLabels { outcome }).inc_by(count as u64);
    }
}
