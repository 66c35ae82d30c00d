//! What goes out: the decision, and with it the changes and replies the shell commits in one transaction.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Language, Lookup, PhotoRef, Place, Session};

/// What [`decide`](crate::decide()) answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Look this up and ask again with one more answer.
    Need(Lookup),
    /// Decided.
    Done(Transition),
}

/// One step of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// The new session.
    pub session: Session,
    /// Changes to the report, in order.
    pub effects: Vec<Effect>,
    /// What to say, in order.
    pub replies: Vec<Reply>,
    /// What kind of step it was, for metrics.
    pub outcome: Outcome,
}

/// A change to a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Make a draft.
    OpenDraft {
        /// Its id.
        report_id: Uuid,
        /// The language of the conversation.
        language: Language,
        /// Where it is.
        place: Place,
    },
    /// The draft is somewhere else.
    MoveDraft {
        /// The draft.
        report_id: Uuid,
        /// Where it is now.
        place: Place,
    },
    /// Forget the draft.
    DropDraft {
        /// The draft.
        report_id: Uuid,
    },
    /// Turn the draft into a received report; the shell then says [`received`](crate::received).
    Receive {
        /// The draft.
        report_id: Uuid,
        /// Slash-joined path of the leaf.
        route: String,
        /// Labels of the path in the language of the form.
        category: Vec<String>,
        /// The note; never empty.
        note: Option<String>,
        /// The photo.
        photo: Option<PhotoRef>,
        /// How many photos came beside it and are left out.
        more_photos: usize,
        /// The version of the taxonomy it was filled in under.
        version: Option<String>,
        /// The language to answer in.
        language: Language,
        /// The prompt whose form this is.
        prompt_token: Uuid,
    },
    /// This is the new photo of a received report whose own could not be had.
    TakePhoto {
        /// The report.
        report_id: Uuid,
        /// The photo.
        photo: PhotoRef,
    },
    /// The form of a received report came again: the shell reads its reference and says
    /// [`received`](crate::received).
    RepeatReference {
        /// The report.
        report_id: Uuid,
        /// The language to answer in.
        language: Language,
    },
}

/// One message to send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// What it shows.
    pub body: ReplyBody,
    /// Its token, if it expects an answer.
    pub prompt: Option<Uuid>,
}

/// What a message shows; within the limits of the narrowest channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyBody {
    /// Plain text.
    Text(String),
    /// Up to three buttons.
    Buttons {
        /// The text above them.
        text: String,
        /// Id and title.
        buttons: Vec<(String, String)>,
    },
    /// A list that opens.
    List {
        /// The text above it.
        text: String,
        /// The title of the button that opens it.
        button: String,
        /// Id, title and description.
        rows: Vec<(String, String, String)>,
    },
    /// A button that sends a pin.
    LocationRequest {
        /// The text above it.
        text: String,
    },
    /// The report form.
    Form {
        /// The text above it.
        text: String,
        /// The title of the button that opens it.
        cta: String,
        /// The language of the form.
        language: Language,
        /// The address the form shows; never empty.
        address: String,
    },
}

/// What kind of step a transition was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A report was begun: the language is asked for.
    Started,
    /// An answer was taken and the conversation went on.
    Advanced,
    /// The answer was read and could not be taken; the same is asked again.
    Refused,
    /// An answer to a prompt that is no longer open; nothing changed.
    Stale,
    /// Not an answer: the citizen was reminded of what is awaited.
    Reminded,
    /// Not an answer, within a minute of the last reminder: silence.
    Quiet,
    /// Nothing to answer (a reaction, a group, a deletion, a notice): silence.
    Ignored,
    /// A report was completed.
    Received,
    /// The form of a received report came again.
    Repeated,
    /// A photo that was asked for came.
    PhotoTaken,
    /// The form ended at a leaf that only informs.
    Informed,
    /// By keyword.
    Cancelled,
    /// By keyword.
    Restarted,
    /// By keyword.
    Helped,
    /// A word of thanks was answered.
    Thanked,
}

impl Outcome {
    /// The stable name for metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Advanced => "advanced",
            Self::Refused => "refused",
            Self::Stale => "stale",
            Self::Reminded => "reminded",
            Self::Quiet => "quiet",
            Self::Ignored => "ignored",
            Self::Received => "received",
            Self::Repeated => "repeated",
            Self::PhotoTaken => "photo_taken",
            Self::Informed => "informed",
            Self::Cancelled => "cancelled",
            Self::Restarted => "restarted",
            Self::Helped => "helped",
            Self::Thanked => "thanked",
        }
    }
}
