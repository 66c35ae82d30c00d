//! What an image says of itself: of which commit it is, who it runs as, where it listens.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;
use chrono::{DateTime, SecondsFormat};
use serde_json::{Value, json};

use super::{Service, roots};

/// Neither root nor anybody on a usual system. As numbers: Kubernetes can then see that it is not root.
pub(super) const USER: &str = "65532:65532";
/// Where the program lies.
const FOLDER: &str = "/usr/local/bin";

/// What is the same for all images of one build.
pub(super) struct Facts {
    pub(super) version: String,
    licence: String,
    /// The commit, with `-dirty` behind it if the tree is not as committed; `unknown` without git.
    revision: String,
    /// RFC 3339: of the commit, or of `SOURCE_DATE_EPOCH`.
    pub(super) created: String,
    /// Where the sources can be had, if somebody said.
    source: Option<String>,
}

impl Facts {
    /// Reads them from cargo's metadata and git.
    ///
    /// # Errors
    /// `SOURCE_DATE_EPOCH` is no time.
    pub(super) fn gather(root: &Path, metadata: &Value, source: Option<String>) -> anyhow::Result<Self> {
        let package = super::package(metadata, super::SERVICES[0].name)?;
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        let revision = git(root, &["rev-parse", "HEAD"]).map(|commit| {
            let clean = git(root, &["status", "--porcelain"]).is_some_and(|changes| changes.is_empty());
            if clean { commit } else { format!("{commit}-dirty") }
        });
        let seconds = match std::env::var("SOURCE_DATE_EPOCH").ok().filter(|text| !text.is_empty()) {
            Some(given) => given.parse().context("SOURCE_DATE_EPOCH is not in seconds since 1970")?,
            None => git(root, &["log", "-1", "--format=%ct"]).and_then(|time| time.parse().ok()).unwrap_or(0),
        };
        let created = DateTime::from_timestamp(seconds, 0).context("SOURCE_DATE_EPOCH is out of range")?;
        Ok(Self {
            version: text("version"),
            licence: text("license"),
            revision: revision.unwrap_or_else(|| "unknown".to_owned()),
            created: created.to_rfc3339_opts(SecondsFormat::Secs, true),
            source,
        })
    }

    /// The labels of the configuration, which are also the annotations of the manifest.
    pub(super) fn labels(&self, service: &Service, description: &str) -> BTreeMap<&'static str, String> {
        let mut labels = BTreeMap::from([
            ("org.opencontainers.image.created", self.created.clone()),
            ("org.opencontainers.image.description", description.to_owned()),
            ("org.opencontainers.image.licenses", self.licence.clone()),
            ("org.opencontainers.image.revision", self.revision.clone()),
            ("org.opencontainers.image.title", format!("abisu {}", service.name)),
            ("org.opencontainers.image.version", self.version.clone()),
        ]);
        if let Some(source) = &self.source {
            labels.insert("org.opencontainers.image.source", source.clone());
        }
        labels
    }

    /// The OCI configuration, but for the layers.
    pub(super) fn config(
        &self,
        service: &Service,
        architecture: &str,
        labels: &BTreeMap<&str, String>,
    ) -> Value {
        let ports: BTreeMap<String, Value> =
            service.ports.iter().map(|port| (format!("{port}/tcp"), json!({}))).collect();
        let history =
            |what: &str| json!({"created": self.created, "created_by": format!("cargo xtask image: {what}")});
        json!({
            "created": self.created,
            "architecture": architecture,
            "os": "linux",
            "config": {
                "User": USER,
                "ExposedPorts": ports,
                "Env": [format!("PATH={FOLDER}"), format!("SSL_CERT_FILE={}", roots::PATH)],
                "Entrypoint": [program(service.name)],
                "WorkingDir": "/",
                "Labels": labels,
                "StopSignal": "SIGTERM",
            },
            "history": [history("certificates of the authorities"), history("the program")],
        })
    }
}

/// Where the program of a service lies in its image.
pub(super) fn program(service: &str) -> String {
    format!("{FOLDER}/{service}")
}

fn git(root: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(root).args(args).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            version: "0.1.0".into(),
            licence: "EUPL-1.2".into(),
            revision: "c0ffee".into(),
            created: "2026-11-30T00:00:00Z".into(),
            source: None,
        }
    }

    #[test]
    fn an_image_runs_as_a_number_that_is_not_root_and_says_what_it_is() {
        let facts = facts();
        for service in &super::super::SERVICES {
            let labels = facts.labels(service, "What it does.");
            let config = facts.config(service, "amd64", &labels);
            let user = config["config"]["User"].as_str().unwrap();
            assert!(user.split(':').all(|id| id.parse::<u32>().unwrap() > 0), "{user}");
            assert_eq!(config["config"]["Entrypoint"], json!([format!("/usr/local/bin/{}", service.name)]));
            assert_eq!(config["config"]["Labels"]["org.opencontainers.image.revision"], "c0ffee");
            assert_eq!(config["created"], "2026-11-30T00:00:00Z");
            assert!(
                !config["config"]["Labels"]
                    .as_object()
                    .unwrap()
                    .contains_key("org.opencontainers.image.source")
            );
        }
    }

    #[test]
    fn only_what_listens_says_so() {
        let facts = facts();
        let ports = |name: &str| {
            let service = super::super::SERVICES.iter().find(|service| service.name == name).unwrap();
            facts.config(service, "amd64", &BTreeMap::new())["config"]["ExposedPorts"].clone()
        };
        assert_eq!(ports("ingest"), json!({"8080/tcp": {}, "9090/tcp": {}}));
        assert_eq!(ports("abisu"), json!({}));
    }
}
