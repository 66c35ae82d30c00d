//! Everything that is rendered against the schemas of Kubernetes, closed: an unknown field is an error, as it is not at
//! the API server.

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use xtask::chart::tools::kubernetes_schemas;

use super::support::{self, Rendered, items, title};

/// The definition of each kind that the chart makes.
const KINDS: [(&str, &str, &str); 13] = [
    ("apps/v1", "Deployment", "io.k8s.api.apps.v1.Deployment"),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler"),
    ("batch/v1", "CronJob", "io.k8s.api.batch.v1.CronJob"),
    ("batch/v1", "Job", "io.k8s.api.batch.v1.Job"),
    ("networking.k8s.io/v1", "Ingress", "io.k8s.api.networking.v1.Ingress"),
    ("networking.k8s.io/v1", "NetworkPolicy", "io.k8s.api.networking.v1.NetworkPolicy"),
    ("policy/v1", "PodDisruptionBudget", "io.k8s.api.policy.v1.PodDisruptionBudget"),
    ("v1", "ConfigMap", "io.k8s.api.core.v1.ConfigMap"),
    ("v1", "Pod", "io.k8s.api.core.v1.Pod"),
    ("v1", "Secret", "io.k8s.api.core.v1.Secret"),
    ("v1", "Service", "io.k8s.api.core.v1.Service"),
    ("v1", "ServiceAccount", "io.k8s.api.core.v1.ServiceAccount"),
    ("gateway.networking.k8s.io/v1", "HTTPRoute", ""),
];

/// Of what others define, the fields that the chart uses.
fn others() -> Vec<(&'static str, &'static str, Value)> {
    let text = json!({"type": "string", "minLength": 1});
    let count = json!({"type": "integer", "minimum": 0});
    let closed = |required: &[&str], properties: Value| json!({"type": "object", "required": required, "properties": properties, "additionalProperties": false});
    let list = |of: &Value| json!({"type": "array", "minItems": 1, "items": of});
    let path = closed(
        &["type", "value"],
        json!({"type": {"enum": ["Exact", "PathPrefix"]}, "value": {"pattern": "^/"}}),
    );
    let backend = closed(&["name", "port"], json!({"name": text, "port": count}));
    let parent = closed(&["name"], json!({"name": text, "namespace": text, "sectionName": text}));
    let rule = closed(
        &["matches", "backendRefs"],
        json!({
            "matches": list(&closed(&["path"], json!({"path": path}))), "backendRefs": list(&backend),
        }),
    );
    let trigger = closed(
        &["type", "metadata", "authenticationRef"],
        json!({
            "type": {"const": "postgresql"}, "metricType": {"const": "AverageValue"},
            // KEDA takes only strings here.
            "metadata": closed(&["query", "targetQueryValue"], json!({"query": text, "targetQueryValue": {"pattern": "^[0-9]+$"}})),
            "authenticationRef": closed(&["name"], json!({"name": text})),
        }),
    );
    let fallback = closed(
        &["failureThreshold", "replicas"],
        json!({
            "failureThreshold": count, "replicas": count,
            "behavior": {"enum": ["static", "currentReplicas", "currentReplicasIfHigher", "currentReplicasIfLower"]},
        }),
    );
    let behavior = closed(
        &["behavior"],
        json!({
            "behavior": {"$ref": "#/$defs/io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior"},
        }),
    );
    let scaled = closed(
        &["scaleTargetRef", "triggers"],
        json!({
            "scaleTargetRef": closed(&["name"], json!({"name": text})),
            "minReplicaCount": count, "maxReplicaCount": count, "pollingInterval": count, "cooldownPeriod": count,
            "fallback": fallback, "triggers": list(&trigger),
            "advanced": closed(&[], json!({"horizontalPodAutoscalerConfig": behavior})),
        }),
    );
    let parameter =
        closed(&["parameter", "name", "key"], json!({"parameter": text, "name": text, "key": text}));
    let route = closed(
        &["parentRefs", "hostnames", "rules"],
        json!({
            "parentRefs": list(&parent), "hostnames": list(&text), "rules": list(&rule),
        }),
    );
    vec![
        ("gateway.networking.k8s.io/v1", "HTTPRoute", route),
        ("keda.sh/v1alpha1", "ScaledObject", scaled),
        (
            "keda.sh/v1alpha1",
            "TriggerAuthentication",
            closed(&["secretTargetRef"], json!({"secretTargetRef": list(&parameter)})),
        ),
    ]
}

/// Validators by version and kind.
fn validators() -> BTreeMap<(&'static str, &'static str), Validator> {
    let mut schemas = kubernetes_schemas().unwrap();
    let Value::Object(definitions) = schemas["$defs"].take() else { panic!("no definitions") };
    let definitions: Map<String, Value> =
        definitions.into_iter().map(|(name, one)| (name, close(one))).collect();
    let build = |mut schema: Value| {
        let mut needed = Map::new();
        gather(&schema, &definitions, &mut needed);
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        schema["$defs"] = Value::Object(needed);
        jsonschema::validator_for(&schema).unwrap()
    };
    let mut found = BTreeMap::new();
    for (version, kind, definition) in KINDS.into_iter().filter(|(_, _, definition)| !definition.is_empty()) {
        found.insert((version, kind), build(json!({"$ref": format!("#/$defs/{definition}")})));
    }
    for (version, kind, spec) in others() {
        let metadata = json!({"$ref": "#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"});
        let whole = json!({
            "type": "object", "required": ["metadata", "spec"], "additionalProperties": false,
            "properties": {"apiVersion": {}, "kind": {}, "metadata": metadata, "spec": spec},
        });
        found.insert((version, kind), build(whole));
    }
    found
}

/// The definitions that a schema refers to, and those that they refer to.
fn gather(schema: &Value, all: &Map<String, Value>, into: &mut Map<String, Value>) {
    let name = schema["$ref"].as_str().and_then(|place| place.strip_prefix("#/$defs/"));
    if let Some(name) = name
        && !into.contains_key(name)
    {
        into.insert(name.to_owned(), all[name].clone());
        gather(&all[name], all, into);
    }
    match schema {
        Value::Object(map) => map.values().for_each(|value| gather(value, all, into)),
        Value::Array(list) => list.iter().for_each(|value| gather(value, all, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A field that is not listed is refused.
fn close(mut definition: Value) -> Value {
    let object = definition.as_object_mut().unwrap();
    if object.contains_key("properties") && !object.contains_key("additionalProperties") {
        object.insert("additionalProperties".into(), json!(false));
    }
    definition
}

#[test]
fn everything_rendered_is_valid_kubernetes_without_an_unknown_field() {
    let validators = validators();
    let mut complaints = Vec::new();
    for rendered in support::matrix() {
        for document in &rendered.documents {
            let text = |key: &str| document[key].as_str().unwrap_or_default();
            let Some(validator) = validators.get(&(text("apiVersion"), text("kind"))) else {
                complaints.push(format!("{}: {}: no schema for it", rendered.name, title(document)));
                continue;
            };
            for error in validator.iter_errors(document) {
                complaints.push(format!(
                    "{}: {}: {}: {error}",
                    rendered.name,
                    title(document),
                    error.instance_path()
                ));
            }
        }
    }
    support::none(&complaints);
}

#[test]
fn the_check_sees_an_unknown_field_and_a_wrong_type() {
    let validators = validators();
    let deployment = &validators[&("apps/v1", "Deployment")];
    let rendered = support::render("abisu", "minimal", &json!({}));
    let good = rendered.one("Deployment", "abisu-ingest");
    assert!(deployment.is_valid(good));
    for (place, value) in [
        ("/spec/template/spec/containers/0/imagePullPolice", json!("Always")),
        ("/spec/replicas", json!("2")),
        ("/spec/template/spec/containers/0/ports/0/containerPort", json!("http")),
    ] {
        let mut bad = good.clone();
        let (parent, key) = place.rsplit_once('/').unwrap();
        bad.pointer_mut(parent).unwrap()[key] = value;
        assert!(!deployment.is_valid(&bad), "{place}");
    }
}

#[test]
fn names_are_unique_and_fit_also_for_two_releases_side_by_side() {
    let mut complaints = Vec::new();
    let longest = "a-name-of-a-release-that-is-as-long-as-helm-allows-a";
    let pairs = [("one", "two"), (&*format!("{longest}1"), &*format!("{longest}2"))];
    for (first, second) in pairs {
        let mut seen = BTreeSet::new();
        for release in [first, second] {
            let rendered = support::render(release, "full", &json!({"extraObjects": []}));
            for document in &rendered.documents {
                let title = title(document);
                let name = document["metadata"]["name"].as_str().unwrap();
                let most = if document["kind"] == "CronJob" { 52 } else { 63 };
                if name.len() > most || name.ends_with('-') {
                    complaints.push(format!("{title}: {} characters", name.len()));
                }
                if !seen.insert(title.clone()) {
                    complaints.push(format!("{title}: made twice by {first} and {second}"));
                }
            }
        }
    }
    for rendered in support::matrix() {
        complaints.extend(labels(&rendered));
    }
    support::none(&complaints);
}

/// Label values that the API server would refuse, which no schema says.
fn labels(rendered: &Rendered) -> Vec<String> {
    let mut complaints = Vec::new();
    let pods = rendered.pods().into_iter().map(|(title, pod)| (title, &pod["metadata"]["labels"]));
    let objects =
        rendered.documents.iter().map(|document| (title(document), &document["metadata"]["labels"]));
    for (title, labels) in objects.chain(pods) {
        for (key, value) in labels.as_object().into_iter().flatten() {
            let value = value.as_str().unwrap_or("not a text");
            let plain = |c: char| c.is_ascii_alphanumeric();
            let inside = value.chars().all(|c| plain(c) || matches!(c, '-' | '_' | '.'));
            if value.len() > 63 || !inside || !value.starts_with(plain) || !value.ends_with(plain) {
                complaints.push(format!("{}: {title}: label {key} is {value:?}", rendered.name));
            }
        }
    }
    complaints
}

#[test]
fn what_is_referred_to_is_made_or_was_named() {
    let mut complaints = Vec::new();
    for rendered in support::matrix() {
        // Given by the values of the matrix.
        let named = [
            "abisu-db",
            "abisu-db-app",
            "abisu-whatsapp",
            "abisu-partner",
            "abisu-media",
            "abisu-db-ca",
            "abisu-channels",
            "channels",
            "taxonomy",
            "catalogs",
            "platform",
            "area",
            "p",
            "shared",
            "default",
            "abisu-tls",
        ];
        let is_there = |kind: &str, name: &Value| {
            named.contains(&name.as_str().unwrap_or_default())
                || rendered.of(kind).iter().any(|document| document["metadata"]["name"] == *name)
        };
        for (title, pod) in rendered.pods() {
            let spec = &pod["spec"];
            let mut references = vec![("ServiceAccount", &spec["serviceAccountName"])];
            for volume in items(&spec["volumes"]) {
                references.push(("Secret", &volume["secret"]["secretName"]));
                references.push(("ConfigMap", &volume["configMap"]["name"]));
            }
            for (kind, name) in references.into_iter().filter(|(_, name)| !name.is_null()) {
                if !is_there(kind, name) {
                    complaints.push(format!("{}: {title}: there is no {kind} {name}", rendered.name));
                }
            }
            let volumes: BTreeSet<_> =
                items(&spec["volumes"]).iter().filter_map(|v| v["name"].as_str()).collect();
            for container in items(&spec["containers"]).iter().chain(items(&spec["initContainers"])) {
                for mount in items(&container["volumeMounts"]) {
                    if !volumes.contains(mount["name"].as_str().unwrap_or_default()) {
                        complaints.push(format!("{}: {title}: mounts {}", rendered.name, mount["name"]));
                    }
                }
            }
        }
    }
    support::none(&complaints);
}

#[test]
fn a_secret_that_is_made_has_the_keys_that_pods_mount() {
    let rendered = support::render("abisu", "trial", &json!({}));
    let mut mounted = 0;
    for (title, pod) in rendered.pods() {
        for volume in items(&pod["spec"]["volumes"]) {
            let Some(name) = volume["secret"]["secretName"].as_str() else { continue };
            let secret = rendered.one("Secret", name);
            for item in items(&volume["secret"]["items"]) {
                let key = item["key"].as_str().unwrap();
                assert!(secret["data"][key].is_string(), "{title}: {name} has no key {key}");
                mounted += 1;
            }
        }
    }
    assert!(mounted > 10);
}
