//! The flags and variables that say where the contractor's platform is, who we are there, and what it speaks. The
//! same ones for every program that talks to it.

use std::path::PathBuf;

use clap::ArgAction;
use clap::builder::BoolishValueParser;
use runtime::ConfigError;
use runtime::config::{optional_secret, parse_base_url};
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
    ///
    /// It says only what differs from this: login: {path: /api/login, user: user, password: password, token: token,
    /// expires_in: expires_in}, create: {path: /api/incidents, id: id}, search: {path: /api/incidents, query: external_code,
    /// external_code: external_code, id: id}, fields: {external_code, category, latitude, longitude, address, note,
    /// reported_at, photo: each its own name}, categories: {our code: theirs}, constants: {name: value}. "adapter: open311"
    /// speaks GeoReport v2. All of it, with examples: services/lib/partner/README.md
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
    /// The password, or the key, as it was at the start.
    pub password: SecretString,
    /// The file that it came from: a login looks there again, so that it is rotated without a restart.
    pub password_file: Option<PathBuf>,
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

    /// Checks what is given, also where the platform is not used yet: a wrong address is found before the day on which
    /// it is needed. What is missing is no matter.
    ///
    /// # Errors
    /// The first thing that is wrong or contradictory, the platform's file included.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.base_url()?;
        self.searched(&self.platform()?)?;
        self.password().map(|_| ())
    }

    /// Checks and converts.
    ///
    /// # Errors
    /// What is missing or contradictory, the platform's file included.
    pub fn config(self) -> Result<PartnerConfig, ConfigError> {
        let missing = |name| ConfigError::invalid(name, "must be set where the contractor is talked to");
        let base_url = self.base_url()?.ok_or_else(|| missing("ABISU_PARTNER_URL"))?;
        let platform = self.platform()?;
        let search = self.searched(&platform)?;
        let user = match (platform.adapter, &self.partner_user) {
            (Adapter::Contractor, Some(user)) if !user.is_empty() => user.clone(),
            (Adapter::Contractor, _) => return Err(missing("ABISU_PARTNER_USER")),
            (Adapter::Open311, _) => String::new(),
        };
        let password = self.password()?.ok_or(ConfigError::MissingSecret("ABISU_PARTNER_PASSWORD"))?;
        let password_file = self.partner_password_file.filter(|path| !path.as_os_str().is_empty());
        Ok(PartnerConfig { base_url, user, password, password_file, search, platform })
    }

    fn base_url(&self) -> Result<Option<String>, ConfigError> {
        let given = self.partner_url.as_deref().filter(|url| !url.is_empty());
        given
            .map(|url| parse_base_url(url).and_then(without_extras))
            .transpose()
            .map_err(|problem| ConfigError::invalid("ABISU_PARTNER_URL", problem))
    }

    fn platform(&self) -> Result<Platform, ConfigError> {
        let refused = |problem| ConfigError::invalid("ABISU_PARTNER_PLATFORM_FILE", problem);
        match self.partner_platform_file.as_ref().filter(|path| !path.as_os_str().is_empty()) {
            None => Ok(Platform::default()),
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| refused(format!("cannot read {}: {}", path.display(), error.kind())))?;
                Platform::parse(&text).map_err(|error| refused(error.to_string()))
            }
        }
    }

    fn searched(&self, platform: &Platform) -> Result<bool, ConfigError> {
        match platform.adapter {
            Adapter::Open311 if self.partner_search => Err(ConfigError::invalid(
                "ABISU_PARTNER_SEARCH",
                "an Open311 endpoint cannot be searched by external code",
            )),
            Adapter::Open311 | Adapter::Contractor => Ok(self.partner_search),
        }
    }

    fn password(&self) -> Result<Option<SecretString>, ConfigError> {
        let (value, file) = (self.partner_password.clone(), self.partner_password_file.clone());
        optional_secret("ABISU_PARTNER_PASSWORD", value, file)
    }
}

/// An address that is kept with every attempt, in logs or at a platform must be a plain one.
pub(crate) fn without_extras(text: String) -> Result<String, String> {
    let url = reqwest::Url::parse(&text).map_err(|error| format!("not a URL: {error}"))?;
    let credentials = !url.username().is_empty() || url.password().is_some();
    if credentials || url.query().is_some() || url.fragment().is_some() {
        return Err("must have no user, password, query or fragment".to_owned());
    }
    Ok(text)
}
