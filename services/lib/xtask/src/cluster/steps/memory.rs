//! What pods take at rest and under load. Requests and limits in the chart's values are set from these figures.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use anyhow::ensure;
use tokio::time::Instant;

use super::disrupt::under_load;
use super::{Verdict, held};
use crate::cluster::kubelet::{Usage, of_services};
use crate::cluster::site::SERVICES;
use crate::cluster::world::{Release, World};

/// What a pod may hold at rest.
const AT_REST: u64 = 25 << 20;
const IDLE: Duration = Duration::from_secs(60);
/// As long as the citizens of a load begin their reports, and some.
const LOADED: Duration = Duration::from_secs(30);
/// The kubelet counts every ten seconds or so.
const LOOK: Duration = Duration::from_secs(5);

/// At once, after a minute of rest, and the most under webhooks and reports.
pub(in crate::cluster) async fn of_pods(world: &World, release: &Release) -> anyhow::Result<Verdict> {
    let kube = &release.site.kube;
    let first = of_services(kube).await?;
    tokio::time::sleep(IDLE).await;
    let rest = of_services(kube).await?;
    let mut most = BTreeMap::<&str, Usage>::new();
    let outcome = under_load(world, release, async {
        let end = Instant::now() + LOADED;
        while Instant::now() < end {
            tokio::time::sleep(LOOK).await;
            for (service, now) in of_services(kube).await? {
                let before = most.entry(service).or_default();
                *before = before.max(now);
            }
        }
        Ok(())
    })
    .await?;
    let mut table = format!(
        "{outcome}\n  MiB in all, of its own, cores    at first           after a minute      under load"
    );
    for service in SERVICES {
        let of = |usage: &BTreeMap<&str, Usage>| usage.get(service).copied().unwrap_or_default();
        let _ = write!(table, "\n  {service:30} {}  {}  {}", of(&first), of(&rest), of(&most));
    }
    for (service, now) in &rest {
        ensure!(now.own <= AT_REST, "{service} holds more than {} MiB at rest: {table}", AT_REST >> 20);
    }
    outcome.all_acked()?;
    held(table)
}
