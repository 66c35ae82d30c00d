//! A provider that remembers good answers, in memory only.
//!
//! Calls for the same thing at the same time become one. A failure is never remembered, and nor is "nothing found":
//! the provider says that too easily.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use moka::future::Cache;

use crate::Point;
use crate::provider::{Away, Found, Provider};

/// Streets change slowly.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// Answers kept; one takes a few kilobytes.
const MOST: u64 = 5_000;

/// A provider with a memory.
pub(crate) struct Cached {
    inner: Arc<dyn Provider>,
    searches: Cache<String, Arc<Vec<Found>>>,
    points: Cache<String, Option<Point>>,
}

impl Cached {
    /// Gives a provider a memory.
    pub(crate) fn new(inner: Arc<dyn Provider>) -> Self {
        Self {
            inner,
            searches: Cache::builder().max_capacity(MOST).time_to_live(KEPT).build(),
            points: Cache::builder().max_capacity(MOST).time_to_live(KEPT).build(),
        }
    }
}

impl Provider for Cached {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Vec<Found>, Away>> {
        Box::pin(async move {
            let ask = async { self.inner.search(query).await.map(Arc::new) };
            let answer = self.searches.try_get_with_by_ref(query, ask).await.map_err(|error| *error)?;
            if answer.is_empty() {
                self.searches.invalidate(query).await;
            }
            Ok(answer.to_vec())
        })
    }

    fn locate<'a>(&'a self, found: &'a Found) -> BoxFuture<'a, Result<Option<Point>, Away>> {
        Box::pin(async move {
            let Some((id, kind)) = &found.id else {
                return Ok(found.point);
            };
            let key = format!("{kind} {id}");
            let point = self
                .points
                .try_get_with_by_ref(&key, self.inner.locate(found))
                .await
                .map_err(|error| *error)?;
            if point.is_none() {
                self.points.invalidate(&key).await;
            }
            Ok(point)
        })
    }

    /// Not remembered: no two pins are alike.
    fn reverse(&self, point: Point) -> BoxFuture<'_, Result<Option<Found>, Away>> {
        self.inner.reverse(point)
    }
}
