//! A citizen who asks to be forgotten, after a report through the whole system: every table is searched for what was there.

use std::collections::BTreeSet;

use serde_json::json;
use sqlx::{AssertSqlSafe, Row};
use testkit::eventually;

use crate::town::{Calm, Town, report};

const PHONE: &str = "34611223344";
const NOTE: &str = "frente al portal de mi tia Maider";

/// The tables in which a word stands, as text or inside of bytes.
async fn tables_with(town: &Town, word: &str) -> BTreeSet<String> {
    let tables = sqlx::query(
        "select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where c.relkind = 'r' and n.nspname in ('inbound', 'chat', 'report', 'flow', 'geo')",
    )
    .fetch_all(&town.database.pool)
    .await
    .unwrap();
    let hex = hex::encode(word);
    let mut found = BTreeSet::new();
    for table in tables.iter().map(|row| row.get::<String, _>(0)) {
        // Names of the catalogue; the words are bound.
        let sql = format!(
            "select exists (select from {table} t where strpos(t::text, $1) > 0 or strpos(t::text, $2) > 0)"
        );
        let is = sqlx::query(AssertSqlSafe(sql))
            .bind(word)
            .bind(&hex)
            .fetch_one(&town.database.pool)
            .await
            .unwrap();
        if is.get(0) {
            found.insert(table);
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_erased_is_found_nowhere_and_may_come_back_as_a_stranger() {
    let town = Town::start("erase", &[("ABISU_OPERATOR", "ane")]).await;
    let citizen = town.simulator.citizen("Maider Erasua", PHONE, "es").await.unwrap();
    let other = town.citizen("Nerea Besteak").await;
    let reported = report(&citizen, NOTE, 1, &Calm).await;
    let kept = report(&other, "aviso de otra persona", 1, &Calm).await;
    // What cannot be handled is kept as well: a message without an id.
    let number =
        "select convert_from(body, 'UTF8')::jsonb #>> '{entry,0,changes,0,value,metadata,phone_number_id}'
                  from inbound.delivery limit 1";
    let number: String = sqlx::query(number).fetch_one(&town.database.pool).await.unwrap().get(0);
    let odd = json!({"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [{"field": "messages",
        "value": {"messaging_product": "whatsapp", "metadata": {"phone_number_id": number},
                  "contacts": [{"wa_id": PHONE}],
                  "messages": [{"from": PHONE, "timestamp": "1", "type": "text", "text": {"body": NOTE}}]}}]}]});
    town.simulator.post("/control/webhook/raw", &json!({"body": odd.to_string()})).await.unwrap();
    assert!(tables_with(&town, NOTE).await.contains("inbound.rejection"));
    town.delivered(&[reported.clone(), kept.clone()]).await;
    let rest = "select (select count(*) from chat.sender where done_seq < next_seq - 1)
                     + (select count(*) from report.photo_fetch)
                     + (select count(*) from report.report where push_state <> 'sent')
                     -- Each reply is sent, delivered and read.
                     + (select 3 * count(*) from chat.outbound) - (select count(*) from inbound.receipt)";
    eventually("everything has ended", async || (town.database.count(rest).await == 0).then_some(())).await;
    let known = "select value from chat.alias where kind = 'user_id' and chat_id = (
                   select chat_id from chat.alias where kind = 'phone' and value = $1)";
    let known = sqlx::query(known).bind(PHONE).fetch_one(&town.database.pool).await.unwrap();
    let user_id: String = known.get(0);
    let shown = town.simulator.get(&format!("/control/citizens/{}/messages", citizen.id())).await.unwrap();
    let ids: Vec<String> = shown
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|message| message["wamid"].as_str().map(str::to_owned))
        .collect();
    let mut words = vec![PHONE, NOTE, "Maider Erasua", &user_id];
    words.extend(ids.iter().map(String::as_str));
    for word in &words[..4] {
        assert!(tables_with(&town, word).await.len() > 1, "{word} is there to be erased");
    }
    let photo = tables_with(&town, &reported.photo_sha256).await;
    assert!(photo.contains("report.photo"), "{photo:?}");

    let said = town.stack.abisu(&["erase", "--phone", "+34 611 22 33 44", "--by", "ane"]).await.unwrap();

    assert!(said.contains(&format!("{} keeps", reported.reference)), "{said}");
    for word in words {
        assert_eq!(tables_with(&town, word).await, BTreeSet::new(), "{word}");
    }
    assert!(!tables_with(&town, &reported.photo_sha256).await.contains("report.photo"));
    assert!(tables_with(&town, &reported.reference).await.contains("report.report"));
    assert!(tables_with(&town, &kept.note).await.contains("report.report"), "another's report is as it was");
    citizen.say("Hola").await.unwrap();
    let sessions = "select count(*) from chat.alias a join chat.session s on s.chat_id = a.chat_id
                    where a.kind = 'phone' and s.language is null and s.step = 'awaiting_language'";
    eventually("she is greeted as a stranger", async || {
        (town.database.count(sessions).await == 1).then_some(())
    })
    .await;
}
