//! `abisu erase`: the whole database is searched for what a citizen told us.

use sqlx::{AssertSqlSafe, Executor, PgPool};

use crate::abisu;

/// Two citizens with a report each; they share a delivery. The first one's rows say `secret`, or their number, plain or
/// inside of a provider's id.
const ROWS: &str = r#"
insert into chat.chat (id, channel, next_seq, done_seq, ready_at) values
  ('00000000-0000-7000-8000-000000000001', 'whatsapp', 3, 1, now()),
  ('00000000-0000-7000-8000-000000000002', 'whatsapp', 2, 1, null),
  ('00000000-0000-7000-8000-000000000003', 'whatsapp', 2, 1, null);
update chat.chat set merged_into = '00000000-0000-7000-8000-000000000001' where id = '00000000-0000-7000-8000-000000000003';
insert into chat.alias (channel, kind, value, chat_id) values
  ('whatsapp', 'phone', '34600123456', '00000000-0000-7000-8000-000000000001'),
  ('whatsapp', 'user_id', 'ES.secret', '00000000-0000-7000-8000-000000000001'),
  ('whatsapp', 'phone', '34600999999', '00000000-0000-7000-8000-000000000002');
insert into chat.session (chat_id, step, state) values
  ('00000000-0000-7000-8000-000000000001', 'awaiting_location', '{"street": "secret"}'),
  ('00000000-0000-7000-8000-000000000002', 'idle', '{}');
insert into inbound.delivery (id, channel, received_at, body, created, duplicates, rejected, receipts) values
  ('00000000-0000-7000-8000-0000000000d1', 'whatsapp', now(), '{"a": "secret", "b": "of another"}', 2, 0, 0, 0),
  ('00000000-0000-7000-8000-0000000000d2', 'whatsapp', now(), '{"statuses": [{"recipient_id": "34600123456"}]}', 0, 0, 0, 1),
  ('00000000-0000-7000-8000-0000000000d3', 'whatsapp', now(), '{"b": "kept"}', 1, 0, 0, 0);
insert into inbound.event (chat_id, seq, activity_id, channel, message_id, kind, payload, received_at, delivery_id) values
  ('00000000-0000-7000-8000-000000000001', 1, gen_random_uuid(), 'whatsapp', 'wamid.MzQ2MDAxMjM0NTY=1', 'text', '{"text": "secret"}', now(), '00000000-0000-7000-8000-0000000000d1'),
  ('00000000-0000-7000-8000-000000000001', 2, gen_random_uuid(), 'whatsapp', 'wamid.MzQ2MDAxMjM0NTY=2', 'text', '{"phone": "34600123456"}', now(), '00000000-0000-7000-8000-0000000000d1'),
  ('00000000-0000-7000-8000-000000000003', 1, gen_random_uuid(), 'whatsapp', 'wamid.MzQ2MDAxMjM0NTY=3', 'text', '{"text": "secret"}', now(), null),
  ('00000000-0000-7000-8000-000000000002', 1, gen_random_uuid(), 'whatsapp', 'wamid.other', 'text', '{"text": "kept"}', now(), '00000000-0000-7000-8000-0000000000d3');
insert into inbound.dead (chat_id, seq, activity_id, channel, message_id, kind, payload, received_at, attempts, error, dead_by) values
  ('00000000-0000-7000-8000-000000000001', 1, gen_random_uuid(), 'whatsapp', 'wamid.MzQ2MDAxMjM0NTY=1', 'text', '{"text": "secret"}', now(), 5, 'panic', 'conversation');
insert into inbound.rejection (id, key, channel, message_id, reason, detail, raw, delivery_id) values
  (gen_random_uuid(), gen_random_uuid(), 'whatsapp', 'wamid.MzQ2MDAxMjM0NTY=9', 'unparsable', 'no', '{"from": "34600123456", "text": "secret"}', gen_random_uuid()),
  (gen_random_uuid(), gen_random_uuid(), 'whatsapp', 'wamid.other', 'unparsable', 'no', '{"text": "kept"}', gen_random_uuid());
insert into chat.sender (id, channel, next_seq, done_seq, ready_at) values
  ('00000000-0000-7000-8000-000000000001', 'whatsapp', 3, 1, now());
insert into chat.outbound (id, chat_id, channel, seq, payload, expires_at, outcome) values
  ('00000000-0000-7000-8000-0000000000b1', '00000000-0000-7000-8000-000000000001', 'whatsapp', 1, '{"text": "secret"}', now(), 'sent'),
  ('00000000-0000-7000-8000-0000000000b2', '00000000-0000-7000-8000-000000000001', 'whatsapp', 2, '{"text": "secret"}', now(), null),
  ('00000000-0000-7000-8000-0000000000b3', '00000000-0000-7000-8000-000000000002', 'whatsapp', 1, '{"text": "kept"}', now(), 'sent');
insert into chat.outbound_id (channel, provider_id, outbound_id) values
  ('whatsapp', 'wamid.MzQ2MDAxMjM0NTY=b', '00000000-0000-7000-8000-0000000000b1');
insert into inbound.receipt (key, channel, provider_id, outbound_id, status, occurred_at) values
  (gen_random_uuid(), 'whatsapp', 'wamid.MzQ2MDAxMjM0NTY=b', '00000000-0000-7000-8000-0000000000b1', 'sent', now()),
  (gen_random_uuid(), 'whatsapp', 'wamid.MzQ2MDAxMjM0NTY=b', null, 'read', now());
insert into report.photo (sha256, content_type, bytes) values ('one', 'image/jpeg', 'secret picture'), ('two', 'image/jpeg', 'kept');
insert into report.report (id, channel, chat_id, state, reference, language, point, address, area_id, area_version, route,
  note, photo_sha256, received_at) values
  ('00000000-0000-7000-8000-0000000000c1', 'whatsapp', '00000000-0000-7000-8000-000000000001', 'received', 'REF-2026-00001',
   'es', public.st_setsrid(public.st_makepoint(-2.67, 42.84), 4326), 'secret street', 'a', 1, 'x/y', 'secret note', 'one', now()),
  ('00000000-0000-7000-8000-0000000000c2', 'whatsapp', '00000000-0000-7000-8000-000000000001', 'draft', null,
   'es', public.st_setsrid(public.st_makepoint(-2.67, 42.84), 4326), 'secret street', 'a', 1, null, null, null, null),
  ('00000000-0000-7000-8000-0000000000c3', 'whatsapp', '00000000-0000-7000-8000-000000000002', 'received', 'REF-2026-00002',
   'es', public.st_setsrid(public.st_makepoint(-2.67, 42.84), 4326), 'kept', 'a', 1, 'x/y', 'kept', 'two', now());
insert into report.push_attempt (id, report_id, epoch, endpoint, external_code, body_sha256, evidence) values
  (gen_random_uuid(), '00000000-0000-7000-8000-0000000000c1', 1, 'x', 'REF-2026-00001', 'hash', 'it said: secret');
insert into report.photo_fetch (report_id, channel, media_id, give_up_at) values
  ('00000000-0000-7000-8000-0000000000c1', 'whatsapp', 'secret', now());
"#;

/// What may not be found any more: words, the number, and the number inside of a provider's id.
const SECRETS: [&str; 3] = ["secret", "34600123456", "MzQ2MDAxMjM0NTY"];

/// In how many rows of how many tables a word stands, as text or inside of bytes.
async fn found(pool: &PgPool, word: &str) -> i64 {
    let tables: Vec<String> = sqlx::query_scalar(
        "select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where c.relkind = 'r' and n.nspname in ('inbound', 'chat', 'report', 'geo', 'flow')",
    )
    .fetch_all(pool)
    .await
    .unwrap();
    let hex: String = word.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut all = 0;
    for table in tables {
        // Names of the catalogue, and words of this file.
        let sql =
            format!("select count(*) from {table} t where t::text like '%{word}%' or t::text like '%{hex}%'");
        all += sqlx::query_scalar::<_, i64>(AssertSqlSafe(sql)).fetch_one(pool).await.unwrap();
    }
    all
}

#[tokio::test]
async fn nothing_that_a_citizen_told_is_found_anywhere_and_the_reference_stays() {
    let database = testkit::database().await;
    database.pool.execute(ROWS).await.unwrap();
    let erase = async |args: &[&str]| {
        let args: Vec<&str> = ["erase"].iter().chain(args).copied().collect();
        let said = abisu(Some(&database.url), &[("ABISU_OPERATOR", "ane")], &args).await;
        assert_eq!(said.code, 0, "{}", said.error);
        said.out
    };
    let (there, kept) = (found(&database.pool, SECRETS[0]).await, found(&database.pool, "kept").await);
    assert!(there > 10 && kept > 5);

    let would = erase(&["--phone", "+34 600 123 456", "--dry-run"]).await;
    for line in ["3 messages would be erased", "2 raw deliveries would", "REF-2026-00001 would keep"] {
        assert!(would.contains(line), "{would}");
    }
    assert_eq!(found(&database.pool, SECRETS[0]).await, there, "a dry run changes nothing");

    let did = erase(&["--phone", "+34 600 123 456"]).await;
    assert_eq!(did, would.replace("would be erased", "erased").replace("would keep", "keeps"));
    for secret in SECRETS {
        assert_eq!(found(&database.pool, secret).await, 0, "{secret}");
    }
    assert_eq!(found(&database.pool, "kept").await, kept, "another's rows are as they were");
    assert_eq!(found(&database.pool, "REF-2026-00001").await, 2, "the report, and its attempt");
    let idle = "select count(*) from chat.chat where ready_at is null and done_seq = next_seq - 1";
    assert_eq!(database.count(idle).await, 3);
    assert_eq!(database.count("select count(*) from chat.outbound where outcome is null").await, 0);
    assert_eq!(
        database.count("select count(*) from inbound.operation where act = 'erase' and by = 'ane'").await,
        2
    );

    assert!(erase(&["--phone", "34600123456"]).await.starts_with("nothing to erase"));
    assert!(erase(&["--user-id", "ES.secret"]).await.starts_with("nothing to erase"));
}

#[tokio::test]
async fn a_contact_is_named_by_one_of_two() {
    for args in
        [&["erase"][..], &["erase", "--phone", "12"], &["erase", "--phone", "34600123456", "--user-id", "x"]]
    {
        assert_eq!(abisu(None, &[], args).await.code, 64, "{args:?}");
    }
}
