//! The channels of a command line: a file that lists them, or one that the variables describe, and the synthetic one.
//! Each secret is remembered by its place, so that one in a file can be looked at again.

use std::path::{Path, PathBuf};

use channel::config::{
    Account, ChannelsFile, GRAPH_URL, GRAPH_VERSION, Loaded, Meta, Provider, Purpose, SYNTHETIC, SecretRef,
    Source, Webhook,
};
use runtime::config::{ConfigError, optional_secret};
use secrecy::{ExposeSecret, SecretString};

use crate::args::MetaArgs;
use crate::channels::ChannelSource;

/// Id of the channel that is made from the environment.
const ENVIRONMENT_CHANNEL: &str = "whatsapp";
const CHANNELS_FILE: &str = "ABISU_CHANNELS_FILE";
const SYNTHETIC_SECRET: &str = "ABISU_SYNTHETIC_CHANNEL_SECRET";
const APP_SECRET: &str = "ABISU_META_APP_SECRET";
const VERIFY_TOKEN: &str = "ABISU_META_VERIFY_TOKEN";

/// A secret that was given, and the place that it is in.
struct Given {
    name: &'static str,
    secret: SecretString,
    source: Source,
}

impl Given {
    fn optional(
        name: &'static str,
        value: Option<String>,
        file: Option<PathBuf>,
    ) -> Result<Option<Self>, ConfigError> {
        let source = match file.clone().filter(|path| !path.as_os_str().is_empty()) {
            Some(path) => Source::File(path),
            None => Source::Env(name.to_owned()),
        };
        Ok(optional_secret(name, value, file)?.map(|secret| Self { name, secret, source }))
    }

    fn required(
        name: &'static str,
        value: Option<String>,
        file: Option<PathBuf>,
    ) -> Result<Self, ConfigError> {
        Self::optional(name, value, file)?.ok_or(ConfigError::MissingSecret(name))
    }

    fn reference(&self, field: &'static str) -> SecretRef {
        SecretRef { source: self.source.clone(), line: 0, field }
    }
}

/// Looks a variable up: what was given may have been given by a flag.
fn lookup<'g>(given: &'g [&Given]) -> impl Fn(&str) -> Option<String> + 'g {
    move |name| match given.iter().find(|given| given.name == name) {
        Some(given) => Some(given.secret.expose_secret().to_owned()),
        None => std::env::var(name).ok(),
    }
}

/// The channels, complete, and where their secrets are.
pub(super) fn load(
    file: Option<PathBuf>,
    meta: MetaArgs,
    (value, secret_file): (Option<String>, Option<PathBuf>),
) -> Result<ChannelSource, ConfigError> {
    let synthetic = Given::optional(SYNTHETIC_SECRET, value, secret_file)?;
    match file.filter(|path| !path.as_os_str().is_empty()) {
        Some(path) => {
            if let Some(name) = meta.given() {
                let problem = format!("is set, and so is {name}; list that channel in the file");
                return Err(ConfigError::invalid(CHANNELS_FILE, problem));
            }
            from_file(&path, synthetic.as_ref())
        }
        None => from_environment(meta, synthetic.as_ref()),
    }
}

/// The channel whose reports leave by no door, beside whatever other channels there are.
fn synthetic_account(given: &Given) -> Account<SecretRef> {
    let (url, media_hosts, secrets) = (None, Vec::new(), vec![given.reference("secrets")]);
    let webhook = Webhook { secrets, url, media_hosts, synthetic: true };
    Account { id: SYNTHETIC.to_owned(), provider: Provider::Webhook(webhook) }
}

fn from_file(path: &Path, synthetic: Option<&Given>) -> Result<ChannelSource, ConfigError> {
    let wrong = |problem: &dyn std::fmt::Display| {
        ConfigError::invalid(CHANNELS_FILE, format!("{}: {problem}", path.display()))
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error.kind()))?;
    let mut file = ChannelsFile::parse(&text).map_err(|error| wrong(&error))?;
    if let Some(synthetic) = synthetic {
        file = file.with(synthetic_account(synthetic)).ok_or_else(|| {
            ConfigError::invalid(SYNTHETIC_SECRET, "is set, and the file of channels lists that channel too")
        })?;
    }
    let given: Vec<&Given> = synthetic.into_iter().collect();
    let loaded = Loaded::of(file, Purpose::Receive, lookup(&given)).map_err(|error| wrong(&error))?;
    Ok(ChannelSource::of(loaded))
}

fn from_environment(args: MetaArgs, synthetic: Option<&Given>) -> Result<ChannelSource, ConfigError> {
    let MetaArgs {
        meta_app_secret,
        meta_app_secret_file,
        meta_verify_token,
        meta_verify_token_file,
        meta_phone_number_id,
    } = args;
    let app_secrets = Given::required(APP_SECRET, meta_app_secret, meta_app_secret_file)?;
    let verify_token = Given::required(VERIFY_TOKEN, meta_verify_token, meta_verify_token_file)?;
    let phone_number_id = meta_phone_number_id.unwrap_or_default().trim().to_owned();
    if phone_number_id.is_empty() {
        let problem = "not set; it is the number's id at Meta";
        return Err(ConfigError::invalid("ABISU_META_PHONE_NUMBER_ID", problem));
    }
    let provider = Provider::Meta(Meta {
        default: true,
        phone_number_id,
        waba_id: None,
        graph_url: GRAPH_URL.to_owned(),
        graph_version: GRAPH_VERSION.to_owned(),
        app_secrets: vec![app_secrets.reference("app_secrets")],
        verify_token: verify_token.reference("verify_token"),
        access_token: None,
        test_numbers: Vec::new(),
    });
    let mut file = ChannelsFile::of(Account { id: ENVIRONMENT_CHANNEL.to_owned(), provider });
    if let Some(synthetic) = synthetic {
        let twice = || ConfigError::invalid(SYNTHETIC_SECRET, "there is that channel already");
        file = file.with(synthetic_account(synthetic)).ok_or_else(twice)?;
    }
    let given: Vec<&Given> = [&app_secrets, &verify_token].into_iter().chain(synthetic).collect();
    let loaded = Loaded::of(file, Purpose::Receive, lookup(&given));
    let loaded = loaded.map_err(|error| ConfigError::invalid(APP_SECRET, error.to_string()))?;
    ChannelSource::joined(loaded, ENVIRONMENT_CHANNEL)
        .map_err(|error| ConfigError::invalid(APP_SECRET, error.to_string()))
}

impl MetaArgs {
    /// The first variable of a channel from the environment that is set.
    fn given(&self) -> Option<&'static str> {
        let text = |value: &Option<String>| value.as_ref().is_some_and(|value| !value.is_empty());
        let path = |value: &Option<PathBuf>| value.as_ref().is_some_and(|path| !path.as_os_str().is_empty());
        let all = [
            (APP_SECRET, text(&self.meta_app_secret)),
            ("ABISU_META_APP_SECRET_FILE", path(&self.meta_app_secret_file)),
            (VERIFY_TOKEN, text(&self.meta_verify_token)),
            ("ABISU_META_VERIFY_TOKEN_FILE", path(&self.meta_verify_token_file)),
            ("ABISU_META_PHONE_NUMBER_ID", text(&self.meta_phone_number_id)),
        ];
        all.into_iter().find_map(|(name, given)| given.then_some(name))
    }
}
