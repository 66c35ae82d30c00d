//! The previous release, for tests of upgrades. Until a second one exists it is this one without the newest migration:
//! built from a copy of the tree that lacks it, in the same folder, so that only what is ours is compiled again.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use tokio::process::Command;

use super::{Args, Built};
use crate::tree::{ROOT, STATE};

/// Builds its images, tagged `previous`, into the folder `output`.
///
/// # Errors
/// As for the images of this release.
pub(crate) async fn build(output: &Path, built: &Path) -> anyhow::Result<Built> {
    let copy = STATE.join("previous");
    renew(&copy, &without().await?)?;
    let args = Args { tag: Some("previous".to_owned()), ..Args::all_in(output) };
    super::build_from(&args, &copy, built, output).await
}

/// The files of the tree as they are now, but for the newest migration.
async fn without() -> anyhow::Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.current_dir(&*ROOT).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let output = git.output().await.context("cannot run git")?;
    ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
    let text = String::from_utf8(output.stdout)?;
    let mut files: Vec<PathBuf> = text.split_terminator('\0').map(PathBuf::from).collect();
    // A file that was deleted is still listed.
    files.retain(|file| ROOT.join(file).is_file());
    let newest = files.iter().filter(|file| file.starts_with("migrations")).max().cloned();
    files.retain(|file| Some(file) != newest.as_ref());
    Ok(files)
}

/// Makes the folder hold these files and no other. What is as it should be is left alone: cargo compiles what is newer.
fn renew(folder: &Path, files: &[PathBuf]) -> anyhow::Result<()> {
    let stale = |file: &Path| fs::read(ROOT.join(file)).ok() != fs::read(folder.join(file)).ok();
    for file in files.iter().filter(|file| stale(file)) {
        let to = folder.join(file);
        fs::create_dir_all(to.parent().unwrap_or(folder))?;
        let bytes = fs::read(ROOT.join(file))?;
        fs::write(&to, bytes).with_context(|| format!("cannot write {}", to.display()))?;
    }
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.strip_prefix(folder).is_ok_and(|file| !files.iter().any(|known| known == file)) {
                fs::remove_file(path)?;
            }
        }
    }
    Ok(())
}
