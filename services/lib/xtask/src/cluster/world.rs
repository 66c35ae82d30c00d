//! What the steps share: the cluster, the test's Postgres, the simulators of Meta, CartoCiudad and the contractor, and the
//! release that most steps are about.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::kube::{self, Kube, MARK};
use super::settings::Settings;
use super::site::{self, RELEASE, Site};
use crate::chart::{self, tools::Helm};
use crate::citizen::Simulator;
use crate::image;
use crate::postgres::Cluster;
use crate::progress::say;
use crate::stack::ready;
use crate::stack::supervise::{Program, Supervised};
use crate::tree::{self, STATE, cargo};

/// All of it. Dropping it stops the simulators, then the database.
pub(super) struct World {
    pub(super) settings: Settings,
    pub(super) kube: Kube,
    /// The beginning of every namespace's name.
    pub(super) prefix: String,
    /// Tag of the images.
    pub(super) tag: String,
    /// Tag of the images of the previous release, if they were built.
    pub(super) previous_tag: Option<String>,
    pub(super) chart: String,
    pub(super) simulator: Simulator,
    pub(super) simulator_url: String,
    _simulator: Supervised,
    pub(super) postgres: Mutex<Cluster>,
}

impl World {
    /// Builds and loads the images, and starts what stands outside the cluster.
    pub(super) async fn make(settings: Settings, images: Option<PathBuf>) -> anyhow::Result<Self> {
        let (tag, previous_tag) = load_images(&settings, images).await?;
        let binary = simulator_binary().await?;
        let helm = Helm::find()?;
        let kube = Kube::new(&settings.kubeconfig, helm.program());
        remove_leftovers(&kube).await?;

        let postgres =
            Cluster::start_at(&STATE, settings.host).await.context("ABISU_CLUSTER_POSTGRES_HOST")?;
        site::make_roles(&postgres.url("postgres")).await?;

        let port = crate::ports::free()?;
        let simulator_url = format!("http://{}", std::net::SocketAddr::new(settings.host, port));
        let logs = STATE.join("cluster");
        std::fs::create_dir_all(&logs)?;
        let mut program = Program::new("simulator", binary, logs.join("simulator.log"));
        for (name, value) in [
            ("SIMULATOR_LISTEN", simulator_url.trim_start_matches("http://")),
            ("SIMULATOR_PARTNER_SEARCH", "true"),
            ("ABISU_META_APP_SECRET", site::APP_SECRET),
            ("ABISU_META_VERIFY_TOKEN", site::VERIFY_TOKEN),
            ("ABISU_META_ACCESS_TOKEN", site::ACCESS_TOKEN),
            ("ABISU_META_PHONE_NUMBER_ID", site::NUMBER),
            ("ABISU_META_WABA_ID", site::ACCOUNT),
            ("ABISU_PARTNER_USER", site::PARTNER_USER),
            ("ABISU_PARTNER_PASSWORD", site::PARTNER_PASSWORD),
        ] {
            program.set(name, value);
        }
        let process = Supervised::start(program, None)?;
        ready::wait("simulator", &format!("{simulator_url}/control/health"), &process).await?;
        Ok(Self {
            prefix: format!("abisu-test-{:06x}", rand::random::<u32>() & 0xff_ffff),
            tag,
            previous_tag,
            chart: chart::folder().display().to_string(),
            simulator: Simulator::new(&simulator_url)?,
            simulator_url,
            _simulator: process,
            postgres: Mutex::new(postgres),
            kube,
            settings,
        })
    }

    /// Removes every namespace of this run.
    pub(super) async fn remove(&self) -> anyhow::Result<()> {
        remove_leftovers(&self.kube).await
    }
}

/// Removes the namespaces of this run, and of runs that were killed.
async fn remove_leftovers(kube: &Kube) -> anyhow::Result<()> {
    let selector = format!("{MARK}=true");
    kube.kubectl(&["delete", "namespaces", "--selector", &selector, "--wait=true", "--timeout=120s"]).await?;
    Ok(())
}

/// Builds what is not given and puts it on all nodes. Returns the tags of this release's images and of the previous one's.
async fn load_images(
    settings: &Settings,
    given: Option<PathBuf>,
) -> anyhow::Result<(String, Option<String>)> {
    let folder = given.clone().unwrap_or_else(|| STATE.join("images"));
    let before = folder.join("previous");
    if given.is_none() {
        image::build(&image::Args::all_in(&folder)).await?;
        image::previous::build(&before, &tree::target_folder().await?).await?;
    }
    say("loading the images into the cluster");
    let tag = load(settings, &folder).await?;
    let previous =
        if before.join(image::LIST).is_file() { Some(load(settings, &before).await?) } else { None };
    Ok((tag, previous))
}

/// Puts the images of a folder that `cargo xtask image` wrote on all nodes. Returns their tag.
async fn load(settings: &Settings, folder: &Path) -> anyhow::Result<String> {
    let list = folder.join(image::LIST);
    let text = std::fs::read(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let images: Value = serde_json::from_slice(&text)?;
    let mut tag = None;
    for service in &image::SERVICES {
        let name = images[service.name]["name"].as_str();
        let name = name.with_context(|| format!("{} has no image of {}", folder.display(), service.name))?;
        settings.load(&folder.join(format!("{}.tar", service.name))).await?;
        tag = name.rsplit_once(':').map(|(_, tag)| tag.to_owned());
    }
    tag.context("an image without a tag")
}

async fn simulator_binary() -> anyhow::Result<PathBuf> {
    if let Some(folder) = std::env::var_os("ABISU_BIN_DIR").filter(|folder| !folder.is_empty()) {
        return Ok(PathBuf::from(folder).join("simulator"));
    }
    say("building the simulators");
    tree::run("cargo build", cargo().args(["build", "--package", "simulator", "--bins"])).await?;
    Ok(tree::debug_folder().await?.join("simulator"))
}

/// The release that most steps are about, with the address at which webhooks reach it from this machine.
pub(super) struct Release {
    pub(super) site: Site,
    pub(super) webhook: String,
}

impl Release {
    /// Installs it with these values over the usual ones, and points the simulated WhatsApp to it.
    pub(super) async fn install(world: &World, over: &Value) -> anyhow::Result<Self> {
        let site = Site::make(world, "main").await?;
        site.install(&world.chart, over, &["--wait", "--wait-for-jobs"]).await?;
        let webhook = webhook(&site.kube).await?;
        world.simulator.post("/control/webhook", &json!({"url": webhook, "verify": true})).await?;
        Ok(Self { site, webhook })
    }
}

/// The address of ingest's Service on the first node, which the steps keep alive.
pub(super) async fn webhook(kube: &Kube) -> anyhow::Result<String> {
    let service = kube.get(&["service", &format!("{RELEASE}-ingest")]).await?;
    let port =
        service["spec"]["ports"][0]["nodePort"].as_u64().context("the Service has no port on the nodes")?;
    let nodes = kube::nodes(kube).await?;
    let (_, node) = nodes.first_key_value().context("no node takes pods")?;
    Ok(format!("http://{}:{port}/whatsapp/webhook", node.address))
}
