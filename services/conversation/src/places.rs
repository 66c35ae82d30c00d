//! Who works at the same time, and who only waits.
//!
//! A chat has a place while it is worked. One that waits for a lookup does nothing, so after a moment it makes room for
//! another: ten addresses at a slow geocoder must not leave the other citizens a third of the places. How many may stand
//! aside has a bound as well; beyond it a wait keeps its place, so that an outage holds no more chats in memory than that.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// How long a lookup may take before its chat stands aside: what is remembered, or only a look into our own database, takes
/// less. It is short because it is lost to all others once for every slow chat: ten at once, beside eight places, are two
/// such moments in which nobody else is answered.
const MOMENT: Duration = Duration::from_millis(10);
/// Chats that may stand aside for each that may work.
const ASIDE: usize = 16;

/// The places of a channel.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    working: Arc<Semaphore>,
    aside: Arc<Semaphore>,
}

/// The place of one chat; free again when it is dropped.
#[derive(Debug)]
pub struct Place {
    held: Mutex<Option<OwnedSemaphorePermit>>,
    /// Where it may stand aside. `None`: it is no place among others, nobody waits for it.
    aside: Mutex<Option<Arc<Semaphore>>>,
}

impl Places {
    pub(crate) fn new(workers: usize) -> Self {
        Self { working: Arc::new(Semaphore::new(workers)), aside: Arc::new(Semaphore::new(workers * ASIDE)) }
    }

    /// Waits until one is free; returns how many are.
    pub(crate) async fn free(&self) -> Result<usize, AcquireError> {
        drop(self.working.acquire().await?);
        Ok(self.working.available_permits().max(1))
    }

    /// Takes one.
    pub(crate) async fn take(&self) -> Result<Place, AcquireError> {
        let held = Arc::clone(&self.working).acquire_owned().await?;
        Ok(Place { held: Mutex::new(Some(held)), aside: Mutex::new(Some(Arc::clone(&self.aside))) })
    }
}

impl Place {
    /// That of a chat which runs alone: nobody else may have it.
    pub(crate) fn alone() -> Self {
        Self { held: Mutex::default(), aside: Mutex::default() }
    }

    /// Waits for a lookup, standing aside when it takes more than a moment. The chat then stays aside: what is left of its
    /// work is short, and waits for a database connection like everybody's.
    pub(crate) async fn wait<T>(&self, lookup: impl Future<Output = T>) -> T {
        tokio::pin!(lookup);
        tokio::select! {
            biased;
            answer = &mut lookup => return answer,
            () = tokio::time::sleep(MOMENT) => {}
        }
        self.stand_aside();
        lookup.await
    }

    fn stand_aside(&self) {
        let mut aside = self.aside.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(permit) = aside.as_ref().and_then(|aside| Arc::clone(aside).try_acquire_owned().ok()) else {
            return;
        };
        // Once: whoever stands aside already would only change one such place for another.
        *aside = None;
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(permit);
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    fn free(places: &Places) -> (usize, usize) {
        (places.working.available_permits(), places.aside.available_permits())
    }

    #[tokio::test]
    async fn who_waits_long_makes_room_and_who_is_answered_at_once_does_not() {
        let places = Places::new(1);
        let place = places.take().await.unwrap();
        place.wait(ready(())).await;
        assert_eq!(free(&places), (0, ASIDE));
        let other = tokio::select! {
            other = places.take() => other.unwrap(),
            () = place.wait(pending()) => unreachable!("it is never answered"),
        };
        assert_eq!(free(&places), (0, ASIDE - 1), "the other has the place");
        // What comes of it is worked where it stands.
        place.wait(ready(())).await;
        drop(place);
        assert_eq!(free(&places), (0, ASIDE));
        drop(other);
        assert_eq!(free(&places), (1, ASIDE));
    }

    #[tokio::test]
    async fn no_more_stand_aside_than_may() {
        let places = Places::new(1);
        let mut waiting = Vec::new();
        for _ in 0..ASIDE {
            let place = places.take().await.unwrap();
            place.stand_aside();
            // Asked once more, it changes nothing.
            place.stand_aside();
            waiting.push(place);
        }
        let last = places.take().await.unwrap();
        last.stand_aside();
        assert_eq!(free(&places), (0, 0), "it keeps its place");
        waiting.pop();
        last.stand_aside();
        assert_eq!(free(&places), (1, 0), "now there is room");
    }

    #[tokio::test]
    async fn who_runs_alone_gives_no_place_to_anybody() {
        let place = Place::alone();
        place.stand_aside();
        assert!(place.held.lock().unwrap().is_none());
    }
}
