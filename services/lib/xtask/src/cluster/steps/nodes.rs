//! Nodes that go: in order, and not.

use std::time::Duration;

use anyhow::Context;

use super::disrupt::{ROLLOUT, under_load};
use super::{Verdict, held};
use crate::cluster::check;
use crate::cluster::crowd;
use crate::cluster::kube::{self, until};
use crate::cluster::load::post_once;
use crate::cluster::settings::shell;
use crate::cluster::site::{APP_SECRET, RELEASE, SERVICES, deployments};
use crate::cluster::world::{Release, World};
use crate::lint::rules::list;

/// How long the cluster may take to notice that a node is gone or back.
const NOTICE: Duration = Duration::from_secs(120);
/// Citizens who report while a node is going.
const CAUGHT: usize = 10;

/// Webhooks that must be answered in a row, each over another connection, before the load comes.
const IN_A_ROW: usize = 20;

/// The last node, which is not the one that webhooks come through.
async fn last_node(release: &Release) -> anyhow::Result<Option<String>> {
    let nodes = kube::nodes(&release.site.kube).await?;
    Ok((nodes.len() > 1).then(|| nodes.into_keys().next_back()).flatten())
}

/// Drains a node under load and lets it have pods again.
pub(in crate::cluster) async fn drain(world: &World, release: &Release) -> anyhow::Result<Verdict> {
    let kube = &release.site.kube;
    let Some(node) = last_node(release).await? else {
        return Ok(Verdict::Skipped("the cluster has one node".to_owned()));
    };
    let drained = under_load(world, release, async {
        kube.kubectl(&["drain", &node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=150s"])
            .await?;
        kube.rolled_out(&deployments(), ROLLOUT).await
    })
    .await;
    kube.kubectl(&["uncordon", &node]).await?;
    let outcome = drained?;
    outcome.all_acked()?;
    spread_again(release).await?;
    held(outcome.to_string())
}

/// Cuts a node off, goes on without it once nothing is sent there any more, and takes it back.
pub(in crate::cluster) async fn loss(world: &World, release: &Release) -> anyhow::Result<Verdict> {
    let kube = &release.site.kube;
    let Some((lose, back)) = &world.settings.node_loss else {
        return Ok(Verdict::Skipped("ABISU_CLUSTER_LOSE_NODE is not set".to_owned()));
    };
    // Under way when the node goes: the provider delivers again what was not answered.
    let simulator = world.simulator.clone();
    let caught = tokio::spawn(async move { crowd::report(&simulator, CAUGHT, Duration::from_secs(2)).await });
    shell(lose, &[]).await.context("ABISU_CLUSTER_LOSE_NODE")?;
    let gone = until("a node is gone", NOTICE, async || {
        Ok(kube::nodes(kube).await?.into_iter().find(|(_, node)| !node.ready).map(|(name, _)| name))
    })
    .await;
    let went_on = match &gone {
        Ok(node) => go_on_without(world, release, node).await,
        Err(_) => Ok(String::new()),
    };
    shell(back, &[]).await.context("ABISU_CLUSTER_RETURN_NODE")?;
    gone?;
    until("all nodes are ready", NOTICE, async || {
        Ok(kube::nodes(kube).await?.values().all(|node| node.ready).then_some(()))
    })
    .await?;
    let seen = went_on?;
    let references = caught.await.context("the citizens ended badly")??;
    crowd::at_the_contractor(&world.simulator, &references).await?;
    spread_again(release).await?;
    check::at_rest(&release.site).await?;
    held(seen)
}

async fn go_on_without(world: &World, release: &Release, node: &str) -> anyhow::Result<String> {
    let kube = &release.site.kube;
    until("nothing is sent to the lost node", NOTICE, async || {
        let selector = format!("kubernetes.io/service-name={RELEASE}-ingest");
        let slices = kube.get(&["endpointslices", "--selector", &selector]).await?;
        let mut endpoints = list(&slices["items"]).iter().flat_map(|slice| list(&slice["endpoints"]));
        Ok((!endpoints.any(|one| one["nodeName"] == node && one["conditions"]["ready"] == true))
            .then_some(()))
    })
    .await?;
    // The other node's rules follow a moment later.
    until("webhooks come through", NOTICE, async || {
        for _ in 0..IN_A_ROW {
            if post_once(&release.webhook, APP_SECRET).await? != 200 {
                return Ok(None);
            }
        }
        Ok(Some(()))
    })
    .await?;
    let outcome = under_load(world, release, async {
        until("all pods are replaced", ROLLOUT, async || {
            for service in SERVICES {
                let pods = kube.pods(service).await?;
                let there = pods.iter().filter(|pod| pod.ready && pod.node != node).count();
                if there < 2 {
                    return Ok(None);
                }
            }
            Ok(Some(()))
        })
        .await
    })
    .await?;
    // All load comes from one address. Where it takes a port again with which it had called a pod of the lost node, the
    // kernel still sends the call there, for some minutes; a provider calls again.
    outcome.all_acked_but(1)?;
    Ok(outcome.to_string())
}

/// Kubernetes leaves pods where they are when a node comes back; new ones are spread.
async fn spread_again(release: &Release) -> anyhow::Result<()> {
    let kube = &release.site.kube;
    for deployment in deployments() {
        kube.kubectl(&["rollout", "restart", &format!("deployment/{deployment}")]).await?;
    }
    kube.rolled_out(&deployments(), ROLLOUT).await
}
