//! Who may depend on whom, over `cargo metadata`.
//!
//! The architecture is these edges: services meet in the database and not in code, the pure crates stay pure however
//! their dependencies change, and what is made for tests reaches no image.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Crates without a runtime, I/O or a clock.
const PURE: [&str; 2] = ["dialogue", "flow-json"];
/// What brings a runtime, I/O, logging or chance; by the beginning of the name. `getrandom` is not among them: it comes
/// with the id type, whose making of ids no pure crate calls.
const IMPURE: [&str; 16] = [
    "async-std",
    "axum",
    "futures-executor",
    "hyper",
    "mio",
    "opentelemetry",
    "rand",
    "reqwest",
    "rustls",
    "smol",
    "socket2",
    "sqlx",
    "tokio",
    "tonic",
    "tower",
    "tracing",
];
/// For development only: nobody depends on them but as dev-dependency.
const DEVELOPMENT: [&str; 3] = ["simulator", "testkit", "xtask"];
/// The crates that may run code while they are built.
const BUILD_SCRIPTS: [&str; 2] = ["proto", "runtime"];
/// Names that gather what belongs nowhere.
const SHAPELESS: [&str; 7] = ["common", "core", "helpers", "misc", "shared", "util", "utils"];

/// One crate of the workspace.
struct Crate<'a> {
    name: &'a str,
    service: bool,
    build_script: bool,
    /// Names, with whether it is only a dev-dependency.
    dependencies: Vec<(&'a str, bool)>,
    chrono: Option<&'a Value>,
}

/// All broken rules, one line each.
pub fn check(metadata: &Value) -> Vec<String> {
    let crates = crates(metadata);
    let services: BTreeSet<&str> = crates.iter().filter(|c| c.service).map(|c| c.name).collect();
    let own: BTreeSet<&str> = crates.iter().map(|c| c.name).collect();
    let mut broken = Vec::new();
    let mut rule = |holds: bool, problem: String| {
        if !holds {
            broken.push(problem);
        }
    };
    for one in &crates {
        let name = one.name;
        rule(!SHAPELESS.contains(&name), format!("{name}: a crate is named for what it is"));
        rule(
            !one.build_script || BUILD_SCRIPTS.contains(&name),
            format!("{name}: only {} may have a build.rs", BUILD_SCRIPTS.join(" and ")),
        );
        for &(on, development) in &one.dependencies {
            let edge = format!("{name} → {on}");
            if services.contains(on) {
                let allowed = on == "simulator" && development;
                rule(allowed, format!("{edge}: nothing depends on a service; they meet in the database"));
            }
            rule(!DEVELOPMENT.contains(&on) || development, format!("{edge}: only as dev-dependency"));
            rule(
                on != "dialogue" || !matches!(name, "bus" | "runtime"),
                format!("{edge}: the queue and the shell know no conversation"),
            );
            rule(
                name != "channel" || !on.starts_with("sqlx"),
                format!("{edge}: a channel knows no database"),
            );
            rule(name != "proto" || !own.contains(on), format!("{edge}: proto is a leaf"));
            rule(
                name != "simulator" || !own.contains(on),
                format!("{edge}: the simulator shares no code with what it tests"),
            );
        }
        if PURE.contains(&name) {
            if let Some(chrono) = one.chrono {
                let features = chrono["features"].as_array().map_or(&[][..], Vec::as_slice);
                let clock = chrono["uses_default_features"] == true
                    || features.iter().any(|f| f == "clock" || f == "now");
                rule(!clock, format!("{name} → chrono: types only, without default features and `clock`"));
            }
            for path in impure_paths(metadata, name) {
                rule(false, format!("{path}: {name} is pure: no runtime, I/O, logging, chance"));
            }
        }
    }
    broken
}

fn crates(metadata: &Value) -> Vec<Crate<'_>> {
    let members: BTreeSet<&str> = strings(&metadata["workspace_members"]).collect();
    let packages = list(&metadata["packages"])
        .iter()
        .filter(|p| p["id"].as_str().is_some_and(|id| members.contains(id)));
    packages
        .map(|package| {
            let manifest = package["manifest_path"].as_str().unwrap_or_default();
            let folders: Vec<&str> = manifest.rsplit('/').collect();
            let dependencies = list(&package["dependencies"]);
            Crate {
                name: package["name"].as_str().unwrap_or_default(),
                service: folders.get(2) == Some(&"services"),
                build_script: list(&package["targets"])
                    .iter()
                    .any(|t| strings(&t["kind"]).any(|k| k == "custom-build")),
                dependencies: dependencies
                    .iter()
                    .filter_map(|d| Some((d["name"].as_str()?, d["kind"] == "dev")))
                    .collect(),
                chrono: dependencies.iter().find(|d| d["name"] == "chrono" && d["kind"] != "dev"),
            }
        })
        .collect()
}

/// The ways by which a crate reaches something impure, as `a → b → c`. Build scripts and procedural macros do not
/// count: they are gone at run time.
fn impure_paths(metadata: &Value, name: &str) -> Vec<String> {
    let packages: BTreeMap<&str, &Value> =
        list(&metadata["packages"]).iter().filter_map(|p| Some((p["id"].as_str()?, p))).collect();
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).iter().filter_map(|n| Some((n["id"].as_str()?, n))).collect();
    let name_of = |id: &str| packages.get(id).and_then(|p| p["name"].as_str()).unwrap_or_default();
    let is_macro = |id: &str| {
        packages.get(id).is_some_and(|p| {
            list(&p["targets"]).iter().any(|t| strings(&t["kind"]).any(|k| k == "proc-macro"))
        })
    };
    let members: Vec<&str> = strings(&metadata["workspace_members"]).collect();
    let Some(&root) = members.iter().find(|id| name_of(id) == name) else { return Vec::new() };
    let mut seen = BTreeSet::from([root]);
    let mut paths = vec![(root, name.to_owned())];
    let mut impure = Vec::new();
    while let Some((id, path)) = paths.pop() {
        for dependency in nodes.get(id).map_or(&[][..], |node| list(&node["deps"])) {
            let normal = list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
            let Some(on) = dependency["pkg"].as_str().filter(|on| normal && !is_macro(on)) else { continue };
            if !seen.insert(on) {
                continue;
            }
            let path = format!("{path} → {}", name_of(on));
            let family = |known: &str| name_of(on) == known || name_of(on).starts_with(&format!("{known}-"));
            if IMPURE.iter().any(|known| family(known)) {
                impure.push(path);
            } else {
                paths.push((on, path));
            }
        }
    }
    impure
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn strings(value: &Value) -> impl Iterator<Item = &str> {
    list(value).iter().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Dependencies with their kind.
    type Edges = &'static [(&'static str, &'static str)];

    /// A workspace of crates at `path`, each with its dependencies; `tokio` and `serde` exist as well.
    fn workspace(crates: &[(&str, Edges)]) -> Value {
        let name = |path: &str| path.rsplit('/').next().unwrap().to_owned();
        let mut packages =
            vec![json!({"id": "tokio", "name": "tokio"}), json!({"id": "serde", "name": "serde"})];
        let mut nodes =
            vec![json!({"id": "serde", "deps": [{"pkg": "tokio", "dep_kinds": [{"kind": "dev"}]}]})];
        for (path, dependencies) in crates {
            let kind = |kind: &str| if kind == "dev" { json!("dev") } else { Value::Null };
            packages.push(json!({
                "id": name(path), "name": name(path), "manifest_path": format!("/r/{path}/Cargo.toml"),
                "targets": [{"kind": ["lib"]}],
                "dependencies": dependencies.iter().map(|(on, k)| json!({"name": on, "kind": kind(k)})).collect::<Vec<_>>(),
            }));
            nodes.push(json!({"id": name(path), "deps": dependencies
                .iter()
                .map(|(on, k)| json!({"pkg": on, "dep_kinds": [{"kind": kind(k)}]}))
                .collect::<Vec<_>>()}));
        }
        let members: Vec<String> = crates.iter().map(|(path, _)| name(path)).collect();
        json!({"packages": packages, "workspace_members": members, "resolve": {"nodes": nodes}})
    }

    #[test]
    fn the_intended_edges_break_nothing() {
        let metadata = workspace(&[
            ("services/ingest", &[("bus", ""), ("testkit", "dev"), ("simulator", "dev")]),
            ("services/simulator", &[("tokio", "")]),
            ("services/lib/bus", &[("tokio", "")]),
            ("services/lib/testkit", &[]),
            ("services/lib/dialogue", &[("serde", ""), ("tokio", "dev")]),
        ]);
        assert_eq!(check(&metadata), Vec::<String>::new());
    }

    #[test]
    fn each_forbidden_edge_is_named() {
        let cases: [(&str, Edges, &str); 8] = [
            ("services/ingest", &[("geocode", "")], "ingest → geocode: nothing depends on a service"),
            ("services/ingest", &[("testkit", "")], "ingest → testkit: only as dev-dependency"),
            ("services/ingest", &[("simulator", "")], "ingest → simulator: only as dev-dependency"),
            ("services/lib/bus", &[("dialogue", "")], "bus → dialogue: the queue and the shell"),
            ("services/lib/channel", &[("sqlx", "")], "channel → sqlx: a channel knows no database"),
            ("services/lib/proto", &[("bus", "")], "proto → bus: proto is a leaf"),
            (
                "services/lib/flow-json",
                &[("serde", ""), ("tokio", "")],
                "flow-json → tokio: flow-json is pure",
            ),
            ("services/lib/utils", &[], "utils: a crate is named for what it is"),
        ];
        for (path, dependencies, says) in cases {
            let mut crates: Vec<(&str, Edges)> = vec![(path, dependencies)];
            for other in
                ["services/geocode", "services/simulator", "services/lib/testkit", "services/lib/bus"]
            {
                if other != path {
                    crates.push((other, &[]));
                }
            }
            let broken = check(&workspace(&crates));
            assert!(broken.iter().any(|problem| problem.starts_with(says)), "{path}: {broken:?}");
        }
    }
}
