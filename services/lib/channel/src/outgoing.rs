//! What can be sent to a citizen, and the trait of whatever sends it.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::meta::{MediaError, SendError};

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
        /// The provider's id of the published form.
        flow_id: String,
        /// Comes back with the answer.
        token: String,
        /// The screen that opens.
        first_screen: String,
        /// What that screen is given: an object; an empty one is left out.
        data: Value,
        /// Send the unpublished draft, to a test number.
        draft: bool,
    },
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

    /// Shows the citizen that a message was read, with those before it.
    fn mark_read<'a>(&'a self, message_id: &'a str) -> Answer<'a, (), SendError>;

    /// Fetches a file that a citizen sent.
    fn fetch_media<'a>(&'a self, media_id: &'a str) -> Answer<'a, Media, MediaError>;
}
