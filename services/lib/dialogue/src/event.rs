//! What comes in: events, looked-up answers and fresh ids. Nothing here knows a provider's payload.

use uuid::Uuid;

use crate::{Candidate, Language, Point};

/// One event of a chat.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What it is.
    pub kind: EventKind,
    /// The prompt whose message this one answers or quotes, as far as the provider said so.
    pub in_reply_to: Option<Uuid>,
    /// What became of the open prompt on its way.
    pub prompt: PromptFate,
}

/// What became of the message that carries the open prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptFate {
    /// Sent, or still to be sent.
    #[default]
    Standing,
    /// Given up: the citizen has never seen it.
    Lost,
    /// It cannot be sent now and waits for that.
    Delayed,
}

/// The kinds of event a conversation can meet.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// A typed message.
    Text(String),
    /// A tapped button.
    Button {
        /// The id we gave it.
        id: String,
        /// The title it was shown with.
        title: String,
    },
    /// A chosen list row.
    ListChoice {
        /// The id we gave it.
        id: String,
        /// The title it was shown with.
        title: String,
    },
    /// A pin.
    Location {
        /// Where.
        point: Point,
        /// The name of the place, where the client gives one.
        name: Option<String>,
        /// The address, where the client gives one.
        address: Option<String>,
    },
    /// A completed form.
    Form(Form),
    /// Any media outside the form.
    Photo,
    /// A picture, while a received report waits for a new photo.
    AwaitedPhoto {
        /// The report.
        report_id: Uuid,
        /// The picture.
        photo: PhotoRef,
    },
    /// A live location, which has no single point.
    LiveLocation,
    /// Contact cards.
    Contacts,
    /// A reaction to one of our messages.
    Reaction,
    /// A message of a group.
    Group,
    /// A deleted message.
    Revoke,
    /// A notice of the provider (changed number, changed identity).
    System,
    /// Anything the provider or the channel could not show us.
    Unsupported,
}

/// A completed form.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The token it was sent with; some clients drop it.
    pub token: Option<Uuid>,
    /// What it says.
    pub answer: FormAnswer,
}

/// What a completed form says, after the route was checked.
#[derive(Clone, Debug, PartialEq)]
pub enum FormAnswer {
    /// A report.
    Report {
        /// Slash-joined path of the leaf.
        route: String,
        /// Labels of the path in the language of the form.
        category: Vec<String>,
        /// The note, if one was written.
        note: Option<String>,
        /// The photo, if one was taken.
        photo: Option<PhotoRef>,
        /// How many photos came beside it and are left out.
        more_photos: usize,
        /// The version of the taxonomy it was filled in under.
        version: Option<String>,
    },
    /// A leaf that only informs.
    Informational,
    /// A route the taxonomy does not have.
    UnknownRoute,
    /// Not readable as a form.
    Malformed,
}

/// A photo as the provider names it; opaque here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhotoRef {
    /// The provider's id.
    pub id: String,
    /// The hash the provider promises.
    pub sha256: String,
    /// The type the provider promises.
    pub mime_type: String,
}

/// Ids made by the shell, to be used if a transition needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fresh {
    /// For the prompt, if one is sent.
    pub token: Uuid,
    /// For the draft, if one is opened.
    pub report_id: Uuid,
}

/// A fact that is needed before deciding.
#[derive(Clone, Debug, PartialEq)]
pub enum Lookup {
    /// Whether the service area covers the point.
    Covers(Point),
    /// How the point is called.
    Reverse(Point),
    /// Where a typed address is.
    Resolve {
        /// As typed.
        text: String,
        /// The language of the conversation.
        language: Language,
        /// The street whose number was asked for.
        street: Option<String>,
    },
}

/// The answer to a [`Lookup`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// To [`Lookup::Covers`].
    Covers(Coverage),
    /// To [`Lookup::Reverse`]; `None` when nothing is near or nobody could say.
    Reverse(Option<String>),
    /// To [`Lookup::Resolve`].
    Resolve(Verdict),
}

/// What the gate of the service area says.
#[derive(Clone, Debug, PartialEq)]
pub enum Coverage {
    /// Inside, by this version of this area.
    Inside {
        /// The area.
        area_id: String,
        /// Its version.
        area_version: i32,
    },
    /// Outside.
    Outside {
        /// Distance to the nearest area.
        metres: f64,
    },
}

/// What became of a typed address.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The very door.
    ExactDoor(Candidate),
    /// The street has no such number; this is the nearest.
    NearestDoor {
        /// The nearest door.
        candidate: Candidate,
        /// The number that was typed.
        asked: String,
        /// The number that exists.
        found: String,
    },
    /// A street without a number.
    StreetOnly {
        /// The street.
        street: String,
    },
    /// A named place.
    Place(Candidate),
    /// Several places fit.
    Several(Vec<Candidate>),
    /// Too little to search with.
    Vague,
    /// Found, outside the service area.
    Outside,
    /// The text names another town.
    OtherTown(String),
    /// Nothing found.
    NotFound,
    /// The geocoder did not answer.
    Unavailable,
}
