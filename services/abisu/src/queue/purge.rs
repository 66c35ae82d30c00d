//! `abisu queue purge`: what is older than its retention leaves.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::time::Duration;

use bus::retention::{Retention, purge};
use runtime::config::DatabaseArgs;

use super::plural;
use crate::Failure;
use crate::connect::connect;

const DAY: u64 = 24 * 60 * 60;

pub(super) async fn run(retention_days: u64, database: DatabaseArgs) -> Result<String, Failure> {
    let retention = Retention { history: Duration::from_secs(retention_days * DAY), ..Retention::default() };
    let mut on = connect(database).await?;
    let seen = std::io::stderr().is_terminal();
    let mut step = |what: &str| {
        if seen {
            // Whether it is seen changes nothing.
            let _ = writeln!(std::io::stderr(), "purging {what}");
        }
    };
    let Some(purged) = purge(&mut on, retention, &mut step).await? else {
        return Ok("another purge is running: nothing done\n".to_owned());
    };
    let mut text = String::new();
    let mut line = |count: u64, one: &str, many: &str| {
        if count > 0 {
            let count = plural(usize::try_from(count).unwrap_or(usize::MAX), one, many);
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{count} deleted");
        }
    };
    line(purged.dropped.len() as u64, "day", "days");
    line(purged.dedup, "key", "keys");
    line(purged.receipts, "receipt", "receipts");
    line(purged.replies, "reply", "replies");
    line(purged.dead, "dead message", "dead messages");
    line(purged.rejected, "rejection", "rejections");
    line(purged.drafts, "draft", "drafts");
    if purged.sessions > 0 {
        let sessions = plural(usize::try_from(purged.sessions).unwrap_or(usize::MAX), "chat", "chats");
        let _ = writeln!(text, "{sessions} untouched for days went back to the beginning");
    }
    for day in &purged.unsettled {
        let _ = writeln!(text, "{day} stays: a message in it is not settled; look at `abisu queue status`");
    }
    for day in &purged.busy {
        let _ = writeln!(text, "{day} is being read; the next purge drops it");
    }
    if text.is_empty() {
        text.push_str("nothing is older than its retention\n");
    }
    Ok(text)
}
