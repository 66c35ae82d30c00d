//! Why a call to the Graph API failed, and what the queue does with it.
//!
//! Titles and texts of Meta's errors change without notice, so the code decides, and the HTTP status only where there
//! is no code that we know. Displayed and debugged without texts, numbers or tokens.

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

/// How far a call came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Nobody to send to.
    NoRecipient,
    /// No connection: it has not arrived.
    NotSent,
    /// The connection broke or the time ran out after it may have been sent.
    Lost,
    /// It was answered, with a refusal.
    Refused,
    /// It was answered with success, in words that we cannot read.
    Unreadable,
}

/// A call that failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", self.describe())]
pub struct SendError {
    /// How far it came.
    pub failure: Failure,
    /// Meta's code.
    pub code: Option<i64>,
    /// Meta's subcode; being retired, but still the only mark of a missing object.
    pub subcode: Option<i64>,
    /// Status of the answer.
    pub http_status: Option<u16>,
    /// When to come back, as the answer says.
    pub retry_after: Option<Duration>,
    /// Meta says that it will pass.
    pub transient: bool,
    /// Meta's id of the call, for its support.
    pub trace: Option<String>,
}

/// Why Meta refuses, as far as it matters to the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// Token, account, number or form: a person must act, and the queue waits.
    Blocked,
    /// Meta is not well.
    Outage,
    /// Too much from this number.
    Throttled,
    /// Too much to this recipient.
    Pair,
    /// Will probably pass.
    Passing,
    /// This message can never be sent.
    Never,
    /// A gateway gave up waiting: it may have arrived.
    Unknown,
}

/// One message every six seconds is what a pair may exchange in the long run.
const PAIR_PAUSE: Duration = Duration::from_secs(6);

impl SendError {
    pub(super) fn new(failure: Failure) -> Self {
        Self {
            failure,
            code: None,
            subcode: None,
            http_status: None,
            retry_after: None,
            transient: false,
            trace: None,
        }
    }

    /// What the queue does with it.
    pub fn class(&self) -> Class {
        match self.failure {
            Failure::NoRecipient => Class::Drop,
            Failure::NotSent => Class::Defer(None),
            Failure::Lost | Failure::Unreadable => Class::Ambiguous,
            Failure::Refused => match self.reason() {
                Reason::Blocked | Reason::Outage | Reason::Throttled => Class::Defer(self.retry_after),
                Reason::Pair => Class::Defer(Some(self.retry_after.unwrap_or(PAIR_PAUSE))),
                Reason::Passing => Class::Retry,
                Reason::Never => Class::Drop,
                Reason::Unknown => Class::Ambiguous,
            },
        }
    }

    /// What it says about others.
    pub fn scope(&self) -> Scope {
        match self.failure {
            Failure::NotSent => Scope::Number,
            Failure::NoRecipient | Failure::Lost | Failure::Unreadable => Scope::Message,
            Failure::Refused => match self.reason() {
                Reason::Blocked | Reason::Outage | Reason::Throttled => Scope::Number,
                Reason::Pair => Scope::Recipient,
                Reason::Passing | Reason::Never | Reason::Unknown => Scope::Message,
            },
        }
    }

    /// Whether it lasts until a person acts: the token, the account or a form.
    pub fn needs_operator(&self) -> bool {
        self.failure == Failure::Refused && self.reason() == Reason::Blocked
    }

    /// A stable word for metrics and logs.
    pub fn label(&self) -> &'static str {
        match self.failure {
            Failure::NoRecipient => "no_recipient",
            Failure::NotSent => "not_sent",
            Failure::Lost => "lost",
            Failure::Unreadable => "unreadable",
            Failure::Refused => match self.reason() {
                Reason::Blocked => "blocked",
                Reason::Outage => "outage",
                Reason::Throttled => "throttled",
                Reason::Pair => "pair_limit",
                Reason::Passing => "passing",
                Reason::Never => "never",
                Reason::Unknown => "gateway",
            },
        }
    }

    fn reason(&self) -> Reason {
        let by_code = self.code.and_then(|code| match code {
            // The object that is missing is the number we send from: a wrong id or no right to it.
            100 if self.subcode == Some(33) => Some(Reason::Blocked),
            // Token, rights, account, number, payment, registration; a form that Meta has blocked.
            0
            | 3
            | 10
            | 33
            | 190
            | 200..=299
            | 368
            | 131_005
            | 131_031
            | 131_037
            | 131_042
            | 131_045
            | 131_048
            | 131_064
            | 132_068
            | 133_005
            | 133_006
            | 133_008
            | 133_009
            | 133_010
            | 133_015
            | 133_016 => Some(Reason::Blocked),
            2 | 131_016 | 131_057 | 133_000 | 133_004 => Some(Reason::Outage),
            4 | 613 | 80_007 | 130_429 | 132_069 => Some(Reason::Throttled),
            131_056 => Some(Reason::Pair),
            1 | 131_000 => Some(Reason::Passing),
            100
            | 130_472
            | 130_497
            | 131_008
            | 131_009
            | 131_021
            | 131_026
            | 131_030
            | 131_047
            | 131_049..=131_053
            | 131_062
            | 131_063
            | 132_000
            | 132_001
            | 132_005
            | 132_007
            | 132_008
            | 132_012
            | 132_015
            | 132_016
            | 135_000
            | 137_000
            | 139_000..=139_004 => Some(Reason::Never),
            _ => None,
        });
        by_code.unwrap_or_else(|| self.by_status())
    }

    fn by_status(&self) -> Reason {
        let judged_by_meta = self.code.is_some();
        match self.http_status {
            Some(401 | 403) => Reason::Blocked,
            Some(429) => Reason::Throttled,
            Some(408 | 425) => Reason::Passing,
            Some(400..=499) if judged_by_meta && self.transient => Reason::Passing,
            Some(400..=499) if judged_by_meta => Reason::Never,
            Some(502 | 504) if !judged_by_meta => Reason::Unknown,
            Some(500..=599) => Reason::Outage,
            // Not Meta's envelope: a wrong address or something in between, the same for every message.
            Some(_) | None => Reason::Blocked,
        }
    }

    fn describe(&self) -> String {
        let mut words = match self.failure {
            Failure::NoRecipient => "nobody to send to".to_owned(),
            Failure::NotSent => "the Graph API cannot be reached".to_owned(),
            Failure::Lost => "the Graph API did not answer in time".to_owned(),
            Failure::Refused => "the Graph API refused".to_owned(),
            Failure::Unreadable => "the answer of the Graph API cannot be read".to_owned(),
        };
        for (name, value) in
            [("code", self.code), ("subcode", self.subcode), ("HTTP", self.http_status.map(i64::from))]
        {
            if let Some(value) = value {
                words.push_str(&format!(", {name} {value}"));
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: Option<i64>, status: u16) -> SendError {
        SendError { code, http_status: Some(status), ..SendError::new(Failure::Refused) }
    }

    #[test]
    fn every_code_of_the_table_has_its_class() {
        let defer = Class::Defer(None);
        let table: &[(&[i64], u16, Class)] = &[
            (&[0, 190], 401, defer),
            (&[3], 500, defer),
            (&[10, 200, 299, 131_005, 368, 131_031], 403, defer),
            (&[33, 131_042, 131_048, 131_064, 133_010, 131_037], 400, defer),
            (&[2, 133_004], 503, defer),
            (&[131_016, 131_057, 131_045, 133_000], 500, defer),
            (&[4, 80_007, 130_429, 613], 400, defer),
            (&[4, 80_007, 130_429], 429, defer),
            (&[132_068, 132_069, 133_005, 133_006, 133_008, 133_009, 133_015, 133_016], 400, defer),
            (&[131_056], 400, Class::Defer(Some(PAIR_PAUSE))),
            (&[1], 400, Class::Retry),
            (&[131_000], 500, Class::Retry),
            (&[130_497], 403, Class::Drop),
            (&[132_001], 404, Class::Drop),
            (
                &[
                    100, 130_472, 131_008, 131_009, 131_021, 131_026, 131_030, 131_047, 131_049, 131_050,
                    131_051, 131_052, 131_053, 131_062, 131_063, 132_000, 132_005, 132_007, 132_008, 132_012,
                    132_015, 132_016, 135_000, 137_000, 139_000, 139_004,
                ],
                400,
                Class::Drop,
            ),
            // Codes that nobody knows yet.
            (&[999_999], 400, Class::Drop),
            (&[999_999], 500, defer),
        ];
        for (codes, status, class) in table {
            for code in *codes {
                assert_eq!(refused(Some(*code), *status).class(), *class, "{code}");
            }
        }
    }

    #[test]
    fn without_a_code_the_status_decides() {
        for (status, class) in [
            (429, Class::Defer(None)),
            (401, Class::Defer(None)),
            (404, Class::Defer(None)),
            (302, Class::Defer(None)),
            (503, Class::Defer(None)),
            (504, Class::Ambiguous),
            (502, Class::Ambiguous),
            (408, Class::Retry),
        ] {
            assert_eq!(refused(None, status).class(), class, "{status}");
        }
    }

    #[test]
    fn a_time_that_was_named_is_kept_to() {
        let wait = Some(Duration::from_secs(90));
        for code in [130_429, 131_056, 190] {
            let error = SendError { retry_after: wait, ..refused(Some(code), 400) };
            assert_eq!(error.class(), Class::Defer(wait));
        }
    }

    #[test]
    fn a_missing_number_is_not_held_against_the_message() {
        let error = SendError { subcode: Some(33), ..refused(Some(100), 400) };
        assert_eq!((error.class(), error.scope()), (Class::Defer(None), Scope::Number));
        assert!(error.needs_operator());
    }

    #[test]
    fn only_what_may_have_arrived_is_ambiguous() {
        for (failure, class) in [
            (Failure::NoRecipient, Class::Drop),
            (Failure::NotSent, Class::Defer(None)),
            (Failure::Lost, Class::Ambiguous),
            (Failure::Unreadable, Class::Ambiguous),
        ] {
            assert_eq!(SendError::new(failure).class(), class);
        }
    }
}
