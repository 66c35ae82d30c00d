//! Waiting for a process to be ready, with the reason when it never will be.

use std::time::{Duration, Instant};

use anyhow::bail;

use super::supervise::{Supervised, describe};
use crate::postgres::tail;
use crate::progress::say;

/// How long a service may take from its start to readiness.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(25);
/// How often the wait is mentioned.
const MENTION: Duration = Duration::from_secs(5);
/// Exit code of a service that refuses its configuration: starting it again changes nothing.
const BAD_CONFIGURATION: i32 = 64;
/// Ends so soon after the start that more starts are no use.
const TOO_MANY: u32 = 4;

pub(crate) async fn wait(name: &str, url: &str, process: &Supervised) -> anyhow::Result<()> {
    let client = reqwest::Client::builder().timeout(Duration::from_secs(2)).build()?;
    let start = Instant::now();
    let mut mentioned = start;
    loop {
        let answer = client.get(url).send().await;
        let why = match answer {
            Ok(answer) if answer.status().is_success() => return Ok(()),
            Ok(answer) => answer.text().await.unwrap_or_default(),
            Err(_) => "it does not answer yet".to_owned(),
        };
        if let Some((status, short_lives)) = process.last_exit()
            && (status.code() == Some(BAD_CONFIGURATION) || short_lives >= TOO_MANY)
        {
            bail!("{name} cannot start ({}); {}", describe(Some(status)), tail(process.log()));
        }
        if start.elapsed() > PATIENCE {
            bail!("{name} is not ready after {} s: {why}; {}", PATIENCE.as_secs(), tail(process.log()));
        }
        if mentioned.elapsed() > MENTION {
            mentioned = Instant::now();
            say(format!("waiting for {name}: {why}"));
        }
        tokio::time::sleep(POLL).await;
    }
}
