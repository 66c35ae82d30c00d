//! The linter against another reading of the same rules: the checks that the simulator makes when a form is uploaded.
//! They share no code, so where both agree, neither has only its own mistake to agree with.

use flow_json::{Code, generate, lint};
use simulator::flow_problems;

use super::frames::{Frame, document};
use super::{NEWEST, pairs, pairs_components};
use crate::second_city::harbour;
use crate::support::builtin;

fn told(text: &str) -> Vec<String> {
    flow_problems(text).iter().map(|problem| format!("{} {}", problem["error"], problem["message"])).collect()
}

#[test]
fn both_let_our_forms_pass() {
    for taxonomy in [builtin(), harbour()] {
        for language in taxonomy.languages() {
            let form = generate(&taxonomy, language).expect("the language is known").json;
            assert_eq!((lint(&form), told(&form)), (Vec::new(), Vec::new()), "{language}");
        }
    }
}

fn is_platform(name: &str) -> bool {
    Code::ALL.iter().any(|code| code.as_str() == name && code.is_platform())
}

#[test]
fn both_take_and_refuse_the_same_documents() {
    let mut differ = Vec::new();
    let mut count = 0;
    let mut judge = |frame: Frame, version: &str, piece: &str, right: bool| {
        count += 1;
        let found = told(&document(frame, version, piece));
        if found.is_empty() != right {
            differ.push(format!("{frame:?} {version} {piece}: {found:?}"));
        }
    };
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
        // Forms with an endpoint are not played, and what the platform does not see it does not refuse.
        if *frame == Frame::Endpoint {
            continue;
        }
        judge(*frame, NEWEST, good, true);
        if expected.split(' ').all(is_platform) {
            judge(*frame, NEWEST, bad, false);
        }
    }
    for (frame, piece, refuses, takes, _) in pairs_components::SINCE {
        if *frame == Frame::Endpoint {
            continue;
        }
        judge(*frame, takes, piece, true);
        judge(*frame, refuses, piece, false);
    }
    for (frame, piece, takes, refuses, _) in pairs_components::UNTIL {
        judge(*frame, takes, piece, true);
        judge(*frame, refuses, piece, false);
    }
    assert!(differ.is_empty(), "{} of {count}:\n{}", differ.len(), differ.join("\n"));
    assert!(count > 400, "{count}");
}
