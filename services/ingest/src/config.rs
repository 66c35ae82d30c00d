//! The checked configuration: where to listen, where to store, and which channels there are: one from the environment,
//! or those of a file. Both at once would leave open which of them a number belongs to, so that refuses to start.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use channel::config::{
    Account, ChannelsFile, GRAPH_URL, GRAPH_VERSION, MOST_SECRETS, Meta, Provider, Purpose, SYNTHETIC,
    SecretRef, Secrets, Source, Webhook,
};
use partner::media::MediaKeys;
use runtime::config::{ConfigError, DatabaseConfig, optional_secret, required_secret};
use secrecy::{ExposeSecret, SecretString};

use crate::args::{Args, MetaArgs};
use crate::channels::{ChannelSource, Channels};

/// Id of the channel that is made from the environment.
const ENVIRONMENT_CHANNEL: &str = "whatsapp";
/// Each takes a few kilobytes and a file descriptor.
const MOST_CONNECTIONS: usize = 65_536;
const CHANNELS_FILE: &str = "ABISU_CHANNELS_FILE";
const SYNTHETIC_SECRET: &str = "ABISU_SYNTHETIC_CHANNEL_SECRET";
/// A mounted secret is replaced by the kubelet about a minute after it has changed; this adds little to that.
const REREAD: Duration = Duration::from_secs(5);

/// What the service runs with.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address of the webhook port.
    pub listen: SocketAddr,
    /// Connections served at the same time.
    pub most_connections: usize,
    /// The database.
    pub database: DatabaseConfig,
    /// The channels.
    pub channels: ChannelSource,
    /// What links to photos are verified with; none: no photo is served.
    pub media: Option<MediaKeys>,
}

impl TryFrom<Args> for Config {
    type Error = ConfigError;

    fn try_from(args: Args) -> Result<Self, ConfigError> {
        let Args {
            listen,
            most_connections,
            channels_file,
            meta,
            synthetic_channel_secret,
            synthetic_channel_secret_file,
            media,
            database,
            shell: _,
        } = args;
        let synthetic = Synthetic::given(synthetic_channel_secret, synthetic_channel_secret_file)?;
        let channels = match channels_file.filter(|path| !path.as_os_str().is_empty()) {
            Some(path) => {
                if let Some(name) = meta.given() {
                    let problem = format!("is set, and so is {name}; list that channel in the file");
                    return Err(ConfigError::invalid(CHANNELS_FILE, problem));
                }
                from_file(&path, synthetic)?
            }
            None => {
                let own = synthetic.map(|synthetic| synthetic.account(synthetic.secret.clone()));
                ChannelSource::Fixed(Channels::of([from_environment(meta)?].into_iter().chain(own)))
            }
        };
        if !(1..=MOST_CONNECTIONS).contains(&most_connections) {
            let problem = format!("must be 1 to {MOST_CONNECTIONS}");
            return Err(ConfigError::invalid("ABISU_MOST_CONNECTIONS", problem));
        }
        Ok(Self { listen, most_connections, database: database.config()?, channels, media: media.config()? })
    }
}

/// The channel whose reports leave by no door, beside whatever other channels there are.
struct Synthetic {
    secret: SecretString,
    source: Source,
}

impl Synthetic {
    fn given(value: Option<String>, file: Option<PathBuf>) -> Result<Option<Self>, ConfigError> {
        let source = match file.clone().filter(|path| !path.as_os_str().is_empty()) {
            Some(path) => Source::File(path),
            None => Source::Env(SYNTHETIC_SECRET.to_owned()),
        };
        let secret = optional_secret(SYNTHETIC_SECRET, value, file)?;
        Ok(secret.map(|secret| Self { secret, source }))
    }

    fn account<S>(&self, secret: S) -> Account<S> {
        let (url, media_hosts) = (None, Vec::new());
        let webhook = Webhook { secrets: vec![secret], url, media_hosts, synthetic: true };
        Account { id: SYNTHETIC.to_owned(), provider: Provider::Webhook(webhook) }
    }
}

fn from_file(path: &Path, synthetic: Option<Synthetic>) -> Result<ChannelSource, ConfigError> {
    let wrong = |problem: &dyn std::fmt::Display| {
        ConfigError::invalid(CHANNELS_FILE, format!("{}: {problem}", path.display()))
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error.kind()))?;
    let mut file = ChannelsFile::parse(&text).map_err(|error| wrong(&error))?;
    let mut told = None;
    if let Some(synthetic) = synthetic {
        let own = SecretRef { source: synthetic.source.clone(), line: 0, field: "secrets" };
        file = file.with(synthetic.account(own)).ok_or_else(|| {
            ConfigError::invalid(SYNTHETIC_SECRET, "is set, and the file of channels lists that channel too")
        })?;
        told = Some(synthetic.secret.expose_secret().to_owned());
    }
    // It may have been given by a flag.
    let env =
        |name: &str| told.clone().filter(|_| name == SYNTHETIC_SECRET).or_else(|| std::env::var(name).ok());
    let secrets = Secrets::read_for(&file, Purpose::Receive, env).map_err(|error| wrong(&error))?;
    Ok(ChannelSource::File { file, secrets, reread: REREAD })
}

fn from_environment(args: MetaArgs) -> Result<Account, ConfigError> {
    let MetaArgs {
        meta_app_secret,
        meta_app_secret_file,
        meta_verify_token,
        meta_verify_token_file,
        meta_phone_number_id,
    } = args;
    let secrets = required_secret("ABISU_META_APP_SECRET", meta_app_secret, meta_app_secret_file)?;
    let verify_token = required_secret("ABISU_META_VERIFY_TOKEN", meta_verify_token, meta_verify_token_file)?;
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
        app_secrets: app_secrets(&secrets)?,
        verify_token,
        access_token: None,
        test_numbers: Vec::new(),
    });
    Ok(Account { id: ENVIRONMENT_CHANNEL.to_owned(), provider })
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

impl MetaArgs {
    /// The first variable of a channel from the environment that is set.
    fn given(&self) -> Option<&'static str> {
        let text = |value: &Option<String>| value.as_ref().is_some_and(|value| !value.is_empty());
        let path = |value: &Option<PathBuf>| value.as_ref().is_some_and(|path| !path.as_os_str().is_empty());
        let all = [
            ("ABISU_META_APP_SECRET", text(&self.meta_app_secret)),
            ("ABISU_META_APP_SECRET_FILE", path(&self.meta_app_secret_file)),
            ("ABISU_META_VERIFY_TOKEN", text(&self.meta_verify_token)),
            ("ABISU_META_VERIFY_TOKEN_FILE", path(&self.meta_verify_token_file)),
            ("ABISU_META_PHONE_NUMBER_ID", text(&self.meta_phone_number_id)),
        ];
        all.into_iter().find_map(|(name, given)| given.then_some(name))
    }
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

    fn from_text(name: &str, text: &str) -> Result<Config, String> {
        let path = std::env::temp_dir().join(format!("abisu-channels-{name}-{}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let found = config(&[&format!("--channels-file={}", path.display()), GOOD[3]]);
        std::fs::remove_file(path).unwrap();
        found
    }

    #[test]
    fn what_is_needed_is_enough() {
        let config = config(&GOOD).unwrap();
        let ChannelSource::Fixed(channels) = &config.channels else { panic!("no file was given") };
        let channel = channels.get("whatsapp").unwrap();
        let Provider::Meta(meta) = &channel.provider else { panic!("a channel of Meta") };
        assert_eq!((meta.app_secrets.len(), meta.phone_number_id.as_str()), (2, "1"));
        assert!(channels.get("other").is_none());
        assert_eq!(channels.default_meta().map(|channel| channel.id.as_str()), Some("whatsapp"));
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

    #[test]
    fn a_file_and_a_channel_from_the_environment_do_not_go_together() {
        for given in &GOOD[..3] {
            let error = config(&["--channels-file=/nowhere", given, GOOD[3]]).unwrap_err();
            assert!(error.starts_with("ABISU_CHANNELS_FILE: is set, and so is ABISU_META_"), "{error}");
        }
    }

    #[test]
    fn the_synthetic_channel_is_there_when_its_secret_is_and_stands_beside_any_other() {
        let with: Vec<&str> = GOOD.into_iter().chain(["--synthetic-channel-secret=s3cret"]).collect();
        let ChannelSource::Fixed(channels) = config(&with).unwrap().channels else { panic!("no file") };
        assert_eq!(channels.get("synthetic").unwrap().kind(), "synthetic");
        let webhook = "channels: [{id: a, kind: webhook, secrets: [{env: PATH}]}]";
        for (listed, expected) in
            [(webhook, "a"), ("channels: [{id: synthetic, kind: synthetic, secrets: [{env: PATH}]}]", "")]
        {
            let path =
                std::env::temp_dir().join(format!("abisu-synthetic-{expected}-{}", std::process::id()));
            std::fs::write(&path, listed).unwrap();
            let flag = format!("--channels-file={}", path.display());
            let found = config(&[&flag, "--synthetic-channel-secret=s3cret", GOOD[3]]);
            std::fs::remove_file(path).unwrap();
            match found {
                Ok(config) => {
                    let ChannelSource::File { file, .. } = config.channels else { panic!("a file") };
                    let ids: Vec<&str> = file.accounts().iter().map(|account| account.id.as_str()).collect();
                    assert_eq!(ids, [expected, "synthetic"]);
                }
                Err(error) => {
                    assert!(
                        expected.is_empty() && error.starts_with("ABISU_SYNTHETIC_CHANNEL_SECRET: is set"),
                        "{error}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_wrong_file_refuses_to_start_and_names_line_and_field() {
        let missing = config(&["--channels-file=/nowhere", GOOD[3]]).unwrap_err();
        assert!(missing.contains("/nowhere: entity not found"), "{missing}");
        let shape = from_text("shape", "channels:\n  - id: a\n    kind: telegram\n").unwrap_err();
        assert!(shape.contains("line 3, kind: must be one of"), "{shape}");
        let secret = from_text(
            "secret",
            "channels:\n  - id: a\n    kind: webhook\n    secrets:\n      - {file: /nowhere}\n",
        );
        let secret = secret.unwrap_err();
        assert!(secret.contains("line 5, secrets: /nowhere: cannot be read"), "{secret}");
    }
}
