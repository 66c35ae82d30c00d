//! What a process holds in memory, watched while something happens.

use std::time::Duration;

use anyhow::Context;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// Resident memory of a process in MiB, as the kernel counts it.
///
/// # Errors
/// The process has ended, or there is no `/proc`.
pub(crate) fn resident_mib(pid: u32) -> anyhow::Result<f64> {
    let path = format!("/proc/{pid}/status");
    let status = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: f64 = line
        .and_then(|line| line.trim().strip_suffix("kB"))
        .and_then(|number| number.trim().parse().ok())
        .with_context(|| format!("{path} says nothing of memory"))?;
    Ok(kib / 1024.0)
}

/// The most that a process held while `work` went on, in MiB, and what came of that.
///
/// # Errors
/// As [`resident_mib`], and those of the work.
pub(crate) async fn peak_while<T>(
    pid: u32,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<(f64, T)> {
    let mut most = resident_mib(pid)?;
    let mut looks = tokio::time::interval(LOOK);
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return Ok((most.max(resident_mib(pid)?), done?)),
            _ = looks.tick() => most = most.max(resident_mib(pid)?),
        }
    }
}
