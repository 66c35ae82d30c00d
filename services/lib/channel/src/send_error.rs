//! Why a call to a provider failed, and what the queue does with it.
//!
//! Each provider judges its own refusals (`meta::code`, `infobip::code`, `webhook::client`); what a judgement means to
//! the queue is the same for all of them and stands here. Displayed and debugged without texts of citizens, numbers or
//! tokens.

use std::time::Duration;

/// What the queue does with a failed send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Try again, up to the limit of attempts.
    Retry,
    /// Not this message's fault: try again, after the given time if one was given, without counting an attempt.
    Defer(Option<Duration>),
    /// It can never be sent.
    Drop,
    /// It may have arrived. A receipt with our callback would prove it.
    Ambiguous,
}

/// What a failure says about others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Only this message.
    Message,
    /// Everything to this recipient.
    Recipient,
    /// Everything of this number: others would fail in the same way.
    Number,
}

/// Why a provider refuses, as far as it matters to the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Token, account or number: a person must act, and the queue waits.
    Blocked,
    /// The form, and only it, is blocked or throttled.
    FormBlocked,
    /// The provider is not well.
    Outage,
    /// Too much from this number.
    Throttled,
    /// Too much to this recipient.
    Pair,
    /// Will probably pass.
    Passing,
    /// It does not reach this recipient: no such account, blocked, or a client that cannot show it.
    Undeliverable,
    /// This message can never be sent.
    Never,
    /// It is not made as the provider wants it: a fault of ours, or of what was published, that somebody must look at.
    Malformed,
    /// A gateway gave up waiting: it may have arrived.
    Gateway,
}

/// How far a call came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Nobody to send to.
    NoRecipient,
    /// This channel has no way to say it.
    Unsayable,
    /// No connection: it has not arrived.
    NotSent,
    /// The connection broke or the time ran out after it may have been sent.
    Lost,
    /// It was answered, with a refusal.
    Refused(Reason),
    /// It was answered with success, in words that we cannot read.
    Unreadable,
}

/// A call that failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", self.describe())]
pub struct SendError {
    /// Who was called, as a sentence names it.
    pub api: &'static str,
    /// How far it came.
    pub failure: Failure,
    /// The provider's code.
    pub code: Option<i64>,
    /// The provider's subcode.
    pub subcode: Option<i64>,
    /// Status of the answer.
    pub http_status: Option<u16>,
    /// When to come back, as the answer says.
    pub retry_after: Option<Duration>,
    /// The provider's id of the call, for its support.
    pub trace: Option<String>,
    /// What the provider says to whoever runs the account, without anything that could be of a citizen.
    pub advice: Option<String>,
}

/// One message every six seconds is what a pair may exchange in the long run.
const PAIR_PAUSE: Duration = Duration::from_secs(6);

impl SendError {
    pub(crate) fn new(api: &'static str, failure: Failure) -> Self {
        Self {
            api,
            failure,
            code: None,
            subcode: None,
            http_status: None,
            retry_after: None,
            trace: None,
            advice: None,
        }
    }

    /// What the queue does with it.
    pub fn class(&self) -> Class {
        match self.failure {
            Failure::NoRecipient | Failure::Unsayable => Class::Drop,
            Failure::NotSent => Class::Defer(None),
            Failure::Lost | Failure::Unreadable => Class::Ambiguous,
            Failure::Refused(reason) => match reason {
                Reason::Blocked | Reason::FormBlocked | Reason::Outage | Reason::Throttled => {
                    Class::Defer(self.retry_after)
                }
                Reason::Pair => Class::Defer(Some(self.retry_after.unwrap_or(PAIR_PAUSE))),
                Reason::Passing => Class::Retry,
                Reason::Undeliverable | Reason::Never | Reason::Malformed => Class::Drop,
                Reason::Gateway => Class::Ambiguous,
            },
        }
    }

    /// What it says about others.
    pub fn scope(&self) -> Scope {
        match self.failure {
            Failure::NotSent => Scope::Number,
            Failure::NoRecipient | Failure::Unsayable | Failure::Lost | Failure::Unreadable => Scope::Message,
            Failure::Refused(reason) => match reason {
                Reason::Blocked | Reason::Outage | Reason::Throttled => Scope::Number,
                Reason::Pair => Scope::Recipient,
                Reason::FormBlocked
                | Reason::Passing
                | Reason::Undeliverable
                | Reason::Never
                | Reason::Malformed
                | Reason::Gateway => Scope::Message,
            },
        }
    }

    /// Whether nothing of the number goes until a person acts: its token, its account, its address.
    pub fn needs_operator(&self) -> bool {
        self.failure == Failure::Refused(Reason::Blocked)
    }

    /// Whether the form is at fault and everything else can go.
    pub fn blocks_form(&self) -> bool {
        self.failure == Failure::Refused(Reason::FormBlocked)
    }

    /// Whether it is not the recipient but what we send that is at fault.
    pub fn is_our_fault(&self) -> bool {
        self.failure == Failure::Refused(Reason::Malformed)
    }

    /// Whether the recipient's side cannot take it.
    pub fn is_undeliverable(&self) -> bool {
        self.failure == Failure::Refused(Reason::Undeliverable)
    }

    /// A stable word for metrics and logs.
    pub fn label(&self) -> &'static str {
        match self.failure {
            Failure::NoRecipient => "no_recipient",
            Failure::Unsayable => "unsayable",
            Failure::NotSent => "not_sent",
            Failure::Lost => "lost",
            Failure::Unreadable => "unreadable",
            Failure::Refused(reason) => match reason {
                Reason::Blocked => "blocked",
                Reason::FormBlocked => "form_blocked",
                Reason::Outage => "outage",
                Reason::Throttled => "throttled",
                Reason::Pair => "pair_limit",
                Reason::Passing => "passing",
                Reason::Undeliverable => "undeliverable",
                Reason::Never => "never",
                Reason::Malformed => "malformed",
                Reason::Gateway => "gateway",
            },
        }
    }

    fn describe(&self) -> String {
        let api = self.api;
        let mut words = match self.failure {
            Failure::NoRecipient => "nobody to send to".to_owned(),
            Failure::Unsayable => format!("{api} has no such message"),
            Failure::NotSent => format!("{api} cannot be reached"),
            Failure::Lost => format!("{api} did not answer in time"),
            Failure::Refused(_) => format!("{api} refused"),
            Failure::Unreadable => format!("the answer of {api} cannot be read"),
        };
        for (name, value) in
            [("code", self.code), ("subcode", self.subcode), ("HTTP", self.http_status.map(i64::from))]
        {
            if let Some(value) = value {
                words.push_str(&format!(", {name} {value}"));
            }
        }
        if let Some(advice) = &self.advice {
            words.push_str(&format!(": {advice}"));
        }
        words
    }
}

/// The longest advice that is kept, in characters.
const ADVICE: usize = 300;

/// Words of a provider that an operator may read: one line, of bounded length, and without whatever looks like a number,
/// an id or an address of somebody.
pub(crate) fn advice(text: &str) -> Option<String> {
    let words = text.split_whitespace().map(|word| {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        if digits >= 5 || word.contains('@') { "…" } else { word }
    });
    let line = words.collect::<Vec<_>>().join(" ");
    let kept: String = line.chars().filter(|letter| !letter.is_control()).take(ADVICE).collect();
    Some(kept).filter(|kept| !kept.is_empty())
}

/// What a status says where nothing else does. `ours`: the answer is in the provider's own words, so it is the provider
/// who judged, and not something in between.
pub(crate) fn by_status(status: Option<u16>, ours: bool, transient: bool) -> Reason {
    match status {
        Some(401 | 403) => Reason::Blocked,
        Some(429) => Reason::Throttled,
        Some(408 | 425) => Reason::Passing,
        Some(400..=499) if ours && transient => Reason::Passing,
        Some(400..=499) if ours => Reason::Never,
        Some(502 | 504) if !ours => Reason::Gateway,
        Some(500..=599) => Reason::Outage,
        // Not the provider's words: a wrong address or something in between, the same for every message.
        Some(_) | None => Reason::Blocked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_have_arrived_is_ambiguous() {
        let later = Class::Defer(None);
        for (failure, class) in [
            (Failure::NoRecipient, Class::Drop),
            (Failure::Unsayable, Class::Drop),
            (Failure::NotSent, later),
            (Failure::Lost, Class::Ambiguous),
            (Failure::Unreadable, Class::Ambiguous),
            (Failure::Refused(Reason::Blocked), later),
            (Failure::Refused(Reason::FormBlocked), later),
            (Failure::Refused(Reason::Outage), later),
            (Failure::Refused(Reason::Throttled), later),
            (Failure::Refused(Reason::Pair), Class::Defer(Some(PAIR_PAUSE))),
            (Failure::Refused(Reason::Passing), Class::Retry),
            (Failure::Refused(Reason::Undeliverable), Class::Drop),
            (Failure::Refused(Reason::Never), Class::Drop),
            (Failure::Refused(Reason::Malformed), Class::Drop),
            (Failure::Refused(Reason::Gateway), Class::Ambiguous),
        ] {
            assert_eq!(SendError::new("it", failure).class(), class, "{failure:?}");
        }
    }

    #[test]
    fn a_time_that_was_named_is_kept_to() {
        let wait = Some(Duration::from_secs(90));
        for reason in [Reason::Throttled, Reason::Pair, Reason::Blocked, Reason::Outage] {
            let error = SendError { retry_after: wait, ..SendError::new("it", Failure::Refused(reason)) };
            assert_eq!(error.class(), Class::Defer(wait));
        }
    }

    #[test]
    fn advice_is_one_line_and_names_nobody() {
        let text =
            "Your payment\nmethod failed. Call +34600000001, see the Business  Manager; mail ane@example.org";
        assert_eq!(
            advice(text).unwrap(),
            "Your payment method failed. Call … see the Business Manager; mail …"
        );
        assert_eq!(advice(" \n"), None);
        assert_eq!(advice(&"word ".repeat(200)).unwrap().chars().count(), ADVICE);
    }

    #[test]
    fn without_a_code_the_status_decides() {
        for (status, reason) in [
            (429, Reason::Throttled),
            (401, Reason::Blocked),
            (404, Reason::Blocked),
            (302, Reason::Blocked),
            (503, Reason::Outage),
            (504, Reason::Gateway),
            (502, Reason::Gateway),
            (408, Reason::Passing),
        ] {
            assert_eq!(by_status(Some(status), false, false), reason, "{status}");
        }
    }
}
