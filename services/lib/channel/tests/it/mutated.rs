//! The corpus of every channel, damaged in many ways: no parser may panic, invent, or take long.
//!
//! `tests/corpus` has payloads of our own making, one folder a channel. Damage is what happens to bytes on their way
//! and what a hostile sender with the secret could do: bits turned, pieces cut out, repeated, put elsewhere, taken from
//! another payload, and tokens at which parsers stumble.

use std::path::Path;
use std::time::Duration;

use channel::inbound::{Delivery, Item, Unparsable};
use channel::{infobip, meta, webhook};
use proptest::prelude::*;
use serde_json::json;

use crate::payload::webhook as of_meta;

type Parser = fn(&[u8]) -> Result<Delivery, Unparsable>;

fn of_webhook(body: &[u8]) -> Result<Delivery, Unparsable> {
    webhook::inbound::parse(body, || "minted".to_owned())
}

const PARSERS: [(&str, Parser); 3] =
    [("meta", meta::inbound::parse), ("infobip", infobip::inbound::parse), ("webhook", of_webhook)];

/// Tokens at which parsers stumble.
const TOKENS: [&str; 26] = [
    "null",
    "[]",
    "{}",
    "\"\"",
    "-",
    "1e999",
    "-0",
    "99999999999999999999999",
    "\\ud800",
    "\\udc00",
    "\\u0000",
    "\0",
    "\u{feff}",
    "\u{202e}",
    "\"",
    "\\",
    ",",
    ":",
    "[[[[[[[[[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":",
    "true",
    "\"type\":",
    "\"id\":",
    "\"messages\":[",
    "\"from\":null,",
    "//",
];

fn corpus(channel: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(channel);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// One damage; places and lengths are taken modulo what is there.
#[derive(Debug, Clone)]
enum Damage {
    Turn { at: usize, bit: u8 },
    Cut { at: usize, length: usize },
    Repeat { at: usize, length: usize },
    Move { at: usize, length: usize, to: usize },
    Token { at: usize, token: usize },
    Borrow { from: usize, at: usize, length: usize, to: usize },
    End { at: usize },
}

fn damage() -> impl Strategy<Value = Damage> {
    let (place, short) = (any::<usize>(), 0usize..80);
    prop_oneof![
        (place, 0u8..8).prop_map(|(at, bit)| Damage::Turn { at, bit }),
        (place, short.clone()).prop_map(|(at, length)| Damage::Cut { at, length }),
        (place, short.clone()).prop_map(|(at, length)| Damage::Repeat { at, length }),
        (place, short.clone(), place).prop_map(|(at, length, to)| Damage::Move { at, length, to }),
        (place, place).prop_map(|(at, token)| Damage::Token { at, token }),
        (place, place, short, place).prop_map(|(from, at, length, to)| Damage::Borrow {
            from,
            at,
            length,
            to
        }),
        place.prop_map(|at| Damage::End { at }),
    ]
}

fn apply(body: &mut Vec<u8>, damage: &Damage, corpus: &[Vec<u8>]) {
    let put = |body: &mut Vec<u8>, to: usize, piece: &[u8]| {
        let to = to % (body.len() + 1);
        body.splice(to..to, piece.iter().copied());
    };
    let range = |body: &[u8], at: usize, length: usize| {
        let at = at % (body.len() + 1);
        at..(at + length).min(body.len())
    };
    match *damage {
        Damage::Turn { at, bit } => {
            let length = body.len().max(1);
            if let Some(byte) = body.get_mut(at % length) {
                *byte ^= 1 << bit;
            }
        }
        Damage::Cut { at, length } => drop(body.drain(range(body, at, length))),
        Damage::Repeat { at, length } => {
            let range = range(body, at, length);
            let piece = body[range.clone()].to_vec();
            put(body, range.end, &piece);
        }
        Damage::Move { at, length, to } => {
            let range = range(body, at, length);
            let piece: Vec<u8> = body.drain(range).collect();
            put(body, to, &piece);
        }
        Damage::Token { at, token } => put(body, at, TOKENS[token % TOKENS.len()].as_bytes()),
        Damage::Borrow { from, at, length, to } => {
            let other = &corpus[from % corpus.len()];
            put(body, to, &other[range(other, at, length)]);
        }
        Damage::End { at } => body.truncate(at % (body.len() + 1)),
    }
}

/// What holds of whatever a parser makes of a body.
fn sound(parse: Parser, body: &[u8]) {
    let Ok(delivery) = parse(body) else { return };
    for item in &delivery.items {
        match item {
            Item::Message { message, raw, .. } => {
                assert!(message.phone.is_some() || message.user_id.is_some());
                assert!((1..=512).contains(&message.message_id.len()));
                let stored = serde_json::to_string(message).unwrap();
                assert!(!stored.contains("\\u0000"), "{stored}");
                let again = parse(raw).unwrap().items;
                assert!(matches!(again.as_slice(), [_]), "a message kept alone is one message");
            }
            Item::Rejected { reason, detail, .. } => {
                let known = ["malformed", "no_id", "bad_id", "no_sender", "unknown_number"];
                assert!(known.contains(reason) && !detail.is_empty());
            }
            Item::Receipt { provider_id, status, .. } => {
                assert!(!provider_id.is_empty() && !status.is_empty())
            }
            Item::Notice { .. } => {}
        }
    }
}

#[test]
fn the_corpus_itself_is_understood() {
    for (channel, parse) in PARSERS {
        let corpus = corpus(channel);
        assert!(!corpus.is_empty());
        for body in &corpus {
            assert!(!parse(body).unwrap().items.is_empty());
            sound(parse, body);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_damage_makes_a_parser_panic_or_invent(
        seed in any::<usize>(),
        damages in proptest::collection::vec(damage(), 1..12),
    ) {
        for (channel, parse) in PARSERS {
            let corpus = corpus(channel);
            let mut body = corpus[seed % corpus.len()].clone();
            for damage in &damages {
                apply(&mut body, damage, &corpus);
                // Every parser gets everything: an address may be mistaken.
                for (_, parse) in PARSERS {
                    sound(parse, &body);
                }
            }
            sound(parse, &body);
        }
    }
}

/// The bound of an optimised build, of the processor's time; an unoptimised one is some fifty times slower.
const TIME: Duration = Duration::from_millis(if cfg!(debug_assertions) { 5000 } else { 50 });
const LARGEST: usize = 3 * 1024 * 1024;

/// What this thread has had of the processor; the machine may be busy with other things.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

fn in_time(name: &str, parse: Parser, body: &[u8]) {
    assert!(body.len() <= LARGEST, "{name}: {}", body.len());
    let began = processor_time();
    let kept: usize = parse(body).map_or(0, |delivery| delivery.items.len());
    let took = processor_time() - began;
    assert!(took < TIME, "{name}: {took:?}");
    assert!(kept <= channel::inbound::MOST_PIECES, "{name}: {kept}");
}

#[test]
fn large_bodies_are_taken_apart_in_time() {
    let text = |n: usize, words: &str| json!({"from": "34600000001", "id": format!("m{n}"), "type": "text", "text": {"body": words}});
    let many = |count: usize, words: &str| -> Vec<_> { (0..count).map(|n| text(n, words)).collect() };
    let infobip = |count: usize, words: &str| {
        let results: Vec<_> = (0..count)
            .map(|n| json!({"from": "1", "to": "2", "messageId": n, "message": {"type": "TEXT", "text": words}}))
            .collect();
        json!({"results": results}).to_string()
    };
    let own = |count: usize, words: &str| {
        let all: Vec<_> = (0..count)
            .map(|n| json!({"idempotency_key": n, "from": "1", "type": "text", "text": words}))
            .collect();
        json!({"messages": all}).to_string()
    };
    for (name, parse) in PARSERS {
        let bodies = [
            of_meta(json!({"messages": many(1000, "kaixo")})).to_string(),
            of_meta(json!({"messages": many(1000, &"ñ".repeat(1200))})).to_string(),
            of_meta(json!({"messages": many(1, &"\u{0}".repeat(500_000))})).to_string(),
            infobip(1000, "kaixo"),
            infobip(1000, &"ñ".repeat(1200)),
            own(1000, "kaixo"),
            own(1000, &"ñ".repeat(1200)),
            "[".repeat(LARGEST),
            "{\"a\":".repeat(LARGEST / 5),
            format!("{{\"messages\":[{}7]}}", "7,".repeat(LARGEST / 2 - 100)),
            format!("{{\"results\":[{}7]}}", "7,".repeat(LARGEST / 2 - 100)),
            format!("{{\"entry\":[{}7]}}", "7,".repeat(LARGEST / 2 - 100)),
            "\"\\ud800".repeat(LARGEST / 7),
            "9".repeat(LARGEST),
            " ".repeat(LARGEST),
        ];
        for (place, body) in bodies.iter().enumerate() {
            in_time(&format!("{name} {place}"), parse, body.as_bytes());
        }
    }
}

#[test]
fn what_many_pieces_share_is_not_multiplied_by_them() {
    let contact = json!({"wa_id": "34600000001", "profile": {"name": "x".repeat(1_000_000)}});
    let messages: Vec<_> =
        (0..9000).map(|n| json!({"from": "34600000001", "id": n, "type": "ephemeral"})).collect();
    let mut body = of_meta(json!({"contacts": [contact], "messages": messages}));
    body["entry"][0]["changes"][0]["value"]["metadata"]["padding"] = json!("y".repeat(500_000));
    let delivery = meta::inbound::parse(body.to_string().as_bytes()).unwrap();
    let kept: usize = delivery
        .items
        .iter()
        .map(|item| match item {
            Item::Message { raw, .. } | Item::Rejected { raw, .. } => raw.len(),
            Item::Receipt { .. } | Item::Notice { .. } => 0,
        })
        .sum();
    assert_eq!(delivery.items.len(), 9000);
    assert!(kept < 5 * LARGEST, "{kept}");
}

#[test]
fn one_message_with_more_values_than_any_is_a_rejection_and_a_long_text_is_none() {
    let message = |rest: serde_json::Value| json!({"from": "1", "id": "m", "idempotency_key": "k", "type": "text", "text": rest});
    let values: Vec<usize> = (0..30_000).collect();
    let many = message(json!({"body": "x", "list": values}));
    let long = ", : [ \\\" {".repeat(100_000);
    let found = |delivery: Delivery| match delivery.items.as_slice() {
        [Item::Rejected { reason, .. }] => (*reason).to_owned(),
        [Item::Message { message, .. }] => message.text.clone().unwrap(),
        other => panic!("one item: {other:?}"),
    };
    let meta = |message| {
        found(meta::inbound::parse(of_meta(json!({"messages": [message]})).to_string().as_bytes()).unwrap())
    };
    assert_eq!(meta(many.clone()), "malformed");
    assert_eq!(meta(message(json!({"body": long}))), long);
    let own = |message: serde_json::Value| found(of_webhook(message.to_string().as_bytes()).unwrap());
    assert_eq!(own(many), "malformed");
    assert_eq!(own(message(json!(long))), long);
}

#[test]
fn more_pieces_than_anybody_sends_are_kept_whole_and_not_taken_apart() {
    let messages: Vec<_> = (0..=channel::inbound::MOST_PIECES).collect();
    for (parse, body) in [
        (meta::inbound::parse as Parser, of_meta(json!({"messages": messages}))),
        (infobip::inbound::parse, json!({"results": messages})),
        (of_webhook, json!({"messages": messages})),
    ] {
        let error = parse(body.to_string().as_bytes()).unwrap_err().to_string();
        assert!(error.contains("more than 10000"), "{error}");
    }
}
