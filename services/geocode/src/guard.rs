//! What stands between the service and a provider on the network, whichever it is: few requests at once, a rate cap, a
//! breaker, one more try after a sporadic 5xx, and the counting of how each request ended.
//!
//! Nobody waits here for long: a call that finds no room or no place within [`LINE`] is [`Away::Busy`], and while the
//! breaker is open it is [`Away::Resting`] at once. Both are as good as an outage to who asks, and neither is held
//! against the provider.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tokio::sync::Semaphore;

use crate::Point;
use crate::breaker::{Breaker, Shown};
use crate::metrics::{Metrics, Outcome};
use crate::provider::{Away, Found, Provider};
use crate::query::Query;
use crate::rate::Rate;

/// How long a call waits in line.
const LINE: Duration = Duration::from_secs(1);

/// How hard a provider may be pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Requests a second from one process.
    pub per_second: u32,
    /// Requests at once from one process.
    pub at_once: usize,
    /// How long it is left alone when it begins to fail; longer each time that it still does, up to five times this.
    pub rest: Duration,
}

/// A provider behind its guard.
pub struct Guarded {
    inner: Arc<dyn Provider>,
    room: Semaphore,
    rate: Mutex<Rate>,
    breaker: Mutex<Breaker>,
    metrics: Metrics,
}

/// A call that the breaker let through. Dropped without an answer, because whoever asked has gone, it counts as ill:
/// else a probe that is given up would keep the breaker half open for ever.
struct Admitted<'a> {
    guard: &'a Guarded,
    shown: Shown,
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        if self.guard.breaker().settle(self.shown, Instant::now()) {
            let provider = self.guard.inner.name();
            tracing::warn!(
                error.code = "provider_resting",
                provider,
                "{provider} fails and is left alone for a while"
            );
        }
    }
}

impl Guarded {
    /// Puts a guard before a provider.
    pub fn new(inner: Arc<dyn Provider>, limits: Limits, metrics: Metrics) -> Self {
        Self {
            inner,
            room: Semaphore::new(limits.at_once.max(1)),
            rate: Mutex::new(Rate::new(limits.per_second)),
            breaker: Mutex::new(Breaker::new(limits.rest)),
            metrics,
        }
    }

    async fn call<'a, T: Known>(
        &'a self,
        method: &'static str,
        ask: impl Fn() -> BoxFuture<'a, Result<T, Away>> + Send,
    ) -> Result<T, Away> {
        let answer = self.attempt(method, &ask).await;
        // A sporadic error of a server that trips over parallel requests; anything else would only be the same again.
        if matches!(answer, Err(Away::Status(500..=599))) { self.attempt(method, &ask).await } else { answer }
    }

    async fn attempt<'a, T: Known>(
        &'a self,
        method: &'static str,
        ask: &(impl Fn() -> BoxFuture<'a, Result<T, Away>> + Send),
    ) -> Result<T, Away> {
        let started = Instant::now();
        let answer = self.admitted(ask).await;
        let outcome = match &answer {
            Ok(known) if known.is_empty() => Outcome::Empty,
            Ok(_) => Outcome::Answered,
            Err(Away::Timeout) => Outcome::Timeout,
            Err(Away::Unreachable) => Outcome::Unreachable,
            Err(Away::Status(_)) => Outcome::Refused,
            Err(Away::Unreadable) => Outcome::Unreadable,
            Err(Away::Busy) => Outcome::Busy,
            Err(Away::Resting) => Outcome::Resting,
        };
        let provider = self.inner.name();
        self.metrics.provider(provider, outcome, started.elapsed());
        if let Err(error) = &answer
            && *error != Away::Resting
        {
            // Neither the address nor the client's own error: that has the URL with the query.
            tracing::warn!(error.code = "provider", provider, method, %error, "{provider} {method}: {error}");
        }
        answer
    }

    async fn admitted<'a, T>(
        &'a self,
        ask: &(impl Fn() -> BoxFuture<'a, Result<T, Away>> + Send),
    ) -> Result<T, Away> {
        let line = Instant::now() + LINE;
        if !self.breaker().admits(Instant::now()) {
            return Err(Away::Resting);
        }
        let _permit = tokio::time::timeout(LINE, self.room.acquire()).await.map_err(|_| Away::Busy)?;
        let left = line.saturating_duration_since(Instant::now());
        let place = self.rate.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now(), left);
        tokio::time::sleep(place.ok_or(Away::Busy)?).await;
        // Asked again: it may have opened while this call stood in line. From here on the call is accounted for.
        if !self.breaker().enter(Instant::now()) {
            return Err(Away::Resting);
        }
        let mut admitted = Admitted { guard: self, shown: Shown::Ill };
        let answer = ask().await;
        admitted.shown = shown(answer.as_ref().err());
        answer
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an answer shows about the provider. A question that it refuses, it has read.
fn shown(error: Option<&Away>) -> Shown {
    match error {
        None | Some(Away::Status(400..=407 | 409..=428 | 430..=499) | Away::Busy | Away::Resting) => {
            Shown::Well
        }
        Some(Away::Timeout | Away::Unreachable | Away::Status(_) | Away::Unreadable) => Shown::Ill,
    }
}

/// An answer that can be empty.
trait Known {
    fn is_empty(&self) -> bool;
}

impl Known for Vec<Found> {
    fn is_empty(&self) -> bool {
        Self::is_empty(self)
    }
}

impl<T> Known for Option<T> {
    fn is_empty(&self) -> bool {
        self.is_none()
    }
}

impl Provider for Guarded {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Vec<Found>, Away>> {
        Box::pin(self.call("search", || self.inner.search(query)))
    }

    fn locate<'a>(&'a self, found: &'a Found) -> BoxFuture<'a, Result<Option<Point>, Away>> {
        Box::pin(self.call("locate", || self.inner.locate(found)))
    }

    fn reverse(&self, point: Point) -> BoxFuture<'_, Result<Option<Found>, Away>> {
        Box::pin(self.call("reverse", move || self.inner.reverse(point)))
    }
}
