//! How links to photos were answered.

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use super::answer::Refusal;

/// The metrics of the links. Cheap to clone.
#[derive(Clone)]
pub(crate) struct MediaMetrics {
    requests: Family<Labels, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
enum Outcome {
    Served,
    Forged,
    Expired,
    Gone,
    Unavailable,
}

impl MediaMetrics {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let requests: Family<Labels, Counter> = Family::default();
        registry.register("media_requests", "Questions for photos, by how they ended", requests.clone());
        Self { requests }
    }

    /// Counts one question; none: it was answered with its photo.
    pub(super) fn count(&self, refusal: Option<&Refusal>) {
        let outcome = match refusal {
            None => Outcome::Served,
            Some(Refusal::Forged) => Outcome::Forged,
            Some(Refusal::Expired) => Outcome::Expired,
            Some(Refusal::Gone) => Outcome::Gone,
            Some(Refusal::Unavailable) => Outcome::Unavailable,
        };
        self.requests.get_or_create(&Labels { outcome }).inc();
    }
}
