//! `abisu queue dead` and `abisu queue rejected`.

use std::time::Duration;

use bus::append::{Appender, Delivery, NewEvent};
use channel::{Kind, Message};
use serde_json::Value;
use sqlx::{Connection, Executor, PgConnection};
use uuid::Uuid;

use crate::{Said, abisu};

/// Two dead messages in one chat, a message kept because its channel was unknown, an unparsable delivery and one that
/// the database refused.
const ROWS: &str = r#"
insert into chat.chat (id, channel, next_seq, done_seq) values ('00000000-0000-7000-8000-000000000001', 'whatsapp', 3, 2);
insert into inbound.dead (chat_id, seq, activity_id, channel, message_id, kind, payload, received_at, attempts, error, dead_by)
values ('00000000-0000-7000-8000-000000000001', 1, '00000000-0000-7000-8000-0000000000d1', 'whatsapp', 'wamid.secret', 'text',
        '{"text": "my street"}', now(), 5, 'geocode_unavailable', 'conversation'),
       ('00000000-0000-7000-8000-000000000001', 2, '00000000-0000-7000-8000-0000000000d2', 'whatsapp', 'wamid.other', 'text',
        '{}', now(), 5, 'panic', 'conversation');
insert into inbound.rejection (id, key, channel, message_id, reason, detail, raw, delivery_id)
values ('00000000-0000-7000-8000-0000000000a1', gen_random_uuid(), 'whatsapp', 'wamid.in', 'unknown_number', 'no channel has it',
        '{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messaging_product":"whatsapp",'
        '"metadata":{"display_phone_number":"1","phone_number_id":"106"},"contacts":[{"wa_id":"34600000009"}],'
        '"messages":[{"from":"34600000009","id":"wamid.in","timestamp":"1764500000","type":"text","text":{"body":"my street"}}]}}]}]}',
        gen_random_uuid()),
       ('00000000-0000-7000-8000-0000000000a2', gen_random_uuid(), 'whatsapp', null, 'unparsable', 'not JSON', 'not json',
        gen_random_uuid()),
       ('00000000-0000-7000-8000-0000000000a3', gen_random_uuid(), 'whatsapp', 'wamid.no', 'refused_by_database', '22P05',
        '{"provider_id": "wamid.x", "status": "sent"}', gen_random_uuid());
"#;

const DEAD: &str = "00000000-0000-7000-8000-0000000000d1";
const UNKNOWN: &str = "00000000-0000-7000-8000-0000000000a1";

pub(crate) struct Desk {
    pub(crate) database: testkit::Database,
}

impl Desk {
    pub(crate) async fn new() -> Self {
        let database = testkit::database().await;
        database.pool.execute(ROWS).await.unwrap();
        Self { database }
    }

    async fn queue(&self, args: &[&str]) -> Said {
        let args: Vec<&str> = ["queue"].iter().chain(args).copied().collect();
        abisu(Some(&self.database.url), &[("ABISU_OPERATOR", "ane")], &args).await
    }

    pub(crate) async fn good(&self, args: &[&str]) -> String {
        let said = self.queue(args).await;
        assert_eq!(said.code, 0, "{args:?}: {}", said.error);
        said.out
    }
}

#[tokio::test]
async fn the_dead_are_listed_filtered_and_shown_without_what_they_say() {
    let desk = Desk::new().await;
    let listed: Value = serde_json::from_str(&desk.good(&["dead", "list", "--json"]).await).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 2);
    for (args, count) in [
        (vec!["--error", "geocode"], 1),
        (vec!["--channel", "other"], 0),
        (vec!["--since", "1h"], 2),
        (vec!["--limit", "1"], 1),
    ] {
        let all: Vec<&str> = ["dead", "list", "--json"].into_iter().chain(args).collect();
        let listed: Value = serde_json::from_str(&desk.good(&all).await).unwrap();
        assert_eq!(listed.as_array().unwrap().len(), count, "{all:?}");
    }
    let shown = desk.good(&["dead", "show", DEAD]).await;
    assert!(
        shown.contains("geocode_unavailable") && !shown.contains("street") && !shown.contains("wamid"),
        "{shown}"
    );
    let shown = desk.good(&["dead", "show", DEAD, "--reveal"]).await;
    assert!(shown.contains("my street") && shown.contains("wamid.secret"), "{shown}");
    let listed = desk.good(&["rejected", "list"]).await;
    assert!(listed.contains("unknown_number") && !listed.contains("street"), "{listed}");
    assert!(!desk.good(&["rejected", "show", UNKNOWN]).await.contains("street"));
    assert!(desk.good(&["rejected", "show", UNKNOWN, "--reveal"]).await.contains("my street"));
}

#[tokio::test]
async fn a_change_needs_a_reason_and_says_which() {
    let desk = Desk::new().await;
    for (args, says) in [
        (vec!["dead", "replay", DEAD], "--because"),
        (vec!["dead", "replay", DEAD, "--because", " "], "must not be empty"),
        (vec!["dead", "discard", "--because", "x"], "which ones?"),
        (vec!["rejected", "replay", "--because", "x"], "which ones?"),
        (vec!["dead", "list", "--since", "yesterday"], "neither a time"),
    ] {
        let said = desk.queue(&args).await;
        assert_eq!(said.code, 64, "{args:?}");
        assert!(said.error.contains(says), "{args:?}: {}", said.error);
    }
}

#[tokio::test]
async fn a_dead_message_is_replayed_once_and_who_and_why_is_kept() {
    let desk = Desk::new().await;
    let because = ["--because", "geocode is back"];
    let dry =
        desk.good(&[&["dead", "replay", "--error", "geocode", "--dry-run"][..], &because].concat()).await;
    assert!(dry.starts_with("1 message would be replayed"), "{dry}");
    let count = async || desk.database.count("select count(*) from inbound.event").await;
    assert_eq!(count().await, 0);
    let done = desk.good(&[&["dead", "replay", "--error", "geocode"][..], &because].concat()).await;
    assert!(done.starts_with("1 message is appended again"), "{done}");
    assert_eq!(count().await, 1);
    let again = desk.good(&[&["dead", "replay", DEAD][..], &because].concat()).await;
    assert!(again.contains("0 messages are appended") && again.contains("dealt with already"), "{again}");
    let shown = desk.good(&["dead", "show", DEAD]).await;
    assert!(shown.contains("dead_replay by ane: geocode is back"), "{shown}");
    desk.good(&[&["dead", "discard", "--channel", "whatsapp"][..], &because].concat()).await;
    assert_eq!(desk.good(&["dead", "list"]).await, "no message is dead\n");
    assert!(desk.good(&["dead", "list", "--all"]).await.contains("(discarded "));
}

/// Two pushes that the contractor refused, one of them after a person had dealt with it, and one that waits.
const PUSHES: &str = "
insert into report.report (id, channel, chat_id, state, reference, language, point, area_id, area_version, route, note,
                           received_at, push_state, push_attempts, push_error)
select gen_random_uuid(), 'whatsapp', gen_random_uuid(), 'received', reference, 'es',
  public.st_setsrid(public.st_makepoint(-2.6727, 42.8467), 4326), 'town', 1, 'street/graffiti', 'a note', now(), state, 5, error
from (values ('REF-2026-00001', 'dead', 'refused_422'), ('REF-2026-00002', 'dead', 'login_refused'),
             ('REF-2026-00003', 'dead', 'discarded'), ('REF-2026-00004', 'pending', null)) x (reference, state, error);
";

#[tokio::test]
async fn a_dead_push_is_listed_beside_the_messages_and_dealt_with_once_with_who_and_why() {
    let desk = Desk::new().await;
    desk.database.pool.execute(PUSHES).await.unwrap();
    let listed = async |args: &[&str]| {
        let all: Vec<&str> = ["dead", "list", "--json"].iter().chain(args).copied().collect();
        let listed: Vec<Value> = serde_json::from_str(&desk.good(&all).await).unwrap();
        listed
    };
    let both = listed(&[]).await;
    assert_eq!(both.iter().filter(|one| one["what"] == "message").count(), 2);
    assert_eq!(both.iter().filter(|one| one["what"] == "push").count(), 2, "{both:?}");
    for (args, references) in [
        (&["--only", "pushes"][..], &["REF-2026-00001", "REF-2026-00002"][..]),
        (&["--error", "login"], &["REF-2026-00002"]),
        (
            &["--only", "pushes", "--all", "--limit", "3"],
            &["REF-2026-00001", "REF-2026-00002", "REF-2026-00003"],
        ),
        (&["--only", "pushes", "--channel", "other"], &[]),
        (&["--only", "messages", "--error", "login"], &[]),
    ] {
        let found = listed(args).await;
        let found: Vec<_> = found.iter().map(|one| one["reference"].as_str().unwrap()).collect();
        assert_eq!(found, references, "{args:?}");
    }
    assert!(desk.good(&["dead", "list", "--limit", "1"]).await.contains("there may be more"));
    let states = async || {
        let sql = "select string_agg(push_state || ' ' || push_attempts || ' ' || coalesce(push_error, '-'), ', ' order by reference)
                   from report.report";
        sqlx::query_scalar::<_, String>(sql).fetch_one(&desk.database.pool).await.unwrap()
    };
    let before = states().await;
    let because = ["--because", "their form is mended"];
    let act = async |args: &[&str]| desk.good(&[&["dead"], args, &because[..]].concat()).await;
    let dry = act(&["replay", "--error", "422", "--dry-run"]).await;
    assert!(
        dry.contains("0 messages would be replayed") && dry.contains("1 push would be sent again"),
        "{dry}"
    );
    assert_eq!(states().await, before);
    let said = act(&["replay", "ref-2026-00001"]).await;
    assert_eq!(said, "1 push is pending again, to go out as soon as sending is possible\n");
    let said = act(&["replay", "REF-2026-00001", "REF-2026-00004"]).await;
    assert!(said.contains("2 pushes were not dead"), "what waits is left alone: {said}");
    let said = act(&["discard", "--channel", "whatsapp", "--only", "pushes"]).await;
    assert_eq!(said, "1 push is discarded\n");
    assert!(act(&["discard", "REF-2026-00002"]).await.contains("1 push was not dead, or dealt with already"));
    assert_eq!(states().await, "pending 0 -, dead 5 discarded, dead 5 discarded, pending 5 -");
    assert_eq!(listed(&["--only", "pushes"]).await.len(), 0);
    let status: Value = serde_json::from_str(&desk.good(&["status", "--json"]).await).unwrap();
    assert_eq!((&status[0]["dead_pushes"], &status[0]["dead_events"]), (&0.into(), &2.into()));

    let shown = desk.good(&["dead", "show", "REF-2026-00002"]).await;
    assert!(shown.contains("discard by ane: their form is mended") && !shown.contains("a note"), "{shown}");
    let kept = "select count(*) from report.push_act where detail->>'error' = 'login_refused'";
    assert_eq!(desk.database.count(kept).await, 1, "why it was dead is kept");
    assert!(desk.good(&["dead", "show", "REF-2026-00002", "--reveal"]).await.contains("a note"));
    assert_eq!(desk.queue(&["dead", "show", "REF-2026-00004"]).await.code, 1);
    assert_eq!(desk.queue(&["dead", "show", "wamid.x"]).await.code, 64);
}

/// A message of Infobip's, and one in our own form.
const OF_OTHERS: &str = r#"
insert into inbound.rejection (id, key, channel, message_id, reason, detail, raw, delivery_id)
values (gen_random_uuid(), gen_random_uuid(), 'infobip', 'i1', 'unknown_number', '',
        '{"results":[{"from":"34600000009","to":"34945000001","messageId":"i1","integrationType":"WHATSAPP","message":{"type":"TEXT","text":"kaixo"}}],"messageCount":1}',
        gen_random_uuid()),
       (gen_random_uuid(), gen_random_uuid(), 'city-app', 'w1', 'malformed', '',
        '{"from":"34600000009","idempotency_key":"w1","type":"text","text":"kaixo"}', gen_random_uuid());
"#;

#[tokio::test]
async fn whose_words_a_rejection_is_in_need_not_be_told() {
    let desk = Desk::new().await;
    desk.database.pool.execute(OF_OTHERS).await.unwrap();
    let said = desk.good(&["rejected", "replay", "--since", "1h", "--because", "mended"]).await;
    assert!(said.contains("3 rejections are replayed: 3 messages stored"), "{said}");
    let stored = "select count(*) from inbound.event where (channel, message_id) in
                  (('infobip', 'i1'), ('city-app', 'w1'), ('whatsapp', 'wamid.in'))";
    assert_eq!(desk.database.count(stored).await, 3);
}

#[tokio::test]
async fn a_rejection_is_read_again_and_what_is_in_it_is_stored_once() {
    let desk = Desk::new().await;
    let replay = ["rejected", "replay", "--channel", "whatsapp", "--because", "the number is known now"];
    let dry = desk.good(&[&replay[..], &["--dry-run"]].concat()).await;
    assert!(dry.contains("1 rejection would be replayed"), "{dry}");
    let said = desk.good(&replay).await;
    assert!(said.contains("1 rejection is replayed: 1 message stored, 0 there already"), "{said}");
    assert!(said.contains("still rejected: unparsable"), "{said}");
    let stored = "select count(*) from inbound.event where channel = 'whatsapp' and message_id = 'wamid.in' \
                  and payload::text like '%my street%'";
    assert_eq!(desk.database.count(stored).await, 1);
    // Noted by nobody: the process was cut. The second run finds it there.
    desk.database
        .pool
        .execute("update inbound.rejection set resolved_at = null, resolution = null")
        .await
        .unwrap();
    let said = desk.good(&[&replay[..], &["--reason", "unknown_number"]].concat()).await;
    assert!(said.contains("1 rejection is replayed: 0 messages stored, 1 there already"), "{said}");
    assert_eq!(desk.database.count("select count(*) from inbound.event").await, 1);
    let said = desk.good(&["rejected", "discard", "--reason", "unparsable", "--because", "noise"]).await;
    assert_eq!(said, "1 rejection is discarded\n");
    assert!(!desk.good(&["rejected", "list"]).await.contains("unparsable"));
}

/// It was kept because Postgres stores no NUL, and it still does not.
#[tokio::test]
async fn a_rejection_that_the_database_refuses_again_stays_to_be_seen() {
    let desk = Desk::new().await;
    desk.database.pool.execute("delete from inbound.rejection").await.unwrap();
    let message = Message {
        message_id: "wamid.nul".to_owned(),
        kind: Kind::Text,
        phone: Some("34600000009".to_owned()),
        user_id: None,
        profile_name: None,
        sent_at: None,
        text: Some("my\0street".to_owned()),
        reply_to: None,
        attachments: Vec::new(),
        interactive: None,
        group: false,
        metadata: serde_json::Map::new(),
    };
    let event = NewEvent {
        activity_id: Uuid::now_v7(),
        message_id: "wamid.nul".to_owned(),
        kind: "text".to_owned(),
        user_id: None,
        phone: Some("34600000009".to_owned()),
        payload: serde_json::to_value(&message).unwrap(),
        sent_at: None,
    };
    let delivery = Delivery {
        channel: "whatsapp".to_owned(),
        delivery_id: Uuid::now_v7(),
        body: b"{}".to_vec(),
        trace_context: None,
        events: vec![event],
        rejections: Vec::new(),
        receipts: Vec::new(),
    };
    let appender = Appender::new(desk.database.pool.clone(), Duration::from_secs(20));
    assert_eq!(appender.append(delivery).await.unwrap().rejected, 1);

    let said = desk.good(&["rejected", "replay", "--channel", "whatsapp", "--because", "mended"]).await;
    assert!(said.contains("still rejected: not all that is in it can be stored"), "{said}");
    assert!(said.contains("0 rejections are replayed: 0 messages stored, 0 there already"), "{said}");
    let listed: Value = serde_json::from_str(&desk.good(&["rejected", "list", "--json"]).await).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed[0]["resolved_at"], Value::Null);
    let noted = "select count(*) from inbound.operation";
    assert_eq!(desk.database.count(noted).await, 0, "nothing was done that is to be noted");
}

#[tokio::test]
async fn a_channel_holds_its_chats_only_when_told() {
    let desk = Desk::new().await;
    let said = desk.good(&["hold", "whatsapp", "on", "--because", "strict"]).await;
    assert!(said.ends_with("from now on\n"), "{said}");
    let said = desk.good(&["hold", "whatsapp", "on", "--because", "strict"]).await;
    assert!(said.ends_with("as before\n"), "{said}");
    assert_eq!(
        desk.database.count("select count(*) from inbound.channel_option where hold_on_dead").await,
        1
    );
}

#[tokio::test]
async fn a_purge_says_what_left_and_a_second_has_nothing_to_do() {
    let desk = Desk::new().await;
    let old = "update inbound.dead set dead_at = now() - interval '91 days'";
    desk.database.pool.execute(old).await.unwrap();
    assert_eq!(desk.good(&["purge"]).await, "2 dead messages deleted\n");
    assert_eq!(desk.good(&["purge"]).await, "nothing is older than its retention\n");
    let mut other = PgConnection::connect(&desk.database.url).await.unwrap();
    other.execute("select pg_advisory_lock(hashtext('inbound.purge'))").await.unwrap();
    assert_eq!(desk.good(&["purge"]).await, "another purge is running: nothing done\n");
    assert_eq!(
        desk.queue(&["purge", "--retention-days", "3"]).await.code,
        64,
        "providers redeliver for a week"
    );
}
