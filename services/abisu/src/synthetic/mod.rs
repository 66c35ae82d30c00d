//! `abisu synthetic report`: a whole report through a running installation, on the channel that leads nowhere.
//!
//! It is what a release is tried out with: four signed messages go in by the front door, and what the services made of
//! them is read back from the database. Nothing of it reaches a citizen, Meta or the contractor, and everything that it
//! leaves is marked as synthetic; nothing is removed.

mod door;
mod read;

use std::time::Duration;

use channel::config::SYNTHETIC;
use clap::Subcommand;
use runtime::config::{DatabaseArgs, parse_base_url, required_secret};
use serde_json::json;
use tokio::time::Instant;
use uuid::Uuid;

use self::door::Door;
use self::read::{Books, Waiting};
use crate::Failure;
use crate::connect::connect;

#[derive(Subcommand)]
pub(crate) enum SyntheticCommand {
    /// Report something through the synthetic channel and read back that it was received, answered and sunk
    Report(ReportArgs),
}

#[derive(clap::Args)]
pub(crate) struct ReportArgs {
    /// Base URL of ingest
    #[arg(long, value_parser = parse_base_url)]
    url: String,
    /// How long the whole report may take, as 60s or 2m
    #[arg(long, default_value = "60s", value_parser = length)]
    timeout: Duration,
    /// Secret of the synthetic channel, as ingest has it
    #[arg(long, env = "ABISU_SYNTHETIC_CHANNEL_SECRET", hide_env_values = true)]
    synthetic_channel_secret: Option<String>,
    /// File that holds it
    #[arg(long, env = "ABISU_SYNTHETIC_CHANNEL_SECRET_FILE")]
    synthetic_channel_secret_file: Option<std::path::PathBuf>,
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(crate) async fn run(command: SyntheticCommand) -> Result<String, Failure> {
    match command {
        SyntheticCommand::Report(args) => report(args).await,
    }
}

async fn report(args: ReportArgs) -> Result<String, Failure> {
    let secret = required_secret(
        "ABISU_SYNTHETIC_CHANNEL_SECRET",
        args.synthetic_channel_secret,
        args.synthetic_channel_secret_file,
    )?;
    let began = Instant::now();
    // Nobody: another one at each run, so that no run meets what another has left.
    let from = format!("{SYNTHETIC}-{}", Uuid::now_v7());
    let door = Door::new(&args.url, secret, from.clone(), args.timeout)?;
    let mut books = Books::new(connect(args.database).await?, from, began + args.timeout, args.timeout);
    let place = books.place().await?;
    let leaf = books.leaf().await?;

    door.send(json!({"type": "text", "text": "Hola"})).await?;
    let language = books.reply(Waiting::Language).await?;
    door.send(json!({"type": "button_reply", "interactive_reply": {"id": language.first_button()?}})).await?;
    books.reply(Waiting::Place).await?;
    let location = json!({"latitude": place.latitude, "longitude": place.longitude, "name": "Synthetic"});
    door.send(json!({"type": "location", "location": location})).await?;
    let form = books.reply(Waiting::Form).await?;
    let mut response = json!({"token": form.prompt, "route": leaf.route, "note": "Synthetic report"});
    if let Some(version) = leaf.version {
        response["version"] = json!(version);
    }
    door.send(json!({"type": "form", "interactive_reply": {"response": response}})).await?;
    let received = books.received().await?;
    books.sunk(&received).await?;
    let seconds = began.elapsed().as_secs_f64();
    Ok(format!(
        "{} received, {} replies and the push sunk, in {seconds:.1} s\n",
        received.reference, received.replies
    ))
}

fn length(text: &str) -> Result<Duration, String> {
    let problem = || "a length as 60s or 2m".to_owned();
    let (at, unit) = text.char_indices().last().ok_or_else(problem)?;
    let count: u64 = text[..at].parse().map_err(|_| problem())?;
    let seconds = match unit {
        's' => count,
        'm' => count.checked_mul(60).ok_or_else(problem)?,
        _ => return Err(problem()),
    };
    if (1..=3600).contains(&seconds) {
        Ok(Duration::from_secs(seconds))
    } else {
        Err("1 second to an hour".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_has_a_unit_and_an_end() {
        assert_eq!(length("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(length("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["", "60", "s", "0s", "2h", "-1s", "99999999999999999999s", "99m"] {
            assert!(length(wrong).is_err(), "{wrong}");
        }
    }
}
