//! More workers and fewer again, while people talk without waiting for an answer.

use std::time::Duration;

use super::disrupt::ROLLOUT;
use super::{Verdict, held};
use crate::cluster::check;
use crate::cluster::crowd::Talkers;
use crate::cluster::site::RELEASE;
use crate::cluster::world::{Release, World};

const TALKERS: usize = 60;
/// Long enough for four pods to come and three to go.
const LENGTH: Duration = Duration::from_secs(25);

/// conversation 1 → 4 → 1: every chat is answered in the order in which its words were said.
pub(in crate::cluster) async fn conversation(world: &World, release: &Release) -> anyhow::Result<Verdict> {
    scale(release, 1).await?;
    let talkers = Talkers::start(&world.simulator, TALKERS, LENGTH).await?;
    scale(release, 4).await?;
    scale(release, 1).await?;
    let words = talkers.finish().await?;
    check::at_rest(&release.site).await?;
    scale(release, 2).await?;
    held(format!("{words} words of {TALKERS} citizens answered in order"))
}

async fn scale(release: &Release, replicas: u32) -> anyhow::Result<()> {
    let kube = &release.site.kube;
    let deployment = format!("{RELEASE}-conversation");
    kube.kubectl(&["scale", "deployment", &deployment, &format!("--replicas={replicas}")]).await?;
    kube.rolled_out(&[deployment], ROLLOUT).await
}
