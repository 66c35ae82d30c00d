//! The books of a town, after whatever died in it: what the database says must agree with itself, and with what the
//! simulators saw. The invariants are those of the design, by number.

use std::collections::{BTreeMap, HashMap, HashSet};

use uuid::Uuid;

use crate::town::{Reported, Town};

/// What must be none, with what it counts.
const NONE: [(&str, &str); 7] = [
    (
        "messages stored more than once (2)",
        "select count(*) - count(distinct (channel, message_id)) from inbound.event",
    ),
    (
        "chats whose places have a hole or a double (4)",
        "select count(*) from (
           select from inbound.event group by chat_id
           having count(*) <> count(distinct seq) or count(*) <> max(seq) or min(seq) <> 1
         ) x",
    ),
    (
        "chats whose watermark is not at their last event (5)",
        "select count(*) from chat.chat c
         where c.done_seq <> (select count(*) from inbound.event e where e.chat_id = c.id)",
    ),
    (
        "chats whose replies have a hole or a double (5)",
        "select count(*) from (
           select from chat.outbound group by chat_id
           having count(*) <> count(distinct seq) or count(*) <> max(seq) or min(seq) <> 1
         ) x",
    ),
    ("replies that vanished (7)", "select count(*) from chat.outbound where outcome is distinct from 'sent'"),
    (
        "steps that a report took twice (5, 6)",
        "select count(*) from (
           select from report.timeline where step in ('draft_opened', 'received', 'photo_stored', 'pushed')
           group by report_id, step having count(*) > 1
         ) x",
    ),
    (
        "requests to the contractor that nobody knows the end of, beside those that a person looks at (8)",
        "select count(*) from report.push_attempt a join report.report r on r.id = a.report_id
         where a.closed_at is null and r.push_state <> 'review'",
    ),
];

/// Everything that must hold whatever died, at rest. A reply was posted again at most `repeats` times in all.
pub(crate) async fn agree(town: &Town, reports: &[Reported], repeats: usize) {
    for (what, rule) in NONE {
        assert_eq!(town.database.count(rule).await, 0, "{what}");
    }
    one_report_each(town, reports).await;
    messages(town).await;
    replies(town, repeats).await;
    creates(town).await;
}

/// One report per completion (6), and the citizen was told which.
async fn one_report_each(town: &Town, reports: &[Reported]) {
    let received: Vec<String> =
        sqlx::query_scalar("select reference from report.report where state = 'received' order by reference")
            .fetch_all(&town.database.pool)
            .await
            .unwrap();
    let mut told: Vec<String> = reports.iter().map(|report| report.reference.clone()).collect();
    told.sort();
    assert_eq!(received, told, "reports and what the citizens were told");
}

/// What the citizens wrote is stored, each message once, and nothing else is (1, 2).
async fn messages(town: &Town) {
    let mut written = Vec::new();
    for citizen in town.simulator.get("/control/citizens").await.unwrap().as_array().unwrap() {
        let id = citizen["id"].as_str().unwrap();
        let seen = town.simulator.get(&format!("/control/citizens/{id}/messages")).await.unwrap();
        let own = seen.as_array().unwrap().iter().filter(|message| message["direction"] == "in");
        written.extend(own.map(|message| message["wamid"].as_str().unwrap().to_owned()));
    }
    let mut stored: Vec<String> = sqlx::query_scalar("select message_id from inbound.event")
        .fetch_all(&town.database.pool)
        .await
        .unwrap();
    written.sort();
    stored.sort();
    assert_eq!(stored, written, "messages stored, and messages written");
}

/// Every reply reached the provider, those of a chat in their order; one was repeated only where its answer was lost (7).
async fn replies(town: &Town, repeats: usize) {
    let numbered: Vec<(Uuid, i64, Uuid)> =
        sqlx::query_as("select chat_id, seq, id from chat.outbound order by chat_id, seq")
            .fetch_all(&town.database.pool)
            .await
            .unwrap();
    let places: HashMap<String, (Uuid, i64)> =
        numbered.iter().map(|(chat, seq, id)| (id.to_string(), (*chat, *seq))).collect();
    let journal = town.simulator.get("/control/requests").await.unwrap();
    let taken = journal
        .as_array()
        .unwrap()
        .iter()
        .filter(|call| call["surface"] == "meta.messages" && call["status"] == 200)
        .filter_map(|call| call["body"]["biz_opaque_callback_data"].as_str());
    let (mut first, mut again): (BTreeMap<Uuid, Vec<i64>>, usize) = (BTreeMap::new(), 0);
    let mut seen = HashSet::new();
    for id in taken {
        let (chat, seq) = places[id];
        if seen.insert(id) {
            first.entry(chat).or_default().push(seq);
        } else {
            again += 1;
        }
    }
    for (chat, seqs) in &first {
        assert!(seqs.is_sorted(), "replies of {chat} left in the order {seqs:?}");
    }
    assert_eq!(seen.len(), numbered.len(), "replies that the provider took, and replies that there are");
    assert!(again <= repeats, "{again} replies were repeated");
}

/// Whatever the contractor has made, it was asked for once (8).
async fn creates(town: &Town) {
    let posts = town.simulator.get("/control/partner/posts").await.unwrap();
    let mut made: HashMap<&str, usize> = HashMap::new();
    for post in posts["posts"].as_array().unwrap() {
        let code = post["external_code"].as_str().unwrap();
        let before = made.entry(code).or_default();
        assert_eq!(*before, 0, "{code} was sent again after it was made");
        *before += usize::from(post["outcome"] == "created");
    }
}
