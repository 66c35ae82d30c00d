//! Where forms are published: in the account of every Meta channel of the channels file, or of one, or in the account
//! that flags and environment describe.
//!
//! Of the file only what publishing takes is read. So it needs no secret of a channel that has no forms.

use std::path::{Path, PathBuf};
use std::time::Duration;

use channel::config::{ChannelsFile, GRAPH_URL, GRAPH_VERSION, Loaded, Meta, Provider, Purpose};
use channel::meta::GraphConfig;
use runtime::ConfigError;
use runtime::config::required_secret;
use secrecy::SecretString;

use crate::Failure;

/// An upload may take the platform a while to check.
const TIMEOUT: Duration = Duration::from_secs(30);
const CHANNELS_FILE: &str = "ABISU_CHANNELS_FILE";
const ACCESS_TOKEN: &str = "ABISU_META_ACCESS_TOKEN";
/// The channel that flags and environment describe, where they give it no other name.
const CHANNEL: &str = "whatsapp";

/// What flags and environment say.
#[derive(clap::Args)]
pub(crate) struct AccountArgs {
    /// File that lists the channels (YAML): forms are published for every Meta channel with a waba_id in it. What stands
    /// below is about one channel, and where it is given the file is not read
    #[arg(long, env = "ABISU_CHANNELS_FILE")]
    channels_file: Option<PathBuf>,
    /// Id of the channel that sends the forms; of a file, only this one [default: whatsapp, or all of the file]
    #[arg(long)]
    channel: Option<String>,
    /// Base of the Graph API, without the version
    #[arg(
        long,
        env = "ABISU_META_GRAPH_URL",
        default_value = GRAPH_URL,
        value_parser = runtime::config::parse_base_url
    )]
    graph_url: String,
    /// Version of the Graph API
    #[arg(long, env = "ABISU_META_GRAPH_VERSION", default_value = GRAPH_VERSION)]
    graph_version: String,
    /// Id of the phone number
    #[arg(long, env = "ABISU_META_PHONE_NUMBER_ID")]
    phone_number_id: Option<String>,
    /// Id of the WhatsApp Business Account
    #[arg(long, env = "ABISU_META_WABA_ID")]
    waba_id: Option<String>,
    /// Access token of the Graph API
    #[arg(long, env = "ABISU_META_ACCESS_TOKEN", hide_env_values = true)]
    access_token: Option<String>,
    /// File that holds the access token
    #[arg(long, env = "ABISU_META_ACCESS_TOKEN_FILE")]
    access_token_file: Option<PathBuf>,
}

/// An account, and the channel whose forms it has.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) channel: String,
    pub(super) waba_id: String,
    pub(super) config: GraphConfig,
}

impl AccountArgs {
    /// Where to publish, and the channels of the file that have nowhere to.
    ///
    /// # Errors
    /// What is missing or wrong.
    pub(super) fn places(self) -> Result<(Vec<Place>, Vec<String>), Failure> {
        let path = self.channels_file.as_deref().filter(|path| !path.as_os_str().is_empty());
        match path {
            Some(path) if !self.names_one() => of_file(path, self.channel.as_deref()),
            Some(_) | None => Ok((vec![self.one()?], Vec::new())),
        }
    }

    /// Whether an account is described beside the file.
    fn names_one(&self) -> bool {
        let text = |value: &Option<String>| value.as_ref().is_some_and(|value| !value.is_empty());
        let path = |value: &Option<PathBuf>| value.as_ref().is_some_and(|path| !path.as_os_str().is_empty());
        [&self.phone_number_id, &self.waba_id, &self.access_token].into_iter().any(text)
            || path(&self.access_token_file)
    }

    fn one(self) -> Result<Place, ConfigError> {
        let token = required_secret(ACCESS_TOKEN, self.access_token, self.access_token_file)?;
        let phone_number_id = given("ABISU_META_PHONE_NUMBER_ID", self.phone_number_id)?;
        Ok(Place {
            channel: self.channel.unwrap_or_else(|| CHANNEL.to_owned()),
            waba_id: given("ABISU_META_WABA_ID", self.waba_id)?,
            config: config(self.graph_url, self.graph_version, phone_number_id, token),
        })
    }
}

/// The Meta channels of a file, or the one of this id.
fn of_file(path: &Path, only: Option<&str>) -> Result<(Vec<Place>, Vec<String>), Failure> {
    let wrong = |problem: &dyn std::fmt::Display| {
        ConfigError::invalid(CHANNELS_FILE, format!("{}: {problem}", path.display()))
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error.kind()))?;
    let file = ChannelsFile::parse(&text).map_err(|error| wrong(&error))?;
    let (mut places, mut nowhere, mut known) = (Vec::new(), Vec::new(), Vec::new());
    for account in file.accounts() {
        let Provider::Meta(meta) = &account.provider else { continue };
        known.push(account.id.as_str());
        if only.is_some_and(|only| only != account.id) {
            continue;
        }
        let Some(waba_id) = &meta.waba_id else {
            nowhere.push(account.id.clone());
            continue;
        };
        if let Some(field) = account.lacks() {
            return Err(wrong(&format!("the channel {}, {field}: is missing", account.id)).into());
        }
        let alone = ChannelsFile::of(account.clone());
        let loaded = Loaded::of(alone, Purpose::Send, |name| std::env::var(name).ok());
        let accounts = loaded.map_err(|error| wrong(&error))?.accounts();
        places.extend(accounts.into_iter().filter_map(|account| match account.provider {
            Provider::Meta(meta) => place(account.id, waba_id.clone(), meta),
            Provider::Infobip(_) | Provider::Webhook(_) => None,
        }));
    }
    match only {
        Some(only) if !known.contains(&only) => {
            let there = if known.is_empty() { "there is none".to_owned() } else { known.join(", ") };
            Err(Failure::Usage(format!("--channel: no Meta channel {only:?} in {}: {there}", path.display())))
        }
        Some(only) if places.is_empty() => Err(wrong(&format!(
            "the channel {only}, waba_id: is missing; forms are published in that account"
        ))
        .into()),
        Some(_) | None => Ok((places, nowhere)),
    }
}

fn place(channel: String, waba_id: String, meta: Meta) -> Option<Place> {
    let token = meta.access_token?;
    let config = config(meta.graph_url, meta.graph_version, meta.phone_number_id, token);
    Some(Place { channel, waba_id, config })
}

fn config(base_url: String, version: String, phone_number_id: String, token: SecretString) -> GraphConfig {
    GraphConfig { base_url, version, phone_number_id, token, timeout: TIMEOUT }
}

fn given(name: &'static str, value: Option<String>) -> Result<String, ConfigError> {
    value
        .filter(|value| !value.is_empty())
        .ok_or_else(|| ConfigError::invalid(name, "is not set; it is shown in the app's WhatsApp settings"))
}
