//! Arguments of `abisu queue`.

use chrono::{DateTime, TimeDelta, Utc};
use clap::{Subcommand, ValueEnum};
use runtime::config::DatabaseArgs;
use uuid::Uuid;

use crate::operator::WhyArgs;

#[derive(Subcommand)]
pub(crate) enum QueueCommand {
    /// Say how every queue stands, per channel
    Status {
        /// As one JSON array
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Messages and pushes that were given up
    #[command(subcommand)]
    Dead(DeadCommand),
    /// Messages that could never be handled
    #[command(subcommand)]
    Rejected(RejectedCommand),
    /// Delete what is older than its retention; one purge runs at a time, a second does nothing
    Purge {
        /// Days that raw deliveries, events and receipts are kept
        #[arg(long, env = "ABISU_RETENTION_DAYS", default_value_t = 7, value_parser = clap::value_parser!(u64).range(7..=3650))]
        retention_days: u64,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Whether a dead message stops its chat until a person replays or discards it
    Hold {
        /// Id of the channel
        channel: String,
        /// On or off
        hold: Switch,
        #[command(flatten)]
        why: WhyArgs,
        #[command(flatten)]
        database: DatabaseArgs,
    },
}

#[derive(Subcommand)]
pub(crate) enum DeadCommand {
    /// What was given up, oldest first: messages, then pushes
    List {
        #[command(flatten)]
        list: ListArgs,
        #[command(flatten)]
        only: OnlyArgs,
    },
    /// One of them
    Show(DeadShowArgs),
    /// Append a message again, at the end of its chat; put a report back into the outbox, its attempts given back
    Replay(DeadChangeArgs),
    /// Give it up for good
    Discard(DeadChangeArgs),
}

#[derive(Subcommand)]
pub(crate) enum RejectedCommand {
    /// What could not be handled, oldest first
    List(ListArgs),
    /// One of them
    Show(ShowArgs),
    /// Read the raw bytes again and append what is in them
    Replay {
        #[command(flatten)]
        change: RejectedChangeArgs,
        /// Whose words the raw bytes are in; by default whose they look like
        #[arg(long, value_enum)]
        kind: Option<Kind>,
        /// Append to this channel instead of the one that kept them
        #[arg(long, value_name = "CHANNEL")]
        to: Option<String>,
    },
    /// Give it up for good
    Discard(RejectedChangeArgs),
}

#[derive(clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Also what was replayed or discarded
    #[arg(long)]
    pub(crate) all: bool,
    /// As one JSON array
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
}

#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// Its id, as `list` prints it
    pub(crate) id: Uuid,
    /// Also what it says: personal data
    #[arg(long)]
    pub(crate) reveal: bool,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
}

#[derive(clap::Args)]
pub(crate) struct DeadShowArgs {
    /// Its id, as `list` prints it
    #[arg(value_parser = dead_id)]
    pub(crate) id: DeadId,
    /// Also what it says: personal data
    #[arg(long)]
    pub(crate) reveal: bool,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
}

#[derive(clap::Args)]
pub(crate) struct DeadChangeArgs {
    /// Ids, as `list` prints them; without any, all that the filters let through
    #[arg(value_parser = dead_id)]
    pub(crate) ids: Vec<DeadId>,
    #[command(flatten)]
    pub(crate) only: OnlyArgs,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

#[derive(clap::Args)]
pub(crate) struct RejectedChangeArgs {
    /// Ids, as `list` prints them; without any, all that the filters let through
    pub(crate) ids: Vec<Uuid>,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

#[derive(clap::Args)]
pub(crate) struct ChangeArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Say what would be done and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) why: WhyArgs,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
}

#[derive(clap::Args)]
pub(crate) struct OnlyArgs {
    /// Only the ones or only the others
    #[arg(long, value_enum)]
    pub(crate) only: Option<Only>,
}

/// What can be dead.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Only {
    Messages,
    Pushes,
}

/// What names a dead message, and what a dead push.
#[derive(Clone)]
pub(crate) enum DeadId {
    Message(Uuid),
    Push(String),
}

fn dead_id(text: &str) -> Result<DeadId, String> {
    if let Ok(id) = text.parse::<Uuid>() {
        return Ok(DeadId::Message(id));
    }
    let reference = text.to_uppercase();
    if reference.starts_with("REF-") {
        return Ok(DeadId::Push(reference));
    }
    Err("neither the id of a message nor the reference of a report".to_owned())
}

#[derive(clap::Args)]
pub(crate) struct FilterArgs {
    /// On this channel
    #[arg(long)]
    pub(crate) channel: Option<String>,
    /// Since this time (2026-11-30T08:00:00Z), or for so long (90m, 12h, 3d)
    #[arg(long, value_parser = since)]
    pub(crate) since: Option<DateTime<Utc>>,
    /// A part of the error of a dead message; the reason of a rejected one
    #[arg(long, visible_alias = "error")]
    pub(crate) reason: Option<String>,
    /// So many at most
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) limit: i64,
}

impl FilterArgs {
    /// Whether it leaves anything out.
    pub(crate) fn narrows(&self) -> bool {
        self.channel.is_some() || self.since.is_some() || self.reason.is_some()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

/// The kinds of channel, as the channels file names them.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Kind {
    WhatsappMeta,
    WhatsappInfobip,
    Webhook,
}

fn since(text: &str) -> Result<DateTime<Utc>, String> {
    if let Ok(at) = text.parse::<DateTime<Utc>>() {
        return Ok(at);
    }
    let problem = || "neither a time as 2026-11-30T08:00:00Z nor a length as 90m, 12h or 3d".to_owned();
    let (at, unit) = text.char_indices().last().ok_or_else(problem)?;
    let count: i64 = text[..at].parse().map_err(|_| problem())?;
    let length = match unit {
        's' => TimeDelta::try_seconds(count),
        'm' => TimeDelta::try_minutes(count),
        'h' => TimeDelta::try_hours(count),
        'd' => TimeDelta::try_days(count),
        _ => None,
    };
    length
        .filter(|length| *length >= TimeDelta::zero())
        .and_then(|length| Utc::now().checked_sub_signed(length))
        .ok_or_else(problem)
}

#[cfg(test)]
mod tests {
    use super::since;
    use chrono::{TimeDelta, Utc};

    #[test]
    fn a_time_may_be_said_as_a_length() {
        let then = since("90m").expect("a length");
        let ago = Utc::now() - then;
        assert!(ago >= TimeDelta::minutes(90) && ago < TimeDelta::minutes(91));
        assert!(since("2026-11-30T08:00:00Z").is_ok());
        for wrong in ["", "m", "-3d", "3w", "yesterday", "99999999999999999d"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }
}
