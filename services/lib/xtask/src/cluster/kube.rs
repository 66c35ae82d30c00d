//! `kubectl` and `helm`, in one namespace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::lint::rules::list;

/// How long a command may take that does not say so itself.
const PATIENCE: Duration = Duration::from_secs(240);
/// Between two looks at something that is waited for.
pub(super) const POLL: Duration = Duration::from_millis(250);
/// On every namespace of a test, so that the next run removes what a killed one left.
pub(super) const MARK: &str = "abisu-cluster-test";

/// A namespace of the cluster.
#[derive(Debug, Clone)]
pub(super) struct Kube {
    kubeconfig: PathBuf,
    helm: PathBuf,
    pub(super) namespace: String,
}

impl Kube {
    /// Any namespace; see [`Kube::of`] for others.
    pub(super) fn new(kubeconfig: &Path, helm: &Path) -> Self {
        Self { kubeconfig: kubeconfig.to_owned(), helm: helm.to_owned(), namespace: "default".to_owned() }
    }

    /// Another namespace.
    pub(super) fn of(&self, namespace: String) -> Self {
        Self { namespace, ..self.clone() }
    }

    /// Makes the namespace; it admits only what keeps to the restricted profile.
    pub(super) async fn create(&self) -> anyhow::Result<()> {
        let labels = json!({MARK: "true", "pod-security.kubernetes.io/enforce": "restricted"});
        self.apply(&json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": self.namespace, "labels": labels},
        }))
        .await
    }

    /// Runs kubectl in the namespace and returns what it printed.
    pub(super) async fn kubectl(&self, args: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new("kubectl");
        command.arg("--namespace").arg(&self.namespace).args(args);
        self.output("kubectl", args, command, None).await
    }

    /// As [`Kube::kubectl`], read as JSON.
    pub(super) async fn get(&self, args: &[&str]) -> anyhow::Result<Value> {
        let text = self.kubectl(&[&["get"], args, &["--output", "json"]].concat()).await?;
        serde_json::from_str(&text).context("kubectl does not print JSON")
    }

    /// Makes or changes an object.
    pub(super) async fn apply(&self, object: &Value) -> anyhow::Result<()> {
        let args = ["apply", "--server-side", "--force-conflicts", "--filename", "-"];
        let mut command = Command::new("kubectl");
        command.arg("--namespace").arg(&self.namespace).args(args);
        self.output("kubectl", &args, command, Some(object.to_string())).await?;
        Ok(())
    }

    /// Posts to an address of the API that kubectl has no command for.
    pub(super) async fn create_raw(&self, path: &str, object: &Value) -> anyhow::Result<()> {
        let args = ["create", "--raw", path, "--filename", "-"];
        let mut command = Command::new("kubectl");
        command.args(args);
        self.output("kubectl", &args, command, Some(object.to_string())).await?;
        Ok(())
    }

    /// Runs helm in the namespace and returns what it printed.
    pub(super) async fn helm(&self, args: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(&self.helm);
        command.arg("--namespace").arg(&self.namespace).args(args);
        self.output("helm", args, command, None).await
    }

    async fn output(
        &self,
        program: &str,
        args: &[&str],
        mut command: Command,
        input: Option<String>,
    ) -> anyhow::Result<String> {
        let what = format!("{program} {}", args.join(" "));
        command.env("KUBECONFIG", &self.kubeconfig).kill_on_drop(true);
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().with_context(|| format!("cannot run {program}: is it on the path?"))?;
        if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
            stdin.write_all(input.as_bytes()).await?;
        }
        let output = tokio::time::timeout(PATIENCE, child.wait_with_output());
        let output =
            output.await.with_context(|| format!("{what}: no end after {} s", PATIENCE.as_secs()))??;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{what}: {}", error.trim());
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The pods of a service, or of a part of the release, that are not being deleted.
    pub(super) async fn pods(&self, component: &str) -> anyhow::Result<Vec<Pod>> {
        let selector = format!("app.kubernetes.io/component={component}");
        let pods = self.get(&["pods", "--selector", &selector]).await?;
        Ok(list(&pods["items"])
            .iter()
            .filter(|pod| pod["metadata"]["deletionTimestamp"].is_null())
            .map(Pod::read)
            .collect())
    }

    /// Waits until Deployments have all their pods, of the newest template, and no other.
    pub(super) async fn rolled_out(&self, deployments: &[String], patience: Duration) -> anyhow::Result<()> {
        let timeout = format!("--timeout={}s", patience.as_secs());
        for deployment in deployments {
            self.kubectl(&["rollout", "status", &format!("deployment/{deployment}"), &timeout]).await?;
        }
        Ok(())
    }
}

/// Waits until a question has an answer; what fails meanwhile is told if it never has.
pub(super) async fn until<T>(
    what: &str,
    patience: Duration,
    mut ask: impl AsyncFnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    let deadline = Instant::now() + patience;
    loop {
        let last = match ask().await {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) => None,
            Err(error) => Some(error),
        };
        if Instant::now() > deadline {
            let waited = format!("{what}: not after {} s", patience.as_secs());
            match last {
                Some(error) => return Err(error.context(waited)),
                None => bail!(waited),
            }
        }
        tokio::time::sleep(POLL).await;
    }
}

/// A pod, as far as the tests look at it.
#[derive(Debug, Clone)]
pub(super) struct Pod {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) node: String,
    pub(super) ready: bool,
    pub(super) restarts: u64,
    /// Why its container waits or how it ended last, as the kubelet tells it.
    pub(super) reason: String,
}

impl Pod {
    fn read(pod: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let statuses = list(&pod["status"]["containerStatuses"]);
        let told = statuses.iter().flat_map(|status| {
            [
                &status["state"]["waiting"]["message"],
                &status["state"]["terminated"]["message"],
                &status["lastState"]["terminated"]["message"],
            ]
        });
        Self {
            name: text(&pod["metadata"]["name"]),
            uid: text(&pod["metadata"]["uid"]),
            node: text(&pod["spec"]["nodeName"]),
            ready: list(&pod["status"]["conditions"])
                .iter()
                .any(|c| c["type"] == "Ready" && c["status"] == "True"),
            restarts: statuses.iter().filter_map(|status| status["restartCount"].as_u64()).sum(),
            reason: told.map(text).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; "),
        }
    }
}

/// Name and zone of every node, in the order of their names.
pub(super) async fn nodes(kube: &Kube) -> anyhow::Result<BTreeMap<String, Node>> {
    let nodes = kube.get(&["nodes"]).await?;
    let read = |node: &Value| {
        let name = node["metadata"]["name"].as_str()?.to_owned();
        let addresses = list(&node["status"]["addresses"]);
        let address = addresses.iter().find(|a| a["type"] == "InternalIP")?["address"].as_str()?.to_owned();
        let zone = node["metadata"]["labels"]["topology.kubernetes.io/zone"].as_str().map(str::to_owned);
        let ready =
            list(&node["status"]["conditions"]).iter().any(|c| c["type"] == "Ready" && c["status"] == "True");
        // A control plane that takes no pods does not count.
        let takes_pods = !list(&node["spec"]["taints"]).iter().any(|taint| {
            taint["effect"] == "NoSchedule" && taint["key"] == "node-role.kubernetes.io/control-plane"
        });
        takes_pods.then_some((name, Node { address, zone, ready }))
    };
    Ok(list(&nodes["items"]).iter().filter_map(read).collect())
}

/// A node that takes pods.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) address: String,
    pub(super) zone: Option<String>,
    pub(super) ready: bool,
}
