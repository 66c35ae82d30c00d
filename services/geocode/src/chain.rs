//! Several providers, of which the first that answers is believed. "Nothing found" is an answer; the next one is asked
//! only when one is away, so that a city sees the knowledge of one provider at a time.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::Point;
use crate::provider::{Away, Found, Provider};
use crate::query::Query;

/// Providers in order of preference.
pub struct Chain {
    first: Arc<dyn Provider>,
    others: Vec<Arc<dyn Provider>>,
}

impl Chain {
    /// The first one, and those that stand in for it.
    pub fn new(first: Arc<dyn Provider>, others: Vec<Arc<dyn Provider>>) -> Self {
        Self { first, others }
    }

    /// What the first says, or what the first of the others that is there says, or why the first one did not.
    async fn ask<'a, T>(
        &'a self,
        ask: impl Fn(&'a dyn Provider) -> BoxFuture<'a, Result<T, Away>>,
    ) -> Result<T, Away> {
        let away = match ask(&*self.first).await {
            Ok(answer) => return Ok(answer),
            Err(away) => away,
        };
        for other in &self.others {
            if let Ok(answer) = ask(&**other).await {
                return Ok(answer);
            }
        }
        Err(away)
    }
}

impl Provider for Chain {
    fn name(&self) -> &'static str {
        self.first.name()
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Vec<Found>, Away>> {
        Box::pin(self.ask(move |provider| provider.search(query)))
    }

    /// Only the provider that found something knows its id.
    fn locate<'a>(&'a self, found: &'a Found) -> BoxFuture<'a, Result<Option<Point>, Away>> {
        let mut all = std::iter::once(&self.first).chain(&self.others);
        match all.find(|provider| provider.name() == found.provider) {
            Some(provider) => provider.locate(found),
            None => Box::pin(async { Ok(found.point) }),
        }
    }

    fn reverse(&self, point: Point) -> BoxFuture<'_, Result<Option<Found>, Away>> {
        Box::pin(self.ask(move |provider| provider.reverse(point)))
    }

    /// Those that stand in are not asked often enough to be remembered.
    fn confirm_nothing<'a>(&'a self, queries: &'a [Query]) -> BoxFuture<'a, ()> {
        self.first.confirm_nothing(queries)
    }
}
