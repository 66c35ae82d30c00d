//! What an operator gets wrong at first: the pods say what it is in one line, and go on by themselves once it is mended.

use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::json;

use super::disrupt::ROLLOUT;
use super::migrate::small;
use super::{Verdict, held};
use crate::cluster::kube::until;
use crate::cluster::site::{RELEASE, Site, deployments};
use crate::cluster::world::World;

/// How long a pod may take to say what is wrong.
const SAY: Duration = Duration::from_secs(60);
/// How long it may take after the mending: a Secret or ConfigMap on its way into the pod, and the pause between starts.
const RECOVER: Duration = Duration::from_secs(180);

/// A password that is wrong, then right.
pub(in crate::cluster) async fn wrong_secret(world: &World) -> anyhow::Result<Verdict> {
    let site = Site::make(world, "secret").await?;
    site.set_secret("abisu-database", site.database_urls("wrong")).await?;
    site.install(&world.chart, &small(), &[]).await?;
    let said = says(&site, "ingest", "password").await?;
    site.set_secret("abisu-database", site.right_database_urls()).await?;
    site.kube.rolled_out(&deployments(), RECOVER).await?;
    site.remove().await?;
    held(said)
}

/// The database is away when everything is installed, and comes.
pub(in crate::cluster) async fn database_away(world: &World) -> anyhow::Result<Verdict> {
    let site = Site::make(world, "away").await?;
    let said = world
        .postgres
        .lock()
        .await
        .crash(async {
            site.install(&world.chart, &small(), &[]).await?;
            says(&site, "ingest", "database").await
        })
        .await??;
    site.kube.rolled_out(&deployments(), RECOVER).await?;
    site.remove().await?;
    held(said)
}

/// The ConfigMap with the channels has no such file, and gets it.
pub(in crate::cluster) async fn missing_channels(world: &World) -> anyhow::Result<Verdict> {
    let site = Site::make(world, "channels").await?;
    let map = |data: serde_json::Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "channels"}, "data": data});
    site.kube.apply(&map(json!({"other.yaml": ""}))).await?;
    let mut over = small();
    over["channels"] = json!({"existingConfigMap": "channels"});
    site.install(&world.chart, &over, &[]).await?;
    let said = says(&site, "ingest", "channels.yaml").await?;
    let file = format!(
        "channels:\n  - id: whatsapp\n    kind: whatsapp_meta\n    default: true\n    phone_number_id: \"{}\"\n    \
         app_secrets: [{{file: /etc/abisu/whatsapp/app-secret}}]\n    verify_token: {{file: /etc/abisu/whatsapp/verify-token}}\n",
        crate::cluster::site::NUMBER
    );
    site.kube.apply(&map(json!({"channels.yaml": file}))).await?;
    site.kube.rolled_out(&[format!("{RELEASE}-ingest")], RECOVER.max(ROLLOUT)).await?;
    site.remove().await?;
    held(said)
}

/// Waits until a pod of the service says a line with this word in it, in its log or as the reason of its end, and
/// returns the line.
async fn says(site: &Site, service: &str, word: &str) -> anyhow::Result<String> {
    let line = until(&format!("{service} says what is wrong"), SAY, async || {
        let pods = site.kube.pods(service).await?;
        let pod = pods.first().context("there is no pod")?;
        ensure!(!pod.ready, "{service} is ready, although something is wrong");
        let log = site.kube.kubectl(&["logs", &pod.name]).await.unwrap_or_default();
        let lines = log.lines().chain(pod.reason.lines());
        let mut telling =
            lines.filter(|line| line.to_lowercase().contains(word) && !line.contains(r#""level":"INFO""#));
        Ok(telling.next().map(str::to_owned))
    })
    .await?;
    ensure!(!line.contains("cluster-database-password"), "a password is in a log line");
    // A log line is JSON, the reason of an end is not.
    let message = serde_json::from_str::<serde_json::Value>(&line)
        .ok()
        .and_then(|line| Some(line["message"].as_str()?.to_owned()));
    Ok(message.unwrap_or(line))
}
