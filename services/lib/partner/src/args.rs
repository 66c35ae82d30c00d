//! The flags and variables that say where the contractor's platform is, who we are there, and what it speaks. The
//! same ones for every program that talks to it.

use std::path::PathBuf;

use clap::ArgAction;
use clap::builder::BoolishValueParser;
use runtime::ConfigError;
use runtime::config::{parse_base_url, required_secret};
use secrecy::SecretString;

use crate::platform::{Adapter, Platform};

/// The contractor's platform.
#[derive(Clone, clap::Args)]
pub struct PartnerArgs {
    /// Base URL of the contractor's platform, before the paths; needed when it is used
    #[arg(long, env = "ABISU_PARTNER_URL")]
    partner_url: Option<String>,
    /// User to log in as; needed when it is used
    #[arg(long, env = "ABISU_PARTNER_USER")]
    partner_user: Option<String>,
    /// Password of that user, or the key of an Open311 endpoint; needed when it is used
    #[arg(long, env = "ABISU_PARTNER_PASSWORD", hide_env_values = true)]
    partner_password: Option<String>,
    /// File that holds the password
    #[arg(long, env = "ABISU_PARTNER_PASSWORD_FILE")]
    partner_password_file: Option<PathBuf>,
    /// The platform can be searched by external code, so a doubtful report can be looked up there
    #[arg(
        long,
        env = "ABISU_PARTNER_SEARCH",
        default_value = "false",
        num_args = 0..=1,
        default_missing_value = "true",
        action = ArgAction::Set,
        value_parser = BoolishValueParser::new()
    )]
    partner_search: bool,
    /// YAML file with the platform's paths, field names and category codes, where they are not the agreed ones
    #[arg(long, env = "ABISU_PARTNER_PLATFORM_FILE")]
    partner_platform_file: Option<PathBuf>,
}

/// The checked form of [`PartnerArgs`].
#[derive(Debug, Clone)]
pub struct PartnerConfig {
    /// Without a slash at the end, without credentials, query or fragment.
    pub base_url: String,
    /// Whom to log in as. Empty where the adapter knows no users.
    pub user: String,
    /// The password, or the key.
    pub password: SecretString,
    /// The platform can be searched by external code.
    pub search: bool,
    /// What it speaks.
    pub platform: Platform,
}

impl PartnerArgs {
    /// Whether the platform can be searched. Known before the rest is checked.
    pub fn search(&self) -> bool {
        self.partner_search
    }

    /// Checks and converts.
    ///
    /// # Errors
    /// What is missing or contradictory, the platform's file included.
    pub fn config(self) -> Result<PartnerConfig, ConfigError> {
        let Self {
            partner_url,
            partner_user,
            partner_password,
            partner_password_file,
            partner_search,
            partner_platform_file,
        } = self;
        let given = |name, value: Option<String>| {
            value
                .filter(|text| !text.is_empty())
                .ok_or_else(|| ConfigError::invalid(name, "must be set where the contractor is talked to"))
        };
        let base_url = parse_base_url(&given("ABISU_PARTNER_URL", partner_url)?)
            .and_then(without_extras)
            .map_err(|problem| ConfigError::invalid("ABISU_PARTNER_URL", problem))?;
        let platform = match partner_platform_file.filter(|path| !path.as_os_str().is_empty()) {
            None => Platform::default(),
            Some(path) => {
                let refused = |problem| ConfigError::invalid("ABISU_PARTNER_PLATFORM_FILE", problem);
                let text = std::fs::read_to_string(&path)
                    .map_err(|error| refused(format!("cannot read {}: {}", path.display(), error.kind())))?;
                Platform::parse(&text).map_err(|error| refused(error.to_string()))?
            }
        };
        let user = match platform.adapter {
            Adapter::Contractor => given("ABISU_PARTNER_USER", partner_user)?,
            Adapter::Open311 => String::new(),
        };
        if platform.adapter == Adapter::Open311 && partner_search {
            return Err(ConfigError::invalid(
                "ABISU_PARTNER_SEARCH",
                "an Open311 endpoint cannot be searched by external code",
            ));
        }
        let password = required_secret("ABISU_PARTNER_PASSWORD", partner_password, partner_password_file)?;
        Ok(PartnerConfig { base_url, user, password, search: partner_search, platform })
    }
}

/// The endpoint is kept with every attempt and in logs, so it must be a plain address.
fn without_extras(text: String) -> Result<String, String> {
    let url = reqwest::Url::parse(&text).map_err(|error| format!("not a URL: {error}"))?;
    let credentials = !url.username().is_empty() || url.password().is_some();
    if credentials || url.query().is_some() || url.fragment().is_some() {
        return Err("must have no user, password, query or fragment".to_owned());
    }
    Ok(text)
}
