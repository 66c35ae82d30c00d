//! The channels in force. A request works with the list as it was when it came, whatever is re-read meanwhile.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use channel::config::{Account, ChannelsFile, Provider, Secrets};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;

/// All channels, by id.
#[derive(Debug, Clone)]
pub struct Channels {
    all: Vec<Arc<Account>>,
}

impl Channels {
    /// These channels. The first Meta channel that says so is the default one.
    pub fn of(accounts: impl IntoIterator<Item = Account>) -> Self {
        Self { all: accounts.into_iter().map(Arc::new).collect() }
    }

    /// The channel with this id.
    pub(crate) fn get(&self, id: &str) -> Option<&Arc<Account>> {
        self.all.iter().find(|channel| channel.id == id)
    }

    /// The channel behind `/whatsapp/webhook`.
    pub(crate) fn default_meta(&self) -> Option<&Arc<Account>> {
        self.all.iter().find(|channel| matches!(&channel.provider, Provider::Meta(meta) if meta.default))
    }

    /// The channel that a message to `number` belongs to, if it came to `addressed` from someone who proved to know
    /// `secret`. One app posts all its numbers to one address, but what it does not know the secret of is not its own.
    pub(crate) fn owner<'c>(
        &'c self,
        addressed: &'c Account,
        secret: &SecretString,
        number: &str,
    ) -> Option<&'c Account> {
        // A provider that does not say which number it was leaves it to the address.
        if number.is_empty() || owns(addressed, addressed, number) {
            return Some(addressed);
        }
        self.all
            .iter()
            .map(|channel| &**channel)
            .find(|channel| owns(channel, addressed, number) && channel.trusts(secret))
    }
}

/// Whether a number is this channel's, in the words of the provider that was addressed.
fn owns(channel: &Account, addressed: &Account, number: &str) -> bool {
    match (&channel.provider, &addressed.provider) {
        (Provider::Meta(meta), Provider::Meta(_)) => meta.phone_number_id == number,
        (Provider::Infobip(infobip), Provider::Infobip(_)) => infobip.sender == number,
        (Provider::Meta(_) | Provider::Infobip(_) | Provider::Webhook(_), _) => false,
    }
}

/// Where the channels come from.
#[derive(Debug, Clone)]
pub enum ChannelSource {
    /// They are as they are.
    Fixed(Channels),
    /// A file lists them, and some of their secrets are in files that may change.
    File {
        /// The list.
        file: ChannelsFile,
        /// The secrets as first read.
        secrets: Secrets,
        /// How often the files are looked at.
        reread: Duration,
    },
}

/// The list in force, shared. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Registry {
    current: Arc<RwLock<Arc<Channels>>>,
}

impl Registry {
    pub(crate) fn new(source: &ChannelSource) -> Self {
        let channels = match source {
            ChannelSource::Fixed(channels) => channels.clone(),
            ChannelSource::File { file, secrets, .. } => Channels::of(file.resolve(secrets)),
        };
        Self { current: Arc::new(RwLock::new(Arc::new(channels))) }
    }

    pub(crate) fn now(&self) -> Arc<Channels> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn put(&self, channels: Channels) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(channels);
    }
}

/// Takes changed secrets into force until the service stops. A file that cannot be read leaves the secret it held in
/// force: a rotation that went wrong must not shut the door.
pub(crate) async fn keep(
    registry: Registry,
    source: ChannelSource,
    metrics: Metrics,
    stopping: CancellationToken,
) -> anyhow::Result<()> {
    let ChannelSource::File { file, mut secrets, reread } = source else {
        stopping.cancelled().await;
        return Ok(());
    };
    let mut failing = false;
    loop {
        tokio::select! {
            () = stopping.cancelled() => return Ok(()),
            () = tokio::time::sleep(reread) => {}
        }
        // Files may be on a volume that hangs.
        let (now, found) = tokio::task::spawn_blocking(move || {
            let found = secrets.reread();
            (secrets, found)
        })
        .await?;
        secrets = now;
        if found.changed {
            registry.put(Channels::of(file.resolve(&secrets)));
            metrics.secrets_changed.inc();
            tracing::info!("secrets of channels have changed and are in force");
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
