//! Who owns the number of pods, what a drain may take, and whether the database suffices.

use serde_json::{Value, json};

use super::support;

#[test]
fn no_number_of_pods_is_rendered_where_an_autoscaler_owns_it() {
    let mut owned = 0;
    for rendered in support::matrix() {
        let scalers = rendered.of("HorizontalPodAutoscaler").into_iter().chain(rendered.of("ScaledObject"));
        let targets: Vec<&Value> = scalers.map(|scaler| &scaler["spec"]["scaleTargetRef"]["name"]).collect();
        for deployment in rendered.of("Deployment") {
            let (name, replicas) = (&deployment["metadata"]["name"], &deployment["spec"]["replicas"]);
            assert_eq!(replicas.is_null(), targets.contains(&name), "{}: {name}", rendered.name);
        }
        owned += targets.len();
    }
    assert!(owned >= 4);
}

#[test]
fn keda_scales_by_what_waits_and_never_in_while_the_database_is_away() {
    let rendered = support::render("abisu", "full", &json!({}));
    for name in ["abisu-conversation", "abisu-partner-push"] {
        let scaled = &rendered.one("ScaledObject", name)["spec"];
        assert_eq!(scaled["fallback"]["behavior"], "currentReplicasIfHigher");
        let query = scaled["triggers"][0]["metadata"]["query"].as_str().unwrap();
        assert!(query.starts_with("select coalesce("), "an empty queue is 0 and no error: {query}");
    }
    // While nothing is handed over there is nothing to scale by.
    let off = support::render("abisu", "full", &json!({"partner": {"enabled": false}}));
    assert_eq!(off.of("ScaledObject").len(), 1);
    assert_eq!(off.one("Deployment", "abisu-partner-push")["spec"]["replicas"], 2);
}

#[test]
fn a_drain_always_gets_one_pod_whatever_their_number() {
    for (least, over) in [
        (1, json!({"defaults": {"replicas": 1}})),
        (2, json!({})),
        (3, json!({"defaults": {"replicas": 3}, "ingest": {"pdb": {"minAvailable": 2}}})),
        (3, json!({"defaults": {"replicas": 3}, "ingest": {"pdb": {"minAvailable": "50%"}}})),
        (1, json!({"defaults": {"replicas": 1}, "ingest": {"pdb": {"maxUnavailable": "10%"}}})),
    ] {
        let mut over = over;
        over["database"] = json!({"connections": {"max": 0}});
        let rendered = support::render("abisu", "minimal", &over);
        let budgets = rendered.of("PodDisruptionBudget");
        assert_eq!(budgets.len(), 4);
        for budget in budgets {
            let spec = &budget["spec"];
            assert_eq!(spec["unhealthyPodEvictionPolicy"], "AlwaysAllow");
            assert!(
                spec["minAvailable"].is_null() != spec["maxUnavailable"].is_null(),
                "one of both: {spec}"
            );
            assert!(allowed(spec, least) >= 1, "{over}: {spec} blocks a drain of {least}");
        }
    }
}

/// How many of so many healthy pods the budget lets go, as the controller counts it.
fn allowed(spec: &Value, pods: u64) -> u64 {
    let share = |value: &Value| match value.as_str() {
        Some(text) => (text.trim_end_matches('%').parse::<u64>().unwrap() * pods).div_ceil(100),
        None => value.as_u64().unwrap(),
    };
    if spec["minAvailable"].is_null() {
        share(&spec["maxUnavailable"])
    } else {
        pods.saturating_sub(share(&spec["minAvailable"]))
    }
}

#[test]
fn more_connections_than_the_database_allows_are_refused_with_the_sum() {
    let refused =
        |over: &Value| support::try_render("abisu", "minimal", over).err().map(|error| error.to_string());
    // 3×6 + 3×9 + 3×5 + 3×7 + 4 for the Jobs + 5 reserved.
    assert_eq!(refused(&json!({"database": {"connections": {"max": 90}}})), None);
    let error = refused(&json!({"database": {"connections": {"max": 89}}})).unwrap();
    assert!(error.contains("database.connections.max: the database allows 89 connections"), "{error}");
    assert!(
        error.contains("conversation (2+1)×9 = 27 + geocode (2+1)×5 = 15 + ingest (2+1)×6 = 18"),
        "{error}"
    );
    assert!(error.contains("reserved 5: 90"), "{error}");
    // What an autoscaler may come to counts, and a share of a roll-out is rounded up.
    let over = json!({
        "ingest": {"autoscaling": {"enabled": true, "maxReplicas": 10}, "rollingUpdate": {"maxSurge": "25%"}},
        "database": {"connections": {"max": 149}},
    });
    let error = refused(&over).unwrap();
    assert!(error.contains("ingest (10+3)×6 = 78"), "{error}");
    // Every Job that may run counts.
    let over = json!({"database": {"connections": {"max": 90}}, "city": {"serviceArea": {"files": {"a.geojson": "{}"}}}});
    assert!(refused(&over).unwrap().contains("jobs 5"));
    assert_eq!(
        refused(&json!({"database": {"connections": {"max": 0}}})),
        None,
        "not checked where it cannot be told"
    );
}

#[test]
fn pods_spread_over_zones_and_nodes() {
    for (file, when) in [("minimal", "ScheduleAnyway"), ("ha", "DoNotSchedule")] {
        let rendered = support::render("abisu", file, &json!({}));
        for deployment in rendered.of("Deployment") {
            let spread =
                deployment["spec"]["template"]["spec"]["topologySpreadConstraints"].as_array().unwrap();
            let keys: Vec<_> = spread.iter().map(|one| one["topologyKey"].as_str().unwrap()).collect();
            assert_eq!(keys, ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]);
            for one in spread {
                assert_eq!(one["whenUnsatisfiable"], when);
                let selector = one["labelSelector"]["matchLabels"].as_object().unwrap();
                let labels = &deployment["spec"]["template"]["metadata"]["labels"];
                assert!(selector.iter().all(|(key, value)| labels[key] == *value));
            }
        }
    }
}
