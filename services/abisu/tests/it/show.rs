//! `abisu report show` and `abisu queue status`.

use serde_json::Value;
use sqlx::Executor;

use crate::abisu;

/// A received report in review, with an open chat, a reply to send, a dead event and a rejection.
const ROWS: &str = "
insert into chat.chat (id, channel, next_seq, done_seq, ready_at, oldest_at)
values ('00000000-0000-7000-8000-000000000001', 'whatsapp', 4, 1, now(), now() - interval '90 seconds'),
       ('00000000-0000-7000-8000-000000000002', 'whatsapp', 2, 1, null, null);
insert into chat.sender (id, channel, next_seq, done_seq, ready_at)
values ('00000000-0000-7000-8000-000000000001', 'whatsapp', 3, 2, now());
insert into inbound.dead (chat_id, seq, activity_id, channel, message_id, kind, payload, received_at, attempts, error, dead_by)
values ('00000000-0000-7000-8000-000000000002', 1, gen_random_uuid(), 'whatsapp', 'wamid.1', 'text', '{}', now(), 5, 'x', 'y');
insert into inbound.rejection (id, key, channel, reason, detail, raw, delivery_id)
values (gen_random_uuid(), gen_random_uuid(), 'whatsapp', 'unparsable', 'not JSON', '', gen_random_uuid());
insert into report.report (id, channel, chat_id, state, reference, language, point, area_id, area_version, route, note,
                           received_at, push_state, push_attempts, push_error)
values ('00000000-0000-7000-8000-00000000000a', 'whatsapp', '00000000-0000-7000-8000-000000000001', 'received',
        'REF-2026-00042', 'es', public.st_setsrid(public.st_makepoint(-2.6727, 42.8467), 4326), 'town', 1,
        'street/graffiti', 'a note', now(), 'review', 1, 'the answer was lost');
insert into report.timeline (report_id, step, trace_id)
values ('00000000-0000-7000-8000-00000000000a', 'received', '4bf92f3577b34da6a3ce929d0e0e4736');
insert into report.push_attempt (id, report_id, epoch, endpoint, external_code, body_sha256)
values (gen_random_uuid(), '00000000-0000-7000-8000-00000000000a', 1, 'http://x', 'REF-2026-00042', '');
";

#[tokio::test]
async fn a_report_is_shown_with_its_timeline_and_attempts() {
    let database = testkit::database().await;
    database.pool.execute(ROWS).await.unwrap();
    let show = async |args: &[&str]| abisu(Some(&database.url), &[], args).await;

    let said = show(&["report", "show", "ref-2026-00042"]).await;
    assert_eq!(said.code, 0, "{}", said.error);
    for part in [
        "received, push review (1 attempt)",
        "42.846700, -2.672700",
        "trace 4bf92f3577b34da6a3ce929d0e0e4736",
        "open: nobody knows how it ended",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }

    let said = show(&["report", "show", "REF-2026-00042", "--json"]).await;
    let shown: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(shown["push_state"], "review");
    assert_eq!(shown["timeline"][0]["step"], "received");
    assert_eq!(shown["attempts"][0]["outcome"], Value::Null);

    let said = show(&["report", "show", "REF-2026-00043"]).await;
    assert_eq!(said.code, 1);
    assert!(said.error.contains("no report has the reference REF-2026-00043"), "{}", said.error);
}

#[tokio::test]
async fn the_status_counts_every_queue_of_a_channel() {
    let database = testkit::database().await;
    let status = async |args: &[&str]| abisu(Some(&database.url), &[], args).await;
    assert_eq!(status(&["queue", "status"]).await.out, "no channel has been used yet\n");

    database.pool.execute(ROWS).await.unwrap();
    let said = status(&["queue", "status", "--json"]).await;
    assert_eq!(said.code, 0, "{}", said.error);
    let mut channels: Value = serde_json::from_str(&said.out).unwrap();
    let oldest = channels[0]["oldest_event_s"].take().as_i64().unwrap();
    assert!((90..120).contains(&oldest), "{oldest}");
    let expected = serde_json::json!([{
        "channel": "whatsapp", "ready_chats": 1, "waiting_chats": 0, "in_flight_chats": 0, "held_chats": 0,
        "pending_events": 2, "oldest_event_s": null, "pending_outbounds": 0, "in_flight_outbounds": 0,
        "oldest_outbound_s": null, "dead_events": 1, "rejected_messages": 1,
        "pending_pushes": 0, "in_flight_pushes": 0, "oldest_push_s": null, "review_pushes": 1, "dead_pushes": 0, "last_inbound_at": null,
    }]);
    assert_eq!(channels, expected);
    assert!(status(&["queue", "status"]).await.out.contains("1 in review"));
}
