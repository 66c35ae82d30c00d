//! What a phone sends back, as a text and as an object: read or refused, and read alike.
#![no_main]

use flow_json::parse_completion;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|text: &str| {
    let read = parse_completion(&Value::String(text.to_owned()));
    if let Ok(completion) = &read {
        let texts = [Some(&completion.route), completion.note.as_ref(), completion.flow_token.as_ref()];
        for text in texts.into_iter().flatten() {
            assert!(!text.is_empty() && text.trim() == text && !text.contains('\0'), "{text:?}");
        }
        assert!(completion.photos.iter().all(|photo| !photo.id.is_empty()));
    }
    if let Err(error) = &read {
        assert_eq!(error.to_string().lines().count(), 1);
    }
});
