//! The providers of a configuration, each behind its guard and with its memory, one after the other.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;

use crate::cache::Cached;
use crate::cartociudad::CartoCiudad;
use crate::chain::Chain;
use crate::config::{Config, Endpoint, Geocoder};
use crate::guard::{Guarded, Limits};
use crate::metrics::Metrics;
use crate::nominatim::Nominatim;
use crate::offline::Offline;
use crate::photon::Photon;
use crate::provider::Provider;

/// Requests at once to one provider, from one process.
const AT_ONCE: usize = 8;
/// How long a provider that fails is left alone at first. Short: one probe in a while costs it little, and a citizen who
/// types an address meanwhile is asked for a pin.
const REST: Duration = Duration::from_secs(2);
/// How long an answer out of the database may take.
const OFFLINE_PATIENCE: Duration = Duration::from_secs(2);

/// The provider that a configuration describes.
///
/// # Errors
/// The TLS backend cannot be set up.
pub(crate) fn build(
    config: &Config,
    pool: &PgPool,
    metrics: &Metrics,
) -> Result<Arc<dyn Provider>, reqwest::Error> {
    let one = |geocoder: &Geocoder| one(geocoder, config, pool, metrics);
    let first = one(&config.geocoder)?;
    if config.fallback.is_empty() {
        return Ok(first);
    }
    let others = config.fallback.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Chain::new(first, others)))
}

/// How long all requests for one answer may take together.
pub(crate) fn patience(geocoder: &Geocoder) -> Duration {
    match geocoder {
        Geocoder::CartoCiudad(endpoint) | Geocoder::Nominatim(endpoint) | Geocoder::Photon(endpoint) => {
            endpoint.timeout * 2
        }
        Geocoder::Offline => OFFLINE_PATIENCE,
    }
}

fn one(
    geocoder: &Geocoder,
    config: &Config,
    pool: &PgPool,
    metrics: &Metrics,
) -> Result<Arc<dyn Provider>, reqwest::Error> {
    let (city, code) = (config.city_name.as_str(), config.city_ine_code.as_str());
    let (provider, endpoint): (Arc<dyn Provider>, &Endpoint) = match geocoder {
        Geocoder::CartoCiudad(at) => (Arc::new(CartoCiudad::new(&at.url, at.timeout, city, code)?), at),
        Geocoder::Nominatim(at) => (Arc::new(Nominatim::new(&at.url, at.timeout, city)?), at),
        Geocoder::Photon(at) => (Arc::new(Photon::new(&at.url, at.timeout, city)?), at),
        // As near as the database: nothing to be guarded from, and nothing worth remembering.
        Geocoder::Offline => return Ok(Arc::new(Offline::new(pool.clone(), code))),
    };
    let limits = Limits { per_second: endpoint.per_second, at_once: AT_ONCE, rest: REST };
    let guarded = Guarded::new(provider, limits, metrics.clone());
    Ok(Arc::new(Cached::new(Arc::new(guarded))))
}
