//! A body of Infobip, in either dialect.
#![no_main]

use channel::inbound::Item;
use channel::infobip::inbound::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let Ok(delivery) = parse(body) else { return };
    for item in delivery.items.into_iter().take(8) {
        if let Item::Message { message, raw, .. } = item {
            let again = parse(&raw).expect("what is kept of a message is a webhook");
            let same = again.items.iter().any(|item| {
                matches!(item, Item::Message { message: again, .. } if again.message_id == message.message_id)
            });
            assert!(same, "what is kept of a message has another id");
        }
    }
});
