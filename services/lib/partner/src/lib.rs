//! What a contractor's platform is to us: a login, a create, perhaps a search. One adapter per kind of platform behind
//! one trait; nothing here judges an answer, and nothing here sends anything twice.
//!
//! * [`args`]: where the platform is and who we are there; [`platform`]: paths, names and codes; [`media`]: links to
//!   photos, for a platform that takes no bytes; [`list`]: what a platform has, where it can list it.
//! * `contractor`: JSON with a login and an inline photo; `open311`: GeoReport v2.
#![deny(missing_docs)]

pub mod args;
pub mod list;
pub mod media;
pub mod platform;

mod answer;
mod contractor;
mod open311;
mod refusal;
mod secret;
mod session;
mod wire;

pub use wire::Timeouts;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};

use crate::args::PartnerConfig;
use crate::list::{Listed, Listing};
use crate::platform::Adapter;

/// What is reported, in the contractor's words.
#[derive(Clone)]
pub struct Incident {
    /// The citizen's reference. The contractor's only key to recognise a report by.
    pub external_code: String,
    /// The contractor's code.
    pub category: String,
    /// WGS 84, degrees north.
    pub latitude: f64,
    /// WGS 84, degrees east.
    pub longitude: f64,
    /// Where it is, in words.
    pub address: Option<String>,
    /// What the citizen wrote, then what the category does not say, each on lines of its own.
    pub note: Option<String>,
    /// When the citizen completed the form.
    pub reported_at: DateTime<Utc>,
    /// The photo, or why there is none.
    pub picture: Picture,
}

/// The photo of a report.
#[derive(Clone)]
pub enum Picture {
    /// It is sent.
    Photo {
        /// By content, not by name.
        content_type: String,
        /// The bytes, without metadata.
        bytes: Bytes,
    },
    /// The platform fetches it from this address.
    Link(String),
    /// The platform takes no photos.
    None,
    /// The platform refused it for its size: the note says so.
    TooLarge,
    /// It never came, and a person let the report go: the note says so.
    Missing,
}

/// How a platform takes photos.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Photos {
    /// As bytes in the create.
    Inline,
    /// As an address that it fetches them from.
    Linked,
    /// Not at all.
    Unwanted,
}

/// A request that can be sent again byte for byte.
#[derive(Clone)]
pub struct Prepared {
    /// What the record is recognised by.
    pub external_code: String,
    /// Where it goes, without credentials.
    pub endpoint: String,
    /// Without credentials too.
    pub body: Bytes,
    /// Of the body.
    pub body_sha256: [u8; 32],
}

/// The right to send, until it is refused or ends. Never shown.
#[derive(Clone)]
pub struct Pass(pub Arc<str>);

/// Why there is no pass, or no answer to a question. Nothing has left: the report is deferred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoPass {
    /// The platform does not know us, or not this path: somebody must act.
    Refused(u16),
    /// Too many logins.
    Throttled(Option<Duration>),
    /// No answer that makes sense, for now. What was seen, without personal data.
    Unavailable(String),
}

/// What the client could prove about one create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
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
pub struct Answer {
    /// The status of its head.
    pub status: u16,
    /// From the header, already capped.
    pub retry_after: Option<Duration>,
    /// The record's id, if the body has a usable one.
    pub id: Option<String>,
    /// For which the id will be told later, where the body has a token instead of it.
    pub token: Option<String>,
    /// The body says that this external code exists already.
    pub already_exists: bool,
    /// The body says that our key, our path or our rights are refused, whatever the status says: this is no matter of the
    /// report.
    pub access_refused: bool,
    /// The status refuses, but the body leaves open whether something was made.
    pub unclear: bool,
}

/// A proof, and a line for the person who reads the attempt later, without personal data.
#[derive(Debug, Clone)]
pub struct Seen {
    /// What is certain.
    pub proof: Proof,
    /// For people.
    pub detail: String,
}

/// What a search by external code tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// There is a record.
    Record {
        /// Its id, where it can be read; of several, of the first.
        id: Option<String>,
        /// How many there are with this code: more than one is one too many.
        count: usize,
    },
    /// The platform answered properly and knows of none.
    Absent,
    /// No answer, or one that proves nothing. What was seen.
    Unclear(String),
}

/// What a platform tells for a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redeemed {
    /// The record's id.
    Id(String),
    /// The platform is still at work.
    NotYet,
    /// No answer that makes sense. What was seen.
    Unclear(String),
}

/// What a platform says, some time.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A contractor's platform. Which adapter it is, configuration says, so it is used as an object.
pub trait Partner: Send + Sync + 'static {
    /// Whether [`Partner::find`] can say "absent".
    fn searchable(&self) -> bool;

    /// How it takes photos. A picture that comes in another way is left out.
    fn photos(&self) -> Photos;

    /// Puts the request together. Does not talk to anybody.
    fn prepare(&self, incident: &Incident) -> Prepared;

    /// A pass that is good now: the one at hand, or a new one by logging in, once for all who wait.
    fn pass(&self) -> Reply<'_, Result<Pass, NoPass>>;

    /// A new pass, whatever is at hand: proof that the platform is there, which makes no record.
    fn knock(&self) -> Reply<'_, Result<(), NoPass>>;

    /// Reads where creates go, which makes no record: a sign that more than the door works. Any answer will do but one
    /// that says that the platform is failing.
    fn browse<'a>(&'a self, pass: &'a Pass) -> Reply<'a, Result<(), NoPass>>;

    /// Forgets a pass that was refused, unless it has been replaced meanwhile.
    fn forget<'a>(&'a self, pass: &'a Pass) -> Reply<'a, ()>;

    /// Sends the create, once. Follows no redirect and repeats nothing.
    fn create<'a>(&'a self, pass: &'a Pass, prepared: &'a Prepared) -> Reply<'a, Seen>;

    /// Looks for records by external code.
    fn find<'a>(&'a self, pass: &'a Pass, external_code: &'a str) -> Reply<'a, Found>;

    /// How it lists its records by date; none: it cannot.
    fn listing(&self) -> Option<Listing>;

    /// Lists the records made between two moments, no further apart than [`Partner::listing`] says.
    fn list<'a>(&'a self, pass: &'a Pass, from: DateTime<Utc>, until: DateTime<Utc>) -> Reply<'a, Listed>;

    /// Asks for the id that a token stands for. Makes no record.
    fn redeem<'a>(&'a self, pass: &'a Pass, token: &'a str) -> Reply<'a, Redeemed>;
}

/// The adapter that the configuration asks for.
///
/// # Errors
/// The TLS backend cannot be set up.
pub fn connect(partner: &PartnerConfig, timeouts: Timeouts) -> Result<Box<dyn Partner>, reqwest::Error> {
    Ok(match partner.platform.adapter {
        Adapter::Contractor => Box::new(contractor::Contractor::new(partner, timeouts)?),
        Adapter::Open311 => Box::new(open311::Open311::new(partner, timeouts)?),
    })
}
