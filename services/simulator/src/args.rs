//! Command line and environment of the program. The shared secrets have the names the services use.

use std::{net::SocketAddr, time::Duration};

use clap::Parser;
use simulator::Config;

/// Meta, CartoCiudad and the contractor on one port, as strict and nasty as the real ones.
#[derive(Parser)]
#[command(version)]
pub(crate) struct Args {
    /// Address to listen on; port 0 takes a free one.
    #[arg(long, env = "SIMULATOR_LISTEN", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Where Meta delivers; it may also be set later with `POST /control/webhook`.
    #[arg(long, env = "SIMULATOR_WEBHOOK_URL")]
    webhook_url: Option<String>,
    /// App secret that signs deliveries; of two, comma separated, the first is used.
    #[arg(long, env = "ABISU_META_APP_SECRET", hide_env_values = true, default_value = "dev-app-secret")]
    meta_app_secret: String,
    /// Token of the webhook handshake.
    #[arg(long, env = "ABISU_META_VERIFY_TOKEN", hide_env_values = true, default_value = "dev-verify-token")]
    meta_verify_token: String,
    /// Bearer token of the Graph API.
    #[arg(long, env = "ABISU_META_ACCESS_TOKEN", hide_env_values = true, default_value = "dev-access-token")]
    meta_access_token: String,
    /// Id of the business number.
    #[arg(long, env = "ABISU_META_PHONE_NUMBER_ID", default_value = "106540352242922")]
    meta_phone_number_id: String,
    /// Id of the business account.
    #[arg(long, env = "ABISU_META_WABA_ID", default_value = "102290129340398")]
    meta_waba_id: String,
    /// Login of the contractor's platform.
    #[arg(long, env = "ABISU_PARTNER_USER", default_value = "abisu")]
    partner_user: String,
    /// Password of the contractor's platform.
    #[arg(
        long,
        env = "ABISU_PARTNER_PASSWORD",
        hide_env_values = true,
        default_value = "dev-partner-password"
    )]
    partner_password: String,
    /// Lets the contractor be searched by external code.
    #[arg(
        long,
        env = "SIMULATOR_PARTNER_SEARCH",
        num_args = 0..=1,
        require_equals = true,
        default_value_t = false,
        default_missing_value = "true",
        action = clap::ArgAction::Set
    )]
    partner_search: bool,
    /// Life of the contractor's token, in seconds.
    #[arg(long, env = "SIMULATOR_PARTNER_TOKEN_SECONDS", default_value_t = 300)]
    partner_token_seconds: u64,
    /// The contractor's categories, comma separated; empty takes any non-empty text of at most 40 characters.
    #[arg(long, env = "SIMULATOR_PARTNER_CATEGORIES", value_delimiter = ',')]
    partner_categories: Vec<String>,
    /// Life of a media link, in seconds.
    #[arg(long, env = "SIMULATOR_MEDIA_LINK_SECONDS", default_value_t = 300)]
    media_link_seconds: u64,
}

impl Args {
    pub(crate) fn into_config(self) -> Config {
        let Self {
            listen,
            webhook_url,
            meta_app_secret,
            meta_verify_token,
            meta_access_token,
            meta_phone_number_id,
            meta_waba_id,
            partner_user,
            partner_password,
            partner_search,
            partner_token_seconds,
            partner_categories,
            media_link_seconds,
        } = self;
        Config {
            listen,
            webhook_url: webhook_url.filter(|url| !url.is_empty()),
            app_secret: meta_app_secret.split(',').next().unwrap_or_default().trim().to_owned(),
            verify_token: meta_verify_token,
            access_token: meta_access_token,
            phone_number_id: meta_phone_number_id,
            waba_id: meta_waba_id,
            partner_user,
            partner_password,
            partner_search,
            partner_token_life: Duration::from_secs(partner_token_seconds),
            partner_categories: partner_categories.into_iter().filter(|one| !one.is_empty()).collect(),
            media_link_life: Duration::from_secs(media_link_seconds),
            ..Config::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Args::command().debug_assert();
    }
}
