//! A geocoder that a test can take away, make panic, or hold.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use conversation::lookup::{Geocoder, LookupError, Pending};
use dialogue::{Candidate, Coverage, Language, Point, Verdict};
use tokio::sync::watch;

/// The pin that the tests send, inside of the area.
pub(crate) const PIN: Point = Point { latitude: 42.8467, longitude: -2.6727 };
/// How it is called.
pub(crate) const PIN_NAME: &str = "Calle Dato, 1";
/// The one address that is known.
pub(crate) const ADDRESS: &str = "Pintore kalea, 1";

pub(crate) struct Geo {
    pub(crate) away: AtomicBool,
    pub(crate) panics: AtomicBool,
    open: watch::Sender<bool>,
    asked: watch::Sender<u32>,
}

impl Geo {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            away: AtomicBool::new(false),
            panics: AtomicBool::new(false),
            open: watch::Sender::new(true),
            asked: watch::Sender::new(0),
        })
    }

    /// One whose answers wait for [`Geo::let_go`].
    pub(crate) fn holding() -> Arc<Self> {
        let geo = Self::new();
        geo.open.send_replace(false);
        geo
    }

    pub(crate) fn let_go(&self) {
        self.open.send_replace(true);
    }

    /// Waits until it was asked `times` in all whether a point is covered.
    pub(crate) async fn asked(&self, times: u32) {
        let mut asked = self.asked.subscribe();
        let enough = asked.wait_for(|asked| *asked >= times);
        let in_time = tokio::time::timeout(std::time::Duration::from_secs(20), enough).await;
        assert!(in_time.is_ok(), "the geocoder was not asked {times} times");
    }

    pub(crate) fn times_asked(&self) -> u32 {
        *self.asked.borrow()
    }
}

/// What the service is given.
pub(crate) struct Stub(pub(crate) Arc<Geo>);

impl Geocoder for Stub {
    fn covers(&self, point: Point) -> Pending<'_, Result<Coverage, LookupError>> {
        Box::pin(async move {
            self.0.asked.send_modify(|asked| *asked += 1);
            let _ = self.0.open.subscribe().wait_for(|open| *open).await;
            assert!(!self.0.panics.load(Ordering::SeqCst), "a fault in the handler");
            if self.0.away.load(Ordering::SeqCst) {
                return Err(LookupError::Unavailable("away"));
            }
            Ok(if (point.latitude - PIN.latitude).abs() < 0.1 {
                Coverage::Inside { area_id: "gasteiz".to_owned(), area_version: 1 }
            } else {
                Coverage::Outside { metres: 5000.0 }
            })
        })
    }

    fn reverse(&self, _: Point, _: Language) -> Pending<'_, Result<Option<String>, LookupError>> {
        Box::pin(async { Ok(Some(PIN_NAME.to_owned())) })
    }

    fn resolve<'a>(
        &'a self,
        text: &'a str,
        _: Language,
        _: Option<&'a str>,
    ) -> Pending<'a, Result<Verdict, LookupError>> {
        Box::pin(async move {
            Ok(if text == ADDRESS {
                Verdict::ExactDoor(Candidate {
                    point: PIN,
                    address: ADDRESS.to_owned(),
                    area_id: "gasteiz".to_owned(),
                    area_version: 1,
                })
            } else {
                Verdict::NotFound
            })
        })
    }
}
