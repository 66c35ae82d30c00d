//! From the previous release to this one, back, and away; what citizens reported stays.
//!
//! Until a second release exists, the previous one is this one without the last migration: the same services, built
//! from a tree that lacks it.

use std::time::Duration;

use anyhow::ensure;
use serde_json::json;

use super::disrupt::ROLLOUT;
use super::migrate::uninstall;
use super::{Verdict, held};
use crate::chart;
use crate::cluster::check;
use crate::cluster::crowd;
use crate::cluster::site::{RELEASE, Site, deployments};
use crate::cluster::world::{Release, World, webhook};
use crate::tree::STATE;

/// The newest migration that the database has.
const NEWEST: &str = "select max(version) from public._sqlx_migrations where success";
const REPORTS: &str = "select count(*) from report.report where state = 'received'";

/// Install the previous one, upgrade with other values, roll back, uninstall, install again.
pub(in crate::cluster) async fn there_and_back(world: &World, release: &Release) -> anyhow::Result<Verdict> {
    let Some(previous) = world.previous_tag.as_deref() else {
        return Ok(Verdict::Skipped(
            "the images were given, without those of the previous release".to_owned(),
        ));
    };
    let site = Site::make(world, "upgrade").await?;
    // As published: an archive.
    let (name, bytes) = chart::package::archive(&chart::folder())?;
    let package = STATE.join("cluster").join(name);
    std::fs::write(&package, bytes)?;
    let package = package.display().to_string();

    let wait = ["--wait", "--wait-for-jobs"];
    site.install(&package, &json!({"image": {"tag": previous}, "defaults": {"replicas": 1}}), &wait).await?;
    let before = site.count(NEWEST).await?;
    // The contractor has reports of the other release too: their references must not be the same.
    sqlx::query("select setval('report.reference_number', 50000)").execute(&site.pool).await?;
    let mut references = report(world, &site).await?;

    let changed = json!({"defaults": {"replicas": 2, "drainDelayMs": 3000}, "ingest": {"databasePool": 5}, "telemetry": {"logLevel": "warn"}});
    site.install(&world.chart, &changed, &wait).await?;
    let after = site.count(NEWEST).await?;
    ensure!(after > before, "the upgrade applied no migration");
    references.extend(report(world, &site).await?);

    site.kube.helm(&["rollback", RELEASE, "1", "--wait", "--timeout", "120s"]).await?;
    site.kube.rolled_out(&deployments(), ROLLOUT).await?;
    ensure!(site.count(NEWEST).await? == after, "the schema went back");
    references.extend(report(world, &site).await?);
    check::at_rest(&site).await?;

    uninstall(&site).await?;
    let kept = site.count(REPORTS).await?;
    ensure!(kept == i64::try_from(references.len())?, "{kept} of {} reports are left", references.len());
    world.simulator.post("/control/webhook", &json!({"url": release.webhook})).await?;
    site.remove().await?;
    held(format!("{before} → {after} and back; {kept} reports stayed"))
}

/// A few citizens report to this release.
async fn report(world: &World, site: &Site) -> anyhow::Result<Vec<String>> {
    const CITIZENS: usize = 3;
    world.simulator.post("/control/webhook", &json!({"url": webhook(&site.kube).await?})).await?;
    let references = crowd::report(&world.simulator, CITIZENS, Duration::from_secs(1)).await?;
    crowd::at_the_contractor(&world.simulator, &references).await?;
    Ok(references)
}
