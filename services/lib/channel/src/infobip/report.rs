//! Reports about what we sent. A success carries an `error` as well (number 0), so its presence says nothing.

use chrono::DateTime;
use serde_json::Value;

use super::body::content;
use super::inbound::time;
use crate::identity::phone;
use crate::inbound::Item;
use crate::value::{object, text, whole, word};

/// The receipt, if the result is a report; its error says what the report lacks.
pub(super) fn read(result: &Value) -> Option<Result<Item, &'static str>> {
    let event = word(result, "event").unwrap_or_default();
    let seen = word(result, "seenAt").is_some() || matches!(event.as_str(), "SEEN" | "IM_SEEN");
    let status = object(result, "status").filter(|_| !has_content(result));
    if !seen && status.is_none() {
        // What is neither message nor report: typing, taps on links, whatever comes next.
        let other = !event.is_empty() && event != "MO";
        return other.then(|| Ok(Item::Notice { field: "another event".to_owned() }));
    }
    let word_of = match (seen, status) {
        (true, _) => "read",
        (false, Some(status)) => match outcome(status) {
            Some(word) => word,
            None => return Some(Ok(Item::Notice { field: "a report without news".to_owned() })),
        },
        (false, None) => return None,
    };
    let Some(provider_id) = word(result, "messageId") else {
        return Some(Err("the report has no message id"));
    };
    // The newer form names our sender. The older one does not, or in words whose direction is not documented: its
    // reports belong to the channel that they were sent to.
    let ours = word(result, "sender").filter(|_| !seen);
    let theirs = ["destination", "to"].iter().find_map(|key| word(result, key));
    let code = object(result, "error").and_then(|error| whole(error, "id")).filter(|code| *code != 0);
    let occurred_at = ["seenAt", "doneAt", "sentAt"].iter().find_map(|key| time(result, key));
    Some(Ok(Item::Receipt {
        phone_number_id: ours.map(|number| phone(&number).unwrap_or(number)).unwrap_or_default(),
        provider_id,
        status: word_of.to_owned(),
        recipient: theirs.unwrap_or_default(),
        occurred_at: occurred_at.unwrap_or(DateTime::UNIX_EPOCH),
        error_code: code.filter(|_| word_of == "failed"),
        callback_data: text(result, "callbackData"),
    }))
}

fn has_content(result: &Value) -> bool {
    object(result, "message").is_some() || !content(result).is_empty()
}

/// The group decides, by name or number; `ACCEPTED` says only that Infobip has it.
fn outcome(status: &Value) -> Option<&'static str> {
    match (word(status, "groupName").as_deref(), whole(status, "groupId")) {
        (Some("PENDING"), _) | (None, Some(1)) => Some("sent"),
        (Some("DELIVERED"), _) | (None, Some(3)) => Some("delivered"),
        (Some("UNDELIVERABLE" | "EXPIRED" | "REJECTED"), _) | (None, Some(2 | 4 | 5)) => Some("failed"),
        _ => None,
    }
}
