//! News that are not messages: which of them a person should look at.

use channel::inbound::AlertKind;
use channel::meta::inbound::{Item, parse};
use serde_json::{Value, json};

fn news(field: &str, value: Value) -> Option<(AlertKind, String)> {
    let body = json!({"object": "whatsapp_business_account",
                      "entry": [{"id": "900", "time": 1_764_500_000, "changes": [{"field": field, "value": value}]}]});
    let delivery = parse(body.to_string().as_bytes()).unwrap();
    let acknowledged = matches!(delivery.items.as_slice(), [Item::Notice { field: named }] if named == field);
    assert!(acknowledged, "{field}");
    delivery.alerts.into_iter().next().map(|alert| (alert.kind, alert.detail))
}

#[test]
fn trouble_with_account_and_forms_is_told_in_the_providers_words() {
    let table = [
        (
            "account_update",
            json!({"event": "ACCOUNT_RESTRICTION", "restriction_info": []}),
            AlertKind::AccountRestricted,
            "ACCOUNT_RESTRICTION",
        ),
        (
            "account_update",
            json!({"event": "ACCOUNT_VIOLATION"}),
            AlertKind::AccountViolation,
            "ACCOUNT_VIOLATION",
        ),
        (
            "account_update",
            json!({"event": "DISABLED_UPDATE", "ban_info": {}}),
            AlertKind::AccountDisabled,
            "DISABLED_UPDATE",
        ),
        (
            "account_update",
            json!({"event": "ACCOUNT_DELETED"}),
            AlertKind::AccountDisabled,
            "ACCOUNT_DELETED",
        ),
        (
            "account_alerts",
            json!({"alert_type": "OBA_APPROVED", "alert_severity": "CRITICAL"}),
            AlertKind::AccountAlert,
            "OBA_APPROVED CRITICAL",
        ),
        (
            "flows",
            json!({"event": "FLOW_STATUS_CHANGE", "flow_id": "1", "old_status": "PUBLISHED", "new_status": "BLOCKED"}),
            AlertKind::FlowBlocked,
            "FLOW_STATUS_CHANGE BLOCKED",
        ),
        (
            "flows",
            json!({"event": "FLOW_STATUS_CHANGE", "new_status": "THROTTLED"}),
            AlertKind::FlowThrottled,
            "FLOW_STATUS_CHANGE THROTTLED",
        ),
        (
            "flows",
            json!({"event": "CLIENT_ERROR_RATE", "alert_state": "ACTIVATED", "error_rate": 14.2}),
            AlertKind::FlowUnhealthy,
            "CLIENT_ERROR_RATE ACTIVATED",
        ),
        (
            "flows",
            json!({"event": "FLOW_VERSION_EXPIRY_WARNING"}),
            AlertKind::FlowUnhealthy,
            "FLOW_VERSION_EXPIRY_WARNING",
        ),
    ];
    for (field, value, kind, detail) in table {
        assert_eq!(news(field, value), Some((kind, detail.to_owned())));
    }
}

#[test]
fn all_other_news_is_acknowledged_and_forgotten() {
    for (field, value) in [
        ("account_update", json!({"event": "VERIFIED_ACCOUNT"})),
        ("account_update", json!({})),
        ("flows", json!({"event": "FLOW_STATUS_CHANGE", "new_status": "PUBLISHED"})),
        ("flows", json!({"event": "ENDPOINT_LATENCY", "alert_state": "DEACTIVATED"})),
        ("message_template_status_update", json!({"event": "REJECTED", "message_template_id": 1})),
        ("message_template_quality_update", json!({})),
        ("message_template_components_update", json!({})),
        ("template_category_update", json!({})),
        ("phone_number_quality_update", json!({"event": "DOWNGRADE"})),
        ("phone_number_name_update", json!({})),
        ("account_review_update", json!({})),
        ("account_settings_update", json!({})),
        ("business_capability_update", json!({})),
        ("security", json!({"event": "PIN_CHANGED"})),
        ("user_preferences", json!({"user_preferences": [{"wa_id": "34600000001"}]})),
        ("user_id_update", json!({})),
        ("calls", json!({})),
        ("history", json!({"messages": [{"id": "x"}]})),
        ("smb_message_echoes", json!({"message_echoes": [{"id": "x"}]})),
        ("smb_app_state_sync", json!({})),
        ("group_lifecycle_update", json!({})),
        ("group_participants_update", json!({})),
        ("group_settings_update", json!({})),
        ("group_status_update", json!({})),
        ("of_the_future", json!({})),
    ] {
        assert_eq!(news(field, value), None, "{field}");
    }
}

#[test]
fn nothing_but_a_word_gets_into_an_alert() {
    let odd = json!({"event": "ACCOUNT_RESTRICTION", "alert_type": "call 34600000001"});
    assert_eq!(news("account_alerts", odd), Some((AlertKind::AccountAlert, String::new())));
}
