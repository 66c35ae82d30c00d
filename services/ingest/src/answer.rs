//! The answer to a delivery that is stored.

use std::collections::HashSet;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bus::append::Stored;
use channel::config::{Account, Provider};
use serde::Serialize;
use uuid::Uuid;

use crate::error::problem;
use crate::metrics::Outcome;

/// What became of a delivery, and how its sender is told. All but [`Verdict::Invalid`] mean: it is ours now.
#[derive(Debug)]
pub(crate) struct Answer {
    verdict: Verdict,
    counts: Counts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Accepted,
    /// Something is new. Only a webhook in our own form hears the difference: Meta takes no other code than 200.
    Created,
    /// The one message there was is invalid. It is kept all the same, but its sender is the one who can mend it.
    Invalid,
}

#[derive(Debug, Serialize)]
struct Counts {
    activity_id: Option<Uuid>,
    activity_ids: Vec<Uuid>,
    duplicates: usize,
    rejected: usize,
    receipts_processed: usize,
}

#[derive(Serialize)]
struct Accepted {
    status: &'static str,
    #[serde(flatten)]
    counts: Counts,
}

impl Answer {
    /// `order` are our ids of the messages in the provider's order, `messages` how many there were, valid or not.
    pub(crate) fn new(channel: &Account, order: &[Uuid], messages: usize, stored: &Stored) -> Self {
        let created: HashSet<&Uuid> = stored.created.iter().collect();
        let activity_ids: Vec<Uuid> = order.iter().filter(|id| created.contains(id)).copied().collect();
        let verdict = match channel.provider {
            Provider::Meta(_) | Provider::Infobip(_) => Verdict::Accepted,
            Provider::Webhook(_) if !activity_ids.is_empty() => Verdict::Created,
            Provider::Webhook(_) if messages == 1 && stored.rejected == 1 => Verdict::Invalid,
            Provider::Webhook(_) => Verdict::Accepted,
        };
        let counts = Counts {
            activity_id: activity_ids.first().copied(),
            activity_ids,
            duplicates: stored.duplicates,
            rejected: stored.rejected,
            receipts_processed: stored.receipts,
        };
        Self { verdict, counts }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        match self.verdict {
            Verdict::Accepted | Verdict::Created => Outcome::Stored,
            Verdict::Invalid => Outcome::Invalid,
        }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let Self { verdict, counts } = self;
        match verdict {
            Verdict::Accepted => Json(Accepted { status: "accepted", counts }).into_response(),
            Verdict::Created => {
                (StatusCode::CREATED, Json(Accepted { status: "accepted", counts })).into_response()
            }
            Verdict::Invalid => {
                let detail = "the message is invalid; it is kept as a rejection with its reason";
                problem(StatusCode::UNPROCESSABLE_ENTITY, detail, counts)
            }
        }
    }
}
