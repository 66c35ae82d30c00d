//! What Infobip's answers mean: the group of a status first, then the status itself, then HTTP.
//!
//! A message that is taken and one that is rejected may both be answered with 200, so the status decides, and HTTP only
//! where there is none.

use serde_json::Value;

use crate::send_error::{Reason, by_status};
use crate::value::{object, whole, word};

/// What became of one message, as its answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is on its way, or was before: our id of it is known there.
    Taken,
    /// Why it is not.
    Refused(Reason),
}

/// The groups of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Accepted,
    Pending,
    Undeliverable,
    Delivered,
    Expired,
    Rejected,
}

/// Reads a `status`; `None`: it has none that we know.
pub(super) fn of_status(status: &Value) -> Option<Verdict> {
    Some(match group(status)? {
        Group::Accepted | Group::Pending | Group::Delivered => Verdict::Taken,
        Group::Undeliverable => Verdict::Refused(Reason::Undeliverable),
        // Nobody says so of a message that was just sent; it is tried again a few times.
        Group::Expired => Verdict::Refused(Reason::Passing),
        Group::Rejected => rejected(status),
    })
}

fn group(status: &Value) -> Option<Group> {
    let by_name = word(status, "groupName").and_then(|name| match name.as_str() {
        "ACCEPTED" | "OK" => Some(Group::Accepted),
        "PENDING" => Some(Group::Pending),
        "UNDELIVERABLE" => Some(Group::Undeliverable),
        "DELIVERED" => Some(Group::Delivered),
        "EXPIRED" => Some(Group::Expired),
        "REJECTED" => Some(Group::Rejected),
        _ => None,
    });
    by_name.or_else(|| match whole(status, "groupId")? {
        0 => Some(Group::Accepted),
        1 => Some(Group::Pending),
        2 => Some(Group::Undeliverable),
        3 => Some(Group::Delivered),
        4 => Some(Group::Expired),
        5 => Some(Group::Rejected),
        _ => None,
    })
}

/// A rejection, by its number, which does not change where names do.
fn rejected(status: &Value) -> Verdict {
    Verdict::Refused(match whole(status, "id") {
        // The same message id was taken before: an answer of it was lost.
        Some(23) => return Verdict::Taken,
        // Sender, credit, package, route: the account, whatever is sent.
        Some(11 | 12 | 13 | 17 | 19) => Reason::Blocked,
        // The flooding filter looks at one recipient.
        Some(20) => Reason::Pair,
        Some(21) => Reason::Passing,
        // Do-not-disturb, a destination that is not one or not registered.
        Some(10 | 14 | 18 | 51 | 52) => Reason::Undeliverable,
        // Network, prefix, header, length, and what nobody knows yet.
        Some(_) | None => Reason::Never,
    })
}

/// What a refusal without a status says.
pub(super) fn of_http(status: u16, document: &Value) -> Reason {
    // Both shapes that Infobip has for an error.
    let ours = object(document, "requestError").is_some() || word(document, "errorCode").is_some();
    match status {
        // What it says is wrong with it, a form that it does not know among others.
        400 if ours => Reason::Malformed,
        // A right that this message would need: others may not need it.
        403 if ours => Reason::Never,
        _ => by_status(Some(status), ours, false),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_group_of_a_status_decides_by_name_or_number() {
        let refused = |reason| Some(Verdict::Refused(reason));
        for (group, name, id, expected) in [
            (0, "ACCEPTED", 1, Some(Verdict::Taken)),
            (1, "PENDING", 7, Some(Verdict::Taken)),
            (1, "PENDING", 26, Some(Verdict::Taken)),
            (3, "DELIVERED", 5, Some(Verdict::Taken)),
            (2, "UNDELIVERABLE", 9, refused(Reason::Undeliverable)),
            (4, "EXPIRED", 15, refused(Reason::Passing)),
            (5, "REJECTED", 6, refused(Reason::Never)),
            (5, "REJECTED", 8, refused(Reason::Never)),
            (5, "REJECTED", 10, refused(Reason::Undeliverable)),
            (5, "REJECTED", 11, refused(Reason::Blocked)),
            (5, "REJECTED", 12, refused(Reason::Blocked)),
            (5, "REJECTED", 13, refused(Reason::Blocked)),
            (5, "REJECTED", 14, refused(Reason::Undeliverable)),
            (5, "REJECTED", 17, refused(Reason::Blocked)),
            (5, "REJECTED", 18, refused(Reason::Undeliverable)),
            (5, "REJECTED", 19, refused(Reason::Blocked)),
            (5, "REJECTED", 20, refused(Reason::Pair)),
            (5, "REJECTED", 21, refused(Reason::Passing)),
            (5, "REJECTED", 23, Some(Verdict::Taken)),
            (5, "REJECTED", 25, refused(Reason::Never)),
            (5, "REJECTED", 9_999, refused(Reason::Never)),
        ] {
            assert_eq!(of_status(&json!({"groupName": name, "id": id})), expected, "{name} {id}");
            assert_eq!(of_status(&json!({"groupId": group, "id": id})), expected, "{group} {id}");
        }
        for unknown in [json!({}), json!({"groupName": "NEW", "groupId": 17}), json!(null)] {
            assert_eq!(of_status(&unknown), None);
        }
    }

    #[test]
    fn without_a_status_http_decides_and_whose_words_they_are() {
        let old = json!({"requestError": {"serviceException": {"messageId": "BAD_REQUEST", "text": "x"}}});
        let new = json!({"errorCode": "E400", "description": "x"});
        for words in [&old, &new] {
            for (status, reason) in [
                (400, Reason::Malformed),
                (401, Reason::Blocked),
                (403, Reason::Never),
                (404, Reason::Never),
                (429, Reason::Throttled),
                (500, Reason::Outage),
                (503, Reason::Outage),
            ] {
                assert_eq!(of_http(status, words), reason, "{status}");
            }
        }
        // A page of something in between, or a wrong address.
        for (status, reason) in [(403, Reason::Blocked), (404, Reason::Blocked), (504, Reason::Gateway)] {
            assert_eq!(of_http(status, &json!(null)), reason, "{status}");
        }
    }
}
