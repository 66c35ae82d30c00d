//! Where a Postgres may be on this machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders that hold one folder per version, with `bin` inside.
const VERSIONED: [&str; 5] = [
    "/usr/lib/postgresql",
    "/usr/local/lib/postgresql",
    "/opt/homebrew/opt",
    "/usr/local/opt",
    "/opt/local/lib",
];

/// Folders with `initdb` and `postgres`, best first. `ABISU_TEST_PG`, such a folder, is then the only one.
pub(super) fn candidates() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if let Some(given) = std::env::var_os("ABISU_TEST_PG") {
        folders.push(PathBuf::from(given));
    } else {
        folders.extend(from_pg_config());
        for parent in VERSIONED {
            folders.extend(versions(Path::new(parent)));
        }
        folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    }
    let mut seen = BTreeSet::new();
    folders.retain(|folder| {
        let complete = folder.join("initdb").is_file() && folder.join("postgres").is_file();
        complete && folder.join("postgres").canonicalize().is_ok_and(|real| seen.insert(real))
    });
    folders
}

fn from_pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(text.trim()))
}

/// The newest version first.
fn versions(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name.trim_start_matches("postgresql").trim_start_matches('@');
            Some((version.parse().ok()?, entry.path().join("bin")))
        })
        .collect();
    found.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    found.into_iter().map(|(_, folder)| folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first() {
        let parent = std::env::temp_dir().join(format!("abisu-find-{}", std::process::id()));
        for name in ["9", "17", "postgresql@16", "share"] {
            std::fs::create_dir_all(parent.join(name)).unwrap();
        }
        let found = versions(&parent);
        std::fs::remove_dir_all(&parent).unwrap();
        let names: Vec<_> =
            found.iter().map(|f| f.strip_prefix(&parent).unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["17/bin", "postgresql@16/bin", "9/bin"]);
    }
}
