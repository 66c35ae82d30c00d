//! Every rule of the values from its other side: what is wrong is refused, and the message names the value.

use serde_json::{Value, json};

use super::support::{self, none};

/// What each case says over the least values, and what must be in the message.
fn cases() -> Vec<(Value, &'static str)> {
    vec![
        // The schema: closed, typed, within bounds.
        (json!({"replicas": 2}), "additional properties 'replicas' not allowed"),
        (json!({"ingest": {"replics": 2}}), "'/ingest': additional properties 'replics' not allowed"),
        (json!({"whatsapp": {"keys": {"token": "x"}}}), "'/whatsapp/keys': additional properties 'token'"),
        (json!({"enabled": "yes"}), "'/enabled': got string, want boolean"),
        (json!({"defaults": {"replicas": -1}}), "'/defaults/replicas': minimum"),
        (json!({"conversation": {"replicas": "2"}}), "'/conversation/replicas'"),
        (json!({"image": {"pullPolicy": "Sometimes"}}), "'/image/pullPolicy'"),
        (json!({"image": {"pullSecrets": ["pull"]}}), "'/image/pullSecrets/0'"),
        (json!({"ingest": {"image": {"digest": "sha256:12"}}}), "'/ingest/image/digest'"),
        (json!({"whatsapp": {"phoneNumberId": "+34 945"}}), "'/whatsapp/phoneNumberId'"),
        (json!({"whatsapp": {"phoneNumberId": 100}}), "'/whatsapp/phoneNumberId': got number, want string"),
        (json!({"whatsapp": {"graphUrl": "graph.facebook.com"}}), "'/whatsapp/graphUrl'"),
        (json!({"whatsapp": {"graphVersion": "26"}}), "'/whatsapp/graphVersion'"),
        (json!({"whatsapp": {"channel": "Whats App"}}), "'/whatsapp/channel'"),
        (json!({"channels": {"extra": [{"id": "x"}]}}), "'/channels/extra/0': missing property 'kind'"),
        (json!({"city": {"ineCode": "1059"}}), "'/city/ineCode'"),
        (json!({"city": {"ineCode": 1059}}), "'/city/ineCode': got number, want string"),
        (json!({"city": {"name": ""}}), "'/city/name'"),
        (json!({"city": {"timeZone": "+01:00"}}), "'/city/timeZone'"),
        (
            json!({"city": {"serviceArea": {"files": {"area.json": "{}"}}}}),
            "'/city/serviceArea/files': additional properties 'area.json'",
        ),
        (json!({"migrations": {"mode": "auto"}}), "'/migrations/mode'"),
        (json!({"purge": {"retentionDays": 1}}), "'/purge/retentionDays'"),
        (json!({"purge": {"schedule": "daily"}}), "'/purge/schedule'"),
        (json!({"telemetry": {"logFormat": "xml"}}), "'/telemetry/logFormat'"),
        (json!({"telemetry": {"otlpEndpoint": "collector:4317"}}), "'/telemetry/otlpEndpoint'"),
        (json!({"geocode": {"provider": "google"}}), "'/geocode/provider'"),
        (json!({"geocode": {"fallback": ["photon", "photon"]}}), "'/geocode/fallback'"),
        (json!({"geocode": {"cartociudad": {"rate": 0}}}), "'/geocode/cartociudad/rate'"),
        (json!({"ingest": {"service": {"type": "ExternalName"}}}), "'/ingest/service/type'"),
        (json!({"database": {"port": 0}}), "'/database/port'"),
        (json!({"ingest": {"databasePool": 1}}), "'/ingest/databasePool'"),
        (json!({"partner": {"url": "platform"}}), "'/partner/url'"),
        (json!({"defaults": {"autoscaling": {"type": "vpa"}}}), "'/defaults/autoscaling/type'"),
        (json!({"defaults": {"pdb": {"maxUnavailable": 0}}}), "'/defaults/pdb/maxUnavailable'"),
        (json!({"defaults": {"rollingUpdate": {"maxSurge": "some"}}}), "'/defaults/rollingUpdate/maxSurge'"),
        (json!({"networkPolicy": {"outsideExcept": ["10.0.0.0"]}}), "'/networkPolicy/outsideExcept/0'"),
        (json!({"networkPolicy": {"dnsPorts": []}}), "'/networkPolicy/dnsPorts'"),
        (
            json!({"networkPolicy": {"extraEgress": {"nobody": []}}}),
            "'/networkPolicy/extraEgress': additional properties 'nobody'",
        ),
        // Values that need each other.
        (json!({"whatsapp": {"phoneNumberId": ""}}), "whatsapp.phoneNumberId: not set"),
        (json!({"whatsapp": {"businessAccountId": ""}}), "whatsapp.businessAccountId: not set"),
        (json!({"whatsapp": {"existingSecret": ""}}), "whatsapp.existingSecret: not set"),
        (json!({"whatsapp": {"enabled": false}}), "channels.extra: empty"),
        (
            json!({"channels": {"extra": [{"id": "whatsapp", "kind": "webhook"}]}}),
            "channels.extra: two channels have the id",
        ),
        (
            json!({"channels": {"extra": [{"id": "synthetic", "kind": "synthetic"}]}}),
            "channels.extra: two channels have",
        ),
        (json!({"whatsapp": {"testNumbers": ["+34945000001"]}}), "'/whatsapp/testNumbers/0'"),
        (json!({"database": {"existingSecret": ""}}), "database.existingSecret: not set"),
        (
            json!({"database": {"existingSecret": "", "credentials": {"owner": {"existingSecret": "x"}}}}),
            "database.credentials.ingest.existingSecret",
        ),
        (json!({"partner": {"enabled": true}}), "partner.url: not set"),
        (json!({"partner": {"enabled": true, "url": "https://p"}}), "partner.user: not set"),
        (
            json!({"partner": {"enabled": true, "url": "https://p", "user": "u"}}),
            "partner.existingSecret: not set",
        ),
        (json!({"partner": {"url": "https://u:p@host"}}), "partner.url: must have no user"),
        (json!({"partner": {"platform": {"adapter": "open311"}}}), "media.url: not set"),
        (json!({"media": {"url": "https://a.example"}}), "media.existingSecret: not set"),
        (json!({"media": {"url": "https://a.example/"}}), "'/media/url'"),
        (json!({"media": {"secret": "short"}}), "'/media/secret'"),
        (json!({"city": {"catalogs": {"es.yaml": "a: b"}}}), "city.catalogs: partner.yaml is missing"),
        (json!({"city": {"serviceArea": {"existingConfigMap": "area"}}}), "city.serviceArea.keys: empty"),
        (
            json!({"ingest": {"autoscaling": {"enabled": true, "type": "keda"}}}),
            "ingest.autoscaling.type: keda",
        ),
        (
            json!({"geocode": {"autoscaling": {"enabled": true, "minReplicas": 3, "maxReplicas": 2}}}),
            "geocode.autoscaling.minReplicas: 3 is more",
        ),
        (
            json!({"ingest": {"autoscaling": {"enabled": true, "minReplicas": 0}}}),
            "ingest.autoscaling.minReplicas: must",
        ),
        (
            json!({"ingest": {"autoscaling": {"enabled": true}, "resources": {"requests": {"cpu": null}}}}),
            "ingest.resources.requests.cpu: not set",
        ),
        (
            json!({"conversation": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}}),
            "conversation.rollingUpdate: maxSurge and maxUnavailable are both 0",
        ),
        (
            json!({"defaults": {"pdb": {"minAvailable": 1}}}),
            "pdb: minAvailable and maxUnavailable are both set",
        ),
        (
            json!({"ingest": {"replicas": 1, "pdb": {"minAvailable": 1}}}),
            "ingest.pdb.minAvailable: 1 of 1 pods",
        ),
        (json!({"ingest": {"pdb": {"minAvailable": "51%"}}}), "ingest.pdb.minAvailable: 51% of 2 pods"),
        (json!({"ingest": {"pdb": {"maxUnavailable": "0%"}}}), "ingest.pdb.maxUnavailable: 0%"),
        (json!({"partnerPush": {"graceMs": 30000}}), "partnerPush.graceMs: 30000 is less"),
        (
            json!({"partnerPush": {"sendTimeoutMs": 50000, "graceMs": 70000}}),
            "partnerPush.sendTimeoutMs: a login and a send",
        ),
        (json!({"partnerPush": {"parallel": 6}}), "partnerPush.databasePool: 6, must be more"),
        (json!({"conversation": {"sendTimeoutMs": 30000}}), "conversation.sendTimeoutMs: must be shorter"),
        (json!({"conversation": {"graceMs": 5000}}), "conversation.graceMs: 5000 is less"),
        (json!({"ingest": {"ingress": {"enabled": true}}}), "ingest.ingress.host: not set"),
        (json!({"ingest": {"httpRoute": {"enabled": true}}}), "ingest.httpRoute.parentRefs: empty"),
        (
            json!({"ingest": {"httpRoute": {"enabled": true, "parentRefs": [{"name": "g"}]}}}),
            "ingest.httpRoute.hostnames: empty",
        ),
        (
            json!({"partner": {"enabled": true, "url": "https://p", "user": "u", "existingSecret": "p"},
                   "partnerPush": {"autoscaling": {"enabled": true, "type": "keda"}},
                   "database": {"existingSecret": "", "credentials": {
                       "owner": {"existingSecret": "x"}, "ingest": {"existingSecret": "x"},
                       "conversation": {"existingSecret": "x"}, "geocode": {"existingSecret": "x"},
                       "partnerPush": {"existingSecret": "x"}}}}),
            "database.credentials.metrics.existingSecret",
        ),
    ]
}

#[test]
fn what_is_wrong_is_refused_and_the_message_names_the_value() {
    let mut complaints = Vec::new();
    for (over, says) in cases() {
        match support::try_render("abisu", "minimal", &over) {
            Ok(_) => complaints.push(format!("{over}: rendered")),
            Err(error) => {
                let error = error.to_string();
                if !error.contains(says) {
                    complaints.push(format!("{over}: expected {says:?} in {error}"));
                }
            }
        }
    }
    none(&complaints);
}

#[test]
fn what_is_right_is_not_refused() {
    for over in [
        json!({"global": {"anything": {"goes": 1}}}),
        json!({"enabled": true}),
        json!({"defaults": {"pdb": {"minAvailable": 1, "maxUnavailable": null}}}),
        json!({"geocode": {"pdb": {"minAvailable": 1}}}),
        json!({"defaults": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}),
        json!({"whatsapp": {"businessAccountId": ""}, "flows": {"publish": false}}),
        json!({"whatsapp": {"enabled": false}, "channels": {"extra": [{"id": "app", "kind": "webhook"}]}}),
        json!({"ingest": {"service": {"nodePort": 30080, "type": "NodePort"}}}),
        json!({"defaults": {"topologySpread": {"zone": false, "hostname": false}}}),
        json!({"defaults": {"affinity": {"nodeAffinity": {}}}}),
    ] {
        support::render("abisu", "minimal", &over);
    }
}
