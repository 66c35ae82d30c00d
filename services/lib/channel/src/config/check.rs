//! What a file must say to work, kind by kind.

use std::collections::HashMap;

use http::HeaderName;
use serde_saphyr::Spanned;

use super::account::{Account, Infobip, Meta, Provider, Verification, Webhook};
use super::file::Problem;
use super::raw::{RawBasic, RawChannel, RawFile, RawHmac, RawSecret};
use super::secret::{SecretRef, Source};
use super::{GRAPH_URL, GRAPH_VERSION, MOST_SECRETS};
use crate::identity::phone;
use crate::signature::{Algorithm, Encoding};

const KINDS: &str = "whatsapp_meta, whatsapp_infobip, webhook";
/// An id stands in addresses, labels and names of objects.
const LONGEST_CHANNEL_ID: usize = 63;

type List = Option<Spanned<Vec<Spanned<RawSecret>>>>;

/// The accounts, or everything that is wrong with them.
pub(super) fn accounts(file: RawFile) -> Result<Vec<Account<SecretRef>>, Vec<Problem>> {
    let mut checker = Checker { problems: Vec::new(), line: file.channels.referenced.line() };
    let mut checked = Vec::new();
    if file.channels.value.is_empty() {
        checker.say(checker.line, "channels", "there is none");
    }
    for channel in file.channels.value {
        checker.line = channel.referenced.line();
        if let Some(account) = checker.account(channel.value) {
            checked.push((checker.line, account));
        }
    }
    checker.together(&checked);
    let Checker { problems, .. } = checker;
    if problems.is_empty() {
        Ok(checked.into_iter().map(|(_, account)| account).collect())
    } else {
        Err(problems)
    }
}

struct Checker {
    problems: Vec<Problem>,
    /// Where the channel that is looked at begins.
    line: u64,
}

impl Checker {
    fn say(&mut self, line: u64, field: &str, problem: impl Into<String>) {
        self.problems.push(Problem { line, field: field.to_owned(), problem: problem.into() });
    }

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
        let of_webhook = [("secrets", raw.secrets.as_ref().map(line_of))];
        let foreign: Vec<_> = match kind.value.as_str() {
            "whatsapp_meta" => of_infobip.into_iter().chain(of_webhook).collect(),
            "whatsapp_infobip" => of_meta.into_iter().chain(of_webhook).collect(),
            "webhook" => of_meta.into_iter().chain(of_infobip).collect(),
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
            }),
            "whatsapp_infobip" => Provider::Infobip(Infobip {
                sender: self.sender(raw.sender)?,
                base_url: self.url("base_url", raw.base_url)?,
                api_key: self.optional("api_key", raw.api_key)?,
                verification: self.verification(raw.hmac, raw.basic)?,
            }),
            _ => Provider::Webhook(Webhook { secrets: self.secrets("secrets", raw.secrets)? }),
        };
        Some(Account { id: id?.value, provider })
    }

    /// What no channel can say for itself.
    fn together(&mut self, all: &[(u64, Account<SecretRef>)]) {
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
        if let (true, Some(line)) = (defaults.is_empty(), first_meta) {
            self.say(line, "default", "one whatsapp_meta channel must say `default: true`");
        }
    }

    fn number_id(&mut self, given: Option<Spanned<String>>) -> Option<String> {
        let id = self.required("phone_number_id", given, "the number's id at Meta")?;
        let digits = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        let good = self.is_good(&id, "phone_number_id", digits, "must be the number's id at Meta, digits");
        good.then_some(id.value)
    }

    fn sender(&mut self, given: Option<Spanned<String>>) -> Option<String> {
        let sender = self.required("sender", given, "the sender's number")?;
        let number = phone(&sender.value);
        if number.is_none() {
            self.say(line_of(&sender), "sender", "must be the sender's number, digits");
        }
        number
    }

    fn version(&mut self, given: Option<Spanned<String>>) -> Option<String> {
        let Some(version) = given else { return Some(GRAPH_VERSION.to_owned()) };
        let shape = |text: &str| {
            let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            text.strip_prefix('v')
                .and_then(|rest| rest.split_once('.'))
                .is_some_and(|(a, b)| digits(a) && digits(b))
        };
        let good = self.is_good(&version, "graph_version", shape, "must be a version as v26.0");
        good.then_some(version.value)
    }

    fn url(&mut self, field: &str, given: Option<Spanned<String>>) -> Option<Option<String>> {
        let Some(url) = given else { return Some(None) };
        let absolute = |text: &str| {
            reqwest::Url::parse(text)
                .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some())
        };
        let good = self.is_good(&url, field, absolute, "must begin with http:// or https:// and name a host");
        good.then(|| Some(url.value.trim_end_matches('/').to_owned()))
    }

    fn verification(
        &mut self,
        hmac: Option<Spanned<RawHmac>>,
        basic: Option<Spanned<RawBasic>>,
    ) -> Option<Verification<SecretRef>> {
        match (hmac, basic) {
            (Some(hmac), None) => self.hmac(hmac.value),
            (None, Some(basic)) => {
                let user = self.required("user", basic.value.user, "the user's name");
                let passwords = self.secrets("passwords", basic.value.passwords);
                Some(Verification::Basic { user: user?.value, passwords: passwords? })
            }
            (Some(hmac), Some(_)) => {
                self.say(line_of(&hmac), "hmac", "stands beside basic; keep one of them");
                None
            }
            (None, None) => {
                self.say(self.line, "hmac", "is missing; hmac or basic must say how calls prove themselves");
                None
            }
        }
    }

    fn hmac(&mut self, raw: RawHmac) -> Option<Verification<SecretRef>> {
        let header = self.required("header", raw.header, "the header that carries the signature")?;
        let name = HeaderName::try_from(header.value.as_str());
        if name.is_err() {
            self.say(line_of(&header), "header", "must be the name of a header");
        }
        let algorithm = match raw.algorithm {
            None => Some(Algorithm::Sha256),
            Some(word) => self.word(&word, "algorithm", Algorithm::parse, Algorithm::WORDS),
        };
        let encoding = match raw.encoding {
            None => Some(Encoding::Hex),
            Some(word) => self.word(&word, "encoding", Encoding::parse, Encoding::WORDS),
        };
        Some(Verification::Hmac {
            header: name.ok()?,
            algorithm: algorithm?,
            encoding: encoding?,
            prefix: raw.prefix.map(|prefix| prefix.value).unwrap_or_default(),
            secrets: self.secrets("secrets", raw.secrets)?,
        })
    }

    fn word<T>(
        &mut self,
        given: &Spanned<String>,
        field: &str,
        parse: impl Fn(&str) -> Option<T>,
        words: &str,
    ) -> Option<T> {
        let parsed = parse(&given.value);
        if parsed.is_none() {
            self.say(line_of(given), field, format!("must be one of {words}"));
        }
        parsed
    }

    fn secrets(&mut self, field: &'static str, given: List) -> Option<Vec<SecretRef>> {
        let given = self.required(field, given, "one or two of {env: NAME} or {file: PATH}")?;
        if given.value.is_empty() || given.value.len() > MOST_SECRETS {
            self.say(line_of(&given), field, "must be one secret, or two while one is rotated");
            return None;
        }
        let refs: Vec<_> = given.value.into_iter().map(|secret| self.reference(field, secret)).collect();
        refs.into_iter().collect()
    }

    fn secret(&mut self, field: &'static str, given: Option<Spanned<RawSecret>>) -> Option<SecretRef> {
        let given = self.required(field, given, "{env: NAME} or {file: PATH}")?;
        self.reference(field, given)
    }

    fn optional(
        &mut self,
        field: &'static str,
        given: Option<Spanned<RawSecret>>,
    ) -> Option<Option<SecretRef>> {
        match given {
            None => Some(None),
            Some(given) => self.reference(field, given).map(Some),
        }
    }

    fn reference(&mut self, field: &'static str, given: Spanned<RawSecret>) -> Option<SecretRef> {
        let line = line_of(&given);
        let source = match (given.value.env, given.value.file) {
            (Some(name), None) if !name.is_empty() => Source::Env(name),
            (None, Some(path)) if !path.as_os_str().is_empty() => Source::File(path),
            _ => {
                self.say(line, field, "must be {env: NAME} or {file: PATH}");
                return None;
            }
        };
        Some(SecretRef { source, line, field })
    }

    fn required<T>(&mut self, field: &str, given: Option<Spanned<T>>, what: &str) -> Option<Spanned<T>> {
        if given.is_none() {
            self.say(self.line, field, format!("is missing; {what}"));
        }
        given
    }

    fn is_good(
        &mut self,
        given: &Spanned<String>,
        field: &str,
        good: impl Fn(&str) -> bool,
        problem: &str,
    ) -> bool {
        let good = good(&given.value);
        if !good {
            self.say(line_of(given), field, problem);
        }
        good
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
