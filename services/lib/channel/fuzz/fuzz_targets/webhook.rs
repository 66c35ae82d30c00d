//! A body in our own form; a message that is taken has an id and a sender.
#![no_main]

use channel::inbound::Item;
use channel::webhook::inbound::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let Ok(delivery) = parse(body, || "minted".to_owned()) else { return };
    for item in delivery.items {
        if let Item::Message { message, .. } = item {
            assert!(!message.message_id.is_empty());
            assert!(message.phone.is_some() || message.user_id.is_some());
        }
    }
});
