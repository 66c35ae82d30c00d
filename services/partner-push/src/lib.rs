//! The outbox: one POST per report to the contractor, whose every call sends a crew.
//!
//! * Reads `report.report`, `report.photo`, `flow.release`; writes the outbox columns of `report.report`,
//!   `report.push_attempt`, `report.timeline`. All claiming and settling is in `bus::outbox`.
//! * An attempt is committed before its request leaves and closed after the answer. What may have arrived is never
//!   sent again by itself: a person decides, or a search proves it absent.
//! * A failure of the partner costs a report nothing; only a failure of the report's own is charged to it.
//!
//! `worker` claims, `push` handles one report, `classify` judges, `gate` and `breaker` hold back, `probe` looks
//! doubtful reports up where the partner can be searched, `names` asks for ids that were not told.

pub mod args;
pub mod config;

mod assemble;
mod breaker;
mod city;
mod classify;
mod ending;
mod error;
mod gate;
#[cfg(test)]
mod hostile;
mod ledger;
mod metrics;
mod names;
mod probe;
mod push;
mod reads;
mod shrink;
mod signal;
mod store;
mod taxonomies;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use bus::wake::{Listener, Queue};
use partner::Partner;
use runtime::Shell;
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::breaker::Breaker;
use crate::config::Config;
use crate::gate::Gate;
use crate::ledger::Ledger;
use crate::metrics::Metrics;
use crate::push::Pusher;
use crate::reads::Reads;
use crate::taxonomies::Taxonomies;
use crate::worker::Worker;

/// Wires the service and spawns its tasks on the shell.
///
/// # Errors
/// What must be there cannot be set up: the pool, the HTTP client.
pub async fn run(config: Config, shell: Shell) -> anyhow::Result<()> {
    let Config { database, channels, poll, grace, partner, sending, taxonomy, links } = config;
    let pool = shell.database(&database)?;
    let metrics = shell.metrics(Metrics::register);
    let stopping = shell.stopping();
    let measuring = metrics.clone().measure(pool.clone(), channels.clone(), stopping);
    shell.spawn("measure", async move {
        measuring.await;
        Ok(())
    });
    let Some(partner) = partner else {
        tracing::info!("ABISU_PARTNER_ENABLED is off: reports wait, nothing is claimed");
        return Ok(());
    };
    if grace < sending.send_timeout {
        tracing::warn!(
            grace_ms = grace.as_millis(),
            send_timeout_ms = sending.send_timeout.as_millis(),
            "ABISU_GRACE_MS is shorter than a send may take: a stop can leave reports in review"
        );
    }
    let search = partner.search;
    // One session at the platform, whatever the reports came by.
    let partner: Arc<dyn Partner> =
        partner::connect(&partner, sending.timeouts()).context("the HTTP client cannot be set up")?.into();
    let (ledger, reads) = (Ledger { pool, metrics }, Reads::default());
    for channel in channels {
        let pusher = Pusher {
            partner: Arc::clone(&partner),
            reads: reads.clone(),
            gate: Gate {
                pool: ledger.pool.clone(),
                channel,
                owner: Uuid::now_v7(),
                breaker: Breaker { first: sending.defer, searchable: search },
                trial: sending.lease.length,
                drain_rate: sending.drain_rate,
                metrics: ledger.metrics.clone(),
            },
            taxonomies: Taxonomies::new(taxonomy.clone()),
            links: links.clone(),
            stopping: shell.stopping(),
            ledger: ledger.clone(),
            sending: sending.clone(),
        };
        push_channel(&shell, Arc::new(pusher), search, poll);
    }
    Ok(())
}

/// Starts what hands over the reports of one channel.
fn push_channel(shell: &Shell, pusher: Arc<Pusher>, search: bool, poll: Duration) {
    // Of its own, since a bell wakes one waiter.
    let listener = Listener::default();
    let listening = listener.clone().run(pusher.ledger.pool.clone(), &[Queue::Push], pusher.stopping.clone());
    shell.spawn("listen", async move {
        listening.await;
        Ok(())
    });
    let names = names::run(Arc::clone(&pusher));
    shell.spawn("names", async move {
        names.await;
        Ok(())
    });
    if search {
        let probing = probe::run(Arc::clone(&pusher), listener.clone());
        shell.spawn("probe", async move {
            probing.await;
            Ok(())
        });
    }
    let slots = Arc::new(Semaphore::new(pusher.sending.parallel));
    let worker = Worker { pusher, listener, poll, slots };
    shell.spawn("push", async move {
        worker.run().await;
        Ok(())
    });
}
