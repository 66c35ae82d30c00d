//! `abisu channels`: the file of channels, checked where no service runs; and whether a channel may send.

mod state;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use channel::config::{Account, ChannelsFile, Provider, SecretRef, Secrets};
use clap::Subcommand;
use runtime::config::DatabaseArgs;

use crate::Failure;
use crate::operator::ByArgs;

#[derive(Subcommand)]
pub(crate) enum ChannelsCommand {
    /// Check a file of channels as the services do at their start; needs no database and no network
    Check {
        /// The file (YAML), as in ABISU_CHANNELS_FILE
        file: PathBuf,
        /// Also read every secret from where the file says it is
        #[arg(long)]
        secrets: bool,
    },
    /// Say which channels send and which are paused, since when and why, and who let them go on last
    List {
        /// As one JSON array
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Let a paused channel send again at once; it does so by itself when its account can be read again
    Resume {
        /// Id of the channel
        channel: String,
        /// Why, for those who ask later; it goes on by itself as well, so nobody has to say
        #[arg(long, default_value = "not said")]
        because: String,
        #[command(flatten)]
        by: ByArgs,
        #[command(flatten)]
        database: DatabaseArgs,
    },
}

pub(crate) async fn run(command: ChannelsCommand) -> Result<String, Failure> {
    match command {
        ChannelsCommand::Check { file, secrets } => check(&file, secrets),
        ChannelsCommand::List { json, database } => state::list(json, database).await,
        ChannelsCommand::Resume { channel, because, by, database } => {
            state::resume(&channel, &because, by, database).await
        }
    }
}

/// Secrets are looked for only when that is asked: the file is mostly checked where they are not.
fn check(path: &Path, secrets: bool) -> Result<String, Failure> {
    let wrong = |problem: &dyn std::fmt::Display| Failure::Usage(format!("{}: {problem}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error.kind()))?;
    let file = ChannelsFile::parse(&text).map_err(|error| wrong(&error))?;
    if secrets {
        Secrets::read(&file, |name| std::env::var(name).ok()).map_err(|error| wrong(&error))?;
    }
    let mut said = String::new();
    for account in file.accounts() {
        let lacks = account.lacks().map(|field| format!(", cannot send: {field} is missing"));
        let _ = writeln!(
            said,
            "{}: {}{}{}",
            account.id,
            account.kind(),
            details(account),
            lacks.unwrap_or_default()
        );
    }
    let state = if secrets { "every secret is there" } else { "secrets were not looked for" };
    let _ = writeln!(said, "{} channels, nothing wrong; {state}", file.accounts().len());
    Ok(said)
}

fn details(account: &Account<SecretRef>) -> String {
    match &account.provider {
        Provider::Meta(meta) => {
            let default = if meta.default { ", default" } else { "" };
            format!(", number {}, Graph API {}{default}", meta.phone_number_id, meta.graph_version)
        }
        Provider::Infobip(infobip) => format!(", sender {}", infobip.sender),
        Provider::Webhook(webhook) => {
            webhook.url.as_ref().map(|url| format!(", posts to {url}")).unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str, text: &str, secrets: bool) -> Result<String, String> {
        let path = std::env::temp_dir().join(format!("abisu-check-{name}-{}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let said = check(&path, secrets).map_err(|failure| failure.to_string());
        std::fs::remove_file(path).unwrap();
        said
    }

    const GOOD: &str = "\
channels:
  - id: whatsapp
    kind: whatsapp_meta
    default: true
    phone_number_id: \"100\"
    app_secrets: [{env: ABISU_TEST_ABSENT}]
    verify_token: {file: /nowhere/token}
  - id: city-app
    kind: webhook
    secrets: [{env: ABISU_TEST_ABSENT}]
";

    #[test]
    fn a_good_file_is_told_channel_by_channel() {
        let said = said("good", GOOD, false).unwrap();
        assert!(said.starts_with(
            "whatsapp: whatsapp_meta, number 100, Graph API v26.0, default, cannot send: access_token is missing\n\
             city-app: webhook, cannot send: url is missing\n"
        ));
        assert!(said.contains("2 channels, nothing wrong"), "{said}");
    }

    #[test]
    fn secrets_are_looked_for_when_that_is_asked() {
        let said = said("secrets", GOOD, true).unwrap_err();
        assert!(said.contains("line 6, app_secrets: the variable ABISU_TEST_ABSENT is not set"), "{said}");
        assert!(said.contains("line 7, verify_token: /nowhere/token: cannot be read"), "{said}");
    }

    #[test]
    fn a_wrong_file_is_named_by_line_and_field_and_ends_as_bad_usage() {
        let said = said("wrong", &GOOD.replace("default: true", "defualt: true"), false).unwrap_err();
        assert!(said.contains("line 4, defualt: there is no such field"), "{said}");
        assert_eq!(said.lines().count(), 1);
        let absent = check(Path::new("/nowhere/channels.yaml"), false);
        assert!(matches!(absent, Err(Failure::Usage(said)) if said.starts_with("/nowhere/channels.yaml: ")));
    }
}
