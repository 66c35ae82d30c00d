//! What a webhook brings, in the one form that all providers' parsers give.
//!
//! Whatever is wrong with one message stays with it: it becomes [`Item::Rejected`] with its reason, its neighbours go
//! on. Unknown keys are ignored, missing ones never fail, kinds that we do not know are kept raw.

use chrono::{DateTime, Utc};

use crate::normalised::Message;

/// Pieces that one call may bring: ten times what a provider says that it sends at most. What has more is kept whole
/// and not taken apart, since every piece that is kept costs more than its own bytes.
pub const MOST_PIECES: usize = 10_000;

/// Everything that one HTTP call brought, in the provider's order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Delivery {
    /// What was in it.
    pub items: Vec<Item>,
    /// What it says that a person should know.
    pub alerts: Vec<Alert>,
}

/// One thing that a webhook brought.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A message.
    Message {
        /// The number it was sent to, as the provider names it; empty where a provider does not say, and it belongs to
        /// the channel that it was addressed to.
        phone_number_id: String,
        /// What it says.
        message: Box<Message>,
        /// A webhook of its own with this message as received.
        raw: Vec<u8>,
    },
    /// A status of something we sent.
    Receipt {
        /// The number that sent it; empty as above.
        phone_number_id: String,
        /// The provider's id of what was sent.
        provider_id: String,
        /// The provider's word: `sent`, `delivered`, `read`, `played`, `failed`.
        status: String,
        /// Whom it was for: a phone or a business-scoped id; empty where it is not said.
        recipient: String,
        /// The provider's time; the epoch where it is not said, so that a repeat is the same receipt.
        occurred_at: DateTime<Utc>,
        /// Why it failed.
        error_code: Option<i64>,
        /// What we sent along with it.
        callback_data: Option<String>,
    },
    /// Something that can never be stored or understood.
    Rejected {
        /// The number it was for, where it is said.
        phone_number_id: Option<String>,
        /// The provider's id, where there is one.
        message_id: Option<String>,
        /// A stable word: `malformed`, `no_id`, `bad_id`, `no_sender`, `unknown_number`.
        reason: &'static str,
        /// What exactly is wrong, without quoting it.
        detail: String,
        /// A webhook of its own with this piece as received; the bare piece where it fits in none.
        raw: Vec<u8>,
    },
    /// News about the account, a template, a flow or our own echo: acknowledged, nothing to store.
    Notice {
        /// The webhook field, `messages` for errors of the number that belong to no message.
        field: String,
    },
}

/// A body that is no webhook. Displayed without quoting it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unparsable(pub(crate) String);

/// Trouble with the account or a form, for a person to look at. Nothing in it comes from a citizen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// What kind of trouble.
    pub kind: AlertKind,
    /// The provider's own words for it: an event and a state, no more.
    pub detail: String,
}

/// Kinds of trouble that a provider tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AlertKind {
    /// The account may not do all that it could.
    AccountRestricted,
    /// The account broke a rule, and may be restricted soon.
    AccountViolation,
    /// The account is disabled or gone.
    AccountDisabled,
    /// The provider raises an alert about the account.
    AccountAlert,
    /// A form cannot be sent any more.
    FlowBlocked,
    /// A form can be sent a few times an hour only.
    FlowThrottled,
    /// A form fails in the clients, or is about to be frozen.
    FlowUnhealthy,
}

impl Delivery {
    /// What was found, if it is not too much.
    pub(crate) fn of(items: Vec<Item>, alerts: Vec<Alert>) -> Result<Self, String> {
        if items.len() > MOST_PIECES {
            return Err(format!("more than {MOST_PIECES} messages in one body"));
        }
        Ok(Self { items, alerts })
    }
}
