//! The door told to stop in the middle of traffic, as at every update: who was taken is answered, and what was acked is
//! there. The stack starts it again; who came meanwhile comes again, as a provider does.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use xtask::process::{Process, Signal};

use super::honest::{Answer, other_than, otherwise, traffic};
use super::{INTO_THE_OUTAGE, stored};
use crate::Bench;
use crate::board::Board;
use crate::ingest::door::Door;

/// Longer than the drain may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Stops it after a third of the time.
pub(super) async fn measure(
    bench: &Bench,
    board: &mut Board,
    door: &Door,
    length: Duration,
) -> anyhow::Result<()> {
    let process = Process::find(door.pid()?).context("the service has ended")?;
    let stop = async {
        tokio::time::sleep(length / 3).await;
        let began = Instant::now();
        process.signal(Signal::TERM);
        let gone = tokio::task::spawn_blocking(move || process.wait_gone(PATIENCE)).await?;
        ensure!(gone, "it did not stop within {} s", PATIENCE.as_secs());
        anyhow::Ok(began.elapsed().as_secs_f64())
    };
    let (answers, took) = tokio::join!(traffic(door.address, INTO_THE_OUTAGE, length), stop);
    let (answers, took) = (answers?, took?);
    let stored = stored(bench).await?;
    let acked = |answer: &&Answer| answer.ended == Ok(200);
    let lost = answers.iter().filter(acked).filter(|answer| !stored.contains(&answer.id)).count();
    ensure!(lost == 0, "{lost} acked messages are not stored");
    // A refusal is an answer too.
    let silent = answers.iter().filter(|answer| answer.ended.is_err() && stored.contains(&answer.id)).count();
    let name = format!("SIGTERM under {INTO_THE_OUTAGE} webhooks/s");
    board.add(&format!("{name}: until it had stopped"), "s", took);
    board.add(&format!("{name}: taken and not answered"), "webhooks", silent as f64);
    board.add(&format!("{name}: acked and lost"), "messages", lost as f64);
    board.add(&format!("{name}: to come again"), "webhooks", other_than(&answers, 200) as f64);
    if let Some(how) = otherwise(&answers, 200) {
        board.note(format!("{name}: to come again: {how}"));
    }
    door.stack.wait_ready().await
}
