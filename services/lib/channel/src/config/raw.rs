//! The file as it is written. Every kind's fields stand side by side, so that a field that does not belong to its kind
//! can be named with its line, and no field is read before it has one.

use std::path::PathBuf;

use serde::Deserialize;
use serde_saphyr::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFile {
    pub(super) channels: Spanned<Vec<Spanned<RawChannel>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawChannel {
    pub(super) id: Option<Spanned<String>>,
    pub(super) kind: Option<Spanned<String>>,
    // whatsapp_meta
    pub(super) default: Option<Spanned<bool>>,
    pub(super) phone_number_id: Option<Spanned<String>>,
    pub(super) waba_id: Option<Spanned<String>>,
    pub(super) graph_url: Option<Spanned<String>>,
    pub(super) graph_version: Option<Spanned<String>>,
    pub(super) app_secrets: Option<Spanned<Vec<Spanned<RawSecret>>>>,
    pub(super) verify_token: Option<Spanned<RawSecret>>,
    pub(super) access_token: Option<Spanned<RawSecret>>,
    // whatsapp_meta and whatsapp_infobip
    pub(super) test_numbers: Option<Spanned<Vec<Spanned<String>>>>,
    // whatsapp_infobip
    pub(super) sender: Option<Spanned<String>>,
    pub(super) base_url: Option<Spanned<String>>,
    pub(super) api_key: Option<Spanned<RawSecret>>,
    pub(super) hmac: Option<Spanned<RawHmac>>,
    pub(super) basic: Option<Spanned<RawBasic>>,
    // webhook and synthetic
    pub(super) secrets: Option<Spanned<Vec<Spanned<RawSecret>>>>,
    // webhook
    pub(super) url: Option<Spanned<String>>,
    pub(super) media_hosts: Option<Spanned<Vec<Spanned<String>>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSecret {
    pub(super) env: Option<String>,
    pub(super) file: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawHmac {
    pub(super) header: Option<Spanned<String>>,
    pub(super) algorithm: Option<Spanned<String>>,
    pub(super) encoding: Option<Spanned<String>>,
    pub(super) prefix: Option<Spanned<String>>,
    pub(super) secrets: Option<Spanned<Vec<Spanned<RawSecret>>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBasic {
    pub(super) user: Option<Spanned<String>>,
    pub(super) passwords: Option<Spanned<Vec<Spanned<RawSecret>>>>,
}
