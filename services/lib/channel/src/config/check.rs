//! What a file must say to work, kind by kind.

mod fields;

use std::collections::HashMap;

use serde_saphyr::Spanned;

use super::account::{Account, Infobip, Meta, Provider, Webhook};
use super::file::Problem;
use super::raw::{RawChannel, RawFile};
use super::secret::SecretRef;
use super::{GRAPH_URL, SYNTHETIC};

const KINDS: &str = "whatsapp_meta, whatsapp_infobip, webhook, synthetic";
/// An id stands in addresses, labels and names of objects.
const LONGEST_CHANNEL_ID: usize = 63;

/// An account and the line on which it begins.
pub(super) type Placed = (u64, Account<SecretRef>);

/// The accounts, or everything that is wrong with them.
pub(super) fn accounts(file: RawFile) -> Result<Vec<Placed>, Vec<Problem>> {
    let mut checker = Checker { problems: Vec::new(), line: file.channels.referenced.line() };
    let mut checked = Vec::new();
    if file.channels.value.is_empty() {
        checker.say(checker.line, "channels", "there is none");
    }
    let count = file.channels.value.len();
    for channel in file.channels.value {
        checker.line = channel.referenced.line();
        if let Some(account) = checker.account(channel.value) {
            checked.push((checker.line, account));
        }
    }
    checker.together(&checked, checked.len() == count);
    let Checker { problems, .. } = checker;
    if problems.is_empty() { Ok(checked) } else { Err(problems) }
}

struct Checker {
    problems: Vec<Problem>,
    /// Where the channel that is looked at begins.
    line: u64,
}

impl Checker {
    fn account(&mut self, raw: RawChannel) -> Option<Account<SecretRef>> {
        let id = self.required("id", raw.id, "a name for the channel");
        let id =
            id.filter(|id| self.is_good(id, "id", channel_id, "must be of a-z, 0-9, - and _, at most 63"));
        let kind = self.required("kind", raw.kind, KINDS)?;
        let line = kind.referenced.line();
        let of_meta = [
            ("default", raw.default.as_ref().map(line_of)),
            ("phone_number_id", raw.phone_number_id.as_ref().map(line_of)),
            ("waba_id", raw.waba_id.as_ref().map(line_of)),
            ("graph_url", raw.graph_url.as_ref().map(line_of)),
            ("graph_version", raw.graph_version.as_ref().map(line_of)),
            ("app_secrets", raw.app_secrets.as_ref().map(line_of)),
            ("verify_token", raw.verify_token.as_ref().map(line_of)),
            ("access_token", raw.access_token.as_ref().map(line_of)),
        ];
        let of_infobip = [
            ("sender", raw.sender.as_ref().map(line_of)),
            ("base_url", raw.base_url.as_ref().map(line_of)),
            ("api_key", raw.api_key.as_ref().map(line_of)),
            ("hmac", raw.hmac.as_ref().map(line_of)),
            ("basic", raw.basic.as_ref().map(line_of)),
        ];
        let of_whatsapp = [("test_numbers", raw.test_numbers.as_ref().map(line_of))];
        let of_own_form = [("secrets", raw.secrets.as_ref().map(line_of))];
        let of_webhook =
            [("url", raw.url.as_ref().map(line_of)), ("media_hosts", raw.media_hosts.as_ref().map(line_of))];
        let own_form = of_own_form.into_iter().chain(of_webhook);
        let whatsapp = of_meta.into_iter().chain(of_infobip).chain(of_whatsapp);
        let foreign: Vec<_> = match kind.value.as_str() {
            "whatsapp_meta" => own_form.chain(of_infobip).collect(),
            "whatsapp_infobip" => own_form.chain(of_meta).collect(),
            "webhook" => whatsapp.collect(),
            "synthetic" => whatsapp.chain(of_webhook).collect(),
            _ => {
                self.say(line, "kind", format!("must be one of {KINDS}"));
                return None;
            }
        };
        for (field, line) in foreign {
            if let Some(line) = line {
                self.say(line, field, format!("does not belong to the kind {}", kind.value));
            }
        }
        let provider = match kind.value.as_str() {
            "whatsapp_meta" => Provider::Meta(Meta {
                default: raw.default.is_some_and(|default| default.value),
                phone_number_id: self.number_id(raw.phone_number_id)?,
                waba_id: raw.waba_id.map(|id| id.value),
                graph_url: self.url("graph_url", raw.graph_url)?.unwrap_or_else(|| GRAPH_URL.to_owned()),
                graph_version: self.version(raw.graph_version)?,
                app_secrets: self.secrets("app_secrets", raw.app_secrets)?,
                verify_token: self.secret("verify_token", raw.verify_token)?,
                access_token: self.optional("access_token", raw.access_token)?,
                test_numbers: self.test_numbers(raw.test_numbers)?,
            }),
            "whatsapp_infobip" => Provider::Infobip(Infobip {
                sender: self.sender(raw.sender)?,
                base_url: self.url("base_url", raw.base_url)?,
                api_key: self.optional("api_key", raw.api_key)?,
                verification: self.verification(raw.hmac, raw.basic)?,
                test_numbers: self.test_numbers(raw.test_numbers)?,
            }),
            "synthetic" => Provider::Webhook(Webhook {
                secrets: self.secrets("secrets", raw.secrets)?,
                url: None,
                media_hosts: Vec::new(),
                synthetic: true,
            }),
            _ => Provider::Webhook(Webhook {
                secrets: self.secrets("secrets", raw.secrets)?,
                url: self.url("url", raw.url)?,
                media_hosts: self.hosts(raw.media_hosts)?,
                synthetic: false,
            }),
        };
        let id = id?;
        // What is on this channel is marked by its id, in every table.
        let synthetic = kind.value == "synthetic";
        if synthetic != (id.value == SYNTHETIC) {
            let problem = format!("the kind synthetic, and no other, has the id {SYNTHETIC}");
            self.say(line_of(&id), "id", problem);
            return None;
        }
        Some(Account { id: id.value, provider })
    }

    /// What no channel can say for itself. Where a channel is wrong already, the one that is missed may be that one.
    fn together(&mut self, all: &[(u64, Account<SecretRef>)], complete: bool) {
        let mut seen: HashMap<(&str, &str), u64> = HashMap::new();
        let mut defaults = Vec::new();
        let mut first_meta = None;
        for (line, account) in all {
            let own = match &account.provider {
                Provider::Meta(meta) => {
                    first_meta = first_meta.or(Some(*line));
                    if meta.default {
                        defaults.push(*line);
                    }
                    Some(("phone_number_id", meta.phone_number_id.as_str()))
                }
                Provider::Infobip(infobip) => Some(("sender", infobip.sender.as_str())),
                Provider::Webhook(_) => None,
            };
            for (field, value) in [Some(("id", account.id.as_str())), own].into_iter().flatten() {
                if let Some(other) = seen.insert((field, value), *line) {
                    self.say(*line, field, format!("the channel of line {other} has the same"));
                }
            }
        }
        if let [_, second, ..] = defaults.as_slice() {
            self.say(*second, "default", "only one channel can be the default");
        }
        if let (true, Some(line)) = (complete && defaults.is_empty(), first_meta) {
            self.say(line, "default", "one whatsapp_meta channel must say `default: true`");
        }
    }
}

fn line_of<T>(given: &Spanned<T>) -> u64 {
    given.referenced.line()
}

fn channel_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    (1..=LONGEST_CHANNEL_ID).contains(&id.len())
        && id.bytes().all(plain)
        && id.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
}
