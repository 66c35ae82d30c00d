//! The accounts, over what stands for a secret: a reference in a file, the secret itself in a process.

use http::HeaderName;
use secrecy::SecretString;

use super::SYNTHETIC;
use crate::signature::{Algorithm, Encoding};

/// One configured provider account.
#[derive(Debug, Clone)]
pub struct Account<S = SecretString> {
    /// Our name for it, everywhere.
    pub id: String,
    /// Whose it is, and what belongs to that.
    pub provider: Provider<S>,
}

/// The kinds of channel.
#[derive(Debug, Clone)]
pub enum Provider<S = SecretString> {
    /// A number at Meta.
    Meta(Meta<S>),
    /// A WhatsApp sender at Infobip.
    Infobip(Infobip<S>),
    /// Anyone who posts in our own form.
    Webhook(Webhook<S>),
}

/// A number at Meta.
#[derive(Debug, Clone)]
pub struct Meta<S = SecretString> {
    /// Whether it is the one behind the address without a channel id.
    pub default: bool,
    /// Meta's id of the number.
    pub phone_number_id: String,
    /// Id of the business account.
    pub waba_id: Option<String>,
    /// Base of the Graph API, without the version and without a slash at its end.
    pub graph_url: String,
    /// Version of the Graph API.
    pub graph_version: String,
    /// Secrets that its webhooks may be signed with; one or two.
    pub app_secrets: Vec<S>,
    /// Token of the handshake.
    pub verify_token: S,
    /// What sends.
    pub access_token: Option<S>,
    /// Numbers, digits, that are sent forms which are still drafts.
    pub test_numbers: Vec<String>,
}

/// A WhatsApp sender at Infobip.
#[derive(Debug, Clone)]
pub struct Infobip<S = SecretString> {
    /// The sender's number, digits.
    pub sender: String,
    /// Base of the account's API, without a slash at its end.
    pub base_url: Option<String>,
    /// What sends.
    pub api_key: Option<S>,
    /// How its calls prove themselves.
    pub verification: Verification<S>,
    /// Numbers, digits, that are sent forms which are still drafts.
    pub test_numbers: Vec<String>,
}

/// How calls of Infobip prove themselves; it is chosen in its subscription.
#[derive(Debug, Clone)]
pub enum Verification<S = SecretString> {
    /// A keyed hash of the body.
    Hmac {
        /// The header that carries it.
        header: HeaderName,
        /// The hash.
        algorithm: Algorithm,
        /// How it is written.
        encoding: Encoding,
        /// What stands before it.
        prefix: String,
        /// One or two.
        secrets: Vec<S>,
    },
    /// User and password.
    Basic {
        /// The user.
        user: String,
        /// One or two.
        passwords: Vec<S>,
    },
}

/// Anyone who posts in our own form.
#[derive(Debug, Clone)]
pub struct Webhook<S = SecretString> {
    /// Secrets that its calls may be signed with; one or two. What we post is signed with the first.
    pub secrets: Vec<S>,
    /// Where our messages are posted.
    pub url: Option<String>,
    /// Hosts that its files may be on, beside that of `url`.
    pub media_hosts: Vec<String>,
    /// There is nobody: what is sent ends here, and all that comes of it is marked.
    pub synthetic: bool,
}

/// What an account is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To take what a provider brings.
    Receive,
    /// To send.
    Send,
}

impl<S> Account<S> {
    /// The word of the kind, as in the file.
    pub fn kind(&self) -> &'static str {
        match &self.provider {
            Provider::Meta(_) => "whatsapp_meta",
            Provider::Infobip(_) => "whatsapp_infobip",
            Provider::Webhook(webhook) if webhook.synthetic => SYNTHETIC,
            Provider::Webhook(_) => "webhook",
        }
    }

    /// The first field that is missing to send; it can receive without.
    pub fn lacks(&self) -> Option<&'static str> {
        match &self.provider {
            Provider::Meta(meta) => meta.access_token.is_none().then_some("access_token"),
            Provider::Infobip(infobip) if infobip.base_url.is_none() => Some("base_url"),
            Provider::Infobip(infobip) => infobip.api_key.is_none().then_some("api_key"),
            Provider::Webhook(webhook) => (webhook.url.is_none() && !webhook.synthetic).then_some("url"),
        }
    }

    /// Numbers, digits, that are sent forms which are still drafts.
    pub fn test_numbers(&self) -> &[String] {
        match &self.provider {
            Provider::Meta(meta) => &meta.test_numbers,
            Provider::Infobip(infobip) => &infobip.test_numbers,
            Provider::Webhook(_) => &[],
        }
    }

    /// The same account over other secrets.
    pub(super) fn map<T>(&self, secret: &impl Fn(&S) -> T) -> Account<T> {
        let all = |secrets: &[S]| secrets.iter().map(secret).collect::<Vec<T>>();
        let provider = match &self.provider {
            Provider::Meta(meta) => Provider::Meta(Meta {
                default: meta.default,
                phone_number_id: meta.phone_number_id.clone(),
                waba_id: meta.waba_id.clone(),
                graph_url: meta.graph_url.clone(),
                graph_version: meta.graph_version.clone(),
                app_secrets: all(&meta.app_secrets),
                verify_token: secret(&meta.verify_token),
                access_token: meta.access_token.as_ref().map(secret),
                test_numbers: meta.test_numbers.clone(),
            }),
            Provider::Infobip(infobip) => Provider::Infobip(Infobip {
                sender: infobip.sender.clone(),
                base_url: infobip.base_url.clone(),
                api_key: infobip.api_key.as_ref().map(secret),
                verification: match &infobip.verification {
                    Verification::Hmac { header, algorithm, encoding, prefix, secrets } => {
                        Verification::Hmac {
                            header: header.clone(),
                            algorithm: *algorithm,
                            encoding: *encoding,
                            prefix: prefix.clone(),
                            secrets: all(secrets),
                        }
                    }
                    Verification::Basic { user, passwords } => {
                        Verification::Basic { user: user.clone(), passwords: all(passwords) }
                    }
                },
                test_numbers: infobip.test_numbers.clone(),
            }),
            Provider::Webhook(webhook) => Provider::Webhook(Webhook {
                secrets: all(&webhook.secrets),
                url: webhook.url.clone(),
                media_hosts: webhook.media_hosts.clone(),
                synthetic: webhook.synthetic,
            }),
        };
        Account { id: self.id.clone(), provider }
    }

    /// The secrets that it has for a purpose.
    pub(super) fn secrets(&self, purpose: Purpose) -> Vec<&S> {
        match (&self.provider, purpose) {
            (Provider::Meta(meta), Purpose::Receive) => {
                meta.app_secrets.iter().chain([&meta.verify_token]).collect()
            }
            (Provider::Meta(meta), Purpose::Send) => meta.access_token.iter().collect(),
            (Provider::Infobip(infobip), Purpose::Receive) => infobip.verification.secrets().iter().collect(),
            (Provider::Infobip(infobip), Purpose::Send) => infobip.api_key.iter().collect(),
            // A sink signs nothing.
            (Provider::Webhook(webhook), Purpose::Send) if webhook.synthetic => Vec::new(),
            (Provider::Webhook(webhook), Purpose::Receive | Purpose::Send) => {
                webhook.secrets.iter().collect()
            }
        }
    }
}

impl<S> Verification<S> {
    /// The secrets, whatever they are used for.
    pub fn secrets(&self) -> &[S] {
        match self {
            Self::Hmac { secrets, .. } => secrets,
            Self::Basic { passwords, .. } => passwords,
        }
    }
}
