//! Could this failure have produced a record on the other side?
//!
//! Two pure steps. [`classify`] turns what the client proved into one of eight classes; [`outcome`] turns the class
//! into what becomes of the push. Whatever is not proven harmless is ambiguous, and nothing ambiguous is sent again
//! by itself: a second record sends a second crew.
//!
//! | class | proof | push |
//! | --- | --- | --- |
//! | not sent | no connection | defer |
//! | not processed | first 401; 429; a status documented as such | resend once; defer; retry, in an outage defer |
//! | misconfigured | 401 to a fresh login, 403, 404, 405, 407, or a body that says so; unbuildable request | defer, breaker, alarm |
//! | rejected | other 4xx | dead; 413: first in a smaller form |
//! | accepted, accepted without id, already there | 2xx; 409 or an answer that says so | sent |
//! | ambiguous | no head; 1xx, 3xx, 408, 425, 5xx | review |

use std::time::Duration;

use bus::outbox::Outcome;
use partner::{Answer, Proof};
use runtime::backoff::Backoff;

/// What is known about the other side after one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    NotSent,
    NotProcessed(NotProcessed),
    Misconfigured,
    Rejected,
    Accepted,
    AcceptedNoId,
    AlreadyThere,
    Ambiguous,
}

/// Why certainly nothing was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum NotProcessed {
    /// The pass was not good any more: one more try with a fresh one.
    PassSpent,
    /// Too many requests.
    Throttled,
    /// A status of which the platform's documentation says so.
    Documented,
}

impl Class {
    /// The word in attempts, metrics and logs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::NotSent => "not_sent",
            Self::NotProcessed(_) => "not_processed",
            Self::Misconfigured => "misconfigured",
            Self::Rejected => "rejected",
            Self::Accepted => "accepted",
            Self::AcceptedNoId => "accepted_no_id",
            Self::AlreadyThere => "already_there",
            Self::Ambiguous => "ambiguous",
        }
    }
}

/// What must be known besides the proof to judge it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules<'a> {
    /// The pass was made after an earlier one was refused for the same report.
    pub(crate) fresh_pass: bool,
    /// Statuses documented as "nothing was made".
    pub(crate) not_processed: &'a [u16],
}

/// Judges one create.
pub(crate) fn classify(proof: &Proof, rules: Rules<'_>) -> Class {
    match proof {
        // Address, headers and body format are the same for every report: this is no fault of the row.
        Proof::Unbuilt => Class::Misconfigured,
        Proof::NoConnection => Class::NotSent,
        Proof::NoAnswer => Class::Ambiguous,
        Proof::Answer(answer) => classify_answer(answer, rules),
    }
}

fn classify_answer(answer: &Answer, rules: Rules<'_>) -> Class {
    match answer.status {
        200..=299 if answer.id.is_some() => Class::Accepted,
        200..=299 => Class::AcceptedNoId,
        401 if !rules.fresh_pass => Class::NotProcessed(NotProcessed::PassSpent),
        // 407 comes from a proxy on our own side.
        401 | 403 | 404 | 405 | 407 => Class::Misconfigured,
        409 => Class::AlreadyThere,
        429 => Class::NotProcessed(NotProcessed::Throttled),
        status @ (408 | 425 | 500..=599) if rules.not_processed.contains(&status) => {
            Class::NotProcessed(NotProcessed::Documented)
        }
        408 | 425 => Class::Ambiguous,
        400..=499 if answer.already_exists => Class::AlreadyThere,
        400..=499 if answer.access_refused => Class::Misconfigured,
        400..=499 if answer.unclear => Class::Ambiguous,
        400..=499 => Class::Rejected,
        0..=199 | 300..=399 | 500..=u16::MAX => Class::Ambiguous,
    }
}

/// What must be known besides the class to say what becomes of a push.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances {
    /// Attempts charged, this one included.
    pub(crate) attempts: u32,
    /// Between charged attempts.
    pub(crate) backoff: Backoff,
    /// In `[0, 1)`.
    pub(crate) jitter: f64,
    /// The partner is failing for everybody, not for this report.
    pub(crate) outage: bool,
    /// How long it makes no sense to try again.
    pub(crate) hold: Duration,
}

/// What becomes of a push whose last request was of this class.
pub(crate) fn outcome(class: Class, answer: Option<&Answer>, now: Circumstances) -> Outcome {
    let told = answer.and_then(|answer| answer.retry_after).unwrap_or_default();
    let id = || answer.and_then(|answer| answer.id.clone());
    match class {
        Class::Accepted | Class::AcceptedNoId | Class::AlreadyThere => Outcome::Sent { partner_id: id() },
        Class::Ambiguous => Outcome::Review,
        Class::Rejected => Outcome::Dead,
        Class::NotProcessed(NotProcessed::Documented) if !now.outage => {
            Outcome::Retry(now.backoff.after(now.attempts, now.jitter).max(told))
        }
        Class::NotSent | Class::NotProcessed(_) | Class::Misconfigured => Outcome::Defer(now.hold.max(told)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules<'static> = Rules { fresh_pass: false, not_processed: &[] };
    const NOW: Circumstances = Circumstances {
        attempts: 2,
        backoff: Backoff { first: Duration::from_secs(30), longest: Duration::from_secs(480) },
        jitter: 0.5,
        outage: false,
        hold: Duration::from_secs(5),
    };

    fn answer(status: u16) -> Answer {
        Answer { status, ..Answer::default() }
    }

    fn class(status: u16) -> Class {
        classify(&Proof::Answer(answer(status)), RULES)
    }

    #[test]
    fn every_status_has_its_class() {
        use Class::*;
        for status in 100..=999 {
            let expected = match status {
                200..=299 => AcceptedNoId,
                401 => NotProcessed(super::NotProcessed::PassSpent),
                403 | 404 | 405 | 407 => Misconfigured,
                409 => AlreadyThere,
                429 => NotProcessed(super::NotProcessed::Throttled),
                408 | 425 => Ambiguous,
                400..=499 => Rejected,
                _ => Ambiguous,
            };
            assert_eq!(class(status), expected, "{status}");
        }
    }

    #[test]
    fn what_never_connected_was_not_sent_and_what_was_not_answered_is_ambiguous() {
        assert_eq!(classify(&Proof::NoConnection, RULES), Class::NotSent);
        assert_eq!(classify(&Proof::NoAnswer, RULES), Class::Ambiguous);
        assert_eq!(classify(&Proof::Unbuilt, RULES), Class::Misconfigured);
    }

    #[test]
    fn a_body_can_only_add_an_id_or_the_word_that_it_exists() {
        let with_id = |status| Proof::Answer(Answer { id: Some("7".into()), ..answer(status) });
        assert_eq!(classify(&with_id(201), RULES), Class::Accepted);
        assert_eq!(classify(&with_id(500), RULES), Class::Ambiguous);
        let exists = |status| Proof::Answer(Answer { already_exists: true, ..answer(status) });
        assert_eq!(classify(&exists(422), RULES), Class::AlreadyThere);
        assert_eq!(classify(&exists(500), RULES), Class::Ambiguous);
        assert_eq!(classify(&exists(403), RULES), Class::Misconfigured);
        let kept_out = |status| Proof::Answer(Answer { access_refused: true, ..answer(status) });
        assert_eq!(classify(&kept_out(400), RULES), Class::Misconfigured);
        assert_eq!(classify(&kept_out(500), RULES), Class::Ambiguous);
        let unclear = |status| Proof::Answer(Answer { unclear: true, ..answer(status) });
        assert_eq!(classify(&unclear(400), RULES), Class::Ambiguous);
    }

    #[test]
    fn a_second_401_is_a_matter_for_the_operator() {
        let fresh = Rules { fresh_pass: true, ..RULES };
        assert_eq!(classify(&Proof::Answer(answer(401)), fresh), Class::Misconfigured);
    }

    #[test]
    fn only_a_documented_status_is_taken_for_not_processed() {
        let documented = Rules { not_processed: &[503], ..RULES };
        let judged = |status| classify(&Proof::Answer(answer(status)), documented);
        assert_eq!(judged(503), Class::NotProcessed(NotProcessed::Documented));
        assert_eq!(judged(500), Class::Ambiguous);
    }

    /// The word, and the seconds of a wait.
    fn becomes(class: Class, answer: &Answer, now: Circumstances) -> (&'static str, u64) {
        let outcome = outcome(class, Some(answer), now);
        let wait = match &outcome {
            Outcome::Retry(wait) | Outcome::Defer(wait) => wait.as_secs(),
            Outcome::Sent { .. } | Outcome::Review | Outcome::Dead => 0,
        };
        (outcome.name(), wait)
    }

    #[test]
    fn every_class_has_its_outcome() {
        let plain = answer(0);
        for (class, expected) in [
            (Class::NotSent, ("defer", 5)),
            (Class::NotProcessed(NotProcessed::PassSpent), ("defer", 5)),
            (Class::NotProcessed(NotProcessed::Throttled), ("defer", 5)),
            (Class::NotProcessed(NotProcessed::Documented), ("retry", 60)),
            (Class::Misconfigured, ("defer", 5)),
            (Class::Rejected, ("dead", 0)),
            (Class::Accepted, ("sent", 0)),
            (Class::AcceptedNoId, ("sent", 0)),
            (Class::AlreadyThere, ("sent", 0)),
            (Class::Ambiguous, ("review", 0)),
        ] {
            assert_eq!(becomes(class, &plain, NOW), expected, "{class:?}");
        }
    }

    #[test]
    fn an_outage_charges_nothing() {
        let outage = Circumstances { outage: true, ..NOW };
        let documented = Class::NotProcessed(NotProcessed::Documented);
        assert_eq!(becomes(documented, &answer(503), outage), ("defer", 5));
    }

    #[test]
    fn a_wait_that_was_asked_for_is_kept() {
        let told = Answer { retry_after: Some(Duration::from_secs(90)), ..answer(429) };
        assert_eq!(becomes(Class::NotProcessed(NotProcessed::Throttled), &told, NOW), ("defer", 90));
        assert_eq!(becomes(Class::NotProcessed(NotProcessed::Documented), &told, NOW), ("retry", 90));
    }
}
