//! News about the account and its forms that mean trouble. All other news is acknowledged and forgotten.

use serde_json::Value;

use crate::inbound::{Alert, AlertKind};
use crate::pieces::{self, Fields, present};

/// Longer than any word of the provider; what is longer is not one.
const LONGEST_WORD: usize = 64;

/// What the change of a field tells of, if it is trouble.
pub(super) fn read(field: &str, value: &Fields<'_>) -> Option<Alert> {
    let said = |key: &str| present(value, key).and_then(pieces::read).and_then(|value| plain(&value));
    let event = said("event").unwrap_or_default();
    let (kind, detail) = match field {
        "account_update" => (account(&event)?, event),
        "account_alerts" => {
            let (name, severity) = (said("alert_type"), said("alert_severity"));
            (AlertKind::AccountAlert, [name, severity].into_iter().flatten().collect::<Vec<_>>().join(" "))
        }
        "flows" => {
            let state = said("new_status").or_else(|| said("alert_state")).unwrap_or_default();
            (form(&event, &state)?, format!("{event} {state}").trim().to_owned())
        }
        _ => return None,
    };
    Some(Alert { kind, detail })
}

fn account(event: &str) -> Option<AlertKind> {
    match event {
        "ACCOUNT_RESTRICTION" => Some(AlertKind::AccountRestricted),
        "ACCOUNT_VIOLATION" => Some(AlertKind::AccountViolation),
        "DISABLED_UPDATE" | "ACCOUNT_DELETED" | "ACCOUNT_OFFBOARDED" => Some(AlertKind::AccountDisabled),
        _ => None,
    }
}

fn form(event: &str, state: &str) -> Option<AlertKind> {
    match (event, state) {
        ("FLOW_STATUS_CHANGE", "BLOCKED") => Some(AlertKind::FlowBlocked),
        ("FLOW_STATUS_CHANGE", "THROTTLED") => Some(AlertKind::FlowThrottled),
        ("FLOW_VERSION_EXPIRY_WARNING", _) => Some(AlertKind::FlowUnhealthy),
        // Rates and latencies tell when they become bad and when they are good again.
        (_, "ACTIVATED") => Some(AlertKind::FlowUnhealthy),
        _ => None,
    }
}

/// A word such as providers use for events and states; anything else may hold what does not belong in a log.
fn plain(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let of_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (text.len() <= LONGEST_WORD && text.bytes().all(of_word)).then(|| text.to_owned())
}
