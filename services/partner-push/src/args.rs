//! Flags and environment. `--help` is the reference; the checks are in [`crate::config`].

use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Parser};
use partner::args::PartnerArgs;
use partner::media::MediaArgs;
use runtime::city::CityFilesArgs;
use runtime::config::{DatabaseArgs, ShellArgs, parse_ms};
use runtime::{ConfigError, ServiceArgs};

use crate::config::Config;

/// Hands received reports to the contractor, each one once
#[derive(Clone, Parser)]
#[command(name = "partner-push", version)]
pub struct Args {
    #[command(flatten)]
    pub(crate) shell: ShellArgs,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Channels whose reports are handed over, separated by commas; each has a gate, a breaker and slots of its own
    #[arg(long = "channel", env = "ABISU_CHANNEL", default_value = "whatsapp", value_delimiter = ',')]
    pub(crate) channels: Vec<String>,
    /// How long to wait for news before looking for due reports anyway
    #[arg(long, env = "ABISU_POLL_MS", default_value = "1000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) poll: Duration,
    /// Hand reports over; while this is off, nothing is claimed and they wait
    #[arg(
        long,
        env = "ABISU_PARTNER_ENABLED",
        default_value = "false",
        num_args = 0..=1,
        default_missing_value = "true",
        action = ArgAction::Set,
        value_parser = BoolishValueParser::new()
    )]
    pub(crate) partner_enabled: bool,
    #[command(flatten)]
    pub(crate) partner: PartnerArgs,
    #[command(flatten)]
    pub(crate) media: MediaArgs,
    #[command(flatten)]
    pub(crate) city: CityFilesArgs,
    #[command(flatten)]
    pub(crate) sending: SendingArgs,
}

/// How reports are sent.
#[derive(Clone, clap::Args)]
pub(crate) struct SendingArgs {
    /// Statuses (408, 425, 5xx) that the platform documents as "nothing was made", comma separated
    #[arg(long, env = "ABISU_PARTNER_NOT_PROCESSED", value_delimiter = ',')]
    pub(crate) partner_not_processed: Vec<u16>,
    /// Reports in flight at the same time
    #[arg(long, env = "ABISU_PARTNER_PARALLEL", default_value_t = 4)]
    pub(crate) partner_parallel: u16,
    /// Lease on a report; longer than a login and a send together
    #[arg(long, env = "ABISU_PARTNER_LEASE_MS", default_value = "60000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) partner_lease: Duration,
    /// Time for a connection to the platform
    #[arg(long, env = "ABISU_PARTNER_CONNECT_TIMEOUT_MS", default_value = "5000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) partner_connect_timeout: Duration,
    /// Time for one send, connection and answer included
    #[arg(long, env = "ABISU_PARTNER_SEND_TIMEOUT_MS", default_value = "30000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) partner_send_timeout: Duration,
    /// Time for one login, connection and answer included
    #[arg(long, env = "ABISU_PARTNER_LOGIN_TIMEOUT_MS", default_value = "10000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) partner_login_timeout: Duration,
    /// How long a report waits for its photo before a person is asked
    #[arg(long, env = "ABISU_PARTNER_PHOTO_WAIT_MS", default_value = "86400000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) partner_photo_wait: Duration,
    /// Wait after the first failure of a report; doubles up to sixteen times this
    #[arg(long, env = "ABISU_PARTNER_BACKOFF_MS", default_value = "30000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) partner_backoff: Duration,
    /// Wait while the platform cannot be reached; doubles up to twelve times this
    #[arg(long, env = "ABISU_PARTNER_DEFER_MS", default_value = "5000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) partner_defer: Duration,
    /// Reports a second, over all replicas, while what gathered during an outage goes out
    #[arg(long, env = "ABISU_PARTNER_DRAIN_RATE", default_value_t = 20)]
    pub(crate) partner_drain_rate: u16,
    /// Wait before a doubtful report is looked up; the second look is five times this later
    #[arg(long, env = "ABISU_PARTNER_PROBE_DELAY_MS", default_value = "60000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) partner_probe_delay: Duration,
    /// Wait before a token is asked for the id it stands for; doubles up to an hour
    #[arg(long, env = "ABISU_PARTNER_TOKEN_WAIT_MS", default_value = "30000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) partner_token_wait: Duration,
}

impl ServiceArgs for Args {
    type Config = Config;

    fn shell(&self) -> &ShellArgs {
        &self.shell
    }

    fn config(self) -> Result<Config, ConfigError> {
        Config::try_from(self)
    }
}
