//! What Meta's error codes mean.
//!
//! Titles and texts of Meta's errors change without notice, so the code decides, and the HTTP status only where there
//! is no code that we know.

use crate::send_error::{Reason, by_status};

/// What a refusal says, from its code, its subcode, the status of the answer, and whether Meta says that it will pass.
pub(super) fn reason(
    code: Option<i64>,
    subcode: Option<i64>,
    status: Option<u16>,
    transient: bool,
) -> Reason {
    let known = code.and_then(|code| match code {
        // The object that is missing is the number we send from: a wrong id or no right to it. The subcode is being
        // retired, but still the only mark of it.
        100 if subcode == Some(33) => Some(Reason::Blocked),
        // Token, rights, account, number, payment, registration.
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
        | 133_005
        | 133_006
        | 133_008
        | 133_009
        | 133_010
        | 133_015
        | 133_016 => Some(Reason::Blocked),
        132_068 | 132_069 => Some(Reason::FormBlocked),
        2 | 131_016 | 131_057 | 133_000 | 133_004 => Some(Reason::Outage),
        4 | 613 | 80_007 | 130_429 => Some(Reason::Throttled),
        131_056 => Some(Reason::Pair),
        1 | 131_000 => Some(Reason::Passing),
        131_026 => Some(Reason::Undeliverable),
        130_472 | 130_497 | 131_021 | 131_030 | 131_047 | 131_049 | 131_050 | 131_052 | 131_062 | 131_063
        | 137_000 => Some(Reason::Never),
        // Parameters, kinds, templates, forms: what we send is not right.
        100
        | 131_008
        | 131_009
        | 131_051
        | 131_053
        | 132_000
        | 132_001
        | 132_005
        | 132_007
        | 132_008
        | 132_012
        | 132_015
        | 132_016
        | 135_000
        | 139_000..=139_004 => Some(Reason::Malformed),
        _ => None,
    });
    known.unwrap_or_else(|| by_status(status, code.is_some(), transient))
}

/// What the code in a receipt says of a message that was taken before. One that nobody knows is held against the message.
pub(super) fn reported(code: i64) -> Reason {
    reason(Some(code), None, Some(400), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_the_table_has_its_reason() {
        let table: &[(&[i64], u16, Reason)] = &[
            (&[0, 190], 401, Reason::Blocked),
            (&[3], 500, Reason::Blocked),
            (&[10, 200, 299, 131_005, 368, 131_031], 403, Reason::Blocked),
            (&[33, 131_042, 131_048, 131_064, 133_010, 131_037], 400, Reason::Blocked),
            (&[131_045], 500, Reason::Blocked),
            (&[133_005, 133_006, 133_008, 133_009, 133_015, 133_016], 400, Reason::Blocked),
            (&[2, 133_004], 503, Reason::Outage),
            (&[131_016, 131_057, 133_000], 500, Reason::Outage),
            (&[4, 80_007, 130_429, 613], 400, Reason::Throttled),
            (&[4, 80_007, 130_429], 429, Reason::Throttled),
            (&[132_068, 132_069], 400, Reason::FormBlocked),
            (&[131_056], 400, Reason::Pair),
            (&[1], 400, Reason::Passing),
            (&[131_000], 500, Reason::Passing),
            (&[131_026], 400, Reason::Undeliverable),
            (&[130_497], 403, Reason::Never),
            (&[132_001], 404, Reason::Malformed),
            (
                &[130_472, 131_021, 131_030, 131_047, 131_049, 131_050, 131_052, 131_062, 131_063, 137_000],
                400,
                Reason::Never,
            ),
            (
                &[
                    100, 131_008, 131_009, 131_051, 131_053, 132_000, 132_005, 132_007, 132_008, 132_012,
                    132_015, 132_016, 135_000, 139_000, 139_004,
                ],
                400,
                Reason::Malformed,
            ),
            // Codes that nobody knows yet.
            (&[999_999], 400, Reason::Never),
            (&[999_999], 500, Reason::Outage),
        ];
        for (codes, status, expected) in table {
            for code in *codes {
                assert_eq!(reason(Some(*code), None, Some(*status), false), *expected, "{code}");
            }
        }
    }

    #[test]
    fn a_receipt_has_no_status_and_its_code_means_the_same() {
        for (code, expected) in [
            (131_042, Reason::Blocked),
            (131_000, Reason::Passing),
            (130_429, Reason::Throttled),
            (131_056, Reason::Pair),
            (131_026, Reason::Undeliverable),
            (131_047, Reason::Never),
            (999_999, Reason::Never),
        ] {
            assert_eq!(reported(code), expected, "{code}");
        }
    }

    #[test]
    fn a_missing_number_is_not_held_against_the_message() {
        assert_eq!(reason(Some(100), Some(33), Some(400), false), Reason::Blocked);
    }

    #[test]
    fn what_meta_says_will_pass_is_tried_again() {
        assert_eq!(reason(Some(999_999), None, Some(400), true), Reason::Passing);
    }
}
