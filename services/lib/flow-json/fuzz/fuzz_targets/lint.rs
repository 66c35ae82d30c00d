//! Any text as a Flow JSON: read or refused, never a panic; and every fault stands where it is said to stand.
#![no_main]

use flow_json::{lint, lint_init_data, lint_languages};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|text: &str| {
    let violations = lint(text);
    let lines = text.split('\n').count();
    for violation in &violations {
        assert!((1..=lines).contains(&violation.line), "{violation}");
        assert!(violation.column >= 1 && !violation.message.is_empty(), "{violation}");
    }
    let repeated = violations.iter().any(|one| one.code.as_str() == "DUPLICATE_KEY");
    // A key that stands twice is in the text and not in the value, and a long one is cut in its pointer.
    if let Ok(document) = serde_json::from_str::<Value>(text)
        && text.len() < 200
        && !repeated
    {
        for violation in &violations {
            assert!(document.pointer(&violation.pointer).is_some(), "{violation}");
        }
    }
    lint_init_data(text, "ROOT", None);
    assert!(repeated || lint_languages(text, text, |_| true).is_empty(), "a form differs from itself");
});
