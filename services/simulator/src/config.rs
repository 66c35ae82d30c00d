//! What a simulator is started with. The defaults are development values, the same as the program's.

use std::{net::SocketAddr, time::Duration};

/// Settings of one simulator. `Config::default()` listens on a free port of the loopback interface.
#[derive(Clone)]
pub struct Config {
    /// Address to listen on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Where Meta delivers; `None` until `POST /control/webhook`.
    pub webhook_url: Option<String>,
    /// Key of `X-Hub-Signature-256`.
    pub app_secret: String,
    /// Token of the webhook handshake.
    pub verify_token: String,
    /// Bearer token of the Graph API.
    pub access_token: String,
    /// Id of the business number.
    pub phone_number_id: String,
    /// Id of the business account.
    pub waba_id: String,
    /// Display number of the business, digits only.
    pub display_phone_number: String,
    /// Whether an accepted message is followed by the statuses sent, delivered and read.
    pub statuses: bool,
    /// Life of a media link; zero makes every link a dead one.
    pub media_link_life: Duration,
    /// Life of a media id.
    pub media_life: Duration,
    /// Login of the contractor's platform.
    pub partner_user: String,
    /// Password of the contractor's platform.
    pub partner_password: String,
    /// Life of the contractor's token.
    pub partner_token_life: Duration,
    /// Whether the contractor can be searched by external code.
    pub partner_search: bool,
    /// Categories the contractor knows; empty takes any non-empty text of at most 40 characters.
    pub partner_categories: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            webhook_url: None,
            app_secret: "dev-app-secret".to_owned(),
            verify_token: "dev-verify-token".to_owned(),
            access_token: "dev-access-token".to_owned(),
            phone_number_id: "106540352242922".to_owned(),
            waba_id: "102290129340398".to_owned(),
            display_phone_number: "34945161100".to_owned(),
            statuses: true,
            media_link_life: Duration::from_secs(300),
            media_life: Duration::from_secs(7 * 24 * 3600),
            partner_user: "abisu".to_owned(),
            partner_password: "dev-partner-password".to_owned(),
            partner_token_life: Duration::from_secs(300),
            partner_search: false,
            partner_categories: Vec::new(),
        }
    }
}
