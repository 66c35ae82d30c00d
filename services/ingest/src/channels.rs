//! The channels, and where they come from: a file that lists them, or the environment.

use std::path::PathBuf;
use std::sync::Arc;

use channel::config::{Account, Loaded, MOST_SECRETS, Meta, Provider, Reread};
use secrecy::{ExposeSecret, SecretString};

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

/// Where the channels come from. Their secrets may be in files that change.
#[derive(Debug, Clone)]
pub struct ChannelSource {
    loaded: Loaded,
    joined: Option<Joined>,
}

/// A channel whose app secrets stand in one place, separated by a comma.
#[derive(Debug, Clone)]
struct Joined {
    id: &'static str,
    /// Those that stood there last and could be used.
    app_secrets: Vec<SecretString>,
}

/// App secrets that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must hold one secret, or two separated by a comma")]
pub(crate) struct WrongSecrets;

impl ChannelSource {
    /// Channels as a file lists them, each secret in a place of its own.
    pub fn of(loaded: Loaded) -> Self {
        Self { loaded, joined: None }
    }

    /// Channels of which one, from the environment, has its app secrets in one place.
    pub(crate) fn joined(loaded: Loaded, id: &'static str) -> Result<Self, WrongSecrets> {
        let app_secrets = split(&loaded, id)?;
        Ok(Self { loaded, joined: Some(Joined { id, app_secrets }) })
    }

    /// The channels, with the secrets as they were last read.
    pub(crate) fn channels(&self) -> Channels {
        Channels::of(self.loaded.accounts().into_iter().map(|account| match (account, &self.joined) {
            (Account { id, provider: Provider::Meta(meta) }, Some(joined)) if id == joined.id => {
                let app_secrets = joined.app_secrets.clone();
                Account { id, provider: Provider::Meta(Meta { app_secrets, ..meta }) }
            }
            (account, _) => account,
        }))
    }

    /// Looks at the files again. Blocks: they may be on a volume that hangs.
    pub(crate) fn reread(&mut self) -> Reread {
        let mut reread = self.loaded.reread();
        if let Some(joined) = &mut self.joined {
            match split(&self.loaded, joined.id) {
                Ok(app_secrets) => joined.app_secrets = app_secrets,
                Err(why) => {
                    reread.failed.push((PathBuf::from("ABISU_META_APP_SECRET_FILE"), why.to_string()));
                }
            }
        }
        reread
    }
}

/// The app secrets of a channel that has them in one place.
fn split(loaded: &Loaded, id: &str) -> Result<Vec<SecretString>, WrongSecrets> {
    let account = loaded.accounts().into_iter().find(|account| account.id == id);
    let Some(Account { id: _, provider: Provider::Meta(meta) }) = account else { return Err(WrongSecrets) };
    let all = meta.app_secrets.iter().flat_map(|joined| joined.expose_secret().split(',')).map(str::trim);
    let secrets: Vec<SecretString> =
        all.filter(|secret| !secret.is_empty()).map(SecretString::from).collect();
    if (1..=MOST_SECRETS).contains(&secrets.len()) { Ok(secrets) } else { Err(WrongSecrets) }
}
