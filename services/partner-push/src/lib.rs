//! The outbox: one POST per report to the contractor, whose every call sends a crew.
//!
//! * Reads `report.report`, `report.photo`, `flow.release`; writes the outbox columns of `report.report`,
//!   `report.push_attempt`, `report.timeline`. All claiming and settling is in `bus::outbox`.
//! * An attempt is committed before its request leaves and closed after the answer. What may have arrived is never
//!   sent again by itself: a person decides, or a search proves it absent.
//! * A failure of the partner costs a report nothing; only a failure of the report's own is charged to it.
//!
//! `worker` claims, `push` handles one report, `classify` judges, `breaker` holds back, `contractor` is the adapter
//! behind the `partner` trait, `probe` looks doubtful reports up where the partner can be searched.

pub mod args;
pub mod config;

mod answer;
mod breaker;
mod classify;
mod contractor;
mod error;
#[cfg(test)]
mod hostile;
mod ledger;
mod metrics;
mod partner;
mod probe;
mod push;
mod session;
mod signal;
mod store;
mod taxonomies;
mod worker;

use std::sync::Arc;

use anyhow::Context;
use bus::wake::{Listener, Queue};
use flow_json::Taxonomy;
use runtime::Shell;
use uuid::Uuid;

use crate::breaker::Breaker;
use crate::config::Config;
use crate::contractor::Contractor;
use crate::ledger::Ledger;
use crate::metrics::Metrics;
use crate::push::Pusher;
use crate::taxonomies::Taxonomies;
use crate::worker::Worker;

/// Wires the service and spawns its tasks on the shell.
///
/// # Errors
/// What must be there cannot be set up: the pool, the HTTP client, the built-in taxonomy.
pub async fn run(config: Config, shell: Shell) -> anyhow::Result<()> {
    let Config { database, channel, poll, grace, partner, sending } = config;
    let pool = shell.database(&database)?;
    let metrics = shell.metrics(Metrics::register);
    let stopping = shell.stopping();
    let measuring = metrics.clone().measure(pool.clone(), channel.clone(), stopping.clone());
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
    let builtin = Taxonomy::builtin()
        .map_err(|problems| anyhow::anyhow!("the built-in taxonomy has {} problems", problems.len()))?;
    let contractor = Contractor::new(&partner, &sending).context("the HTTP client cannot be set up")?;
    let ledger = Ledger { pool, metrics };
    let pusher = Arc::new(Pusher {
        partner: Box::new(contractor),
        breaker: Breaker::new(sending.defer),
        taxonomies: Taxonomies::new(builtin),
        searchable: partner.search,
        stopping: stopping.clone(),
        ledger: ledger.clone(),
        sending,
    });

    let listener = Listener::default();
    let listening = listener.clone().run(ledger.pool, &[Queue::Push], stopping);
    shell.spawn("listen", async move {
        listening.await;
        Ok(())
    });
    if partner.search {
        let probing = probe::run(Arc::clone(&pusher), channel.clone(), listener.clone());
        shell.spawn("probe", async move {
            probing.await;
            Ok(())
        });
    }
    let worker = Worker { pusher, listener, channel, poll, owner: Uuid::now_v7() };
    shell.spawn("push", async move {
        worker.run().await;
        Ok(())
    });
    Ok(())
}
