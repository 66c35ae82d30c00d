//! What a report's standing in our books and what the contractor shows of it say together.

use partner::Found;
use serde::Serialize;

/// A report in our books.
pub(super) struct Booked {
    pub(super) reference: String,
    pub(super) push_state: String,
    pub(super) partner_id: Option<String>,
}

/// How one report differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Difference {
    /// Sent by our books, not there.
    Missing,
    /// There more than once.
    Doubled,
    /// There, but not sent by our books.
    NotSent,
    /// There under a reference that we know nothing of.
    Unknown,
    /// There under another id than in our books.
    OtherId,
    /// The contractor gave no answer that proves anything.
    Unclear,
}

impl Difference {
    /// For people.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Doubled => "doubled",
            Self::NotSent => "there, but not sent by our books",
            Self::Unknown => "unknown to our books",
            Self::OtherId => "other id",
            Self::Unclear => "unclear",
        }
    }
}

/// One report that differs.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) reference: String,
    pub(super) difference: Difference,
    /// None: our books have no such report.
    pub(super) push_state: Option<String>,
    pub(super) partner_id: Option<String>,
    pub(super) seen: String,
}

/// What is to be told about a report, if anything.
pub(super) fn compare(booked: Booked, found: &Found) -> Option<Finding> {
    let (difference, seen) = judge(&booked.push_state, booked.partner_id.as_deref(), found)?;
    let Booked { reference, push_state, partner_id } = booked;
    Some(Finding { reference, difference, push_state: Some(push_state), partner_id, seen })
}

fn judge(push_state: &str, partner_id: Option<&str>, found: &Found) -> Option<(Difference, String)> {
    let sent = push_state == "sent";
    match found {
        Found::Unclear(seen) => Some((Difference::Unclear, seen.clone())),
        Found::Absent if sent => Some((Difference::Missing, "no record".to_owned())),
        Found::Absent => None,
        Found::Record { count, .. } if *count > 1 => Some((Difference::Doubled, format!("{count} records"))),
        Found::Record { id, .. } => {
            let there = id.as_deref().unwrap_or("without a readable id");
            if !sent {
                Some((Difference::NotSent, format!("record {there}")))
            } else if let (Some(ours), Some(theirs)) = (partner_id, id)
                && ours != theirs
            {
                Some((Difference::OtherId, format!("record {theirs}")))
            } else {
                None
            }
        }
    }
}

/// Whether a code is of the form of our references. Others are of other people's records.
pub(super) fn is_reference(code: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    code.strip_prefix("REF-")
        .and_then(|rest| rest.split_once('-'))
        .is_some_and(|(year, number)| year.len() == 4 && digits(year) && number.len() >= 5 && digits(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_has_its_name() {
        let record = |id: &str, count| Found::Record { id: Some(id.to_owned()), count };
        for (state, ours, found, expected) in [
            ("sent", Some("1"), record("1", 1), None),
            ("sent", None, record("1", 1), None),
            ("sent", Some("2"), record("1", 1), Some(Difference::OtherId)),
            ("sent", Some("1"), record("1", 2), Some(Difference::Doubled)),
            ("review", None, record("1", 1), Some(Difference::NotSent)),
            ("dead", None, record("1", 2), Some(Difference::Doubled)),
            ("sent", Some("1"), Found::Absent, Some(Difference::Missing)),
            ("dead", None, Found::Absent, None),
            ("sent", None, Found::Unclear("http 500".to_owned()), Some(Difference::Unclear)),
        ] {
            let told = judge(state, ours, &found).map(|(difference, _)| difference);
            assert_eq!(told, expected, "{state} {found:?}");
        }
    }

    #[test]
    fn only_codes_of_our_form_are_ours() {
        assert!(is_reference("REF-2026-00012") && is_reference("REF-2026-123456"));
        for other in ["", "REF-2026-12", "REF-26-00012", "INC-2026-00012", "REF-2026-0001a", "ref-2026-00012"]
        {
            assert!(!is_reference(other), "{other}");
        }
    }
}
