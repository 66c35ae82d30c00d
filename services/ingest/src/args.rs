//! The command line and the environment, unchecked.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use partner::media::MediaSecretArgs;
use runtime::config::{ConfigError, DatabaseArgs, ServiceArgs, ShellArgs, parse_ms};

use crate::config::Config;

/// The door: takes the provider's webhooks and stores them before it answers.
#[derive(Clone, clap::Parser)]
#[command(name = "ingest", version)]
pub struct Args {
    /// Address of the webhook port
    #[arg(long, env = "ABISU_LISTEN", default_value = "0.0.0.0:8080")]
    pub(crate) listen: SocketAddr,
    /// Connections that are served at the same time; when one more comes, the one that has shown least is closed
    #[arg(long, env = "ABISU_MOST_CONNECTIONS", default_value_t = 8192)]
    pub(crate) most_connections: usize,
    /// How long a connection may rest between two calls while there is room; longer than any proxy in front keeps it
    #[arg(long, env = "ABISU_IDLE_CONNECTION_MS", default_value = "620000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) idle_connection: Duration,
    /// File that lists the channels (YAML); instead of the one channel that ABISU_META_… describe
    #[arg(long, env = "ABISU_CHANNELS_FILE")]
    pub(crate) channels_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) meta: MetaArgs,
    /// Secret of the synthetic channel, whose reports leave by no door; the channel is there when this is set
    #[arg(long, env = "ABISU_SYNTHETIC_CHANNEL_SECRET", hide_env_values = true)]
    pub(crate) synthetic_channel_secret: Option<String>,
    /// File that holds it
    #[arg(long, env = "ABISU_SYNTHETIC_CHANNEL_SECRET_FILE")]
    pub(crate) synthetic_channel_secret_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) media: MediaSecretArgs,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) shell: ShellArgs,
}

/// One channel, without a file.
#[derive(Clone, clap::Args)]
pub(crate) struct MetaArgs {
    /// App secret that Meta signs with; two, separated by a comma, while it is rotated
    #[arg(long, env = "ABISU_META_APP_SECRET", hide_env_values = true)]
    pub(crate) meta_app_secret: Option<String>,
    /// File that holds the app secret
    #[arg(long, env = "ABISU_META_APP_SECRET_FILE")]
    pub(crate) meta_app_secret_file: Option<PathBuf>,
    /// Token that Meta shows when the webhook's address is saved
    #[arg(long, env = "ABISU_META_VERIFY_TOKEN", hide_env_values = true)]
    pub(crate) meta_verify_token: Option<String>,
    /// File that holds the verify token
    #[arg(long, env = "ABISU_META_VERIFY_TOKEN_FILE")]
    pub(crate) meta_verify_token_file: Option<PathBuf>,
    /// Id (not the digits) of the WhatsApp number, from Meta's dashboard
    #[arg(long, env = "ABISU_META_PHONE_NUMBER_ID")]
    pub(crate) meta_phone_number_id: Option<String>,
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
