//! What a program is made of, as CycloneDX: every crate that cargo links into it, with version, licence, checksum and who
//! needs it, and Rust's standard library.
//!
//! Made from `cargo metadata` and `Cargo.lock` alone, so the same commit has the same list. What only runs while the
//! program is built (build scripts, macros and what they need) is not in the program and not in the list.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::lint::rules::{list, strings};

/// The program that is described.
pub(super) struct Subject<'a> {
    pub(super) service: &'a str,
    pub(super) program: &'a [u8],
    pub(super) rust_version: &'a str,
    /// RFC 3339.
    pub(super) created: &'a str,
}

/// The document. `metadata` is that of `cargo metadata` for the target, `lock` is `Cargo.lock`.
///
/// # Errors
/// The service is unknown, or a dependency is missing in the metadata.
pub(super) fn describe(subject: &Subject<'_>, metadata: &Value, lock: &str) -> anyhow::Result<Value> {
    let packages: BTreeMap<&str, &Value> = list(&metadata["packages"])
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let needs = needs(metadata);
    let members: BTreeSet<&str> = strings(&metadata["workspace_members"]).collect();
    let root = members.iter().find(|id| packages.get(*id).is_some_and(|p| p["name"] == subject.service));
    let root = *root.with_context(|| format!("no package is called {}", subject.service))?;

    let checksums = checksums(lock);
    let mut open = VecDeque::from([root]);
    let mut linked = BTreeSet::from([root]);
    while let Some(id) = open.pop_front() {
        for &next in needs.get(id).into_iter().flatten() {
            let package = packages.get(next).with_context(|| format!("{next} is not in the metadata"))?;
            if !is_macro(package) && linked.insert(next) {
                open.push_back(next);
            }
        }
    }
    let reference = |id: &str| purl(packages[id]);
    let standard_library = format!("pkg:generic/rust-std@{}", subject.rust_version);
    let mut components: Vec<Value> = linked
        .iter()
        .filter(|id| **id != root)
        .map(|id| {
            let package = packages[id];
            let checksum = checksums.get(&(text(package, "name"), text(package, "version")));
            component(package, checksum.copied())
        })
        .collect();
    components.push(json!({
        "type": "library",
        "bom-ref": standard_library,
        "name": "rust-std",
        "version": subject.rust_version,
        "scope": "required",
        "licenses": [{"expression": "MIT OR Apache-2.0"}],
        "purl": standard_library,
    }));
    components.sort_by_key(|component| text(component, "bom-ref").to_owned());
    ensure!(components.len() > 1, "{} links nothing", subject.service);
    let mut dependencies: BTreeMap<String, BTreeSet<String>> = linked
        .iter()
        .map(|id| {
            let of = needs.get(id).into_iter().flatten().filter(|next| linked.contains(*next));
            (reference(id), of.map(|next| reference(next)).collect())
        })
        .collect();
    dependencies.entry(reference(root)).or_default().insert(standard_library.clone());
    dependencies.insert(standard_library, BTreeSet::new());

    let mut described = component(packages[root], None);
    described["type"] = json!("application");
    described["hashes"] =
        json!([{"alg": "SHA-256", "content": hex::encode(Sha256::digest(subject.program))}]);
    let mut document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": subject.created,
            "tools": {"components": [{"type": "application", "name": "cargo xtask image"}]},
            "component": described,
        },
        "components": components,
        "dependencies": dependencies
            .iter()
            .map(|(of, on)| json!({"ref": of, "dependsOn": on}))
            .collect::<Vec<_>>(),
    });
    // A number of its own for each content, and the same for the same.
    let hash = Sha256::digest(serde_json::to_vec(&document)?);
    let bytes = hash.first_chunk().copied().context("a hash is longer than a UUID")?;
    document["serialNumber"] = json!(uuid::Builder::from_custom_bytes(bytes).into_uuid().urn().to_string());
    Ok(document)
}

/// Who links whom: the dependencies that are neither for building nor for development.
fn needs(metadata: &Value) -> BTreeMap<&str, Vec<&str>> {
    let nodes = list(&metadata["resolve"]["nodes"]).iter();
    let linked =
        |dependency: &&Value| list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
    nodes
        .filter_map(|node| {
            let on = list(&node["deps"]).iter().filter(linked).filter_map(|on| on["pkg"].as_str());
            Some((node["id"].as_str()?, on.collect()))
        })
        .collect()
}

fn is_macro(package: &Value) -> bool {
    list(&package["targets"]).iter().any(|target| strings(&target["kind"]).any(|kind| kind == "proc-macro"))
}

fn component(package: &Value, checksum: Option<&str>) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "scope": "required",
        "purl": purl(package),
    });
    if let Some(licence) = package["license"].as_str() {
        // The older way to say "or".
        component["licenses"] = json!([{"expression": licence.replace(" / ", "/").replace('/', " OR ")}]);
    }
    if let Some(checksum) = checksum {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

fn purl(package: &Value) -> String {
    // The plus of a build's metadata is a blank where the address is read.
    format!("pkg:cargo/{}@{}", text(package, "name"), text(package, "version").replace('+', "%2B"))
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// Checksums by name and version; packages of the repository have none.
fn checksums(lock: &str) -> BTreeMap<(&str, &str), &str> {
    let blocks = lock.split("[[package]]").skip(1);
    blocks
        .filter_map(|block| {
            let value = |key: &str| {
                let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
                line?.strip_suffix('"')
            };
            Some(((value("name")?, value("version")?), value("checksum")?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"version = 4

[[package]]
name = "door"
version = "0.1.0"

[[package]]
name = "wood"
version = "1.2.0+oak"
source = "registry+https://index"
checksum = "aa00"
dependencies = [
 "saw",
]
"#;

    fn metadata() -> Value {
        let package = |name: &str, version: &str, licence: &str, kind: &str| json!({"id": name, "name": name, "version": version, "license": licence, "targets": [{"kind": [kind]}]});
        let on = |pkg: &str, kind: Value| json!({"pkg": pkg, "dep_kinds": [{"kind": kind}]});
        json!({
            "workspace_members": ["door"],
            "packages": [
                package("door", "0.1.0", "EUPL-1.2", "bin"),
                package("wood", "1.2.0+oak", "MIT/Apache-2.0", "lib"),
                package("saw", "2.0.0", "MIT", "lib"),
                package("carve", "3.0.0", "MIT", "proc-macro"),
                package("knife", "3.1.0", "MIT", "lib"),
                package("tree", "4.0.0", "ISC", "lib"),
            ],
            "resolve": {"nodes": [
                {"id": "door", "deps": [on("wood", Value::Null), on("carve", Value::Null), on("saw", json!("dev"))]},
                {"id": "wood", "deps": [on("tree", Value::Null), on("saw", json!("build"))]},
                {"id": "carve", "deps": [on("knife", Value::Null)]},
            ]},
        })
    }

    fn document(created: &str) -> Value {
        let subject = Subject { service: "door", program: b"elf", rust_version: "1.95.0", created };
        describe(&subject, &metadata(), LOCK).unwrap()
    }

    #[test]
    fn what_is_linked_is_listed_and_what_only_builds_is_not() {
        let document = document("2026-11-30T00:00:00Z");
        let names: Vec<&str> = list(&document["components"]).iter().map(|c| text(c, "purl")).collect();
        let expected = ["pkg:cargo/tree@4.0.0", "pkg:cargo/wood@1.2.0%2Boak", "pkg:generic/rust-std@1.95.0"];
        assert_eq!(names, expected);
        let wood = &document["components"][1];
        assert_eq!(wood["licenses"], json!([{"expression": "MIT OR Apache-2.0"}]));
        assert_eq!(wood["hashes"], json!([{"alg": "SHA-256", "content": "aa00"}]));
        assert_eq!(document["metadata"]["component"]["type"], "application");
        assert_eq!(
            document["dependencies"][0],
            json!({"ref": "pkg:cargo/door@0.1.0", "dependsOn": ["pkg:cargo/wood@1.2.0%2Boak", "pkg:generic/rust-std@1.95.0"]})
        );
        assert!(
            describe(
                &Subject { service: "window", program: b"", rust_version: "1", created: "" },
                &metadata(),
                LOCK
            )
            .is_err()
        );
    }

    #[test]
    fn the_number_follows_the_content() {
        let (one, again, other) = (document("a"), document("a"), document("b"));
        assert_eq!(one, again);
        assert_ne!(one["serialNumber"], other["serialNumber"]);
        assert!(text(&one, "serialNumber").starts_with("urn:uuid:"));
    }
}
