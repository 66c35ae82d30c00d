//! Arguments of `abisu outbox`.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use clap::{ArgGroup, Subcommand};
use partner::args::PartnerArgs;
use runtime::config::DatabaseArgs;

use crate::operator::WhyArgs;

#[derive(Subcommand)]
pub(crate) enum OutboxCommand {
    /// Let nothing more go to the contractor, on any replica, until `resume`
    Pause {
        #[command(flatten)]
        channel: ChannelArgs,
        #[command(flatten)]
        why: WhyArgs,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// End a pause, and try a contractor that was failing at once; where ABISU_PARTNER_ENABLED is off, it stays off
    Resume {
        #[command(flatten)]
        channel: ChannelArgs,
        #[command(flatten)]
        why: WhyArgs,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// What would go to the contractor now, oldest first
    Backlog {
        #[command(flatten)]
        channel: ChannelArgs,
        /// So many reports at most
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// As one JSON object
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Give reports up without sending them, such as those of a test; they become dead
    Discard {
        /// References, as REF-2026-00001
        #[arg(required = true)]
        references: Vec<String>,
        #[command(flatten)]
        why: WhyArgs,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Reports of which only a person can say whether the contractor has them
    #[command(subcommand)]
    Review(ReviewCommand),
    /// Compare our books with the contractor's: what is missing there, there twice, or there against our books
    Reconcile(Box<ReconcileArgs>),
}

#[derive(clap::Args)]
pub(crate) struct ReconcileArgs {
    /// Reports received from this day or moment on (2026-11-30, or 2026-11-30T08:00:00Z)
    #[arg(long, value_parser = parse_since)]
    pub(crate) since: DateTime<Utc>,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) channel: ChannelArgs,
    #[command(flatten)]
    pub(crate) partner: PartnerArgs,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
}

#[derive(Subcommand)]
pub(crate) enum ReviewCommand {
    /// All reports in review, oldest first, with what was seen of their last request
    List {
        /// As one JSON array
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// One report with its life, its attempts and what people did to it
    Show {
        /// The citizen's reference, as REF-2026-00001
        reference: String,
        /// As one JSON object
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Say what became of a report after looking it up at the contractor
    #[command(group = ArgGroup::new("decision").required(true))]
    Resolve {
        /// The citizen's reference, as REF-2026-00001
        reference: String,
        /// The contractor has it, under this id
        #[arg(long, value_name = "ID", group = "decision", value_parser = parse_id)]
        sent: Option<String>,
        /// The contractor does not have it: send it
        #[arg(long, group = "decision")]
        resend: bool,
        /// Send it without the photo that did not come
        #[arg(long, requires = "resend")]
        without_photo: bool,
        /// Even if it counts as sent: this can send a second crew
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        why: WhyArgs,
        #[command(flatten)]
        database: DatabaseArgs,
    },
}

#[derive(clap::Args)]
pub(crate) struct ChannelArgs {
    /// Id of the channel whose reports are meant
    #[arg(long, env = "ABISU_CHANNEL", default_value = "whatsapp")]
    pub(crate) channel: String,
}

/// What can be an id at the contractor's: it is shown to people and compared with theirs.
fn parse_id(text: &str) -> Result<String, String> {
    let id = text.trim();
    let usable = !id.is_empty() && id.chars().count() <= 200 && !id.chars().any(char::is_control);
    if usable {
        Ok(id.to_owned())
    } else {
        Err("the id of the contractor's record, up to 200 letters".to_owned())
    }
}

fn parse_since(text: &str) -> Result<DateTime<Utc>, String> {
    if let Ok(day) = text.parse::<NaiveDate>() {
        return Ok(day.and_time(NaiveTime::MIN).and_utc());
    }
    DateTime::parse_from_rfc3339(text)
        .map(|at| at.with_timezone(&Utc))
        .map_err(|_| "a day (2026-11-30) or a moment (2026-11-30T08:00:00Z)".to_owned())
}
