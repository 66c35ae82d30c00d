//! Who may talk to whom, by the rendered network policies: a model of what an enforcing network does with them.
//!
//! Policies add up. A pod that no policy selects for a direction is free in it; one that is selected may do what any rule
//! of any of those policies says, and a connection needs both ends' consent.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::IpAddr;

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::documents;

/// The namespace that everything is rendered for.
pub const NAMESPACE: &str = "city";

/// Somewhere that a connection comes from or goes to.
#[derive(Debug, Clone)]
pub struct Place {
    /// What it is called in the table.
    pub name: &'static str,
    /// Its namespace; none outside of the cluster.
    pub namespace: Option<&'static str>,
    /// Its labels, where it is a pod.
    pub labels: BTreeMap<String, String>,
    /// An address that it may have.
    pub address: IpAddr,
    /// The port that is asked for there, 0 for whoever only asks.
    pub port: u16,
    /// Over UDP instead of TCP.
    pub udp: bool,
}

impl Place {
    fn pod(name: &'static str, namespace: &'static str, labels: &[(&str, &str)], port: u16) -> Self {
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let address = IpAddr::from([10, 244, 0, 7]);
        Self { name, namespace: Some(namespace), labels, address, port, udp: false }
    }

    fn outside(name: &'static str, address: [u8; 4], port: u16) -> Self {
        Self { name, namespace: None, labels: BTreeMap::new(), address: address.into(), port, udp: false }
    }

    /// A pod of the release that is called `abisu`.
    pub fn own(name: &'static str, component: &str, job: Option<&str>, port: u16) -> Self {
        let mut pod = Self::pod(
            name,
            NAMESPACE,
            &[
                ("app.kubernetes.io/name", "abisu"),
                ("app.kubernetes.io/instance", "abisu"),
                ("app.kubernetes.io/component", component),
            ],
            port,
        );
        pod.labels.extend(job.map(|job| ("abisu/job".to_owned(), job.to_owned())));
        pod
    }

    /// Whoever may ask, in the order of the table.
    pub fn callers() -> Vec<Self> {
        vec![
            Self::own("ingest", "ingest", None, 0),
            Self::own("conversation", "conversation", None, 0),
            Self::own("geocode", "geocode", None, 0),
            Self::own("partner-push", "partner-push", None, 0),
            Self::own("Jobs: migrate, area, purge", "jobs", Some("migrate"), 0),
            Self::own("Job: flows", "jobs", Some("flows"), 0),
            Self::own("`helm test`", "jobs", Some("test"), 0),
            Self::pod("Ingress controller", "ingress", &[("app", "ingress")], 0),
            Self::pod("Prometheus", "monitoring", &[("app", "prometheus")], 0),
            Self::pod("any other pod", "elsewhere", &[("app", "other")], 0),
        ]
    }

    /// Whatever may be asked, in the order of the table.
    pub fn targets() -> Vec<Self> {
        let mut dns = Self::pod("DNS 53", "kube-system", &[("k8s-app", "kube-dns")], 53);
        dns.udp = true;
        vec![
            Self::own("ingest 8080", "ingest", None, 8080),
            Self::own("geocode 50051", "geocode", None, 50051),
            Self::own("admin port 9090", "conversation", None, 9090),
            dns,
            Self::pod("database 5432", "database", &[("cnpg.io/cluster", "abisu-db")], 5432),
            Self::pod("collector 4317", "monitoring", &[("app", "collector")], 4317),
            Self::outside("Meta, geocoders 443", [157, 240, 1, 1], 443),
            Self::outside("contractor 8443", [203, 0, 113, 7], 8443),
            Self::pod("other pods", "elsewhere", &[("app", "other")], 8080),
            Self::outside("API server 443", [10, 96, 0, 1], 443),
            Self::outside("cloud metadata 80", [169, 254, 169, 254], 80),
        ]
    }
}

/// The policies of a release.
#[derive(Debug)]
pub struct Model {
    policies: Vec<Value>,
}

impl Model {
    /// Reads the policies among rendered documents.
    ///
    /// # Errors
    /// Not YAML.
    pub fn of(rendered: &str) -> anyhow::Result<Self> {
        let mut policies = documents(rendered)?;
        policies.retain(|document| document["kind"] == "NetworkPolicy");
        Ok(Self { policies })
    }

    /// Whether a connection comes about.
    ///
    /// # Errors
    /// A policy says something that this model does not know.
    pub fn allows(&self, from: &Place, to: &Place) -> anyhow::Result<bool> {
        Ok(self.side("Egress", from, to, to)? && self.side("Ingress", to, from, to)?)
    }

    /// What the policies of one end say about the other end.
    fn side(&self, direction: &str, own: &Place, other: &Place, target: &Place) -> anyhow::Result<bool> {
        let (rules, peers) = if direction == "Egress" { ("egress", "to") } else { ("ingress", "from") };
        let mut selected = false;
        for policy in &self.policies {
            let spec = &policy["spec"];
            let concerns = array(&spec["policyTypes"]).iter().any(|kind| kind == direction);
            let inside = own.namespace == Some(NAMESPACE);
            if !inside || !concerns || !selects(&spec["podSelector"], &own.labels)? {
                continue;
            }
            selected = true;
            for rule in array(&spec[rules]) {
                if port_is_in(&rule["ports"], target)? && is_peer(&rule[peers], other)? {
                    return Ok(true);
                }
            }
        }
        Ok(!selected)
    }
}

/// The table of the README.
///
/// # Errors
/// As [`Model::allows`].
pub fn table(rendered: &str) -> anyhow::Result<String> {
    let model = Model::of(rendered)?;
    let targets = Place::targets();
    let names: Vec<&str> = targets.iter().map(|target| target.name).collect();
    let mut text =
        format!("| from \\ to | {} |\n| --- |{}\n", names.join(" | "), " :-: |".repeat(names.len()));
    for from in Place::callers() {
        let _ = write!(text, "| {} |", from.name);
        for to in &targets {
            // What others may do elsewhere is not ours to say.
            let mark = if from.namespace != Some(NAMESPACE) && to.namespace != Some(NAMESPACE) {
                "–"
            } else if model.allows(&from, to)? {
                "yes"
            } else {
                ""
            };
            let _ = write!(text, " {mark} |");
        }
        text.push('\n');
    }
    Ok(text)
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn selects(selector: &Value, labels: &BTreeMap<String, String>) -> anyhow::Result<bool> {
    ensure!(selector["matchExpressions"].is_null(), "matchExpressions are not in this model");
    let wanted = selector["matchLabels"].as_object();
    Ok(wanted.is_none_or(|wanted| {
        wanted.iter().all(|(key, value)| labels.get(key).map(String::as_str) == value.as_str())
    }))
}

fn port_is_in(ports: &Value, target: &Place) -> anyhow::Result<bool> {
    let ports = array(ports);
    for port in ports {
        ensure!(port["endPort"].is_null(), "ranges of ports are not in this model");
        let number = port["port"].as_u64().with_context(|| format!("{port}: not a number"))?;
        let udp = port["protocol"] == "UDP";
        if number == u64::from(target.port) && udp == target.udp {
            return Ok(true);
        }
    }
    Ok(ports.is_empty())
}

fn is_peer(peers: &Value, other: &Place) -> anyhow::Result<bool> {
    if peers.is_null() {
        return Ok(true);
    }
    for peer in array(peers) {
        if let Some(block) = peer["ipBlock"].as_object() {
            let cidr = |value: &Value| contains(value.as_str().unwrap_or_default(), other.address);
            let mut inside = cidr(&block["cidr"])?;
            for except in block.get("except").map_or(&[][..], array) {
                inside &= !cidr(except)?;
            }
            if inside {
                return Ok(true);
            }
            continue;
        }
        let Some(namespace) = other.namespace else { continue };
        let in_namespace = if peer["namespaceSelector"].is_null() {
            namespace == NAMESPACE
        } else {
            let name = ("kubernetes.io/metadata.name".to_owned(), namespace.to_owned());
            selects(&peer["namespaceSelector"], &BTreeMap::from([name]))?
        };
        if in_namespace && selects(&peer["podSelector"], &other.labels)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a network holds an address.
fn contains(cidr: &str, address: IpAddr) -> anyhow::Result<bool> {
    let Some((network, bits)) = cidr.split_once('/') else { bail!("{cidr:?} is no network") };
    let (network, bits): (IpAddr, u32) = (network.parse()?, bits.parse()?);
    Ok(match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let mask = u32::MAX.checked_shl(32 - bits.min(32)).unwrap_or(0);
            network.to_bits() & mask == address.to_bits() & mask
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            let mask = u128::MAX.checked_shl(128 - bits.min(128)).unwrap_or(0);
            network.to_bits() & mask == address.to_bits() & mask
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_its_addresses_and_no_others() {
        for (cidr, address, holds) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("203.0.113.7/32", "203.0.113.8", false),
            ("::/0", "8.8.8.8", false),
            ("fc00::/7", "fd00::1", true),
        ] {
            assert_eq!(contains(cidr, address.parse().unwrap()).unwrap(), holds, "{cidr} {address}");
        }
    }

    #[test]
    fn both_ends_must_agree_and_who_is_not_selected_is_free() {
        let policy = |name: &str, selector: &str, rest: &str| {
            format!(
                "---\nkind: NetworkPolicy\nmetadata: {{name: {name}}}\nspec:\n  podSelector: {selector}\n  {rest}\n"
            )
        };
        let (ingest, other) = (Place::own("ingest", "ingest", None, 8080), Place::callers().pop().unwrap());
        let free = Model::of("kind: Pod\n").unwrap();
        assert!(free.allows(&other, &ingest).unwrap());
        let deny = policy("deny", "{}", "policyTypes: [Ingress, Egress]");
        let closed = Model::of(&deny).unwrap();
        assert!(!closed.allows(&other, &ingest).unwrap());
        let open = "{matchLabels: {app.kubernetes.io/component: ingest}}";
        let rule = "policyTypes: [Ingress]\n  ingress: [{ports: [{port: 8080, protocol: TCP}]}]";
        let model = Model::of(&format!("{deny}{}", policy("open", open, rule))).unwrap();
        assert!(model.allows(&other, &ingest).unwrap());
        assert!(!model.allows(&ingest, &other).unwrap());
    }
}
