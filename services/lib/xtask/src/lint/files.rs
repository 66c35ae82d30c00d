//! Manifests, sources and the top level of the tree, read as text.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde_json::Value;

use super::rules::{list, strings};

/// What may stand at the top beside settings, which are dot-files.
const TOP: [&str; 9] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "catalogs",
    "charts",
    "flows",
    "migrations",
    "proto",
];
/// The folder of all code.
const SERVICES: &str = "services";

/// All broken rules, one line each.
///
/// # Errors
/// A file cannot be read.
pub fn check(root: &Path, metadata: &Value) -> anyhow::Result<Vec<String>> {
    let mut broken = Vec::new();
    for name in top_level(root)? {
        if !name.starts_with('.') && name != SERVICES && !TOP.contains(&name.as_str()) {
            broken.push(format!(
                "{name}: does not belong at the top; settings are dot-files, code is in {SERVICES}/"
            ));
        }
    }
    let members: BTreeSet<&str> = strings(&metadata["workspace_members"]).collect();
    for package in
        list(&metadata["packages"]).iter().filter(|p| p["id"].as_str().is_some_and(|id| members.contains(id)))
    {
        let path = Path::new(package["manifest_path"].as_str().unwrap_or_default());
        let shown = path.strip_prefix(root).unwrap_or(path).display();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        broken.extend(check_manifest(&text).into_iter().map(|problem| format!("{shown}: {problem}")));
    }
    for path in sources(&root.join(SERVICES))? {
        let shown = path.strip_prefix(root).unwrap_or(&path).display();
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {shown}"))?;
        broken.extend(check_source(&text).into_iter().map(|problem| format!("{shown}:{problem}")));
    }
    Ok(broken)
}

/// Names at the top that git knows or would take; all names where there is no git.
fn top_level(root: &Path) -> anyhow::Result<BTreeSet<String>> {
    let git = Command::new("git")
        .current_dir(root)
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .output();
    if let Ok(output) = git
        && output.status.success()
    {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let names = text.split('\0').filter(|path| !path.is_empty());
        return Ok(names.filter_map(|path| path.split('/').next()).map(str::to_owned).collect());
    }
    let entries = fs::read_dir(root)?.collect::<Result<Vec<_>, _>>()?;
    let names = entries.into_iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| name != "target").collect())
}

/// Versions stand once, in the root; lints too.
fn check_manifest(text: &str) -> Vec<String> {
    let mut broken = Vec::new();
    let (mut section, mut lints) = ("", false);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with('[') {
            section = line;
            continue;
        }
        let from_root = line.replace(' ', "").contains("workspace=true");
        if section == "[lints]" {
            lints |= from_root;
        } else if section.ends_with("dependencies]") && !from_root {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            broken.push(format!(
                "{name}: versions stand in the root manifest; write `{name}.workspace = true`"
            ));
        }
    }
    if !lints {
        broken.push("add `[lints]` with `workspace = true`".to_owned());
    }
    broken
}

/// An exception states its reason, and goes when it is no longer needed: `expect`, not `allow`.
fn check_source(text: &str) -> Vec<String> {
    let is_allow = |line: &str| {
        let line = line.trim_start();
        ["#[allow(", "#![allow("].iter().any(|attribute| line.starts_with(attribute))
    };
    let lines = text.lines().enumerate().filter(|(_, line)| is_allow(line));
    lines.map(|(n, _)| format!("{}: write #[expect(…, reason = \"…\")] instead of allow", n + 1)).collect()
}

fn sources(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_takes_versions_and_lints_from_the_root() {
        let good = "[package]\nname = \"a\"\nversion.workspace = true\n[dependencies]\nserde.workspace = true\n\
                    tokio = { workspace = true, features = [\"net\"] }\n[lints]\nworkspace = true\n";
        assert_eq!(check_manifest(good), Vec::<String>::new());
        let bad = "[dev-dependencies]\nserde = \"1\"\n";
        let broken = check_manifest(bad);
        assert!(broken[0].starts_with("serde: versions stand in the root manifest"), "{broken:?}");
        assert!(broken[1].contains("[lints]"), "{broken:?}");
    }

    #[test]
    fn allow_is_found_with_its_line() {
        let text = "fn a() {}\n    #[allow(dead_code)]\nfn b() {}\n// #[allow(x)] in a comment is none\n";
        let broken = check_source(text);
        assert_eq!(broken.len(), 1);
        assert!(broken[0].starts_with("2: "), "{broken:?}");
    }
}
