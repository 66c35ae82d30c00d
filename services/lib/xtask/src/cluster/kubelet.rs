//! What the services take of processor and memory, as the kubelet counts it: so it can be asked of any cluster, and is
//! what limits, evictions and autoscalers go by.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use anyhow::ensure;
use serde_json::Value;

use super::kube::{self, Kube, until};
use super::site::SERVICES;
use crate::lint::rules::list;

/// How long the kubelet may take to count a pod for the first time.
const COUNTED: Duration = Duration::from_secs(60);

/// What the pod of a service takes that takes most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Bytes, without files that the kernel can drop at once: what counts against the limit.
    pub(super) working_set: u64,
    /// Bytes of the process itself, without any file.
    pub(super) own: u64,
    /// Billionths of a core, over the last seconds.
    pub(super) cores: u64,
}

impl Usage {
    /// The larger of both, part by part.
    pub(super) fn max(self, other: Self) -> Self {
        Self {
            working_set: self.working_set.max(other.working_set),
            own: self.own.max(other.own),
            cores: self.cores.max(other.cores),
        }
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        write!(f, "{:5.1} {:5.1} {:4}m", mib(self.working_set), mib(self.own), self.cores / 1_000_000)
    }
}

/// Asks once; every service must have been counted.
pub(super) async fn of_services(kube: &Kube) -> anyhow::Result<BTreeMap<&'static str, Usage>> {
    until("the kubelets count every pod", COUNTED, async || {
        let mut pods = BTreeMap::new();
        for node in kube::nodes(kube).await?.into_keys() {
            let path = format!("/api/v1/nodes/{node}/proxy/stats/summary");
            let summary: Value = serde_json::from_str(&kube.kubectl(&["get", "--raw", &path]).await?)?;
            pods.extend(of_pods(&summary, &kube.namespace));
        }
        let mut usage = BTreeMap::new();
        for service in SERVICES {
            for pod in kube.pods(service).await? {
                let counted = pods.get(&pod.name).copied().unwrap_or_default();
                ensure!(counted.own > 0, "{} is not counted yet", pod.name);
                let most: &mut Usage = usage.entry(service).or_default();
                *most = most.max(counted);
            }
        }
        Ok(Some(usage))
    })
    .await
}

/// The pods of a namespace in what a kubelet says.
fn of_pods(summary: &Value, namespace: &str) -> BTreeMap<String, Usage> {
    let ours = list(&summary["pods"]).iter().filter(|pod| pod["podRef"]["namespace"] == namespace);
    ours.filter_map(|pod| {
        let name = pod["podRef"]["name"].as_str()?.to_owned();
        let sum = |kind: &str, key: &str| {
            list(&pod["containers"]).iter().filter_map(|container| container[kind][key].as_u64()).sum()
        };
        let usage = Usage {
            working_set: sum("memory", "workingSetBytes"),
            own: sum("memory", "rssBytes"),
            cores: sum("cpu", "usageNanoCores"),
        };
        Some((name, usage))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_pod_takes_is_the_sum_of_its_containers() {
        let container = |working_set: u64, own: u64| {
            json!({
                "memory": {"workingSetBytes": working_set, "rssBytes": own},
                "cpu": {"usageNanoCores": 7_000_000},
            })
        };
        let pod = |namespace: &str, containers: Value| json!({"podRef": {"name": "a", "namespace": namespace}, "containers": containers});
        let summary = json!({"pods": [
            pod("ours", json!([container(5 << 20, 1 << 20), container(3 << 20, 1 << 19)])),
            pod("theirs", json!([container(1, 1)])),
        ]});
        let usage = of_pods(&summary, "ours")["a"];
        assert_eq!(usage, Usage { working_set: 8 << 20, own: 3 << 19, cores: 14_000_000 });
        assert_eq!(usage.to_string(), "  8.0   1.5   14m");
    }
}
