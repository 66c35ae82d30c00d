//! Rendering, and the ways through what was rendered.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use xtask::chart;
use xtask::chart::tools::Helm;

/// What one set of values renders to.
pub(crate) struct Rendered {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) documents: Vec<Value>,
}

impl Rendered {
    pub(crate) fn of(&self, kind: &str) -> Vec<&Value> {
        self.documents.iter().filter(|document| document["kind"] == kind).collect()
    }

    pub(crate) fn one(&self, kind: &str, name: &str) -> &Value {
        let found = self.of(kind).into_iter().find(|document| document["metadata"]["name"] == name);
        found.unwrap_or_else(|| panic!("{}: there is no {kind} {name}", self.name))
    }

    /// Whatever makes pods, as (kind and name, pod template).
    pub(crate) fn pods(&self) -> Vec<(String, &Value)> {
        let mut found = Vec::new();
        for document in &self.documents {
            let template = match document["kind"].as_str().unwrap_or_default() {
                "Deployment" | "Job" => &document["spec"]["template"],
                "CronJob" => &document["spec"]["jobTemplate"]["spec"]["template"],
                "Pod" => document,
                _ => continue,
            };
            found.push((title(document), template));
        }
        assert!(!found.is_empty(), "{}: no pods", self.name);
        found
    }
}

/// Kind and name, for messages.
pub(crate) fn title(document: &Value) -> String {
    let part = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    format!("{} {}", part(&document["kind"]), part(&document["metadata"]["name"]))
}

/// Path of a file with values in the chart's `ci` folder.
pub(crate) fn values_file(name: &str) -> String {
    let path: PathBuf = chart::folder().join("ci").join(format!("{name}.yaml"));
    path.display().to_string()
}

/// Renders a release with a file of values and more values over them.
pub(crate) fn try_render(release: &str, file: &str, over: &Value) -> anyhow::Result<Rendered> {
    let helm = Helm::find()?;
    let (file, over) = (values_file(file), over.to_string());
    let args = ["--values", &file, "--set-json", &over, "--api-versions", "gateway.networking.k8s.io/v1"];
    let text = once(&helm, release, &args)?;
    let documents = chart::documents(&text)?;
    Ok(Rendered { name: release.to_owned(), text, documents })
}

/// What Helm makes of the same chart and the same values is the same, so it is asked once: each test is a process of its
/// own, and many look at the same renders. What it refuses is asked every time.
fn once(helm: &Helm, release: &str, args: &[&str]) -> anyhow::Result<String> {
    let mut chart = Sha256::new();
    add(&chart::folder(), &mut chart);
    let program = helm.program();
    let about = fs::metadata(program).ok().map(|about| (about.len(), about.modified().ok()));
    let asked = format!("{}|{about:?}|{release}|{args:?}", program.display());
    let renders = Path::new(env!("CARGO_TARGET_TMPDIR")).join("renders");
    let folder = renders.join(hex::encode(chart.finalize()));
    let file = folder.join(hex::encode(Sha256::digest(asked)));
    if let Ok(text) = fs::read_to_string(&file) {
        return Ok(text);
    }
    let text = helm.render(release, &chart::folder(), args)?;
    if !folder.exists() {
        // Of a chart that is another one by now. There may be none.
        let _ = fs::remove_dir_all(&renders);
    }
    // Whoever finds the file finds it whole; without it, the next one asks again.
    let me = format!("{}-{:?}.part", std::process::id(), std::thread::current().id());
    let unfinished = folder.join(me);
    let _ = fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&unfinished, &text))
        .and_then(|()| fs::rename(&unfinished, &file));
    Ok(text)
}

/// Adds names and contents of all files below a folder.
fn add(folder: &Path, to: &mut Sha256) {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        to.update(path.display().to_string());
        if path.is_dir() {
            add(&path, to);
        } else {
            let bytes = fs::read(&path).unwrap();
            to.update(bytes.len().to_le_bytes());
            to.update(bytes);
        }
    }
}

/// Renders what must render.
pub(crate) fn render(release: &str, file: &str, over: &Value) -> Rendered {
    try_render(release, file, over).unwrap_or_else(|error| panic!("{file} with {over}: {error:#}"))
}

/// The renders that every rule is held against.
pub(crate) fn matrix() -> Vec<Rendered> {
    let long = "a-name-of-a-release-that-is-as-long-as-helm-allows-ab";
    let mut all: Vec<Rendered> = ["minimal", "full", "ha", "trial", "external"]
        .into_iter()
        .map(|file| Rendered { name: file.to_owned(), ..render("abisu", file, &json!({})) })
        .collect();
    for (name, release, file, over) in [
        ("long names", long, "full", json!({})),
        ("long names, a hook", long, "trial", json!({})),
        ("another name", "r", "minimal", json!({"nameOverride": "city", "fullnameOverride": "city-reports"})),
        ("hook", "abisu", "full", json!({"migrations": {"mode": "hook"}})),
        (
            "open311",
            "abisu",
            "minimal",
            json!({"partner": {
                "enabled": true, "url": "https://p.example", "existingSecret": "p", "platform": {"adapter": "open311", "open311": {"photos": false}}
            }}),
        ),
        (
            "a node port",
            "abisu",
            "minimal",
            json!({"ingest": {"service": {
                "type": "NodePort", "nodePort": 30080, "externalTrafficPolicy": "Local", "trafficDistribution": "PreferSameZone"
            }}}),
        ),
        (
            "a load balancer",
            "abisu",
            "minimal",
            json!({"ingest": {"service": {
                "type": "LoadBalancer",
                "loadBalancerClass": "example.org/lb",
                "loadBalancerSourceRanges": ["203.0.113.0/24"],
            }}}),
        ),
        (
            "an area that is there",
            "abisu",
            "minimal",
            json!({"city": {"serviceArea": {
                "existingConfigMap": "area", "keys": ["a.geojson", "b.geojson"]
            }}}),
        ),
    ] {
        all.push(Rendered { name: name.to_owned(), ..render(release, file, &over) });
    }
    all
}

/// Fails with all complaints at once.
pub(crate) fn none(complaints: &[String]) {
    let mut text = String::new();
    for complaint in complaints {
        let _ = writeln!(text, "{complaint}");
    }
    assert!(complaints.is_empty(), "{text}");
}

/// The items of a list, none where there is no list.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
