//! The checked configuration. What would let a lease end before its send refuses to start.

use std::time::Duration;

use bus::Lease;
use flow_json::Taxonomy;
use partner::Timeouts;
use partner::args::PartnerConfig;
use partner::media::MediaLinks;
use partner::platform::{Adapter, Platform};
use runtime::ConfigError;
use runtime::backoff::Backoff;
use runtime::config::DatabaseConfig;

use crate::args::{Args, SendingArgs};
use crate::city;

/// What the service runs with.
#[derive(Debug, Clone)]
pub struct Config {
    pub(crate) database: DatabaseConfig,
    /// Different ones, at least one.
    pub(crate) channels: Vec<String>,
    pub(crate) poll: Duration,
    /// How long a stopping process waits for what is in flight.
    pub(crate) grace: Duration,
    /// None: the gate is shut, nothing is claimed.
    pub(crate) partner: Option<PartnerConfig>,
    pub(crate) sending: Sending,
    /// What the city's files say.
    pub(crate) taxonomy: Taxonomy,
    /// For a platform that takes photos as links.
    pub(crate) links: Option<MediaLinks>,
}

/// How.
#[derive(Debug, Clone)]
pub(crate) struct Sending {
    pub(crate) parallel: usize,
    pub(crate) lease: Lease,
    pub(crate) connect_timeout: Duration,
    pub(crate) send_timeout: Duration,
    pub(crate) login_timeout: Duration,
    pub(crate) photo_wait: Duration,
    /// Between attempts that are charged.
    pub(crate) backoff: Backoff,
    /// The shortest wait while the partner cannot be reached.
    pub(crate) defer: Duration,
    /// Reports a second while a backlog drains.
    pub(crate) drain_rate: f64,
    /// Before the first probe of a doubtful report.
    pub(crate) probe_delay: Duration,
    /// Before a token is first asked for its id.
    pub(crate) token_wait: Duration,
    /// Statuses that prove that nothing was made.
    pub(crate) not_processed: Vec<u16>,
}

impl Sending {
    /// How long the platform may take.
    pub(crate) const fn timeouts(&self) -> Timeouts {
        Timeouts { connect: self.connect_timeout, send: self.send_timeout, login: self.login_timeout }
    }
}

impl TryFrom<Args> for Config {
    type Error = ConfigError;

    fn try_from(args: Args) -> Result<Self, ConfigError> {
        let Args { shell, database, channels, poll, partner_enabled, partner, media, city, sending } = args;
        let database = database.config()?;
        check_channels(&channels)?;
        above_zero("ABISU_POLL_MS", poll)?;
        let sending = check_sending(sending)?;
        let needed = u32::try_from(sending.parallel * channels.len() + 1).unwrap_or(u32::MAX);
        if database.pool < needed {
            return Err(ConfigError::invalid(
                "ABISU_DATABASE_POOL",
                format!(
                    "at least {needed} connections are needed: ABISU_PARTNER_PARALLEL for each channel, and one more"
                ),
            ));
        }
        // Evidence of a request still in flight must have been written before a probe may say "absent".
        if partner.search() && sending.probe_delay <= sending.send_timeout {
            return Err(ConfigError::invalid(
                "ABISU_PARTNER_PROBE_DELAY_MS",
                "must be longer than ABISU_PARTNER_SEND_TIMEOUT_MS",
            ));
        }
        let links = media.config()?;
        let partner = if partner_enabled {
            let partner = partner.config()?;
            links_where_needed(&partner.platform, links.is_some())?;
            Some(partner)
        } else {
            partner.check()?;
            None
        };
        let taxonomy = city::taxonomy(city)?;
        Ok(Self { database, channels, poll, grace: shell.grace, partner, sending, taxonomy, links })
    }
}

fn check_channels(channels: &[String]) -> Result<(), ConfigError> {
    let mut seen: Vec<&str> = Vec::new();
    for channel in channels {
        if channel.trim().is_empty() || channel.trim() != channel {
            return Err(ConfigError::invalid("ABISU_CHANNEL", "ids of channels, separated by commas alone"));
        }
        if seen.contains(&channel.as_str()) {
            return Err(ConfigError::invalid("ABISU_CHANNEL", format!("names {channel} twice")));
        }
        seen.push(channel);
    }
    if seen.is_empty() {
        return Err(ConfigError::invalid("ABISU_CHANNEL", "must not be empty"));
    }
    Ok(())
}

/// A platform that takes photos as links must have them, or citizens' photos would be left out without a word.
fn links_where_needed(platform: &Platform, given: bool) -> Result<(), ConfigError> {
    match platform.adapter {
        Adapter::Open311 if platform.open311.photos && !given => Err(ConfigError::invalid(
            "ABISU_MEDIA_URL",
            "must be set, with ABISU_MEDIA_SECRET, as the Open311 platform fetches photos from ingest; \
             where it takes none, say `open311: {photos: false}` in ABISU_PARTNER_PLATFORM_FILE",
        )),
        Adapter::Open311 | Adapter::Contractor => Ok(()),
    }
}

fn check_sending(args: SendingArgs) -> Result<Sending, ConfigError> {
    let SendingArgs {
        partner_not_processed,
        partner_parallel,
        partner_lease,
        partner_connect_timeout,
        partner_send_timeout,
        partner_login_timeout,
        partner_photo_wait,
        partner_backoff,
        partner_defer,
        partner_drain_rate,
        partner_probe_delay,
        partner_token_wait,
    } = args;
    if partner_drain_rate == 0 {
        return Err(ConfigError::invalid("ABISU_PARTNER_DRAIN_RATE", "must be at least 1"));
    }
    if partner_parallel == 0 {
        return Err(ConfigError::invalid("ABISU_PARTNER_PARALLEL", "must be at least 1"));
    }
    for (name, value) in [
        ("ABISU_PARTNER_CONNECT_TIMEOUT_MS", partner_connect_timeout),
        ("ABISU_PARTNER_SEND_TIMEOUT_MS", partner_send_timeout),
        ("ABISU_PARTNER_LOGIN_TIMEOUT_MS", partner_login_timeout),
        ("ABISU_PARTNER_BACKOFF_MS", partner_backoff),
        ("ABISU_PARTNER_DEFER_MS", partner_defer),
        ("ABISU_PARTNER_PROBE_DELAY_MS", partner_probe_delay),
        ("ABISU_PARTNER_TOKEN_WAIT_MS", partner_token_wait),
    ] {
        above_zero(name, value)?;
    }
    // A stall before the request leaves must be told from one after it: the connection has to give up first.
    if partner_connect_timeout >= partner_send_timeout {
        return Err(ConfigError::invalid(
            "ABISU_PARTNER_CONNECT_TIMEOUT_MS",
            "must be shorter than ABISU_PARTNER_SEND_TIMEOUT_MS",
        ));
    }
    let needed = partner_login_timeout + partner_send_timeout;
    if partner_lease <= needed {
        return Err(ConfigError::invalid(
            "ABISU_PARTNER_LEASE_MS",
            format!(
                "must be longer than a login and a send together ({} ms), or it could end before the send",
                needed.as_millis()
            ),
        ));
    }
    Ok(Sending {
        parallel: usize::from(partner_parallel),
        lease: Lease { length: partner_lease },
        connect_timeout: partner_connect_timeout,
        send_timeout: partner_send_timeout,
        login_timeout: partner_login_timeout,
        photo_wait: partner_photo_wait,
        backoff: Backoff { first: partner_backoff, longest: partner_backoff * 16 },
        defer: partner_defer,
        drain_rate: f64::from(partner_drain_rate),
        probe_delay: partner_probe_delay,
        token_wait: partner_token_wait,
        not_processed: documented(&partner_not_processed)?,
    })
}

/// Only a status that is ambiguous by itself can be documented as harmless.
fn documented(statuses: &[u16]) -> Result<Vec<u16>, ConfigError> {
    match statuses.iter().find(|status| !matches!(status, 408 | 425 | 500..=599)) {
        None => Ok(statuses.to_vec()),
        Some(status) => Err(ConfigError::invalid(
            "ABISU_PARTNER_NOT_PROCESSED",
            format!("{status} is not one of 408, 425 and 500 to 599"),
        )),
    }
}

fn above_zero(name: &'static str, value: Duration) -> Result<(), ConfigError> {
    if value.is_zero() { Err(ConfigError::invalid(name, "must be above 0")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};
    use runtime::ServiceArgs;

    use super::*;

    fn config(flags: &[&str]) -> Result<Config, String> {
        let always = ["partner-push", "--database-url", "postgres://push@db/abisu"];
        let args = Args::try_parse_from(always.iter().chain(flags)).map_err(|error| error.to_string())?;
        args.config().map_err(|error| error.to_string())
    }

    const ENABLED: [&str; 7] = [
        "--partner-enabled",
        "--partner-url",
        "https://platform.example/",
        "--partner-user",
        "abisu",
        "--partner-password",
        "secret",
    ];

    fn enabled(flags: &[&str]) -> Result<Config, String> {
        config(&ENABLED.iter().chain(flags).copied().collect::<Vec<_>>())
    }

    #[test]
    fn the_flags_are_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn switched_off_it_needs_no_partner() {
        assert!(config(&[]).unwrap().partner.is_none());
        assert!(config(&["--partner-enabled", "false", "--partner-url", ""]).unwrap().partner.is_none());
    }

    #[test]
    fn what_is_wrong_is_said_also_while_it_is_switched_off() {
        for wrong in [
            "--partner-url=platform.example",
            "--partner-url=https://user:word@platform.example",
            "--partner-platform-file=/nowhere",
            "--partner-password-file=/nowhere",
            "--media-url=https://city.example",
            "--media-secret=a secret of sixteen",
            "--catalogs-dir=/nowhere",
            "--flows-dir=/nowhere",
        ] {
            let refused = config(&[wrong]).unwrap_err();
            assert!(refused.starts_with("ABISU_") && refused.lines().count() == 1, "{wrong}: {refused}");
        }
    }

    #[test]
    fn an_open311_platform_has_links_to_photos_or_says_that_it_takes_none() {
        let with = |text: &str, flags: &[&str]| {
            let path = std::env::temp_dir().join(format!("abisu-open311-{}.yaml", rand::random::<u64>()));
            std::fs::write(&path, text).unwrap();
            let file = format!("--partner-platform-file={}", path.display());
            let read = enabled(&[&[file.as_str()], flags].concat());
            std::fs::remove_file(path).unwrap();
            read
        };
        let refused = with("adapter: open311", &[]).unwrap_err();
        assert!(refused.starts_with("ABISU_MEDIA_URL: must be set"), "{refused}");
        let links = ["--media-url=https://city.example", "--media-secret=a secret of sixteen"];
        assert!(with("adapter: open311", &links).unwrap().links.is_some());
        assert!(with("adapter: open311", &links[..1]).is_err());
        assert!(with("{adapter: open311, open311: {photos: false}}", &[]).is_ok());
        assert!(with("{}", &[]).is_ok());
    }

    #[test]
    fn switched_on_it_needs_all_of_it() {
        assert_eq!(enabled(&[]).unwrap().partner.unwrap().base_url, "https://platform.example");
        for missing in ["--partner-url", "--partner-user", "--partner-password"] {
            let at = ENABLED.iter().position(|flag| *flag == missing).unwrap();
            let rest: Vec<&str> = [&ENABLED[..at], &ENABLED[at + 2..]].concat();
            assert!(config(&rest).is_err(), "{missing}");
        }
    }

    #[test]
    fn a_lease_that_may_end_before_the_send_is_refused() {
        let refused = enabled(&["--partner-lease", "40000"]).unwrap_err();
        assert!(refused.starts_with("ABISU_PARTNER_LEASE_MS: must be longer"), "{refused}");
        assert!(enabled(&["--partner-lease", "40001"]).is_ok());
    }

    #[test]
    fn contradictions_are_refused() {
        for flags in [
            &["--partner-connect-timeout", "30000"][..],
            &["--partner-parallel", "0"],
            &["--partner-parallel", "8"],
            &["--partner-drain-rate", "0"],
            &["--partner-not-processed", "503,404"],
            &["--partner-search", "--partner-probe-delay", "30000"],
            &["--partner-url", "https://user:word@platform.example"],
            &["--poll", "0"],
            &["--channel", ""],
            &["--channel", "whatsapp,"],
            &["--channel", "whatsapp,whatsapp"],
        ] {
            let refused = if flags[0] == "--partner-url" {
                let mut all = ENABLED.to_vec();
                all[2] = flags[1];
                config(&all)
            } else {
                enabled(flags)
            };
            assert!(refused.is_err(), "{flags:?}");
        }
    }
}
