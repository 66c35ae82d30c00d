//! Rejections of what the database refuses.

use super::{NewEvent, NewReceipt, NewRejection};

const REFUSED: &str = "refused_by_database";

pub(super) fn event(poison: &NewEvent, error: &sqlx::Error) -> NewRejection {
    NewRejection {
        message_id: Some(poison.message_id.clone()),
        reason: REFUSED.to_owned(),
        detail: detail(error),
        raw: poison.payload.to_string().into_bytes(),
    }
}

/// The recipient is left out: it is a person's number, and nothing would be done with it.
pub(super) fn receipt(poison: &NewReceipt, error: &sqlx::Error) -> NewRejection {
    let raw = serde_json::json!({
        "provider_id": poison.provider_id,
        "status": poison.status,
        "occurred_at": poison.occurred_at.timestamp(),
    });
    NewRejection {
        message_id: None,
        reason: REFUSED.to_owned(),
        detail: detail(error),
        raw: raw.to_string().into_bytes(),
    }
}

/// The code only: the database's own words may quote the message.
fn detail(error: &sqlx::Error) -> String {
    match error.as_database_error().and_then(|error| error.code()) {
        Some(code) => format!("the database refuses its data with SQLSTATE {code}"),
        None => "its data cannot be given to the database".to_owned(),
    }
}
