//! The fields, one by one: each is read, or what is wrong with it is said.

use http::HeaderName;
use serde_saphyr::Spanned;

use super::{Checker, line_of};
use crate::config::account::Verification;
use crate::config::file::Problem;
use crate::config::raw::{RawBasic, RawHmac, RawSecret};
use crate::config::secret::{SecretRef, Source};
use crate::config::{GRAPH_VERSION, MOST_SECRETS};
use crate::identity::phone;
use crate::signature::{Algorithm, Encoding};

type List = Option<Spanned<Vec<Spanned<RawSecret>>>>;

impl Checker {
    pub(super) fn say(&mut self, line: u64, field: &str, problem: impl Into<String>) {
        self.problems.push(Problem { line, field: field.to_owned(), problem: problem.into() });
    }

    pub(super) fn number_id(&mut self, given: Option<Spanned<String>>) -> Option<String> {
        let id = self.required("phone_number_id", given, "the number's id at Meta")?;
        let digits = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        let good = self.is_good(&id, "phone_number_id", digits, "must be the number's id at Meta, digits");
        good.then_some(id.value)
    }

    pub(super) fn sender(&mut self, given: Option<Spanned<String>>) -> Option<String> {
        let sender = self.required("sender", given, "the sender's number")?;
        let number = phone(&sender.value);
        if number.is_none() {
            self.say(line_of(&sender), "sender", "must be the sender's number, digits");
        }
        number
    }

    pub(super) fn version(&mut self, given: Option<Spanned<String>>) -> Option<String> {
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

    pub(super) fn url(&mut self, field: &str, given: Option<Spanned<String>>) -> Option<Option<String>> {
        let Some(url) = given else { return Some(None) };
        let absolute = |text: &str| {
            reqwest::Url::parse(text)
                .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some())
        };
        let good = self.is_good(&url, field, absolute, "must begin with http:// or https:// and name a host");
        good.then(|| Some(url.value.trim_end_matches('/').to_owned()))
    }

    pub(super) fn verification(
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

    /// Digits, of numbers that forms are tried out with.
    pub(super) fn test_numbers(
        &mut self,
        given: Option<Spanned<Vec<Spanned<String>>>>,
    ) -> Option<Vec<String>> {
        let given = given.map(|given| given.value).unwrap_or_default();
        let numbers: Vec<_> = given
            .into_iter()
            .map(|number| {
                let digits = phone(&number.value);
                if digits.is_none() {
                    self.say(line_of(&number), "test_numbers", "must be numbers, digits");
                }
                digits
            })
            .collect();
        numbers.into_iter().collect()
    }

    /// Names of hosts, without scheme or port.
    pub(super) fn hosts(&mut self, given: Option<Spanned<Vec<Spanned<String>>>>) -> Option<Vec<String>> {
        let given = given.map(|given| given.value).unwrap_or_default();
        let hosts: Vec<_> = given
            .into_iter()
            .map(|host| {
                let name = host.value.to_ascii_lowercase();
                let url = reqwest::Url::parse(&format!("https://{name}/"));
                let good = url.is_ok_and(|url| url.host_str() == Some(name.as_str()));
                if !good {
                    self.say(
                        line_of(&host),
                        "media_hosts",
                        "must be names of hosts, without scheme and port",
                    );
                }
                good.then_some(name)
            })
            .collect();
        hosts.into_iter().collect()
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

    pub(super) fn secrets(&mut self, field: &'static str, given: List) -> Option<Vec<SecretRef>> {
        let given = self.required(field, given, "one or two of {env: NAME} or {file: PATH}")?;
        if given.value.is_empty() || given.value.len() > MOST_SECRETS {
            self.say(line_of(&given), field, "must be one secret, or two while one is rotated");
            return None;
        }
        let refs: Vec<_> = given.value.into_iter().map(|secret| self.reference(field, secret)).collect();
        refs.into_iter().collect()
    }

    pub(super) fn secret(
        &mut self,
        field: &'static str,
        given: Option<Spanned<RawSecret>>,
    ) -> Option<SecretRef> {
        let given = self.required(field, given, "{env: NAME} or {file: PATH}")?;
        self.reference(field, given)
    }

    pub(super) fn optional(
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

    pub(super) fn required<T>(
        &mut self,
        field: &str,
        given: Option<Spanned<T>>,
        what: &str,
    ) -> Option<Spanned<T>> {
        if given.is_none() {
            self.say(self.line, field, format!("is missing; {what}"));
        }
        given
    }

    pub(super) fn is_good(
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
