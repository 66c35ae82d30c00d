//! Channels as configuration: a file that lists them, and where their secrets are.
//!
//! The file holds no secret, only the names of environment variables and the paths of files. So it is checked in two
//! steps: [`ChannelsFile::parse`] needs nothing but the text, [`Secrets::read`] what the process was given. Secrets in
//! files may change while the process runs: [`Secrets::reread`] takes the new ones, and [`ChannelsFile::resolve`] makes
//! the accounts anew. [`Loaded`] is both together, as a process has them. Who only sends needs no secret that only
//! proves a provider's calls, and the other way round: [`Purpose`].
//!
//! ```yaml
//! channels:
//!   - id: whatsapp
//!     kind: whatsapp_meta
//!     default: true                          # behind /whatsapp/webhook; exactly one Meta channel
//!     phone_number_id: "100000000000001"
//!     waba_id: "200000000000002"             # optional
//!     graph_version: v26.0                   # optional, as is graph_url
//!     app_secrets: [{file: /secrets/app-secret}, {file: /secrets/app-secret-next}]
//!     verify_token: {env: CITY_VERIFY_TOKEN}
//!     access_token: {file: /secrets/access-token}   # optional, to send
//!     test_numbers: ["34600000001"]          # optional: are sent forms that are still drafts
//!   - id: infobip
//!     kind: whatsapp_infobip
//!     sender: "34945000001"
//!     base_url: https://abc.api.infobip.com  # optional, to send, as is api_key
//!     hmac: {header: x-signature, algorithm: sha256, encoding: hex, prefix: "", secrets: [{env: INFOBIP_SECRET}]}
//!     # or  basic: {user: infobip, passwords: [{env: INFOBIP_PASSWORD}]}
//!   - id: city-app
//!     kind: webhook
//!     secrets: [{env: CITY_APP_SECRET}]
//!     url: https://app.example/abisu         # optional, to send: where our messages are posted
//!     media_hosts: [files.example]           # optional: where its files may be, beside the host of url
//!   - id: synthetic                          # reports that try the system out and leave it by no door
//!     kind: synthetic
//!     secrets: [{env: SYNTHETIC_SECRET}]
//! ```

mod account;
mod check;
mod file;
mod loaded;
mod raw;
mod secret;

pub use account::{Account, Infobip, Meta, Provider, Purpose, Verification, Webhook};
pub use file::{ChannelsFile, FileError, Problem};
pub use loaded::Loaded;
pub use secret::{Reread, SecretRef, Secrets, Source};

/// The id and the kind of the channel whose reports are marked as synthetic and leave by no door.
pub const SYNTHETIC: &str = "synthetic";
/// Base of the Graph API.
pub const GRAPH_URL: &str = "https://graph.facebook.com";
/// Version of the Graph API.
pub const GRAPH_VERSION: &str = "v26.0";
/// The secret in force and the one that comes or goes.
pub const MOST_SECRETS: usize = 2;
