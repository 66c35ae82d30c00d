//! Whether a channel may send: what paused it, and letting it go on by hand. Each such act is kept in
//! `inbound.operation` with who, when and why.

use std::fmt::Write;

use chrono::{DateTime, SecondsFormat, Utc};
use runtime::config::DatabaseArgs;
use serde::Serialize;

use crate::Failure;
use crate::connect::connect;
use crate::operator::ByArgs;

/// Lets a paused channel send again at once, whatever its next probe would say.
pub(super) async fn resume(
    channel: &str,
    because: &str,
    by: ByArgs,
    database: DatabaseArgs,
) -> Result<String, Failure> {
    let by = by.who()?;
    let mut on = connect(database).await?;
    let found = sqlx::query_file!("src/channels/store/resume_channel.sql", channel, by, because)
        .fetch_one(&mut on)
        .await?;
    Ok(if found.resumed {
        let waiting = found.waiting;
        format!(
            "channel {channel} goes on; {waiting} replies wait. If what paused it is still wrong it pauses again at the next one\n"
        )
    } else if found.known {
        format!("channel {channel} was not paused: nothing changed\n")
    } else {
        format!("channel {channel} was not paused: nothing changed; nothing was ever sent on it\n")
    })
}

#[derive(Serialize)]
struct Standing {
    channel: String,
    paused_at: Option<DateTime<Utc>>,
    reason: Option<String>,
    probe_at: Option<DateTime<Utc>>,
    resumed_at: Option<DateTime<Utc>>,
    /// Chats with replies to send.
    waiting: i64,
    by_hand_at: Option<DateTime<Utc>>,
    by: Option<String>,
    because: Option<String>,
}

/// How every channel stands that was ever sent on.
pub(super) async fn list(json: bool, database: DatabaseArgs) -> Result<String, Failure> {
    let mut on = connect(database).await?;
    let all =
        sqlx::query_file_as!(Standing, "src/channels/store/list_channels.sql").fetch_all(&mut on).await?;
    if json {
        let text = serde_json::to_string_pretty(&all).map_err(|error| Failure::Failed(error.into()))?;
        return Ok(text + "\n");
    }
    if all.is_empty() {
        return Ok("nothing was sent on any channel yet\n".to_owned());
    }
    let mut text = String::new();
    // Writing to a String cannot fail.
    for one in all {
        let _ = match (one.paused_at, &one.reason) {
            (Some(since), Some(reason)) => {
                let next = one.probe_at.map(|next| format!(", looked at again {}", at(next)));
                let next = next.unwrap_or_default();
                writeln!(text, "{}: paused since {}: {reason}{next}", one.channel, at(since))
            }
            _ => writeln!(text, "{}: sends", one.channel),
        };
        let _ = writeln!(text, "  chats with replies to send: {}", one.waiting);
        if let (Some(when), Some(by), Some(because)) = (one.by_hand_at, &one.by, &one.because) {
            let _ = writeln!(text, "  let go on by hand {} by {by}: {because}", at(when));
        }
    }
    Ok(text)
}

fn at(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}
