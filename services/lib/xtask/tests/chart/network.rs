//! Who may talk to whom.

use serde_json::json;
use xtask::chart::network::{Model, Place};

use super::support;

/// Pairs of names that may connect.
fn allowed(model: &Model) -> Vec<String> {
    let mut found = Vec::new();
    for from in Place::callers() {
        for to in Place::targets() {
            let ours = from.namespace == Some("city") || to.namespace == Some("city");
            if ours && model.allows(&from, &to).unwrap() {
                found.push(format!("{} → {}", from.name, to.name));
            }
        }
    }
    found
}

#[test]
fn everybody_reaches_what_they_need_and_nothing_else() {
    let rendered = support::render("abisu", "full", &json!({}));
    let found = allowed(&Model::of(&rendered.text).unwrap());
    let mut expected = Vec::new();
    for who in ["ingest", "conversation", "geocode", "partner-push"] {
        for what in ["DNS 53", "database 5432", "collector 4317"] {
            expected.push(format!("{who} → {what}"));
        }
    }
    for who in ["Jobs: migrate, area, purge", "Job: flows", "`helm test`"] {
        for what in ["DNS 53", "database 5432"] {
            expected.push(format!("{who} → {what}"));
        }
    }
    expected.extend(
        [
            "conversation → geocode 50051",
            "conversation → Meta, geocoders 443",
            "geocode → Meta, geocoders 443",
            "partner-push → contractor 8443",
            "Job: flows → Meta, geocoders 443",
            "`helm test` → ingest 8080",
            "Ingress controller → ingest 8080",
            "Prometheus → admin port 9090",
        ]
        .map(str::to_owned),
    );
    let (mut found, mut expected) = (found, expected);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn what_is_switched_off_needs_no_way_out() {
    let over = json!({"partner": {"enabled": false}, "geocode": {"provider": "offline", "fallback": []}});
    let rendered = support::render("abisu", "full", &over);
    let found = allowed(&Model::of(&rendered.text).unwrap());
    for gone in ["partner-push → contractor 8443", "geocode → Meta, geocoders 443"] {
        assert!(!found.contains(&gone.to_owned()), "{gone}");
    }
}

#[test]
fn an_address_in_a_url_is_let_through_alone_and_the_metadata_service_never() {
    let over = json!({"partner": {"url": "http://10.1.2.3:8080/x"}, "whatsapp": {"graphUrl": "http://10.1.2.4:9000/meta"}});
    let rendered = support::render("abisu", "full", &over);
    let model = Model::of(&rendered.text).unwrap();
    let mut place = Place::targets().pop().unwrap();
    let push = Place::own("partner-push", "partner-push", None, 0);
    for (address, port, allowed) in [
        ([10, 1, 2, 3], 8080, true),
        ([10, 1, 2, 3], 443, false),
        ([10, 1, 2, 4], 9000, false),
        ([169, 254, 169, 254], 80, false),
    ] {
        (place.address, place.port) = (address.into(), port);
        assert_eq!(model.allows(&push, &place).unwrap(), allowed, "{address:?}:{port}");
    }
}

#[test]
fn an_address_of_the_newer_protocol_is_let_through_alone_too() {
    let over = json!({"partner": {"url": "https://[fd00:1::7]:8443/rest"}});
    let rendered = support::render("abisu", "full", &over);
    let model = Model::of(&rendered.text).unwrap();
    let push = Place::own("partner-push", "partner-push", None, 0);
    let mut place = Place::targets().pop().unwrap();
    for (address, port, allowed) in
        [("fd00:1::7", 8443, true), ("fd00:1::8", 8443, false), ("2001:db8::1", 8443, false)]
    {
        (place.address, place.port) = (address.parse().unwrap(), port);
        assert_eq!(model.allows(&push, &place).unwrap(), allowed, "{address}:{port}");
    }
}

#[test]
fn name_servers_may_listen_elsewhere() {
    let peer =
        json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "openshift-dns"}}});
    let over = json!({"networkPolicy": {"dns": [peer], "dnsPorts": [5353]}});
    let model = Model::of(&support::render("abisu", "full", &over).text).unwrap();
    let ingest = Place::own("ingest", "ingest", None, 0);
    let mut server = Place::targets().into_iter().find(|place| place.name == "DNS 53").unwrap();
    assert!(!model.allows(&ingest, &server).unwrap(), "where it was");
    (server.namespace, server.port) = (Some("openshift-dns"), 5353);
    for udp in [true, false] {
        server.udp = udp;
        assert!(model.allows(&ingest, &server).unwrap(), "udp: {udp}");
    }
}

#[test]
fn one_release_does_not_open_another_ones_pods() {
    let rendered = support::render("second", "full", &json!({}));
    let model = Model::of(&rendered.text).unwrap();
    // The places of the model are of the release `abisu`: the policies of another one do not select them, nor let them in.
    let mut theirs = Place::own("geocode", "geocode", None, 50051);
    theirs.labels.insert("app.kubernetes.io/instance".into(), "second".into());
    assert!(!model.allows(&Place::own("conversation", "conversation", None, 0), &theirs).unwrap());
}

#[test]
fn the_doors_paths_are_those_of_webhooks() {
    let rendered = support::render("abisu", "full", &json!({}));
    let ingress = &rendered.one("Ingress", "abisu-ingest")["spec"]["rules"][0]["http"]["paths"];
    let paths: Vec<_> =
        ingress.as_array().unwrap().iter().map(|path| path["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/api/v1/channels/", "/media/", "/whatsapp/webhook"]);
    let route = &rendered.one("HTTPRoute", "abisu-ingest")["spec"]["rules"][0];
    assert_eq!(route["matches"].as_array().unwrap().len(), 3);
    assert_eq!(rendered.one("Service", "abisu-geocode")["spec"]["clusterIP"], "None");
}
