//! What the service asks of somebody who knows addresses, whoever it is.

use futures::future::BoxFuture;

use crate::Point;
use crate::coverage::Area;
use crate::parse::Door;
use crate::query::Query;

/// Somebody who knows addresses. Answers are what is known of the city, unjudged: whether they fit what was asked is
/// decided by [`crate::rank`].
pub trait Provider: Send + Sync + 'static {
    /// The name that answers carry.
    fn name(&self) -> &'static str;

    /// What is known under a street and a number, best first; empty when nothing is.
    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Vec<Found>, Away>>;

    /// Whether the answer to `asked` holds all that `next` would find, so that asking again would only cost time.
    fn has_answered(&self, _asked: &Query, _next: &Query) -> bool {
        false
    }

    /// A point of something that this provider found without one.
    fn locate<'a>(&'a self, found: &'a Found) -> BoxFuture<'a, Result<Option<Point>, Away>>;

    /// The door next to a point.
    fn reverse(&self, point: Point) -> BoxFuture<'_, Result<Option<Found>, Away>>;

    /// An address was found in the end, and these questions for it had found nothing: that may be believed for a while.
    fn confirm_nothing<'a>(&'a self, _queries: &'a [Query]) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Why a provider gave no answer. None of these means that it knows nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Away {
    /// No answer in time.
    #[error("no answer in time")]
    Timeout,
    /// No connection, or one that broke.
    #[error("not reachable")]
    Unreachable,
    /// An answer that says that it failed.
    #[error("answered with status {0}")]
    Status(u16),
    /// An answer that cannot be read: HTML, cut or too long.
    #[error("the answer cannot be read")]
    Unreadable,
    /// Not asked: too many questions are under way.
    #[error("not asked, too many questions are under way")]
    Busy,
    /// Not asked: it has failed too often just now.
    #[error("not asked, it has failed too often just now")]
    Resting,
}

/// Something that a provider knows.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Who knows it: [`Provider::name`].
    pub provider: &'static str,
    /// What it is.
    pub kind: FoundKind,
    /// The provider's own id and type, by which it can be located.
    pub id: Option<(String, &'static str)>,
    /// The word for the kind of street, as the provider writes it: "CALLE".
    pub street_type: String,
    /// The name without kind, number and town.
    pub name: String,
    /// The door.
    pub door: Option<Door>,
    /// The village or quarter, where it is named.
    pub locality: String,
    /// Where it is.
    pub point: Option<Point>,
    /// The service area that covers the point, once that was asked.
    pub area: Option<Area>,
}

/// What a provider can know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    /// A house, or a kilometre of a road.
    Door,
    /// A street or a road.
    Street,
    /// Anything else with a name.
    Place,
}
