//! What the service counts. No label has a value that comes from outside.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// What a typed address came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
pub enum VerdictLabel {
    /// The door that was asked for.
    ExactDoor,
    /// Another door of the street.
    NearestDoor,
    /// A street without a door.
    StreetOnly,
    /// A place or a pin.
    Place,
    /// Several.
    Several,
    /// No address.
    Vague,
    /// Not served.
    Outside,
    /// Another town.
    OtherTown,
    /// Unknown.
    NotFound,
    /// The provider is away.
    Unavailable,
}

impl VerdictLabel {
    /// The stable name, also for logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::ExactDoor => "exact_door",
            Self::NearestDoor => "nearest_door",
            Self::StreetOnly => "street_only",
            Self::Place => "place",
            Self::Several => "several",
            Self::Vague => "vague",
            Self::Outside => "outside",
            Self::OtherTown => "other_town",
            Self::NotFound => "not_found",
            Self::Unavailable => "unavailable",
        }
    }
}

/// How a request to the provider ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
pub enum Outcome {
    /// With something.
    Answered,
    /// With nothing.
    Empty,
    /// Not in time.
    Timeout,
    /// Without a connection.
    Unreachable,
    /// With another status than success.
    Refused,
    /// With something that is no answer.
    Unreadable,
    /// Not made: too many under way.
    Busy,
    /// Not made: the provider is left alone.
    Resting,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByVerdict {
    verdict: VerdictLabel,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByOutcome {
    provider: &'static str,
    outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByProvider {
    provider: &'static str,
}

fn seconds() -> Histogram {
    Histogram::new([0.001, 0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0])
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BySide {
    inside: u8,
}

/// The metrics of the service. Cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    resolves: Family<ByVerdict, Counter>,
    covers: Family<BySide, Counter>,
    provider_calls: Family<ByOutcome, Counter>,
    provider_seconds: Family<ByProvider, Histogram>,
}

impl Metrics {
    /// Registers them.
    pub fn register(registry: &mut Registry) -> Self {
        let inner = Inner {
            resolves: Family::default(),
            covers: Family::default(),
            provider_calls: Family::default(),
            provider_seconds: Family::new_with_constructor(seconds as fn() -> Histogram),
        };
        registry.register("resolves", "Typed addresses by verdict", inner.resolves.clone());
        registry.register("covers", "Points asked for, by whether they were inside", inner.covers.clone());
        registry.register(
            "provider_calls",
            "Requests to each provider by outcome",
            inner.provider_calls.clone(),
        );
        registry.register(
            "provider_seconds",
            "Time a request to each provider took",
            inner.provider_seconds.clone(),
        );
        Self(Arc::new(inner))
    }

    pub(crate) fn resolved(&self, verdict: VerdictLabel) {
        self.0.resolves.get_or_create(&ByVerdict { verdict }).inc();
    }

    pub(crate) fn covered(&self, inside: bool) {
        self.0.covers.get_or_create(&BySide { inside: u8::from(inside) }).inc();
    }

    pub(crate) fn provider(&self, provider: &'static str, outcome: Outcome, took: Duration) {
        self.0.provider_calls.get_or_create(&ByOutcome { provider, outcome }).inc();
        if !matches!(outcome, Outcome::Busy | Outcome::Resting) {
            self.0.provider_seconds.get_or_create(&ByProvider { provider }).observe(took.as_secs_f64());
        }
    }
}
