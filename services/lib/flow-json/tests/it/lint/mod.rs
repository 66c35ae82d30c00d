//! The linter against documents of its own, ours and broken ones.

mod bounds;
mod frames;
mod mutation;
mod pairs;
mod pairs_components;
mod places;
mod second_opinion;

use std::collections::BTreeSet;

use flow_json::{Code, lint};
use frames::{Frame, document};

const NEWEST: &str = "7.3";

fn codes(text: &str) -> BTreeSet<&'static str> {
    lint(text).iter().map(|violation| violation.code.as_str()).collect()
}

/// What is wrong with the table; one run says all of it.
fn judge(frame: Frame, good: (&str, &str), bad: (&str, &str), expected: &str, wrong: &mut Vec<String>) {
    let right = document(frame, good.0, good.1);
    let violations: Vec<String> = lint(&right).iter().map(ToString::to_string).collect();
    if !violations.is_empty() {
        wrong.push(format!("{frame:?} {} {}\n  should be right: {violations:#?}", good.0, good.1));
    }
    let told = codes(&document(frame, bad.0, bad.1));
    if told != expected.split(' ').collect() {
        wrong.push(format!("{frame:?} {} {}\n  {expected} expected, not {told:?}", bad.0, bad.1));
    }
}

/// Codes that a short piece cannot show: documents at their limits, in `bounds`; several documents, in `across`.
const ELSEWHERE: [&str; 7] = [
    "IMAGE_TOO_LARGE",
    "INIT_DATA_MISMATCH",
    "MAX_ALLOWED_COMPONENTS_PER_SCREEN",
    "MAX_SCREENS_NUMBER",
    "MESSAGE_TOO_LARGE",
    "STRUCTURE_DIFFERS",
    "TOO_MANY_VIOLATIONS",
];

#[test]
fn every_code_is_met_by_a_fixture() {
    let tables = [
        pairs::DOCUMENTS,
        pairs::LISTS,
        pairs_components::SHOWN,
        pairs_components::INPUTS,
        pairs_components::GROUPED,
        pairs_components::ACTIONS,
    ];
    let by_version = [pairs_components::SINCE, pairs_components::UNTIL].into_iter().flatten();
    let expected: BTreeSet<&str> = tables
        .into_iter()
        .flatten()
        .map(|(_, _, _, expected)| *expected)
        .chain(by_version.map(|(_, _, _, _, expected)| *expected))
        .flat_map(|expected| expected.split(' '))
        .chain(ELSEWHERE)
        .collect();
    let all: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(all.difference(&expected).collect::<Vec<_>>(), [&""; 0]);
    assert_eq!(expected.difference(&all).collect::<Vec<_>>(), [&""; 0]);
}

#[test]
fn every_fixture_is_right_but_for_the_one_fault_that_is_told() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (frame, good, bad, expected) in [
        pairs::DOCUMENTS,
        pairs::LISTS,
        pairs_components::SHOWN,
        pairs_components::INPUTS,
        pairs_components::GROUPED,
        pairs_components::ACTIONS,
    ]
    .into_iter()
    .flatten()
    {
        count += 1;
        judge(*frame, (NEWEST, good), (NEWEST, bad), expected, &mut wrong);
    }
    for (frame, piece, refuses, takes, expected) in pairs_components::SINCE {
        count += 1;
        judge(*frame, (takes, piece), (refuses, piece), expected, &mut wrong);
    }
    for (frame, piece, takes, refuses, expected) in pairs_components::UNTIL {
        count += 1;
        judge(*frame, (takes, piece), (refuses, piece), expected, &mut wrong);
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 150, "{count}");
}
