//! A provider that remembers answers, in memory only.
//!
//! Calls for the same thing at the same time become one, and that one goes on by itself: a caller whose deadline is
//! short takes nothing away from the others, and what comes too late for everybody is still remembered for whoever
//! asks again.
//!
//! A failure is never remembered. "Nothing found" is an answer and no failure, but providers say it too easily, so by
//! itself it is not remembered either: who writes the same text again wants it to be looked for again. Only when another
//! question for the same address found it is the nothing of the questions before believed ([`Provider::confirm_nothing`]),
//! so that an address which takes several questions ("Dato kalea 12": the provider knows doors in Spanish) is answered
//! from memory as a whole.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use moka::Expiry;
use moka::future::Cache;

use crate::Point;
use crate::provider::{Away, Found, Provider};
use crate::query::Query;

/// Streets change slowly.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How long it is believed that there is nothing.
const NOTHING_KEPT: Duration = Duration::from_secs(60 * 60);
/// How long after a question its nothing can be confirmed; longer than any answer takes.
const OPEN: Duration = Duration::from_secs(60);
/// Answers kept; one takes a few kilobytes.
const MOST: u64 = 5_000;

/// A provider with a memory.
pub struct Cached {
    inner: Arc<dyn Provider>,
    searches: Cache<Query, Arc<Vec<Found>>>,
    /// Questions that this provider has just answered with nothing.
    nothing: Cache<Query, ()>,
    points: Cache<(String, &'static str), Option<Point>>,
}

/// How long an answer is kept.
struct Kept;

impl Expiry<Query, Arc<Vec<Found>>> for Kept {
    fn expire_after_create(&self, _: &Query, found: &Arc<Vec<Found>>, _: Instant) -> Option<Duration> {
        Some(if found.is_empty() { NOTHING_KEPT } else { KEPT })
    }
}

impl Cached {
    /// Gives a provider a memory.
    pub fn new(inner: Arc<dyn Provider>) -> Self {
        Self {
            inner,
            searches: Cache::builder().max_capacity(MOST).expire_after(Kept).build(),
            nothing: Cache::builder().max_capacity(MOST).time_to_live(OPEN).build(),
            points: Cache::builder().max_capacity(MOST).time_to_live(KEPT).build(),
        }
    }
}

/// Runs a call in a task of its own, so that nobody who stops waiting stops it.
async fn detached<T: Send + 'static>(
    call: impl Future<Output = Result<T, Away>> + Send + 'static,
) -> Result<T, Away> {
    // The task ends without an answer only with the process.
    tokio::spawn(tracing::Instrument::in_current_span(call)).await.unwrap_or(Err(Away::Unreachable))
}

impl Provider for Cached {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Vec<Found>, Away>> {
        Box::pin(async move {
            if let Some(known) = self.searches.get(query).await {
                return Ok(known.to_vec());
            }
            let (inner, searches, query) = (Arc::clone(&self.inner), self.searches.clone(), query.clone());
            let nothing = self.nothing.clone();
            let call = async move {
                let ask = async { inner.search(&query).await.map(Arc::new) };
                let answer = searches.try_get_with_by_ref(&query, ask).await.map_err(|error| *error)?;
                if answer.is_empty() {
                    searches.invalidate(&query).await;
                    nothing.insert(query, ()).await;
                }
                Ok(answer)
            };
            Ok(detached(call).await?.to_vec())
        })
    }

    fn locate<'a>(&'a self, found: &'a Found) -> BoxFuture<'a, Result<Option<Point>, Away>> {
        Box::pin(async move {
            let Some(key) = found.id.clone() else {
                return Ok(found.point);
            };
            if let Some(known) = self.points.get(&key).await {
                return Ok(known);
            }
            let (inner, points, found) = (Arc::clone(&self.inner), self.points.clone(), found.clone());
            let call = async move {
                let point =
                    points.try_get_with_by_ref(&key, inner.locate(&found)).await.map_err(|error| *error)?;
                if point.is_none() {
                    points.invalidate(&key).await;
                }
                Ok(point)
            };
            detached(call).await
        })
    }

    /// Not remembered: no two pins are alike.
    fn reverse(&self, point: Point) -> BoxFuture<'_, Result<Option<Found>, Away>> {
        let inner = Arc::clone(&self.inner);
        Box::pin(detached(async move { inner.reverse(point).await }))
    }

    fn confirm_nothing<'a>(&'a self, queries: &'a [Query]) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            for query in queries {
                // Not what somebody else has answered while this provider was away.
                if self.nothing.remove(query).await.is_some() {
                    self.searches.insert(query.clone(), Arc::new(Vec::new())).await;
                }
            }
        })
    }
}
