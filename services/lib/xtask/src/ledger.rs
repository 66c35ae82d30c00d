//! Who started what, on disk, so that nothing outlives a run that was killed.
//!
//! A run that ends in any way but SIGKILL stops its children itself. For that one case each process of this crate
//! keeps a file `.abisu/run/<pid>.json` with its children and the paths that go with it; the next run that starts anything ends the
//! children and removes the paths of every file whose owner is gone. A process is known by its number and its start
//! time, so a stranger that got the number meanwhile is left alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::process::{Process, Signal};

#[derive(Serialize, Deserialize)]
struct Ledger {
    owner: Process,
    children: Vec<Process>,
    /// Folders and files.
    paths: Vec<PathBuf>,
}

/// How long all children of a run together may take to end when asked.
const PATIENCE: Duration = Duration::from_secs(2);

static LEDGER: Mutex<Option<Ledger>> = Mutex::new(None);

/// Notes a child. It is forgotten by [`forget_child`].
pub fn child(state: &Path, pid: u32) {
    change(state, |ledger| ledger.children.extend(Process::find(pid)));
}

/// Forgets a child that has ended.
pub fn forget_child(state: &Path, pid: u32) {
    change(state, |ledger| ledger.children.retain(|child| child.pid != pid));
}

/// Notes a folder or a file that goes with this run.
pub fn path(state: &Path, path: &Path) {
    change(state, |ledger| ledger.paths.push(path.to_owned()));
}

/// Forgets a path that is gone.
pub fn forget_path(state: &Path, path: &Path) {
    change(state, |ledger| ledger.paths.retain(|known| known != path));
}

/// Ends the children and removes the paths of runs that were killed.
///
/// # Errors
/// The folder `.abisu/run` cannot be read.
pub fn clean(state: &Path) -> anyhow::Result<()> {
    let folder = state.join("run");
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let Some(ledger) = read(&path) else { continue };
        if ledger.owner.is_alive() {
            continue;
        }
        for child in &ledger.children {
            // SIGQUIT lets Postgres end its own children; it ends the services at once.
            child.signal(Signal::QUIT);
        }
        let deadline = Instant::now() + PATIENCE;
        for child in &ledger.children {
            if !child.wait_gone(deadline.saturating_duration_since(Instant::now())) {
                // SIGQUIT may be ignored: a shell gives that to what it runs in the background.
                child.signal(Signal::KILL);
            }
        }
        for child in &ledger.children {
            child.wait_gone(PATIENCE);
        }
        for path in &ledger.paths {
            // Another run may be cleaning too.
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
        let _ = fs::remove_file(&path);
        crate::progress::say("removed what a killed run had left");
    }
    Ok(())
}

fn read(path: &Path) -> Option<Ledger> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn change(state: &Path, change: impl FnOnce(&mut Ledger)) {
    let mut ledger = LEDGER.lock().unwrap_or_else(PoisonError::into_inner);
    let ledger = ledger.get_or_insert_with(|| Ledger {
        owner: Process::this(),
        children: Vec::new(),
        paths: Vec::new(),
    });
    change(ledger);
    let path = state.join("run").join(format!("{}.json", ledger.owner.pid));
    // Without the file a killed run leaves its children behind, which is no reason to refuse to run.
    let _ = if ledger.children.is_empty() && ledger.paths.is_empty() {
        fs::remove_file(path)
    } else {
        serde_json::to_vec(ledger).map_err(Into::into).and_then(|json| replace(&path, &json))
    };
}

/// Replaces a file at once: readers see the old content or the new, never a part.
pub(crate) fn replace(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder)?;
    let new = path.with_extension(format!("{}.new", std::process::id()));
    fs::write(&new, content)?;
    fs::rename(new, path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn what_a_killed_run_left_is_ended_and_removed_and_what_lives_is_left_alone() {
        let state = std::env::temp_dir().join(format!("abisu-ledger-{}", std::process::id()));
        let folder = state.join("data");
        fs::create_dir_all(&folder).unwrap();
        let listing = state.join("up.json");
        fs::write(&listing, "{}").unwrap();
        fs::create_dir_all(state.join("run")).unwrap();
        let mut owner = Command::new("sleep").arg("100").spawn().unwrap();
        let mut orphan = Command::new("sleep").arg("100").process_group(0).spawn().unwrap();
        let ledger = Ledger {
            owner: Process::find(owner.id()).unwrap(),
            children: vec![Process::find(orphan.id()).unwrap()],
            paths: vec![folder.clone(), listing.clone()],
        };
        let file = state.join("run/1.json");
        fs::write(&file, serde_json::to_vec(&ledger).unwrap()).unwrap();

        clean(&state).unwrap();
        assert!(ledger.children[0].is_alive() && folder.exists(), "the owner lives");

        owner.kill().unwrap();
        owner.wait().unwrap();
        clean(&state).unwrap();
        assert!(!ledger.children[0].is_alive() && !folder.exists() && !listing.exists() && !file.exists());
        orphan.wait().unwrap();
        fs::remove_dir_all(state).unwrap();
    }
}
