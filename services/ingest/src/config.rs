//! The checked configuration: where to listen, where to store, and which channels there are.
//!
//! There is one channel today, made from the environment; everything below already asks [`Channels`] and not a
//! constant, so that more of them are an addition here and nowhere else.

use std::net::SocketAddr;
use std::sync::Arc;

use runtime::config::{ConfigError, DatabaseConfig, required_secret};
use secrecy::{ExposeSecret, SecretString};

use crate::args::Args;

/// Id of the channel that is made from the environment.
const ENVIRONMENT_CHANNEL: &str = "whatsapp";
/// The secret in force and the one that comes or goes.
const MOST_SECRETS: usize = 2;

/// What the service runs with.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address of the webhook port.
    pub listen: SocketAddr,
    /// The database.
    pub database: DatabaseConfig,
    /// The channels.
    pub channels: Channels,
}

/// All channels, by id.
#[derive(Debug, Clone)]
pub struct Channels {
    all: Vec<Arc<MetaChannel>>,
}

/// A number at Meta.
#[derive(Debug, Clone)]
pub struct MetaChannel {
    /// Our name for it, everywhere.
    pub id: String,
    /// Meta's id of the number.
    pub phone_number_id: String,
    /// Secrets that its webhooks may be signed with; at least one.
    pub app_secrets: Vec<SecretString>,
    /// Token of the handshake.
    pub verify_token: SecretString,
}

impl Channels {
    /// One channel, which is also the default one.
    pub fn of(channel: MetaChannel) -> Self {
        Self { all: vec![Arc::new(channel)] }
    }

    /// The channel with this id.
    pub(crate) fn get(&self, id: &str) -> Option<&Arc<MetaChannel>> {
        self.all.iter().find(|channel| channel.id == id)
    }

    /// The channel behind `/whatsapp/webhook`.
    pub(crate) fn default_meta(&self) -> Option<&Arc<MetaChannel>> {
        self.all.first()
    }
}

impl MetaChannel {
    /// Whether a message to this number belongs to this channel.
    pub(crate) fn owns(&self, phone_number_id: &str) -> bool {
        self.phone_number_id == phone_number_id
    }
}

impl TryFrom<Args> for Config {
    type Error = ConfigError;

    fn try_from(args: Args) -> Result<Self, ConfigError> {
        let Args {
            listen,
            meta_app_secret,
            meta_app_secret_file,
            meta_verify_token,
            meta_verify_token_file,
            meta_phone_number_id,
            database,
            shell: _,
        } = args;
        let secrets = required_secret("ABISU_META_APP_SECRET", meta_app_secret, meta_app_secret_file)?;
        let verify_token =
            required_secret("ABISU_META_VERIFY_TOKEN", meta_verify_token, meta_verify_token_file)?;
        let phone_number_id = meta_phone_number_id.unwrap_or_default().trim().to_owned();
        if phone_number_id.is_empty() {
            return Err(ConfigError::invalid(
                "ABISU_META_PHONE_NUMBER_ID",
                "not set; it is the number's id at Meta",
            ));
        }
        Ok(Self {
            listen,
            database: database.config()?,
            channels: Channels::of(MetaChannel {
                id: ENVIRONMENT_CHANNEL.to_owned(),
                phone_number_id,
                app_secrets: app_secrets(&secrets)?,
                verify_token,
            }),
        })
    }
}

fn app_secrets(joined: &SecretString) -> Result<Vec<SecretString>, ConfigError> {
    let secrets: Vec<SecretString> = joined
        .expose_secret()
        .split(',')
        .map(str::trim)
        .filter(|secret| !secret.is_empty())
        .map(SecretString::from)
        .collect();
    if secrets.is_empty() || secrets.len() > MOST_SECRETS {
        return Err(ConfigError::invalid(
            "ABISU_META_APP_SECRET",
            "must be one secret, or two separated by a comma",
        ));
    }
    Ok(secrets)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    const GOOD: [&str; 4] = [
        "--meta-app-secret=first-s3cret,second-s3cret",
        "--meta-verify-token=v",
        "--meta-phone-number-id=1",
        "--database-url=postgres://abisu_ingest@db/abisu",
    ];

    fn config(arguments: &[&str]) -> Result<Config, String> {
        let args = Args::try_parse_from(std::iter::once(&"ingest").chain(arguments)).unwrap();
        Config::try_from(args).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_needed_is_enough() {
        let config = config(&GOOD).unwrap();
        let channel = config.channels.get("whatsapp").unwrap();
        assert_eq!(channel.app_secrets.len(), 2);
        assert!(channel.owns("1") && !channel.owns("2"));
        assert!(config.channels.get("other").is_none());
        assert_eq!(config.channels.default_meta().map(|channel| channel.id.as_str()), Some("whatsapp"));
        assert!(!format!("{config:?}").contains("s3cret"), "secrets are not shown");
    }

    #[test]
    fn what_is_missing_or_too_much_refuses_to_start_by_name() {
        for (place, name) in
            [(0, "ABISU_META_APP_SECRET"), (1, "ABISU_META_VERIFY_TOKEN"), (2, "ABISU_META_PHONE_NUMBER_ID")]
        {
            let mut arguments = GOOD.to_vec();
            arguments.remove(place);
            let error = config(&arguments).unwrap_err();
            assert!(error.starts_with(name), "{error}");
        }
        for secrets in ["--meta-app-secret=,", "--meta-app-secret=a,b,c"] {
            let mut arguments = GOOD.to_vec();
            arguments[0] = secrets;
            assert!(config(&arguments).unwrap_err().starts_with("ABISU_META_APP_SECRET:"));
        }
    }
}
