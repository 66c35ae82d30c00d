//! The channels of a process: what sends for each, and the secrets of that taken into force as their files change.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use channel::config::{Account, Loaded};
use channel::{Channel, ConnectError};
use tokio_util::sync::CancellationToken;

use crate::{Context, outage};

/// What sends for a channel now. A call works with what there was when it began.
pub struct Provider(RwLock<Arc<dyn Channel>>);

impl Provider {
    /// Of an account; a call may take so long.
    ///
    /// # Errors
    /// The account has nothing to send with.
    pub fn of(account: &Account, timeout: Duration) -> Result<Self, ConnectError> {
        Ok(Self(RwLock::new(account.connect(timeout)?)))
    }

    /// What sends.
    pub fn now(&self) -> Arc<dyn Channel> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn put(&self, channel: Arc<dyn Channel>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = channel;
    }
}

/// Looks at the files of the secrets again until `stopping`. A file that cannot be read leaves the secret that it held in
/// force: a rotation that went wrong must not silence the city. A channel that waits for a new secret is looked at as
/// soon as there is one.
///
/// # Errors
/// Never.
pub(crate) async fn keep(
    mut loaded: Loaded,
    contexts: Vec<Arc<Context>>,
    every: Duration,
    stopping: CancellationToken,
) -> anyhow::Result<()> {
    let mut failing = false;
    loop {
        tokio::select! {
            () = stopping.cancelled() => return Ok(()),
            () = tokio::time::sleep(every) => {}
        }
        // Files may be on a volume that hangs.
        let (now, found) = tokio::task::spawn_blocking(move || {
            let found = loaded.reread();
            (loaded, found)
        })
        .await?;
        loaded = now;
        if found.changed {
            renew(&loaded, &contexts).await;
        }
        if let (false, Some((path, why))) = (failing, found.failed.first()) {
            tracing::error!(
                path = %path.display(),
                "a secret's file {why}; the secret that it held stays in force"
            );
        }
        failing = !found.failed.is_empty();
    }
}

async fn renew(loaded: &Loaded, contexts: &[Arc<Context>]) {
    for account in loaded.accounts() {
        let Some(context) = contexts.iter().find(|context| context.channel == account.id) else { continue };
        match account.connect(context.config.send_timeout) {
            Ok(channel) => context.provider.put(channel),
            Err(error) => {
                tracing::error!(channel.id = account.id, %error, "a channel keeps its old secrets: {error}");
                continue;
            }
        }
        outage::look_again(context).await;
    }
    tracing::info!("secrets of channels have changed and are in force");
}
