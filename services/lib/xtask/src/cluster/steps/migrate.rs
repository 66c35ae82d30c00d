//! The ways in which the schema comes: before the release, beside it, and by somebody else's hand, also by two at once.

use std::time::Duration;

use anyhow::ensure;
use serde_json::{Value, json};

use super::disrupt::ROLLOUT;
use super::{Verdict, held};
use crate::cluster::kube::until;
use crate::cluster::site::{RELEASE, SERVICES, Site, deployments};
use crate::cluster::world::World;

/// One pod of each service, and nothing that another release has done already.
pub(super) fn small() -> Value {
    json!({"defaults": {"replicas": 1}, "flows": {"publish": false}, "partner": {"enabled": false}, "purge": {"enabled": false}})
}

/// A hook migrates before anything of the release is there.
pub(in crate::cluster) async fn by_hook(world: &World) -> anyhow::Result<Verdict> {
    let site = Site::make(world, "hook").await?;
    let mut over = small();
    over["migrations"] = json!({"mode": "hook"});
    site.install(&world.chart, &over, &["--wait"]).await?;
    ensure!(
        site.count("select count(*) from public._sqlx_migrations").await? > 0,
        "the hook applied nothing"
    );
    site.remove().await?;
    held("")
}

/// Nobody migrates: the services wait, unready and calm, until two Jobs come at once.
pub(in crate::cluster) async fn by_somebody_else(world: &World) -> anyhow::Result<Verdict> {
    let site = Site::make(world, "external").await?;
    let mut over = small();
    over["migrations"] = json!({"mode": "external"});
    site.install(&world.chart, &over, &[]).await?;
    until("all pods run and none is ready", ROLLOUT, async || {
        let mut running = 0;
        for service in SERVICES {
            let pods = site.kube.pods(service).await?;
            ensure!(pods.iter().all(|pod| !pod.ready), "{service} is ready without a schema");
            running += pods.iter().filter(|pod| !pod.node.is_empty()).count();
        }
        Ok((running == SERVICES.len()).then_some(()))
    })
    .await?;
    site.kube.apply(&two_at_once(&world.tag)).await?;
    site.kube.kubectl(&["wait", "job/migrate", "--for=condition=complete", "--timeout=60s"]).await?;
    site.kube.rolled_out(&deployments(), ROLLOUT).await?;
    for service in SERVICES {
        let restarts: u64 = site.kube.pods(service).await?.iter().map(|pod| pod.restarts).sum();
        ensure!(restarts == 0, "{service} was started again while it waited for the schema");
    }
    let twice = "select count(*) - count(distinct version) from public._sqlx_migrations";
    ensure!(site.count(twice).await? == 0, "a migration was applied twice");
    site.remove().await?;
    held("two Jobs at once")
}

/// A Job of which two pods run side by side.
fn two_at_once(tag: &str) -> Value {
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "migrate"},
        "spec": {
            "completions": 2,
            "parallelism": 2,
            "template": {"spec": {
                "restartPolicy": "Never",
                "automountServiceAccountToken": false,
                "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
                "containers": [{
                    "name": "migrate",
                    "image": format!("abisu/abisu:{tag}"),
                    "imagePullPolicy": "IfNotPresent",
                    "args": ["migrate"],
                    "env": [{"name": "ABISU_DATABASE_URL", "valueFrom": {"secretKeyRef": {"name": "abisu-database", "key": "owner"}}}],
                    "securityContext": {"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}},
                }],
            }},
        },
    })
}

/// Deletes what a small release holds, and waits until its pods are gone.
pub(super) async fn uninstall(site: &Site) -> anyhow::Result<()> {
    /// The longest grace period of a pod, and some.
    const GONE: Duration = Duration::from_secs(90);
    site.kube.helm(&["uninstall", RELEASE, "--wait", "--timeout", "90s"]).await?;
    until("all pods are gone", GONE, async || {
        let mut left = 0;
        for service in SERVICES {
            left += site.kube.pods(service).await?.len();
        }
        Ok((left == 0).then_some(()))
    })
    .await
}
