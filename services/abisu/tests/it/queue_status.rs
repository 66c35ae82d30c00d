//! `abisu queue status`: every figure that it names, of every channel.

use serde_json::Value;
use sqlx::Executor;

use crate::queue::Desk;

/// One of everything that is counted, and one beside it that is not.
const STANDING: &str = "
insert into chat.chat (id, channel, next_seq, done_seq, ready_at, owner, oldest_at, hold) values
  (gen_random_uuid(), 'city-app', 4, 1, now(), null, now() - interval '100 s', false),
  (gen_random_uuid(), 'city-app', 2, 0, now() + interval '1 hour', null, now() - interval '50 s', false),
  (gen_random_uuid(), 'city-app', 2, 0, now() + interval '1 hour', gen_random_uuid(), now(), false),
  (gen_random_uuid(), 'city-app', 2, 0, now() + interval '1 hour', gen_random_uuid(), now(), false),
  (gen_random_uuid(), 'city-app', 2, 0, null, null, now(), true),
  (gen_random_uuid(), 'city-app', 9, 8, null, null, null, false),
  (gen_random_uuid(), 'other', 2, 0, now(), null, now() - interval '1 day', false);
insert into chat.sender (id, channel, next_seq, done_seq, ready_at, owner, oldest_at) values
  (gen_random_uuid(), 'city-app', 4, 1, now() + interval '1 hour', gen_random_uuid(), now() - interval '70 s'),
  (gen_random_uuid(), 'city-app', 2, 0, now(), null, now()),
  (gen_random_uuid(), 'city-app', 2, 1, null, null, null);
insert into inbound.dead (chat_id, seq, activity_id, channel, message_id, kind, payload, received_at, attempts, error, dead_by,
                          replayed_at)
select gen_random_uuid(), n, gen_random_uuid(), 'city-app', 'x', 'text', '{}', now(), 5, 'x', 'x', case when n = 1 then now() end
from generate_series(1, 3) n;
insert into inbound.rejection (id, key, channel, reason, detail, raw, delivery_id, resolved_at, resolution)
select gen_random_uuid(), gen_random_uuid(), 'city-app', 'x', 'x', '', gen_random_uuid(),
  case when n = 1 then now() end, case when n = 1 then 'discarded' end
from generate_series(1, 4) n;
insert into report.report (id, channel, chat_id, state, reference, language, point, area_id, area_version, route, received_at,
                           push_state, push_owner, push_visible_at, push_error)
select gen_random_uuid(), 'city-app', gen_random_uuid(), 'received', 'REF-2026-0000' || n, 'es',
  public.st_setsrid(public.st_makepoint(-2.6727, 42.8467), 4326), 'town', 1, 'street/graffiti', now() - n * interval '1000 s',
  state, case when n = 2 then gen_random_uuid() end, now() + interval '1 hour', case when n = 6 then 'discarded' end
from unnest(array['pending', 'pending', 'pending', 'review', 'dead', 'dead', 'sent']) with ordinality as x (state, n);
insert into inbound.delivery (id, channel, received_at, body, created, duplicates, rejected, receipts)
select gen_random_uuid(), 'city-app', now() - n * interval '1 ms', '', 0, 0, 0, 0
from generate_series(1, 3) n;
";

#[tokio::test]
async fn the_status_says_how_every_queue_of_each_channel_stands() {
    let desk = Desk::new().await;
    let nothing = "truncate chat.chat, inbound.dead, inbound.rejection";
    desk.database.pool.execute(nothing).await.unwrap();
    assert_eq!(desk.good(&["status"]).await, "no channel has been used yet\n");
    assert_eq!(desk.good(&["status", "--json"]).await, "[]\n");
    desk.database.pool.execute(STANDING).await.unwrap();

    let status: Value = serde_json::from_str(&desk.good(&["status", "--json"]).await).unwrap();
    let city = &status[0];
    for (figure, value) in [
        ("ready_chats", 1),
        ("waiting_chats", 1),
        ("in_flight_chats", 2),
        ("held_chats", 1),
        ("pending_events", 6),
        ("pending_outbounds", 3),
        ("in_flight_outbounds", 1),
        ("dead_events", 2),
        ("rejected_messages", 3),
        ("pending_pushes", 3),
        ("in_flight_pushes", 1),
        ("review_pushes", 1),
        ("dead_pushes", 1),
    ] {
        assert_eq!(city[figure], value, "{figure}: {city}");
    }
    assert_eq!(city["channel"], "city-app");
    for (age, seconds) in [("oldest_event_s", 100), ("oldest_outbound_s", 70), ("oldest_push_s", 3000)] {
        let said = city[age].as_i64().unwrap();
        assert!((seconds..seconds + 60).contains(&said), "{age}: {said}");
    }
    let last: chrono::DateTime<chrono::Utc> = city["last_inbound_at"].as_str().unwrap().parse().unwrap();
    let newest: bool = sqlx::query_scalar("select max(received_at) = $1 from inbound.delivery")
        .bind(last)
        .fetch_one(&desk.database.pool)
        .await
        .unwrap();
    assert!(newest, "{last}");
    let other = &status[1];
    assert_eq!((&other["ready_chats"], &other["last_inbound_at"]), (&1.into(), &Value::Null));

    let text = desk.good(&["status"]).await;
    for line in [
        "channel city-app\n",
        "chats      1 ready, 2 in flight, 1 waiting, 1 held\n",
        "events     6 pending, oldest ",
        "replies    3 pending, oldest ",
        "pushes     3 pending, oldest ",
        "1 in flight, 1 in review, 1 dead\n",
        "rejected   3 messages\n",
        "last in    never\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}
