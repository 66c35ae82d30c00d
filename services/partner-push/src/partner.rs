//! What a contractor's platform is to the worker: a login, a create, perhaps a search. One adapter per kind of
//! platform; how its answers are judged is the same for all of them ([`crate::classify`]).

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};

/// What is reported, in the contractor's words.
#[derive(Clone)]
pub(crate) struct Incident {
    /// The citizen's reference. The contractor's only key to recognise a report by.
    pub(crate) external_code: String,
    /// The contractor's code.
    pub(crate) category: String,
    /// WGS 84, degrees north.
    pub(crate) latitude: f64,
    /// WGS 84, degrees east.
    pub(crate) longitude: f64,
    pub(crate) address: Option<String>,
    /// What the citizen wrote, then what the category does not say, each on lines of its own.
    pub(crate) note: Option<String>,
    pub(crate) reported_at: DateTime<Utc>,
    pub(crate) photo: Option<bus::outbox::Photo>,
}

/// A request that can be sent again byte for byte.
#[derive(Clone)]
pub(crate) struct Prepared {
    /// Where it goes, without credentials.
    pub(crate) endpoint: String,
    pub(crate) body: Bytes,
    pub(crate) body_sha256: [u8; 32],
}

/// The right to send, until it is refused or ends. Never shown.
#[derive(Clone)]
pub(crate) struct Pass(pub(crate) Arc<str>);

/// Why there is no pass. Nothing has left: the report is deferred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoPass {
    /// The platform does not know us, or not this path: somebody must act.
    Refused(u16),
    /// Too many logins.
    Throttled(Option<Duration>),
    /// No answer that makes sense, for now. What was seen, without personal data.
    Unavailable(String),
}

/// What the client could prove about one create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The request could not even be put together.
    Unbuilt,
    /// There was never a connection.
    NoConnection,
    /// Bytes may have left, no head of an answer came back.
    NoAnswer,
    /// The head of an answer, and what its body told.
    Answer(Answer),
}

/// An answer to a create.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// From the header, already capped.
    pub(crate) retry_after: Option<Duration>,
    /// The record's id, if the body has a usable one.
    pub(crate) id: Option<String>,
    /// The body says that this external code exists already.
    pub(crate) already_exists: bool,
}

/// A proof, and a line for the person who reads the attempt later, without personal data.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) proof: Proof,
    pub(crate) detail: String,
}

/// What a search by external code tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// There is a record; its id, where it can be read.
    Record(Option<String>),
    /// The platform answered properly and knows of none.
    Absent,
    /// No answer, or one that proves nothing. What was seen.
    Unclear(String),
}

/// What a platform says, some time.
pub(crate) type Reply<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A contractor's platform. Which adapter it is, configuration says, so it is used as an object.
pub(crate) trait Partner: Send + Sync + 'static {
    /// Puts the request together. Does not talk to anybody.
    fn prepare(&self, incident: &Incident) -> Prepared;

    /// A pass that is good now: the one at hand, or a new one by logging in, once for all who wait.
    fn pass(&self) -> Reply<'_, Result<Pass, NoPass>>;

    /// A new pass, whatever is at hand: proof that the platform is there, which makes no record.
    fn knock(&self) -> Reply<'_, Result<(), NoPass>>;

    /// Forgets a pass that was refused, unless it has been replaced meanwhile.
    fn forget<'a>(&'a self, pass: &'a Pass) -> Reply<'a, ()>;

    /// Sends the create, once. Follows no redirect and repeats nothing.
    fn create<'a>(&'a self, pass: &'a Pass, prepared: &'a Prepared) -> Reply<'a, Seen>;

    /// Looks for a record by external code.
    fn find<'a>(&'a self, pass: &'a Pass, external_code: &'a str) -> Reply<'a, Found>;
}
