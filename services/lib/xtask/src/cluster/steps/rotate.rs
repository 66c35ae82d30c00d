//! A new app secret while webhooks come, signed with the old one and with the new one.

use std::time::Duration;

use anyhow::ensure;

use super::{Verdict, held};
use crate::cluster::kube::until;
use crate::cluster::load::{Load, post_once};
use crate::cluster::site::{APP_SECRET, NEXT_APP_SECRET};
use crate::cluster::world::{Release, World};

/// How long a Secret may take into the pod (a minute, as kubelets are set up as a rule) and the service to look.
const PATIENCE: Duration = Duration::from_secs(120);
/// In a row: both pods have seen it.
const IN_A_ROW: usize = 12;

/// Both are accepted in between, then the old one no more, and no pod is started again.
pub(in crate::cluster) async fn app_secret(_world: &World, release: &Release) -> anyhow::Result<Verdict> {
    let site = &release.site;
    let before = pods(release).await?;
    let load = Load::start(&release.webhook, APP_SECRET)?;
    site.set_whatsapp(APP_SECRET, NEXT_APP_SECRET).await?;
    let both = answers(release, NEXT_APP_SECRET, 200).await;
    let outcome = load.finish().await?;
    both?;
    outcome.all_acked()?;
    site.set_whatsapp(NEXT_APP_SECRET, "not-used-yet").await?;
    answers(release, APP_SECRET, 403).await?;
    answers(release, NEXT_APP_SECRET, 200).await?;
    // As it was, for the simulated WhatsApp.
    site.set_whatsapp(APP_SECRET, "not-used-yet").await?;
    answers(release, APP_SECRET, 200).await?;
    let after = pods(release).await?;
    ensure!(before == after, "pods of ingest were replaced or started again");
    held(outcome.to_string())
}

/// Waits until a call that is signed so is answered so, by every pod.
async fn answers(release: &Release, secret: &str, status: u16) -> anyhow::Result<()> {
    until(&format!("calls are answered with {status}"), PATIENCE, async || {
        for _ in 0..IN_A_ROW {
            if post_once(&release.webhook, secret).await? != status {
                return Ok(None);
            }
        }
        Ok(Some(()))
    })
    .await
}

async fn pods(release: &Release) -> anyhow::Result<Vec<(String, u64)>> {
    let mut pods: Vec<_> =
        release.site.kube.pods("ingest").await?.into_iter().map(|pod| (pod.name, pod.restarts)).collect();
    pods.sort();
    Ok(pods)
}
