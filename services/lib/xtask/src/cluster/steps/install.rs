//! What a platform team sees first.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::ensure;

use super::{Verdict, held};
use crate::cluster::check;
use crate::cluster::crowd;
use crate::cluster::kube;
use crate::cluster::site::{RELEASE, SERVICES};
use crate::cluster::world::{Release, World};

/// `helm test`: one report on the built-in channel, read back.
pub(in crate::cluster) async fn helm_test(release: &Release) -> anyhow::Result<Verdict> {
    let kube = &release.site.kube;
    if let Err(error) = kube.helm(&["test", RELEASE, "--timeout", "90s"]).await {
        let log = kube.kubectl(&["logs", &format!("pod/{RELEASE}-test")]).await.unwrap_or_default();
        return Err(error.context(format!("its pod says: {}", log.trim())));
    }
    held("")
}

/// One citizen reports, from greeting to the contractor's record.
pub(in crate::cluster) async fn one_report(world: &World, release: &Release) -> anyhow::Result<Verdict> {
    let began = Instant::now();
    let references = crowd::report(&world.simulator, 1, Duration::ZERO).await?;
    crowd::at_the_contractor(&world.simulator, &references).await?;
    let took = began.elapsed();
    check::at_rest(&release.site).await?;
    held(format!("{} after {} ms", references.join(", "), took.as_millis()))
}

/// The pods of each service are in as many zones as there are.
pub(in crate::cluster) async fn spread(release: &Release) -> anyhow::Result<Verdict> {
    let kube = &release.site.kube;
    let nodes = kube::nodes(kube).await?;
    let zones: BTreeSet<_> = nodes.values().filter_map(|node| node.zone.as_deref()).collect();
    if zones.len() < 2 {
        return Ok(Verdict::Skipped("the cluster has one zone".to_owned()));
    }
    for service in SERVICES {
        let pods = kube.pods(service).await?;
        let used: BTreeSet<_> = pods.iter().filter_map(|pod| nodes.get(&pod.node)?.zone.as_deref()).collect();
        let most = zones.len().min(pods.len());
        ensure!(
            used.len() == most,
            "the {} pods of {service} are in {} of {} zones",
            pods.len(),
            used.len(),
            zones.len()
        );
    }
    held(format!("{} zones", zones.len()))
}
