//! How the claim of one report ended, and what is kept of its last request.

use bus::outbox::{Claimed, Evidence, Outcome};
use partner::{Answer, Proof, Seen};
use uuid::Uuid;

use crate::classify::Class;
use crate::store::ToCome;

/// How a claim ended.
pub(crate) struct Ending {
    /// The attempt that is still open, and how it is closed.
    pub(crate) attempt: Option<(Uuid, Evidence)>,
    /// Whether the database has left open if that attempt is committed.
    pub(crate) unconfirmed: bool,
    pub(crate) outcome: Outcome,
    /// For people and for SQL: a stable code, or the class and what was seen.
    pub(crate) reason: String,
    /// What became of the photo, once a request has left.
    pub(crate) photo: Option<&'static str>,
    /// How the record's id can still be had.
    pub(crate) to_come: Option<ToCome>,
}

impl Ending {
    /// An end before any request left.
    pub(crate) fn unsent(outcome: Outcome, reason: &str) -> Self {
        Self {
            attempt: None,
            unconfirmed: false,
            outcome,
            reason: reason.to_owned(),
            photo: None,
            to_come: None,
        }
    }
}

/// Attempts charged, from 1.
pub(crate) fn charged(claimed: &Claimed) -> u32 {
    u32::try_from(claimed.attempts).unwrap_or(1).max(1)
}

/// The answer that was seen, if one was.
pub(crate) fn answer(seen: &Seen) -> Option<&Answer> {
    match &seen.proof {
        Proof::Answer(answer) => Some(answer),
        Proof::Unbuilt | Proof::NoConnection | Proof::NoAnswer => None,
    }
}

/// What is kept of a request.
pub(crate) fn evidence(class: Class, seen: &Seen) -> Evidence {
    let answer = answer(seen);
    Evidence {
        outcome: class.name().to_owned(),
        http_status: answer.map(|answer| i32::from(answer.status)),
        partner_id: answer.and_then(|answer| answer.id.clone()),
        seen: seen.detail.clone(),
    }
}
