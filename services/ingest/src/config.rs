//! The checked configuration: where to listen, where to store, and which channels there are: one from the environment,
//! or those of a file. Both at once would leave open which of them a number belongs to, so that refuses to start.

mod accounts;

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use runtime::config::{ConfigError, DatabaseConfig};

use crate::args::Args;
use crate::channels::ChannelSource;
use crate::media::MediaSource;

/// Each takes a few kilobytes and a file descriptor.
const MOST_CONNECTIONS: usize = 65_536;
/// Shorter than an answer takes to reach its reader, or so long that nobody meant it.
const IDLE: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(24 * 60 * 60);
/// A mounted secret is replaced by the kubelet about a minute after it has changed; this adds little to that.
const REREAD: Duration = Duration::from_secs(5);

/// What the service runs with.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address of the webhook port.
    pub listen: SocketAddr,
    /// Connections served at the same time.
    pub most_connections: usize,
    /// How long a connection may rest between two calls. Whoever closes first should be the proxy in front: one that
    /// sends a call into a connection which we close at that moment answers 502. Common proxies keep it for 60 s (nginx,
    /// AWS), 90 s (Traefik), 120 s (Caddy) or 600 s (Google Cloud).
    pub idle: Duration,
    /// The database.
    pub database: DatabaseConfig,
    /// The channels.
    pub channels: ChannelSource,
    /// What links to photos are verified with; none: no photo is served.
    pub media: Option<MediaSource>,
    /// How often the files of secrets are looked at again.
    pub reread: Duration,
}

impl TryFrom<Args> for Config {
    type Error = ConfigError;

    fn try_from(args: Args) -> Result<Self, ConfigError> {
        let Args {
            listen,
            most_connections,
            idle_connection: idle,
            channels_file,
            meta,
            synthetic_channel_secret,
            synthetic_channel_secret_file,
            media,
            database,
            shell: _,
        } = args;
        let synthetic = (synthetic_channel_secret, synthetic_channel_secret_file);
        let channels = accounts::load(channels_file, meta, synthetic)?;
        if !(1..=MOST_CONNECTIONS).contains(&most_connections) {
            let problem = format!("must be 1 to {MOST_CONNECTIONS}");
            return Err(ConfigError::invalid("ABISU_MOST_CONNECTIONS", problem));
        }
        if !IDLE.contains(&idle) {
            return Err(ConfigError::invalid("ABISU_IDLE_CONNECTION_MS", "must be a second to a day"));
        }
        let (database, media) = (database.config()?, MediaSource::given(&media)?);
        Ok(Self { listen, most_connections, idle, database, channels, media, reread: REREAD })
    }
}

#[cfg(test)]
mod tests {
    use channel::config::Provider;
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
        let channels = config.channels.channels();
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
    fn a_connection_rests_longer_than_proxies_keep_it_and_as_long_as_is_told() {
        assert!(config(&GOOD).unwrap().idle > Duration::from_secs(600));
        let told = |milliseconds: &str| {
            let flag = format!("--idle-connection={milliseconds}");
            config(&[&GOOD[..], &[&flag]].concat()).map(|config| config.idle)
        };
        assert_eq!(told("4000000"), Ok(Duration::from_secs(4000)));
        for wrong in ["999", "86400001"] {
            assert!(told(wrong).unwrap_err().starts_with("ABISU_IDLE_CONNECTION_MS:"));
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
        let channels = config(&with).unwrap().channels.channels();
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
                    let channels = config.channels.channels();
                    assert!(channels.get(expected).is_some() && channels.get("synthetic").is_some());
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
