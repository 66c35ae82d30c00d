//! `abisu erase`: everything a citizen told us, on every channel; the one exception to append-only.
//!
//! Messages, raw deliveries, replies, notes and photos are overwritten or deleted, also the ids of messages, which hold
//! the number in another writing. What remains says that there was a report: its reference, category and point, its
//! timeline, and the counters. A contact that comes back is a new one. All of it is one transaction, whose dry run is
//! the same transaction, rolled back; work that is under way with the contact loses its lease and writes nothing.

mod args;

use std::fmt::Write as _;

use sqlx::{Connection, PgConnection};
use uuid::Uuid;

pub(crate) use args::EraseArgs;

use crate::Failure;
use crate::connect::connect_patiently;

/// How much of each was there.
#[derive(Default)]
struct Erased {
    references: Vec<String>,
    /// Name in the singular and the plural, and the number.
    counts: Vec<(&'static str, &'static str, u64)>,
}

pub(crate) async fn run(args: EraseArgs) -> Result<String, Failure> {
    let EraseArgs { phone, user_id, dry_run, by, database } = args;
    let (kind, value) = match (phone, user_id) {
        (Some(phone), _) => ("phone", phone),
        (None, Some(user_id)) => ("user_id", user_id),
        // The parser lets exactly one of the two through.
        (None, None) => return Err(Failure::Usage("give --phone or --user-id".to_owned())),
    };
    let by = by.who()?;
    // A look through every raw delivery may take longer than a service may.
    let mut on = connect_patiently(database).await?;
    let mut tx = on.begin().await?;
    let erased = erase(&mut tx, kind, value, &by).await?;
    if dry_run {
        tx.rollback().await?;
    } else {
        tx.commit().await?;
    }
    Ok(erased.to_text(dry_run))
}

async fn erase(tx: &mut PgConnection, kind: &str, value: String, by: &str) -> Result<Erased, sqlx::Error> {
    // In the order in which everybody locks: aliases, chats, senders, reports, the rest.
    let chats: Vec<Uuid> =
        sqlx::query_file_scalar!("src/erase/store/lock_chats.sql", kind, value).fetch_all(&mut *tx).await?;
    let names: Vec<String> =
        sqlx::query_scalar!("delete from chat.alias where chat_id = any($1) returning value", &chats)
            .fetch_all(&mut *tx)
            .await?;
    let mut needles = names;
    needles.push(value);
    sqlx::query_file!("src/erase/store/end_work.sql", &chats).execute(&mut *tx).await?;
    let reports = sqlx::query_file!("src/erase/store/erase_reports.sql", &chats).fetch_all(&mut *tx).await?;
    let ids: Vec<Uuid> = reports.iter().map(|report| report.id).collect();
    let pictures: Vec<Vec<u8>> = reports.iter().filter_map(|report| report.photo_sha256.clone()).collect();
    let mut erased = Erased {
        references: reports.into_iter().filter_map(|report| report.reference).collect(),
        ..Erased::default()
    };
    macro_rules! count {
        ($one:literal, $many:literal, $file:literal, $($argument:expr),+) => {{
            let done = sqlx::query_file!($file, $($argument),+).execute(&mut *tx).await?;
            erased.counts.push(($one, $many, done.rows_affected()));
        }};
    }
    count!("photo", "photos", "src/erase/store/erase_photos.sql", &pictures);
    count!("photo to fetch", "photos to fetch", "src/erase/store/erase_fetches.sql", &ids);
    count!("draft", "drafts", "src/erase/store/erase_drafts.sql", &chats);
    count!(
        "answer of the contractor",
        "answers of the contractor",
        "src/erase/store/erase_evidence.sql",
        &ids
    );
    // Before the events that say which deliveries and receipts are meant.
    count!("raw delivery", "raw deliveries", "src/erase/store/erase_deliveries.sql", &chats, &needles);
    count!("rejected message", "rejected messages", "src/erase/store/erase_rejections.sql", &needles);
    count!("receipt", "receipts", "src/erase/store/erase_receipts.sql", &chats);
    count!("id of a reply", "ids of replies", "src/erase/store/erase_reply_ids.sql", &chats);
    count!("reply", "replies", "src/erase/store/erase_replies.sql", &chats);
    count!("dead message", "dead messages", "src/erase/store/erase_dead.sql", &chats);
    count!("message", "messages", "src/erase/store/erase_events.sql", &chats);
    count!("conversation", "conversations", "src/erase/store/erase_sessions.sql", &chats);
    sqlx::query_file!("src/erase/store/note_erase.sql", &chats, by, &ids).execute(&mut *tx).await?;
    Ok(erased)
}

impl Erased {
    fn to_text(&self, dry_run: bool) -> String {
        let (did, nothing) = if dry_run {
            ("would be erased", "nobody is known by this, and no delivery names it\n")
        } else {
            ("erased", "nothing to erase: nobody is known by this, and no delivery names it\n")
        };
        let mut text = String::new();
        for (one, many, count) in self.counts.iter().filter(|(_, _, count)| *count > 0) {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{count} {} {did}", if *count == 1 { one } else { many });
        }
        for reference in &self.references {
            let keeps = if dry_run { "would keep" } else { "keeps" };
            let _ = writeln!(text, "{reference} {keeps} its category, point and timeline");
        }
        if text.is_empty() { nothing.to_owned() } else { text }
    }
}
