//! Pods that go, in every way, while webhooks and conversations go on.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde_json::json;

use super::{Verdict, held};
use crate::cluster::check;
use crate::cluster::crowd::{self, CROWD};
use crate::cluster::kube::{Pod, until};
use crate::cluster::load::{Load, Outcome};
use crate::cluster::site::{APP_SECRET, RELEASE, SERVICES, deployments};
use crate::cluster::world::{Release, World};
use crate::process::{Process, Signal};

/// How long all Deployments may take to have all their pods again.
pub(in crate::cluster) const ROLLOUT: Duration = Duration::from_secs(120);
/// The moments at which the citizens begin lie within this.
const SPREAD: Duration = Duration::from_secs(20);
/// Pods that are deleted at random.
const DELETIONS: usize = 8;
/// Longer than the lease of the test's values (8 s), shorter than the patience of the liveness probe (60 s).
const FROZEN: Duration = Duration::from_secs(15);

/// Does something under load: webhooks at a steady rate and citizens who report; then looks whether all is well.
pub(in crate::cluster) async fn under_load(
    world: &World,
    release: &Release,
    happening: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<Outcome> {
    let load = Load::start(&release.webhook, APP_SECRET)?;
    let reports = crowd::report(&world.simulator, CROWD, SPREAD);
    let (happened, references) = tokio::join!(happening, reports);
    let outcome = load.finish().await?;
    happened?;
    let references = references.with_context(|| outcome.to_string())?;
    check::all_is_well(world, &release.site, &outcome, &references)
        .await
        .with_context(|| outcome.to_string())?;
    Ok(outcome)
}

/// A new template for every service at once.
pub(in crate::cluster) async fn rolling_update(world: &World, release: &Release) -> anyhow::Result<Verdict> {
    let kube = &release.site.kube;
    let outcome = under_load(world, release, async {
        for deployment in deployments() {
            kube.kubectl(&["rollout", "restart", &format!("deployment/{deployment}")]).await?;
        }
        kube.rolled_out(&deployments(), ROLLOUT).await
    })
    .await?;
    outcome.all_acked()?;
    held(outcome.to_string())
}

/// Pods of any service, one after the other; those that nobody calls also without a chance to finish.
pub(in crate::cluster) async fn random_deletion(world: &World, release: &Release) -> anyhow::Result<Verdict> {
    let kube = &release.site.kube;
    let outcome = under_load(world, release, async {
        for _ in 0..DELETIONS {
            let service = SERVICES[rand::random_range(0..SERVICES.len())];
            let pod = one_to_spare(release, service).await?;
            let at_once = service != "ingest" && rand::random();
            let how: &[&str] = if at_once { &["--grace-period=0", "--force"] } else { &[] };
            kube.kubectl(&[&["delete", "pod", &pod.name, "--wait=false"], how].concat()).await?;
        }
        kube.rolled_out(&deployments(), ROLLOUT).await
    })
    .await?;
    outcome.all_acked()?;
    held(outcome.to_string())
}

/// Waits until a service has two ready pods, and picks one.
async fn one_to_spare(release: &Release, service: &str) -> anyhow::Result<Pod> {
    let kube = &release.site.kube;
    until(&format!("{service} has two ready pods"), ROLLOUT, async || {
        let mut pods = kube.pods(service).await?;
        pods.retain(|pod| pod.ready);
        let pick = rand::random_range(0..pods.len().max(1));
        Ok((pods.len() > 1).then(|| pods.swap_remove(pick)))
    })
    .await
}

/// Every pod, one by one, through the eviction API, as a drain does it.
pub(in crate::cluster) async fn eviction(world: &World, release: &Release) -> anyhow::Result<Verdict> {
    let kube = &release.site.kube;
    let outcome = under_load(world, release, async {
        for service in SERVICES {
            for pod in kube.pods(service).await? {
                evict(release, &pod).await?;
            }
        }
        kube.rolled_out(&deployments(), ROLLOUT).await
    })
    .await?;
    outcome.all_acked()?;
    held(outcome.to_string())
}

/// Asks until the disruption budget lets the pod go.
async fn evict(release: &Release, pod: &Pod) -> anyhow::Result<()> {
    let kube = &release.site.kube;
    let path = format!("/api/v1/namespaces/{}/pods/{}/eviction", kube.namespace, pod.name);
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod.name}});
    until(&format!("{} may be evicted", pod.name), ROLLOUT, async || {
        kube.create_raw(&path, &eviction).await?;
        Ok(Some(()))
    })
    .await
}

/// A worker of conversation that stands still past its lease and then goes on, not knowing.
pub(in crate::cluster) async fn frozen_worker(world: &World, release: &Release) -> anyhow::Result<Verdict> {
    let pods = release.site.kube.pods("conversation").await?;
    let pod = pods.first().context("conversation has no pod")?;
    let processes = processes(pod)?;
    if processes.is_empty() {
        return Ok(Verdict::Skipped(
            "the processes of the pods are not to be seen from this machine".to_owned(),
        ));
    }
    let outcome = under_load(world, release, async {
        let frozen = Frozen::new(processes);
        tokio::time::sleep(FROZEN).await;
        drop(frozen);
        Ok(())
    })
    .await?;
    outcome.all_acked()?;
    let after = release.site.kube.pods("conversation").await?;
    ensure!(
        after.iter().any(|one| one.uid == pod.uid && one.restarts == pod.restarts),
        "the frozen pod did not survive"
    );
    held(outcome.to_string())
}

/// Processes that stand still until this is dropped.
struct Frozen(Vec<Process>);

impl Frozen {
    fn new(processes: Vec<Process>) -> Self {
        processes.iter().for_each(|process| process.signal(Signal::STOP));
        Self(processes)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.0.iter().for_each(|process| process.signal(Signal::CONT));
    }
}

/// The processes of a pod, but for the one that holds its namespaces, where its node is this machine: found by the pod's id in their control groups.
fn processes(pod: &Pod) -> anyhow::Result<Vec<Process>> {
    let ids = [pod.uid.clone(), pod.uid.replace('-', "_")];
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let path = entry?.path();
        let Some(pid) = path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok()) else {
            continue;
        };
        // A process may end while it is looked at.
        let groups = std::fs::read_to_string(path.join("cgroup")).unwrap_or_default();
        let name = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
        if name.trim() != "pause" && ids.iter().any(|id| groups.contains(id)) {
            found.extend(Process::find(pid));
        }
    }
    Ok(found)
}

/// The database goes down as in a crash, for some seconds.
pub(in crate::cluster) async fn postgres_restart(
    world: &World,
    release: &Release,
) -> anyhow::Result<Verdict> {
    /// Longer than a request waits for the database.
    const DOWN: Duration = Duration::from_secs(5);
    const CALM: Duration = Duration::from_secs(5);
    let outcome = under_load(world, release, async {
        tokio::time::sleep(CALM).await;
        world.postgres.lock().await.crash(tokio::time::sleep(DOWN)).await?;
        tokio::time::sleep(CALM).await;
        Ok(())
    })
    .await?;
    outcome.only_refused(&[503])?;
    ensure!(outcome.broken.is_empty() && outcome.unconnected.is_empty(), "{outcome}");
    if outcome.refused.is_empty() {
        bail!("nothing was refused while the database was down: {outcome}");
    }
    for service in SERVICES {
        let restarts: u64 = release.site.kube.pods(service).await?.iter().map(|pod| pod.restarts).sum();
        ensure!(restarts == 0, "{RELEASE}-{service} was started again {restarts} times");
    }
    held(outcome.to_string())
}
