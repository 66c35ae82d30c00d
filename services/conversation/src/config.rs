//! The checked configuration: what cannot work refuses to start.

mod accounts;

use std::time::Duration;

use bus::outbound::pace::Pace;
use bus::outbound::pause::Probing;
use channel::config::Loaded;
use dialogue::Language;
use flow_json::Taxonomy;
use runtime::ConfigError;
use runtime::backoff::Backoff;
use runtime::config::DatabaseConfig;

use crate::args::Args;
use crate::city;

/// The id of the channel that the environment describes.
pub const CHANNEL: &str = "whatsapp";

/// A mounted secret is replaced by the kubelet about a minute after it has changed; this adds little to that.
const REREAD: Duration = Duration::from_secs(5);
/// Between two messages to one citizen, in the long run; WhatsApp's limit.
const PAIR_EVERY: Duration = Duration::from_secs(6);
/// Messages to one citizen at once, borrowed from the time after; WhatsApp's limit.
const PAIR_BURST: u32 = 45;
/// After how long a citizen whose pin waits is told so.
const ONE_MOMENT: Duration = Duration::from_secs(5);

/// Everything the service runs by.
#[derive(Debug, Clone)]
pub struct Config {
    /// The database.
    pub database: DatabaseConfig,
    /// The channels worked, with what they send with.
    pub channels: Loaded,
    /// How often the files of secrets are looked at.
    pub reread: Duration,
    /// What may be reported.
    pub taxonomy: Taxonomy,
    /// The words of the conversation, where they are not the built-in ones.
    pub texts: Option<Vec<(Language, String)>>,
    /// Time zone that the year of a reference is taken in.
    pub time_zone: String,
    /// URL of geocode.
    pub geocode_url: String,
    /// Time between two looks at the addresses of its name.
    pub geocode_resolve: Duration,
    /// How long a lookup may take.
    pub lookup_timeout: Duration,
    /// Chats of a channel worked at the same time.
    pub workers: u32,
    /// Events of one chat worked before it makes room for others.
    pub events_per_chat: u32,
    /// How long work stays with a worker that says nothing.
    pub lease: bus::Lease,
    /// Longest time between two looks at a queue.
    pub poll: Duration,
    /// Waits after failed attempts at an event.
    pub backoff: Backoff,
    /// Waits after failed attempts at a reply.
    pub send_backoff: Backoff,
    /// Waits after failed attempts at a photo.
    pub photo_backoff: Backoff,
    /// Wait of work that cannot run now.
    pub defer: Duration,
    /// How long a request to a provider may take.
    pub send_timeout: Duration,
    /// How fast replies may leave.
    pub pace: Pace,
    /// How long a receipt is waited for before a reply whose answer was lost is sent again.
    pub receipt_wait: Duration,
    /// How often a paused channel is probed.
    pub probing: Probing,
    /// Wait before a form that the provider blocks is sent again.
    pub form_retry: Duration,
    /// After how long a citizen whose pin waits for geocode is told so.
    pub one_moment: Duration,
    /// Whether messages are marked as read.
    pub mark_read: bool,
}

impl Config {
    /// [`Config::one_moment`], to compare with.
    pub(crate) fn one_moment_delta(&self) -> chrono::TimeDelta {
        chrono::TimeDelta::from_std(self.one_moment).unwrap_or(chrono::TimeDelta::MAX)
    }
}

impl TryFrom<Args> for Config {
    type Error = ConfigError;

    fn try_from(args: Args) -> Result<Self, ConfigError> {
        let Args {
            shell: _,
            database,
            city,
            files,
            geocode_url,
            geocode_resolve,
            lookup_timeout,
            channels_file,
            meta_graph_url,
            meta_graph_version,
            meta_phone_number_id,
            meta_access_token,
            meta_access_token_file,
            meta_test_numbers,
            synthetic_channel_secret,
            synthetic_channel_secret_file,
            workers,
            events_per_chat,
            lease,
            poll,
            backoff,
            defer,
            send_timeout,
            sends_per_second,
            receipt_wait,
            probe,
            form_retry,
            mark_read,
        } = args;
        let database = database.config()?;
        city.city_time_zone.parse::<chrono_tz::Tz>().map_err(|_| {
            ConfigError::invalid("ABISU_CITY_TIME_ZONE", "not a time zone like Europe/Madrid")
        })?;
        if workers == 0 || events_per_chat == 0 {
            return Err(ConfigError::invalid("ABISU_WORKERS", "at least 1, as ABISU_EVENTS_PER_CHAT"));
        }
        if poll.is_zero() {
            return Err(ConfigError::invalid(
                "ABISU_POLL_MS",
                "at least 1, or the database would never rest",
            ));
        }
        crate::lookup::addresses::Name::of(&geocode_url)
            .map_err(|error| ConfigError::invalid("ABISU_GEOCODE_URL", error.to_string()))?;
        if geocode_resolve.is_zero() {
            return Err(ConfigError::invalid("ABISU_GEOCODE_RESOLVE_MS", "at least 1"));
        }
        if sends_per_second == 0 {
            return Err(ConfigError::invalid("ABISU_SENDS_PER_SECOND", "at least 1"));
        }
        if send_timeout >= lease {
            return Err(ConfigError::invalid(
                "ABISU_SEND_TIMEOUT_MS",
                "must be below ABISU_LEASE_MS, or a lease could end while a request is under way",
            ));
        }
        let channels = accounts::load(accounts::Given {
            file: channels_file,
            graph_url: meta_graph_url,
            graph_version: meta_graph_version,
            phone_number_id: meta_phone_number_id,
            access_token: meta_access_token,
            access_token_file: meta_access_token_file,
            test_numbers: meta_test_numbers,
            synthetic_secret: synthetic_channel_secret,
            synthetic_secret_file: synthetic_channel_secret_file,
        })?;
        let files = files.read()?;
        let minutes = |n: u64| Duration::from_secs(60 * n);
        Ok(Self {
            database,
            channels,
            reread: REREAD,
            taxonomy: city::taxonomy(&files)?,
            texts: city::texts(&files)?,
            time_zone: city.city_time_zone,
            geocode_url,
            geocode_resolve,
            lookup_timeout,
            workers,
            events_per_chat,
            lease: bus::Lease { length: lease },
            poll,
            backoff: Backoff { first: backoff, longest: backoff * 16 },
            send_backoff: Backoff { first: backoff, longest: minutes(5) },
            photo_backoff: Backoff { first: backoff, longest: minutes(60) },
            defer,
            send_timeout,
            pace: Pace {
                number_every: Duration::from_secs(1) / sends_per_second,
                pair_every: PAIR_EVERY,
                pair_burst: PAIR_BURST,
            },
            receipt_wait,
            probing: Probing { first: probe, longest: minutes(5).max(probe) },
            form_retry,
            one_moment: ONE_MOMENT,
            mark_read,
        })
    }
}
