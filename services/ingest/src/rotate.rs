//! Secrets that change while the service runs: those of the channels, from whichever file, and the one that links to
//! photos are signed with. What is rotated is in force within seconds, without a restart and without a call that fails.
//!
//! A file that cannot be read, or holds what cannot be used, leaves the secret that it held in force: a rotation that
//! went wrong must not shut the door. That is said once, by the file's name and never by what is in it.

use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::channels::{ChannelSource, Channels};
use crate::current::Current;
use crate::media::{MediaKeys, MediaSource};
use crate::metrics::Metrics;

/// What is looked at again, and where the outcome goes.
pub(crate) struct Watched {
    pub(crate) source: ChannelSource,
    pub(crate) channels: Current<Channels>,
    pub(crate) media: Option<(MediaSource, Current<MediaKeys>)>,
}

/// What one look has found.
#[derive(Default)]
struct Found {
    changed: bool,
    /// Files that leave what they held in force, and why.
    failed: Vec<(PathBuf, String)>,
}

impl Watched {
    /// Looks once. Blocks: files may be on a volume that hangs.
    fn look(&mut self) -> Found {
        let reread = self.source.reread();
        let mut found = Found { changed: false, failed: reread.failed };
        if reread.changed {
            self.channels.put(self.source.channels());
            found.changed = true;
        }
        if let Some((source, keys)) = &mut self.media {
            match source.reread() {
                Ok(Some(new)) => {
                    keys.put(new);
                    found.changed = true;
                }
                Ok(None) => {}
                Err((path, why)) => found.failed.push((path, why)),
            }
        }
        found
    }
}

/// Looks again and again until the service stops.
pub(crate) async fn keep(
    mut watched: Watched,
    every: Duration,
    metrics: Metrics,
    stopping: CancellationToken,
) -> anyhow::Result<()> {
    let mut said: Vec<(PathBuf, String)> = Vec::new();
    loop {
        tokio::select! {
            () = stopping.cancelled() => return Ok(()),
            () = tokio::time::sleep(every) => {}
        }
        let (back, found) = tokio::task::spawn_blocking(move || {
            let found = watched.look();
            (watched, found)
        })
        .await?;
        watched = back;
        if found.changed {
            metrics.secrets_changed.inc();
            tracing::info!("secrets have changed in their files and are in force");
        }
        for (path, why) in found.failed.iter().filter(|failed| !said.contains(failed)) {
            tracing::error!(
                path = %path.display(),
                "a secret's file {why}; the secret that it held stays in force"
            );
        }
        said = found.failed;
    }
}
