//! Autoscalers, where the cluster has KEDA and metrics-server: more pods when much waits, and no more when nothing can go.

use std::time::Duration;

use anyhow::ensure;
use serde_json::{Value, json};

use super::disrupt::ROLLOUT;
use super::{Verdict, held};
use crate::cluster::check;
use crate::cluster::crowd;
use crate::cluster::kube::until;
use crate::cluster::load::{self, Load};
use crate::cluster::site::{APP_SECRET, RELEASE};
use crate::cluster::world::{Release, World};

/// Messages of the burst, each of another person, and how many one webhook brings.
const BURST: usize = 20_000;
const AT_ONCE: usize = 100;
/// Pods that an autoscaler may make.
const MOST: u64 = 4;
/// How long an autoscaler may take either way.
const PATIENCE: Duration = Duration::from_secs(240);
/// How long the pods of a service that must not grow are watched: several looks of KEDA, and of the autoscaler behind it.
const WATCHED: Duration = Duration::from_secs(60);

/// What makes autoscalers quick enough for a test.
pub(in crate::cluster) fn values() -> Value {
    let calm = json!({"scaleDown": {"stabilizationWindowSeconds": 5, "policies": [{"type": "Percent", "value": 100, "periodSeconds": 5}]}});
    let keda = |waiting: u32| {
        json!({"autoscaling": {
            "enabled": true, "type": "keda", "minReplicas": 1, "maxReplicas": MOST, "targetWaiting": waiting,
            "pollingIntervalSeconds": 2, "cooldownSeconds": 10, "behavior": calm,
        }})
    };
    json!({
        "conversation": keda(50),
        "partnerPush": keda(1),
        "ingest": {"autoscaling": {
            "enabled": true, "type": "hpa", "minReplicas": 1, "maxReplicas": MOST, "targetCPUPercent": 50, "behavior": calm,
        }},
    })
}

/// A burst brings conversation from one pod to four, and back when it is worked off.
pub(in crate::cluster) async fn burst(world: &World, release: &Release) -> anyhow::Result<Verdict> {
    reaches(release, "conversation", 1).await?;
    load::burst(&release.webhook, APP_SECRET, BURST, AT_ONCE).await?;
    reaches(release, "conversation", MOST).await?;
    check::at_rest(&release.site).await?;
    reaches(release, "conversation", 1).await?;
    let references = crowd::report(&world.simulator, 1, Duration::ZERO).await?;
    crowd::at_the_contractor(&world.simulator, &references).await?;
    held(format!("{BURST} events"))
}

/// While the contractor is away reports wait, and more pods would not help: none come.
pub(in crate::cluster) async fn stopped_contractor(
    world: &World,
    release: &Release,
) -> anyhow::Result<Verdict> {
    const REPORTS: usize = 20;
    reaches(release, "partner-push", 1).await?;
    for surface in ["partner.login", "partner.incidents"] {
        world.simulator.post("/control/faults", &json!({"surface": surface, "kind": "down"})).await?;
    }
    let watched = async {
        let references = crowd::report(&world.simulator, REPORTS, Duration::from_secs(5)).await?;
        let end = tokio::time::Instant::now() + WATCHED;
        while tokio::time::Instant::now() < end {
            let pods = replicas(release, "partner-push").await?;
            ensure!(pods <= 1, "partner-push has {pods} pods while nothing can be handed over");
            tokio::time::sleep(crate::cluster::kube::POLL).await;
        }
        anyhow::Ok(references)
    }
    .await;
    world.simulator.delete("/control/faults").await?;
    crowd::at_the_contractor(&world.simulator, &watched?).await?;
    check::at_rest(&release.site).await?;
    held(format!("{REPORTS} reports waited"))
}

/// ingest follows its processor time.
pub(in crate::cluster) async fn processor(release: &Release) -> anyhow::Result<Verdict> {
    reaches(release, "ingest", 1).await?;
    // More than a pod's share of a core that is aimed at, and far less than one pod carries.
    let load = Load::start(&release.webhook, APP_SECRET)?;
    let grown = until("ingest has more than one pod", PATIENCE, async || {
        Ok((replicas(release, "ingest").await? > 1).then_some(()))
    })
    .await;
    let outcome = load.finish().await?;
    grown?;
    outcome.all_acked()?;
    reaches(release, "ingest", 1).await?;
    check::at_rest(&release.site).await?;
    held(outcome.to_string())
}

/// Waits until a service has so many ready pods and wants no other number.
async fn reaches(release: &Release, service: &str, pods: u64) -> anyhow::Result<()> {
    until(&format!("{service} has {pods} pods"), PATIENCE.max(ROLLOUT), async || {
        let deployment = release.site.kube.get(&["deployment", &format!("{RELEASE}-{service}")]).await?;
        let ready = deployment["status"]["readyReplicas"].as_u64().unwrap_or(0);
        let wanted = deployment["spec"]["replicas"].as_u64().unwrap_or(0);
        Ok((ready == pods && wanted == pods).then_some(()))
    })
    .await
}

async fn replicas(release: &Release, service: &str) -> anyhow::Result<u64> {
    let deployment = release.site.kube.get(&["deployment", &format!("{RELEASE}-{service}")]).await?;
    Ok(deployment["spec"]["replicas"].as_u64().unwrap_or(0))
}
