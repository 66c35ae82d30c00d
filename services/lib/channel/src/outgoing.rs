//! What can be sent to a citizen, and the trait of whatever sends it.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::media_error::MediaError;
use crate::send_error::SendError;

/// A message to send. Its texts must be within the limits of the channel; a provider refuses what is not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Outgoing {
    /// Plain text.
    Text {
        /// Up to 4,096 characters.
        text: String,
    },
    /// Up to three buttons.
    Buttons {
        /// The text above them, up to 1,024 characters.
        text: String,
        /// The buttons, with different titles.
        buttons: Vec<Button>,
    },
    /// A list that opens.
    List {
        /// The text above it, up to 1,024 characters.
        text: String,
        /// The title of the button that opens it, up to 20 characters.
        button: String,
        /// Up to ten rows.
        rows: Vec<Row>,
    },
    /// A button that sends a pin.
    LocationRequest {
        /// The text above it, up to 1,024 characters.
        text: String,
    },
    /// A form.
    Form {
        /// The text above it, up to 1,024 characters.
        text: String,
        /// The title of the button that opens it, up to 20 characters, no emoji.
        cta: String,
        /// Comes back with the answer.
        token: String,
        /// What is filled in.
        shape: FormShape,
    },
}

/// A form, as the channel can show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case")]
pub enum FormShape {
    /// A form that the provider has.
    Flow {
        /// The provider's id of it.
        flow_id: String,
        /// The screen that opens.
        first_screen: String,
        /// What that screen is given: an object; an empty one is left out.
        data: Value,
        /// Send the unpublished draft, to a test number.
        draft: bool,
    },
    /// What is asked for, for a client that shows forms of its own.
    Fields {
        /// The version of the taxonomy; it comes back with the answer.
        version: String,
        /// The language of the labels; it comes back with the answer.
        language: String,
        /// Where the report is.
        address: String,
        /// The fields, in order.
        fields: Vec<Field>,
    },
}

/// One thing that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The key of the answer.
    pub name: String,
    /// What kind of answer.
    #[serde(flatten)]
    pub kind: FieldKind,
    /// Whether an answer must have it.
    pub required: bool,
}

/// What a field takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FieldKind {
    /// One of these.
    Choice {
        /// In the order of the tree.
        options: Vec<Choice>,
    },
    /// A few words.
    Text {
        /// Characters at most.
        max_length: usize,
    },
    /// Files: an array of `{id, sha256?, mime_type?, file_name?}`.
    Photo {
        /// How many at most.
        max_count: usize,
    },
}

/// One of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Comes back.
    pub value: String,
    /// Its labels, from the top of the tree to the leaf.
    pub labels: Vec<String>,
}

/// A button that answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    /// Comes back with the answer; up to 256 characters.
    pub id: String,
    /// What it shows; up to 20 characters.
    pub title: String,
}

/// A row of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Comes back with the answer; up to 200 characters.
    pub id: String,
    /// What it shows; up to 24 characters.
    pub title: String,
    /// What it shows below; up to 72 characters.
    pub description: Option<String>,
}

/// Whom to send to: a phone where one is known, else a business-scoped id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    /// Digits as the provider gave them, without `+`.
    pub phone: Option<String>,
    /// Business-scoped id.
    pub user_id: Option<String>,
}

/// The provider took the message. It says later, in receipts, what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The provider's ids of it; at least one.
    pub provider_ids: Vec<String>,
}

/// A file that a citizen sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// The file.
    pub bytes: Bytes,
    /// MIME type without parameters, as the provider says. Not to be trusted: look at the bytes.
    pub content_type: String,
    /// Of `bytes`, computed here; it equals what the provider promises, where it promises one.
    pub sha256: [u8; 32],
}

/// An answer to come.
pub type Answer<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>>;

/// The forms that a channel can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forms {
    /// [`FormShape::Flow`]: one that was published with the provider.
    Flow,
    /// [`FormShape::Fields`]: the client draws it.
    Fields,
}

/// A provider's account that can be written to.
///
/// There is no idempotency key: a send whose answer is lost may have arrived. `callback` comes back in the receipts,
/// which is how such a send is recognised later.
pub trait Channel: Send + Sync {
    /// Sends one message. `callback` is our id of it, up to 512 characters.
    fn send<'a>(
        &'a self,
        recipient: &'a Recipient,
        message: &'a Outgoing,
        callback: &'a str,
    ) -> Answer<'a, Accepted, SendError>;

    /// What kind of form it sends.
    fn forms(&self) -> Forms;

    /// Whether it can show the citizen that a message is being worked on.
    fn shows_work(&self) -> bool;

    /// What it means that a message which was taken has failed after all, by the code in its receipt. `None`: such codes
    /// say nothing here.
    fn failed_later(&self, _code: i64) -> Option<SendError> {
        None
    }

    /// Shows the citizen that a message, with those before it, was read and, where the channel can, that an answer is
    /// being written. Nothing depends on it, so it takes a few seconds at most.
    fn working<'a>(&'a self, message_id: &'a str) -> Answer<'a, (), SendError>;

    /// Asks for the account's own record, which reaches no citizen. Success: what it sends with is accepted.
    fn probe(&self) -> Answer<'_, (), SendError>;

    /// Fetches a file that a citizen sent.
    fn fetch_media<'a>(&'a self, media_id: &'a str) -> Answer<'a, Media, MediaError>;
}
