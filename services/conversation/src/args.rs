//! Flags and environment of the service. `--help` is the reference.

use std::path::PathBuf;
use std::time::Duration;

use runtime::ConfigError;
use runtime::city::CityFilesArgs;
use runtime::config::{CityArgs, DatabaseArgs, ServiceArgs, ShellArgs, parse_base_url, parse_ms};

use crate::config::Config;

/// Works the inbound queues of all channels and sends the replies.
#[derive(clap::Parser)]
#[command(name = "conversation", version = runtime::VERSION)]
pub struct Args {
    #[command(flatten)]
    pub(crate) shell: ShellArgs,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) city: CityArgs,
    #[command(flatten)]
    pub(crate) files: CityFilesArgs,
    /// URL of the geocode service (gRPC)
    #[arg(long, env = "ABISU_GEOCODE_URL", default_value = "http://geocode:50051", value_parser = parse_base_url)]
    pub(crate) geocode_url: String,
    /// Time between two looks at the addresses of its name; one that does not answer is looked for at once
    #[arg(long, env = "ABISU_GEOCODE_RESOLVE_MS", default_value = "5000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) geocode_resolve: Duration,
    /// How long a lookup at geocode may take
    #[arg(long, env = "ABISU_LOOKUP_TIMEOUT_MS", default_value = "8000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) lookup_timeout: Duration,
    /// File that lists the channels (YAML); instead of the one channel that ABISU_META_… describe
    #[arg(long, env = "ABISU_CHANNELS_FILE")]
    pub(crate) channels_file: Option<PathBuf>,
    /// Base URL of the Graph API, before the version
    #[arg(long, env = "ABISU_META_GRAPH_URL", default_value = "https://graph.facebook.com", value_parser = parse_base_url)]
    pub(crate) meta_graph_url: String,
    /// Version of the Graph API
    #[arg(long, env = "ABISU_META_GRAPH_VERSION", default_value = "v26.0")]
    pub(crate) meta_graph_version: String,
    /// Id of the business phone number that replies leave from
    #[arg(long, env = "ABISU_META_PHONE_NUMBER_ID")]
    pub(crate) meta_phone_number_id: Option<String>,
    /// Access token of the Graph API
    #[arg(long, env = "ABISU_META_ACCESS_TOKEN", hide_env_values = true)]
    pub(crate) meta_access_token: Option<String>,
    /// File that holds the access token
    #[arg(long, env = "ABISU_META_ACCESS_TOKEN_FILE")]
    pub(crate) meta_access_token_file: Option<PathBuf>,
    /// Numbers, separated by commas, that are sent forms which are still drafts
    #[arg(long, env = "ABISU_META_TEST_NUMBERS", value_delimiter = ',', hide_env_values = true)]
    pub(crate) meta_test_numbers: Vec<String>,
    /// Set as for ingest: then the synthetic channel is worked, whose reports leave by no door
    #[arg(long, env = "ABISU_SYNTHETIC_CHANNEL_SECRET", hide_env_values = true)]
    pub(crate) synthetic_channel_secret: Option<String>,
    /// File that holds it
    #[arg(long, env = "ABISU_SYNTHETIC_CHANNEL_SECRET_FILE")]
    pub(crate) synthetic_channel_secret_file: Option<PathBuf>,
    /// Chats of one channel worked at the same time
    #[arg(long, env = "ABISU_WORKERS", default_value_t = 16)]
    pub(crate) workers: u32,
    /// Events of one chat worked before it makes room for others
    #[arg(long, env = "ABISU_EVENTS_PER_CHAT", default_value_t = 8)]
    pub(crate) events_per_chat: u32,
    /// How long a chat, a reply or a photo stays with a worker that says nothing
    #[arg(long, env = "ABISU_LEASE_MS", default_value = "30000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) lease: Duration,
    /// Longest time between two looks at a queue that nothing was heard of
    #[arg(long, env = "ABISU_POLL_MS", default_value = "1000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) poll: Duration,
    /// Wait after the first failed attempt; it doubles
    #[arg(long, env = "ABISU_BACKOFF_MS", default_value = "2000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) backoff: Duration,
    /// Wait of work that cannot run now
    #[arg(long, env = "ABISU_DEFER_MS", default_value = "1000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) defer: Duration,
    /// How long a request to the Graph API may take
    #[arg(long, env = "ABISU_SEND_TIMEOUT_MS", default_value = "10000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) send_timeout: Duration,
    /// Messages that a channel's number may send in a second, all replicas together
    #[arg(long, env = "ABISU_SENDS_PER_SECOND", default_value_t = 80)]
    pub(crate) sends_per_second: u32,
    /// How long a receipt is waited for before a reply whose answer was lost is sent again
    #[arg(long, env = "ABISU_RECEIPT_WAIT_MS", default_value = "3000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) receipt_wait: Duration,
    /// First wait before a paused channel is probed; it doubles, up to 5 minutes, if the channel pauses again at once
    #[arg(long, env = "ABISU_PROBE_MS", default_value = "30000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) probe: Duration,
    /// Wait before a form that the provider blocks is sent again
    #[arg(long, env = "ABISU_FORM_RETRY_MS", default_value = "300000", value_name = "MS", value_parser = parse_ms)]
    pub(crate) form_retry: Duration,
    /// Mark messages as read and show that they are worked on
    #[arg(long, env = "ABISU_MARK_READ", default_value_t = true, action = clap::ArgAction::Set)]
    pub(crate) mark_read: bool,
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        super::Args::command().debug_assert();
    }
}
