//! What the tests are told about the cluster: any cluster, of anybody.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use tokio::process::Command;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Parts of the names of steps; all steps when there is none. What a step needs is done in any case
    pub filter: Vec<String>,
    /// Take the images of this folder as they are (see `cargo xtask image`) and build none
    #[arg(long, value_name = "DIR")]
    pub images: Option<PathBuf>,
    /// Leave everything in the cluster at the end, to look at
    #[arg(long)]
    pub keep: bool,
    /// Only the steps that need metrics-server and KEDA in the cluster
    #[arg(long)]
    pub autoscaling: bool,
    #[command(flatten)]
    pub(super) cluster: ClusterArgs,
}

/// How the cluster is reached and handled.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ClusterArgs {
    /// The cluster
    #[arg(long, env = "KUBECONFIG", value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Command that puts an image on all nodes; the archive's path is added to it (`kind load image-archive`)
    #[arg(long, env = "ABISU_CLUSTER_LOAD_IMAGE", value_name = "COMMAND")]
    load_image: Option<String>,
    /// Address of this machine at which pods reach it: the test's Postgres and the simulators listen there
    #[arg(long, env = "ABISU_CLUSTER_POSTGRES_HOST", value_name = "ADDRESS")]
    postgres_host: Option<IpAddr>,
    /// Command that makes the cluster lose a node; without it that step is skipped
    #[arg(long, env = "ABISU_CLUSTER_LOSE_NODE", value_name = "COMMAND")]
    lose_node: Option<String>,
    /// Command that brings that node back
    #[arg(long, env = "ABISU_CLUSTER_RETURN_NODE", value_name = "COMMAND")]
    return_node: Option<String>,
}

/// The same, complete.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) kubeconfig: PathBuf,
    load_image: String,
    pub(super) host: IpAddr,
    /// How to lose a node and how to get it back, if somebody said.
    pub(super) node_loss: Option<(String, String)>,
}

impl Settings {
    /// Refuses what is missing, with the way out.
    pub(super) fn new(args: ClusterArgs) -> anyhow::Result<Self> {
        let ClusterArgs { kubeconfig, load_image, postgres_host, lose_node, return_node } = args;
        let kubeconfig = kubeconfig
            .context("KUBECONFIG is not set: name the file of a cluster (kind and k3d print it)")?;
        ensure!(kubeconfig.is_file(), "KUBECONFIG: there is no file {}", kubeconfig.display());
        ensure!(
            lose_node.is_some() == return_node.is_some(),
            "ABISU_CLUSTER_LOSE_NODE and ABISU_CLUSTER_RETURN_NODE go together: set both or none"
        );
        Ok(Self {
            kubeconfig,
            load_image: load_image.context(
                "ABISU_CLUSTER_LOAD_IMAGE is not set: the command that puts an image archive on all nodes, \
                 as `kind load image-archive`",
            )?,
            host: postgres_host.context(
                "ABISU_CLUSTER_POSTGRES_HOST is not set: this machine's address as pods reach it, \
                 as that of the bridge of kind's network",
            )?,
            node_loss: lose_node.zip(return_node),
        })
    }

    /// Puts an image on all nodes.
    pub(super) async fn load(&self, archive: &Path) -> anyhow::Result<()> {
        let command = format!("{} \"$0\"", self.load_image);
        shell(&command, &[archive.as_os_str()]).await.context("ABISU_CLUSTER_LOAD_IMAGE")
    }
}

/// Runs a command line; its arguments are `$0`, `$1`, …
pub(super) async fn shell(command: &str, args: &[&std::ffi::OsStr]) -> anyhow::Result<()> {
    let mut shell = Command::new("/bin/sh");
    let output = shell.arg("-c").arg(command).args(args).kill_on_drop(true).output().await?;
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{command}` failed ({}): {}", output.status, text.trim());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete() -> ClusterArgs {
        ClusterArgs {
            kubeconfig: std::env::current_exe().ok(),
            load_image: Some("cat".to_owned()),
            postgres_host: "10.0.0.1".parse().ok(),
            lose_node: None,
            return_node: None,
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(Settings::new(complete()).is_ok());
        let refused = |args: ClusterArgs| Settings::new(args).unwrap_err().to_string();
        for (args, name) in [
            (ClusterArgs { kubeconfig: None, ..complete() }, "KUBECONFIG"),
            (ClusterArgs { kubeconfig: Some("/no/such/file".into()), ..complete() }, "KUBECONFIG"),
            (ClusterArgs { load_image: None, ..complete() }, "ABISU_CLUSTER_LOAD_IMAGE"),
            (ClusterArgs { postgres_host: None, ..complete() }, "ABISU_CLUSTER_POSTGRES_HOST"),
            (ClusterArgs { lose_node: Some("x".into()), ..complete() }, "ABISU_CLUSTER_LOSE_NODE"),
        ] {
            assert!(refused(args).starts_with(name));
        }
    }
}
