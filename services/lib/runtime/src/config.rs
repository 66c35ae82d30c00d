//! Configuration: argument groups shared by services, and the rules by which secrets are read.
//!
//! Everything comes from flags or the environment, `--help` is the reference. A secret may stand in the
//! environment or in a file (`…_FILE`), never in both. What is missing or contradictory refuses to start.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

/// Why a service refuses to start. Displayed as one line on standard error, with exit code 64.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A value that must be given is not.
    #[error("{0} is not set; set it, or {0}_FILE to the path of a file that holds it")]
    MissingSecret(&'static str),
    /// The same secret stands in two places.
    #[error("{0} and {0}_FILE are both set; keep one of them")]
    SecretTwice(&'static str),
    /// A secret's file cannot be read.
    #[error("{name}_FILE: cannot read {path}: {reason}")]
    SecretFile {
        /// The variable without `_FILE`.
        name: &'static str,
        /// The path as configured.
        path: PathBuf,
        /// The system's reason.
        reason: std::io::ErrorKind,
    },
    /// A flag or variable that clap refuses, as [`crate::usage::line`] says it.
    #[error("{0}")]
    Usage(String),
    /// A value is given but cannot be used.
    #[error("{name}: {problem}")]
    Invalid {
        /// The variable or flag at fault.
        name: &'static str,
        /// What is wrong and what would be right.
        problem: String,
    },
}

impl ConfigError {
    /// A value that is given but cannot be used.
    pub fn invalid(name: &'static str, problem: impl Into<String>) -> Self {
        Self::Invalid { name, problem: problem.into() }
    }
}

/// The arguments of one service: parsed by clap, then turned into a checked configuration.
pub trait ServiceArgs: clap::Parser {
    /// The checked form, which the service runs with.
    type Config;

    /// The part that the shell itself uses.
    fn shell(&self) -> &ShellArgs;

    /// Checks and converts.
    ///
    /// # Errors
    /// The first thing that is missing or contradictory.
    fn config(self) -> Result<Self::Config, ConfigError>;
}

/// What the shell of every service needs.
#[derive(Debug, Clone, clap::Args)]
pub struct ShellArgs {
    /// Address of the admin port: /livez, /readyz, /metrics, /version
    #[arg(long, env = "ABISU_ADMIN_LISTEN", default_value = "0.0.0.0:9090")]
    pub admin_listen: SocketAddr,
    /// Log filter, as in RUST_LOG
    #[arg(long, env = "ABISU_LOG", default_value = "info")]
    pub log: String,
    /// Log format
    #[arg(long, env = "ABISU_LOG_FORMAT", value_enum, default_value = "json")]
    pub log_format: LogFormat,
    /// OTLP collector (gRPC) that spans are sent to; none when not set
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    pub otlp_endpoint: Option<String>,
    /// How long a stopping service goes on serving after it has become unready, so that load balancers see it
    #[arg(long, env = "ABISU_DRAIN_DELAY_MS", default_value = "2000", value_name = "MS", value_parser = parse_ms)]
    pub drain_delay: Duration,
    /// How long work in flight may take after that
    #[arg(long, env = "ABISU_GRACE_MS", default_value = "45000", value_name = "MS", value_parser = parse_ms)]
    pub grace: Duration,
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum LogFormat {
    /// One JSON object a line
    Json,
    /// For people
    Text,
}

/// The database that a service works on.
#[derive(Clone, clap::Args)]
pub struct DatabaseArgs {
    /// Postgres URL, with this service's own role
    #[arg(long, env = "ABISU_DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    /// File that holds the Postgres URL
    #[arg(long, env = "ABISU_DATABASE_URL_FILE")]
    database_url_file: Option<PathBuf>,
    /// Connections in the pool
    #[arg(long, env = "ABISU_DATABASE_POOL", default_value_t = 8)]
    database_pool: u32,
}

/// The checked form of [`DatabaseArgs`].
#[derive(Debug, Clone)]
pub struct DatabaseConfig {
    /// Postgres URL.
    pub url: SecretString,
    /// Connections in the pool, at least two.
    pub pool: u32,
    /// The file that the URL came from: it is looked at again while the service runs.
    pub file: Option<PathBuf>,
}

impl DatabaseArgs {
    /// Checks and converts.
    ///
    /// # Errors
    /// No URL, two URLs, an unreadable file, a URL that Postgres would not accept, a pool below two.
    pub fn config(self) -> Result<DatabaseConfig, ConfigError> {
        let Self { database_url, database_url_file, database_pool } = self;
        let file = database_url_file.clone().filter(|file| !file.as_os_str().is_empty());
        let url = required_secret("ABISU_DATABASE_URL", database_url, database_url_file)?;
        crate::database::check_url(&url)?;
        if database_pool < 2 {
            return Err(ConfigError::invalid("ABISU_DATABASE_POOL", "at least 2 connections are needed"));
        }
        Ok(DatabaseConfig { url, pool: database_pool, file })
    }
}

/// The city that an installation serves.
#[derive(Debug, Clone, clap::Args)]
pub struct CityArgs {
    /// Official name of the municipality
    #[arg(long, env = "ABISU_CITY_NAME", default_value = "Vitoria-Gasteiz")]
    pub city_name: String,
    /// Code of the municipality at the statistics institute (INE), five digits
    #[arg(long, env = "ABISU_CITY_INE_CODE", default_value = "01059", value_parser = parse_digits::<5>)]
    pub city_ine_code: String,
    /// Code of the province, two digits
    #[arg(long, env = "ABISU_CITY_PROVINCE_CODE", default_value = "01", value_parser = parse_digits::<2>)]
    pub city_province_code: String,
    /// Time zone of the city (IANA name)
    #[arg(long, env = "ABISU_CITY_TIME_ZONE", default_value = "Europe/Madrid")]
    pub city_time_zone: String,
}

/// Reads a secret that must be there, from the value or from the file. Trailing line ends of a file are dropped.
///
/// # Errors
/// Neither or both are set, the file cannot be read, or the secret is empty.
pub fn required_secret(
    name: &'static str,
    value: Option<String>,
    file: Option<PathBuf>,
) -> Result<SecretString, ConfigError> {
    optional_secret(name, value, file)?.ok_or(ConfigError::MissingSecret(name))
}

/// As [`required_secret`], for a secret that may be absent.
///
/// # Errors
/// Both are set, or the file cannot be read.
pub fn optional_secret(
    name: &'static str,
    value: Option<String>,
    file: Option<PathBuf>,
) -> Result<Option<SecretString>, ConfigError> {
    // A variable set to nothing counts as not set: that is how orchestrators pass an absent value.
    let value = value.filter(|v| !v.is_empty());
    let file = file.filter(|f| !f.as_os_str().is_empty());
    let text =
        match (value, file) {
            (Some(_), Some(_)) => return Err(ConfigError::SecretTwice(name)),
            (Some(value), None) => value,
            (None, Some(path)) => std::fs::read_to_string(&path)
                .map_err(|error| ConfigError::SecretFile { name, path, reason: error.kind() })?,
            (None, None) => return Ok(None),
        };
    let text = text.trim_end_matches(['\r', '\n']);
    Ok((!text.is_empty()).then(|| SecretString::from(text)))
}

/// Milliseconds, for clap.
///
/// # Errors
/// Not a whole number.
pub fn parse_ms(text: &str) -> Result<Duration, String> {
    text.parse().map(Duration::from_millis).map_err(|_| "milliseconds, a whole number".to_owned())
}

/// An absolute `http` or `https` URL without a trailing slash, for clap.
///
/// # Errors
/// Not such a URL.
pub fn parse_base_url(text: &str) -> Result<String, String> {
    let url = reqwest::Url::parse(text).map_err(|error| format!("not a URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("must begin with http:// or https:// and name a host".to_owned());
    }
    Ok(text.trim_end_matches('/').to_owned())
}

fn parse_digits<const N: usize>(text: &str) -> Result<String, String> {
    if text.len() == N && text.bytes().all(|b| b.is_ascii_digit()) {
        Ok(text.to_owned())
    } else {
        Err(format!("must be {N} digits"))
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_secret_comes_from_one_place_only() {
        let twice = optional_secret("X", Some("a".into()), Some("/nowhere".into()));
        assert!(matches!(twice, Err(ConfigError::SecretTwice("X"))));
        let absent = required_secret("X", Some(String::new()), None);
        assert_eq!(
            absent.unwrap_err().to_string(),
            "X is not set; set it, or X_FILE to the path of a file that holds it"
        );
    }

    #[test]
    fn the_line_end_of_a_secret_file_is_not_part_of_the_secret() {
        let path = std::env::temp_dir().join(format!("abisu-secret-{}", std::process::id()));
        std::fs::write(&path, "s3cret \n").unwrap();
        let secret = required_secret("X", None, Some(path.clone())).unwrap();
        std::fs::remove_file(path).unwrap();
        assert_eq!(secret.expose_secret(), "s3cret ");
    }

    #[test]
    fn a_base_url_loses_its_last_slash_and_nothing_else() {
        assert_eq!(parse_base_url("http://a/b/").as_deref(), Ok("http://a/b"));
        assert!(parse_base_url("ftp://a").is_err());
        assert!(parse_base_url("a/b").is_err());
    }
}
