//! The outbox: how fast a backlog goes out to a partner that takes a while for each report.
//!
//! So many parallel sends to a partner that answers after so long cannot do more than one divided by the other; how much
//! of that the service reaches, with the database's work, the photo's and a connection for each send, is what is measured.

mod backlog;
mod partner;

use std::time::Duration;

use anyhow::Context;
use sqlx::postgres::PgPoolOptions;
use xtask::progress::say;
use xtask::stack::{Options, Stack};
use xtask::tree::{STATE, binaries};

use crate::Bench;
use crate::board::Board;

/// What the partner takes for a report.
const ANSWERS_AFTER: Duration = Duration::from_millis(50);
/// Sends at the same time, and bytes of each photo.
const CASES: [(u32, usize); 4] = [(4, 100_000), (16, 0), (16, 100_000), (16, 1_000_000)];

/// Measures all of it, round by round.
pub(crate) async fn measure(bench: &Bench, board: &mut Board) -> anyhow::Result<()> {
    let partner = partner::serve(ANSWERS_AFTER)?;
    let file = STATE.join("bench-partner.yaml");
    for round in bench.rounds() {
        for (parallel, photo) in CASES {
            let name = format!("{parallel} at once, photos of {} kB", photo / 1000);
            if !bench.args.wants(&name) {
                continue;
            }
            say(&name);
            let database = format!("push_{round}_{parallel}_{photo}");
            bench.database(&database).await?.close().await;
            let url = bench.cluster.url(&database);
            let pool = PgPoolOptions::new().max_connections(2).connect(&url).await?;
            let limit = f64::from(parallel) / ANSWERS_AFTER.as_secs_f64();
            // So many as the limit would send in the time.
            #[expect(clippy::cast_possible_truncation, reason = "some thousands")]
            let count = (limit * bench.length.as_secs_f64()) as i64;
            backlog::fill(&pool, count, photo).await?;
            // Without photos a report would wait for its own, where the platform's file does not say that it takes none.
            std::fs::write(&file, if photo == 0 { "fields: { photo: null }\n" } else { "{}\n" })?;
            let mut options = Options::new(binaries().await?);
            options.services = vec!["partner-push"];
            options.simulator = false;
            options.database = Some(url);
            options.logs = STATE.join("bench-logs");
            let settings = [
                ("ABISU_PARTNER_URL", partner.url.clone()),
                ("ABISU_PARTNER_PARALLEL", parallel.to_string()),
                ("ABISU_DATABASE_POOL", (parallel + 4).to_string()),
                ("ABISU_PARTNER_PLATFORM_FILE", file.display().to_string()),
                ("ABISU_LOG", "warn".to_owned()),
            ];
            options.environment.extend(settings.map(|(name, value)| (name.to_owned(), value)));
            let stack = Stack::start(options).await?;
            let pid = stack.pid("partner-push").context("the service has ended")?;
            let taken = partner.taken();
            let figures = backlog::drain(&pool, count, pid).await?;
            anyhow::ensure!(
                partner.taken() - taken == count.unsigned_abs(),
                "a report went twice, or not at all"
            );
            board.add(&name, "reports/s", figures.per_second);
            board.add(&format!("{name}, of the {limit} that are possible"), "×", figures.per_second / limit);
            board.add(&format!("{name}, processor time of the service"), "ms/report", figures.service_ms);
            board.add(&format!("{name}, processor time of the database"), "ms/report", figures.database_ms);
            drop(stack);
            pool.close().await;
        }
    }
    let _ = std::fs::remove_file(file);
    Ok(())
}
