//! `cargo xtask cluster-test`: the chart and the images on a real cluster, with Postgres, Meta, CartoCiudad and the
//! contractor outside of it.
//!
//! ```text
//!  this machine: Postgres, simulators, load, citizens, checks
//!        │ helm, kubectl          ▲ ABISU_CLUSTER_POSTGRES_HOST
//!        ▼                        │
//!  the cluster: namespaces abisu-test-…, restricted, one per release
//! ```
//!
//! Steps run one after the other on one release (some on releases of their own), each prints one line, and a step that
//! fails does not keep the others from running. What happens to the system happens under load: webhooks at a steady rate,
//! and citizens who report; then every accepted message must be one event, every report one record at the contractor's,
//! and all queues empty with nothing given up. Whatever the cluster is, it is left as it was.

mod check;
mod crowd;
mod kube;
mod kubelet;
mod load;
mod settings;
mod site;
mod steps;
mod world;

use std::path::PathBuf;
use std::pin::Pin;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::json;

pub use settings::Args;
use settings::Settings;
use site::deployments;
use steps::{
    Verdict, autoscale, disrupt, held, install, memory, migrate, nodes, rights, rotate, scale, trouble,
    upgrade,
};
use world::{Release, World};

use crate::progress::say;
use crate::tree::STATE;

/// How long everything may take to stand again after a step that failed.
const MEND: Duration = Duration::from_secs(120);

/// Runs the steps and prints a line for each.
///
/// # Errors
/// Something is missing, or a step failed.
pub async fn run(args: Args) -> anyhow::Result<()> {
    let settings = Settings::new(args.cluster)?;
    let world = World::make(settings, args.images).await?;
    let mut board =
        Board { filter: args.filter, failed: Vec::new(), logs: STATE.join("cluster"), watched: None };
    let ran = steps(&world, &mut board, args.autoscaling).await;
    if !args.keep {
        world.remove().await?;
    }
    ran?;
    if !board.failed.is_empty() {
        bail!("{} failed; logs in {}", board.failed.join(", "), board.logs.display());
    }
    Ok(())
}

async fn steps(world: &World, board: &mut Board, autoscaling: bool) -> anyhow::Result<()> {
    let over = if autoscaling { autoscale::values() } else { json!({}) };
    let mut installed = None;
    board
        .always(
            "install",
            Box::pin(async {
                installed = Some(Release::install(world, &over).await?);
                held("")
            }),
        )
        .await;
    let Some(release) = &installed else {
        bail!("nothing could be installed: the other steps have nothing to look at")
    };
    board.watched = Some(release.site.kube.clone());

    let autoscalers: [(&'static str, Step<'_>); 3] = [
        ("burst", Box::pin(autoscale::burst(world, release))),
        ("stopped contractor", Box::pin(autoscale::stopped_contractor(world, release))),
        ("processor time", Box::pin(autoscale::processor(release))),
    ];
    if autoscaling {
        for (name, step) in autoscalers {
            board.step(name, step).await?;
        }
        return Ok(());
    }
    let steps: [(&'static str, Step<'_>); 21] = [
        ("one report", Box::pin(install::one_report(world, release))),
        ("helm test", Box::pin(install::helm_test(release))),
        ("spread over zones", Box::pin(install::spread(release))),
        ("memory", Box::pin(memory::of_pods(world, release))),
        ("rolling update", Box::pin(disrupt::rolling_update(world, release))),
        ("postgres restart", Box::pin(disrupt::postgres_restart(world, release))),
        ("random deletion", Box::pin(disrupt::random_deletion(world, release))),
        ("eviction", Box::pin(disrupt::eviction(world, release))),
        ("frozen worker", Box::pin(disrupt::frozen_worker(world, release))),
        ("node drain", Box::pin(nodes::drain(world, release))),
        ("scaling", Box::pin(scale::conversation(world, release))),
        ("secret rotation", Box::pin(rotate::app_secret(world, release))),
        ("database roles", Box::pin(rights::roles(release))),
        ("service accounts", Box::pin(rights::accounts(release))),
        // What it leaves in the kernel would break some calls of a load that follows.
        ("node loss", Box::pin(nodes::loss(world, release))),
        ("migration by hook", Box::pin(migrate::by_hook(world))),
        ("migration by somebody else", Box::pin(migrate::by_somebody_else(world))),
        ("wrong secret", Box::pin(trouble::wrong_secret(world))),
        ("missing channels", Box::pin(trouble::missing_channels(world))),
        ("database away", Box::pin(trouble::database_away(world))),
        ("upgrade and rollback", Box::pin(upgrade::there_and_back(world, release))),
    ];
    for (name, step) in steps {
        board.step(name, step).await?;
    }
    Ok(())
}

/// What a step does, once it is its turn.
type Step<'w> = Pin<Box<dyn Future<Output = anyhow::Result<Verdict>> + 'w>>;

/// Runs steps and keeps count.
struct Board {
    filter: Vec<String>,
    failed: Vec<&'static str>,
    logs: PathBuf,
    /// What is told of when a step fails, and must stand again before the next one.
    watched: Option<kube::Kube>,
}

impl Board {
    /// Runs a step if it is asked for.
    ///
    /// # Errors
    /// It failed, and what it left does not mend itself, so that no further step can be judged.
    async fn step(&mut self, name: &'static str, step: Step<'_>) -> anyhow::Result<()> {
        if !self.filter.is_empty() && !self.filter.iter().any(|part| name.contains(part.as_str())) {
            return Ok(());
        }
        if self.always(name, step).await {
            return Ok(());
        }
        let Some(kube) = &self.watched else { return Ok(()) };
        tell(kube, &self.logs.join(name.replace(' ', "-"))).await;
        let mended = kube.rolled_out(&deployments(), MEND).await;
        mended.with_context(|| format!("after the step {name:?} nothing can be tested"))
    }

    /// Runs a step in any case. Whether it did not fail.
    async fn always(&mut self, name: &'static str, step: Step<'_>) -> bool {
        say(format!("{name} …"));
        let began = Instant::now();
        let ended = step.await;
        let seconds = began.elapsed().as_secs_f64();
        match ended {
            Ok(Verdict::Held(what)) => println!("ok {name} ({seconds:.1} s) {what}"),
            Ok(Verdict::Skipped(why)) => println!("skipped {name} ({seconds:.1} s) {why}"),
            Err(error) => {
                println!("failed {name} ({seconds:.1} s) {error:#}");
                self.failed.push(name);
                return false;
            }
        }
        true
    }
}

/// Writes down what the cluster says of a namespace: pods, events, and the logs of all containers.
async fn tell(kube: &kube::Kube, folder: &std::path::Path) {
    let asked: [(&str, &[&str]); 3] = [
        ("pods.txt", &["describe", "pods"]),
        ("events.txt", &["get", "events", "--sort-by=.lastTimestamp"]),
        (
            "logs.txt",
            &[
                "logs",
                "--selector",
                "app.kubernetes.io/part-of=abisu",
                "--prefix",
                "--tail=400",
                "--max-log-requests=50",
            ],
        ),
    ];
    for (file, args) in asked {
        let told = kube.kubectl(args).await.unwrap_or_else(|error| format!("{error:#}"));
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(folder.join(file), told));
        if let Err(error) = written {
            say(format!("cannot write {}: {error}", folder.display()));
        }
    }
}
