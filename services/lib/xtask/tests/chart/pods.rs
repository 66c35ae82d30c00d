//! What every pod must be like: restricted, without rights at the API server, and given time to end its work.

use serde_json::{Value, json};

use super::support::{self, Rendered, items};

/// What the level *restricted* of the pod security standards asks for, said as code.
fn unrestricted(spec: &Value) -> Vec<String> {
    let mut complaints = Vec::new();
    for host in ["hostNetwork", "hostPID", "hostIPC"] {
        if spec[host] == true {
            complaints.push(host.to_owned());
        }
    }
    for volume in items(&spec["volumes"]) {
        let kinds = volume.as_object().unwrap().keys().filter(|key| *key != "name");
        let allowed = [
            "configMap",
            "csi",
            "downwardAPI",
            "emptyDir",
            "ephemeral",
            "persistentVolumeClaim",
            "projected",
            "secret",
        ];
        complaints.extend(
            kinds.filter(|kind| !allowed.contains(&kind.as_str())).map(|kind| format!("volume {kind}")),
        );
    }
    let pod = &spec["securityContext"];
    for container in items(&spec["containers"]).iter().chain(items(&spec["initContainers"])) {
        let own = &container["securityContext"];
        let holds = |what: &str, good: bool| (!good).then(|| format!("{}: {what}", container["name"]));
        let either = |key: &str| if own[key].is_null() { &pod[key] } else { &own[key] };
        complaints.extend(holds("may be root", *either("runAsNonRoot") == true));
        complaints.extend(holds("is root", *either("runAsUser") != 0));
        complaints.extend(holds("gains rights", own["allowPrivilegeEscalation"] == false));
        complaints.extend(holds("is privileged", own["privileged"] != true));
        complaints
            .extend(holds("keeps capabilities", items(&own["capabilities"]["drop"]).contains(&json!("ALL"))));
        complaints.extend(holds("adds capabilities", own["capabilities"]["add"].is_null()));
        let profile = &either("seccompProfile")["type"];
        complaints
            .extend(holds("has no seccomp profile", *profile == "RuntimeDefault" || *profile == "Localhost"));
        let ports = items(&container["ports"]);
        complaints
            .extend(holds("takes a port of the node", ports.iter().all(|port| port["hostPort"].is_null())));
        // Beyond the level: nothing is written.
        complaints.extend(holds("may write", own["readOnlyRootFilesystem"] == true));
    }
    complaints
}

#[test]
fn every_pod_is_restricted_and_has_no_token_of_the_api_server() {
    let mut complaints = Vec::new();
    for rendered in support::matrix() {
        for (title, pod) in rendered.pods() {
            let spec = &pod["spec"];
            let mut found = unrestricted(spec);
            if spec["automountServiceAccountToken"] != false {
                found.push("mounts a token".to_owned());
            }
            if spec["enableServiceLinks"] != false {
                found.push("is told all Services".to_owned());
            }
            if !spec["securityContext"]["runAsUser"].is_null() {
                found.push("has a user id, which OpenShift refuses".to_owned());
            }
            complaints.extend(found.into_iter().map(|what| format!("{}: {title}: {what}", rendered.name)));
        }
        for account in rendered.of("ServiceAccount") {
            assert_eq!(account["automountServiceAccountToken"], false);
        }
        for kind in ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"] {
            assert!(rendered.of(kind).is_empty(), "{}: {kind}", rendered.name);
        }
    }
    support::none(&complaints);
}

#[test]
fn the_rule_sees_what_is_not_restricted() {
    let rendered = support::render("abisu", "minimal", &json!({}));
    let good = &rendered.one("Deployment", "abisu-ingest")["spec"]["template"]["spec"];
    assert_eq!(unrestricted(good), Vec::<String>::new());
    for (place, value) in [
        ("/hostNetwork", json!(true)),
        ("/securityContext/runAsNonRoot", json!(false)),
        ("/securityContext/seccompProfile", json!({"type": "Unconfined"})),
        ("/containers/0/securityContext/capabilities", json!({"drop": ["NET_RAW"]})),
        ("/containers/0/securityContext/allowPrivilegeEscalation", json!(true)),
        ("/volumes/0", json!({"name": "x", "hostPath": {"path": "/"}})),
    ] {
        let mut bad = good.clone();
        match bad.pointer_mut(place) {
            Some(found) => *found = value,
            None => bad[&place[1..]] = value,
        }
        assert_eq!(unrestricted(&bad).len(), 1, "{place}");
    }
}

fn variable<'r>(container: &'r Value, name: &str) -> Option<&'r str> {
    items(&container["env"]).iter().find(|one| one["name"] == name).and_then(|one| one["value"].as_str())
}

/// What a container is given, in milliseconds.
fn ms(container: &Value, name: &str) -> u64 {
    variable(container, name).unwrap_or_else(|| panic!("{name} is not set")).parse().unwrap()
}

#[test]
fn a_pod_is_killed_only_after_its_drain_its_longest_work_and_a_margin() {
    let over = json!({"defaults": {"drainDelayMs": 7001, "graceMs": 61000}});
    for rendered in [support::render("abisu", "minimal", &json!({})), support::render("abisu", "full", &over)]
    {
        for deployment in rendered.of("Deployment") {
            let spec = &deployment["spec"]["template"]["spec"];
            let container = &spec["containers"][0];
            let (drain, grace) = (ms(container, "ABISU_DRAIN_DELAY_MS"), ms(container, "ABISU_GRACE_MS"));
            let period = spec["terminationGracePeriodSeconds"].as_u64().unwrap() * 1000;
            // Three seconds for the last spans, five to spare.
            assert!(period >= drain + grace + 8000, "{}: {period}", deployment["metadata"]["name"]);
            let longest = match container["name"].as_str().unwrap() {
                "partner-push" => {
                    ms(container, "ABISU_PARTNER_LOGIN_TIMEOUT_MS")
                        + ms(container, "ABISU_PARTNER_SEND_TIMEOUT_MS")
                }
                "conversation" => {
                    ms(container, "ABISU_SEND_TIMEOUT_MS").max(ms(container, "ABISU_LOOKUP_TIMEOUT_MS"))
                }
                // A body has five seconds, the database two and a half.
                "ingest" => 7500,
                // An answer leaves before the caller's deadline.
                _ => 8000,
            };
            assert!(grace >= longest, "{}: grace {grace}, work {longest}", container["name"]);
        }
    }
}

#[test]
fn each_pod_mounts_the_keys_that_it_needs_and_no_others() {
    let rendered = support::render("abisu", "full", &json!({}));
    let keys = |pod: &Value| {
        let mut found = Vec::new();
        for volume in items(&pod["spec"]["volumes"]) {
            found.extend(
                items(&volume["secret"]["items"]).iter().map(|item| item["key"].as_str().unwrap().to_owned()),
            );
        }
        found.sort();
        found.join(" ")
    };
    let service = |name: &str| keys(&rendered.one("Deployment", name)["spec"]["template"]);
    assert_eq!(
        service("abisu-ingest"),
        "app-secret app-secret app-secret-next ca.crt ingest links verify-token"
    );
    assert_eq!(service("abisu-conversation"), "access-token ca.crt conversation");
    assert_eq!(service("abisu-geocode"), "ca.crt geocode");
    assert_eq!(service("abisu-partner-push"), "ca.crt links partner-push password");
    for (title, pod) in rendered.pods() {
        let found = keys(pod);
        if pod["metadata"]["labels"]["app.kubernetes.io/component"] == "jobs" {
            let expected = match pod["metadata"]["labels"]["abisu/job"].as_str().unwrap() {
                "flows" => "access-token ca.crt uri",
                "test" => "app-secret ca.crt uri",
                _ => "ca.crt uri",
            };
            assert_eq!(found, expected, "{title}");
        }
        for container in items(&pod["spec"]["containers"]) {
            for one in items(&container["env"]) {
                assert!(
                    one["valueFrom"]["secretKeyRef"].is_null(),
                    "{title}: secrets are files, so that they can change"
                );
            }
        }
    }
}

#[test]
fn forms_are_published_for_every_channel_at_meta_and_by_nobody_else() {
    let job = |file: &str, over: Value| {
        let rendered = support::render("abisu", file, &over);
        let found = rendered.pods().into_iter().find(|(title, _)| title.starts_with("Job abisu-flows-"));
        found.map(|(title, pod)| {
            let volumes = items(&pod["spec"]["volumes"]).iter();
            let names: Vec<&str> = volumes.map(|volume| volume["name"].as_str().unwrap()).collect();
            (title, names.join(" "))
        })
    };
    let south = |account: &str| json!({"id": "south", "kind": "whatsapp_meta", "waba_id": account});
    let with = |channels: Value| json!({"whatsapp": {"enabled": false}, "tests": {"synthetic": false}, "channels": channels});
    let one = job("minimal", json!({})).unwrap();
    let two = job("minimal", json!({"channels": {"extra": [south("1")], "existingSecret": "c"}})).unwrap();
    let other = job("minimal", json!({"channels": {"extra": [south("2")], "existingSecret": "c"}})).unwrap();
    let only = job("minimal", with(json!({"extra": [south("1")], "existingSecret": "c"}))).unwrap();
    let existing = job("minimal", with(json!({"existingConfigMap": "m", "existingSecret": "c"}))).unwrap();
    assert_eq!(one.1, "database channels whatsapp");
    assert_eq!(two.1, "database channels channel-secrets whatsapp");
    assert_eq!(only.1, "database channels channel-secrets");
    assert_eq!(existing.1, "database channels channel-secrets");
    assert_ne!(two.0, other.0, "another account is another Job");
    let app = json!({"extra": [{"id": "app", "kind": "webhook"}], "existingSecret": "c"});
    assert!(job("minimal", with(app)).is_none());
    let off = json!({"flows": {"publish": false}, "channels": {"extra": [south("1")]}});
    assert!(job("minimal", off).is_none());
}

#[test]
fn a_service_restarts_for_its_own_configuration_and_for_no_other_change() {
    let before = support::render("abisu", "full", &json!({}));
    let changed = |over: Value| {
        let after = support::render("abisu", "full", &over);
        let template =
            |rendered: &Rendered, name: &str| rendered.one("Deployment", name)["spec"]["template"].clone();
        let names = ["abisu-conversation", "abisu-geocode", "abisu-ingest", "abisu-partner-push"];
        names.into_iter().filter(|name| template(&before, name) != template(&after, name)).collect::<Vec<_>>()
    };
    assert_eq!(changed(json!({"partner": {"platform": {"adapter": "open311"}}})), ["abisu-partner-push"]);
    assert_eq!(changed(json!({"geocode": {"provider": "photon", "fallback": []}})), ["abisu-geocode"]);
    assert_eq!(
        changed(json!({"city": {"taxonomy": "version: 2\n"}})),
        ["abisu-conversation", "abisu-partner-push"]
    );
    assert_eq!(
        changed(json!({"whatsapp": {"graphVersion": "v27.0"}})),
        ["abisu-conversation", "abisu-ingest"]
    );
    assert_eq!(changed(json!({"city": {"name": "Bilbao"}})), ["abisu-conversation", "abisu-geocode"]);
    assert_eq!(changed(json!({"networkPolicy": {"enabled": false}})), Vec::<&str>::new());
}

#[test]
fn a_job_has_another_name_when_anything_of_it_is_another() {
    let jobs = |over: Value| {
        let rendered = support::render("abisu", "full", &over);
        let names =
            rendered.of("Job").into_iter().map(|job| job["metadata"]["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let before = jobs(json!({}));
    assert_eq!(
        before,
        jobs(json!({"ingest": {"replicas": 5}})),
        "what does not concern a Job leaves it alone"
    );
    for over in [
        json!({"jobs": {"image": {"tag": "0.2.0"}}}),
        json!({"jobs": {"resources": {"limits": {"memory": "1Gi"}}}}),
        json!({"city": {"taxonomy": "version: 2\n"}}),
        json!({"city": {"serviceArea": {"files": {"vitoria-gasteiz.geojson": "{}"}}}}),
    ] {
        assert_ne!(before, jobs(over.clone()), "{over}");
    }
}

#[test]
fn helm_test_is_one_report_through_the_door_or_a_look_at_the_queues() {
    let args = |file: &str, over: &Value| {
        let rendered = support::render("abisu", file, over);
        rendered.one("Pod", "abisu-test")["spec"]["containers"][0]["args"].clone()
    };
    let report = json!(["synthetic", "report", "--url", "http://abisu-ingest:80", "--timeout", "60s"]);
    assert_eq!(args("minimal", &json!({})), report);
    let own = json!({"tests": {"existingSecret": "own"}, "whatsapp": {"enabled": false},
        "channels": {"extra": [{"id": "app", "kind": "webhook"}]}});
    assert_eq!(args("minimal", &own), report);
    assert_eq!(args("minimal", &json!({"tests": {"synthetic": false}})), json!(["queue", "status"]));
    // Nothing to sign with.
    let without =
        json!({"whatsapp": {"enabled": false}, "channels": {"extra": [{"id": "app", "kind": "webhook"}]}});
    assert_eq!(args("minimal", &without), json!(["queue", "status"]));
}
