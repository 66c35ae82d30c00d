//! A file of channels: read or refused by line and field, never with a value that may be a secret.
#![no_main]

use channel::config::ChannelsFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = ChannelsFile::parse(text) {
        assert!(!error.0.is_empty());
        assert_eq!(error.to_string().lines().count(), 1);
    }
});
