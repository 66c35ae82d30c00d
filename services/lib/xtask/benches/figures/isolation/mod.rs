//! Two channels in one deployment: a hundred thousand ready chats on one, and how long the citizens of the other wait.

mod crowd;
mod stage;

use std::sync::Arc;

use sqlx::{Connection as _, PgConnection};
use xtask::progress::say;

use crate::Bench;
use crate::board::Board;
use crate::conversations::person::People;
use crate::conversations::{show, steadily};
use crowd::{fill, ready};
use stage::Stage;

/// Chats of the crowded channel, each with one message that nobody has looked at.
const CROWD: usize = 100_000;
/// New citizens a second on the other channel: far below what it could do, so that its own queue is no part of the wait.
const PER_SECOND: f64 = 4.0;

/// Measures all of it, round by round, each on a database of its own.
pub(crate) async fn measure(bench: &Bench, board: &mut Board) -> anyhow::Result<()> {
    for round in bench.rounds() {
        let name = format!("isolation_{round}");
        let pool = bench.database(&name).await?;
        let stage = Stage::set(&bench.cluster.url(&name)).await?;
        let people = Arc::new(People::new(stage.simulator()?)?);

        let calm = steadily(&people, PER_SECOND, bench.length).await?;
        show(board, "the other channel at rest", &calm).await?;

        say(format!("putting {CROWD} chats into the queue of one channel"));
        fill(&pool, CROWD).await?;
        let mut on = PgConnection::connect(&bench.cluster.url(&name)).await?;
        let before = ready(&mut on).await?;
        let beside = steadily(&people, PER_SECOND, bench.length).await?;
        let after = ready(&mut on).await?;
        show(board, "beside the crowded channel", &beside).await?;
        board.add("chats of the crowd ready when it began", "chats", before);
        board.add("chats of the crowd ready at the end", "chats", after);
        if after == 0.0 {
            board.note("the crowd was worked off before the measurement ended: measure for fewer --seconds");
        }
    }
    board.ratio(
        &format!("p99 beside {CROWD} ready chats of another channel / at rest"),
        "webhook → reply, beside the crowded channel, p99",
        "webhook → reply, the other channel at rest, p99",
    );
    Ok(())
}
