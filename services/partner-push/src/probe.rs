//! Looks doubtful reports up, where the partner can be searched by external code.
//!
//! A record that is found makes the report sent. A listing may lag, so only two searches well apart that find
//! nothing prove that there is none; then the report goes out again. A search that fails proves nothing.

use std::sync::Arc;
use std::time::Duration;

use bus::outbox::{Evidence, Outcome};
use bus::wake::{Listener, Queue};
use partner::Found;
use serde_json::json;
use tracing::Instrument;

use crate::classify::Class;
use crate::gate::Reach;
use crate::push::Pusher;
use crate::signal::login_signal;
use crate::store::{self, Absence, Doubtful, Settlement};

/// So many searches that find nothing are a proof.
const PROOF: i64 = 2;
/// The second search is so much later than the first.
const SECOND: u32 = 5;
/// How often is looked for due searches, at most and at least.
const LOOK_EVERY: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(15));

/// Probes until the service stops.
pub(crate) async fn run(pusher: Arc<Pusher>, listener: Listener) {
    let first = pusher.sending.probe_delay;
    let every = (first / 4).clamp(LOOK_EVERY.0, LOOK_EVERY.1);
    // Those of which nothing can be told stay due: the look goes on behind them and begins anew at the end.
    let mut after = None;
    loop {
        tokio::select! {
            () = pusher.stopping.cancelled() => return,
            () = tokio::time::sleep(every) => {}
        }
        // Where that cannot be asked, what is due cannot be either.
        let reach = pusher.gate.reach().await.unwrap_or(Reach::Away);
        if reach == Reach::Away {
            continue;
        }
        let (pool, channel) = (&pusher.ledger.pool, &pusher.gate.channel);
        let due = match store::doubtful(pool, channel, first, first * SECOND, after).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "doubtful reports could not be looked for");
                continue;
            }
        };
        after = due.last().filter(|_| due.len() >= store::DOUBTFUL_AT_ONCE).map(|last| last.opened_at);
        for report in due {
            if pusher.stopping.is_cancelled() {
                return;
            }
            let span = tracing::info_span!("probe push", report.id = %report.report_id);
            match probe(&pusher, report).instrument(span).await {
                Probed::Again => listener.wake(Queue::Push),
                Probed::Settled => {}
                // Nor would the others.
                Probed::NoPass => break,
                Probed::Unclear if reach == Reach::Doubtful => break,
                Probed::Unclear => {}
            }
        }
    }
}

/// What a look led to.
enum Probed {
    /// The report goes out again.
    Again,
    /// There is nothing more to do now.
    Settled,
    /// The search told nothing.
    Unclear,
    /// Nothing can be asked.
    NoPass,
}

/// Looks one report up.
async fn probe(pusher: &Pusher, report: Doubtful) -> Probed {
    let pass = match pusher.partner.pass().await {
        Ok(pass) => pass,
        Err(why) => {
            pusher.record(login_signal(&why)).await;
            return Probed::NoPass;
        }
    };
    let report_id = report.report_id;
    match pusher.partner.find(&pass, &report.reference).await {
        Found::Record { id: partner_id, count } => {
            if count > 1 {
                tracing::error!(report.id = %report_id, count, "the partner has a report more than once");
            }
            settle_as_sent(pusher, &report, partner_id).await;
            Probed::Settled
        }
        Found::Absent => {
            let absence = Absence {
                report,
                proof: PROOF,
                outage_wait: pusher.gate.breaker.longest(),
                trace_id: runtime::trace::current_id(),
            };
            let noted = runtime::with_tx(&pusher.ledger.pool, absence, |tx, absence| {
                Box::pin(store::note_absence(tx, absence))
            });
            match noted.await {
                Ok(again) => {
                    tracing::info!(report.id = %report_id, again, "the partner has no record of a doubtful report");
                    if again { Probed::Again } else { Probed::Settled }
                }
                Err(error) => {
                    let error = anyhow::Error::from(error);
                    tracing::warn!(report.id = %report_id, error = format!("{error:#}"), "a search was not noted");
                    Probed::Settled
                }
            }
        }
        Found::Unclear(seen) => {
            tracing::info!(report.id = %report_id, seen, "a search told nothing");
            // The token may be the reason; a new one costs little.
            pusher.partner.forget(&pass).await;
            Probed::Unclear
        }
    }
}

async fn settle_as_sent(pusher: &Pusher, report: &Doubtful, partner_id: Option<String>) {
    let evidence = Evidence {
        outcome: Class::AlreadyThere.name().to_owned(),
        http_status: None,
        partner_id: partner_id.clone(),
        seen: "found by a search".to_owned(),
    };
    let detail = json!({
        "reason": "found by a search",
        "attempt_id": report.attempt_id,
        "partner_id": partner_id,
    });
    let settlement = Settlement {
        report_id: report.report_id,
        epoch: report.epoch,
        attempt: Some((report.attempt_id, evidence)),
        unconfirmed: false,
        outcome: Outcome::Sent { partner_id },
        to_come: None,
        error: None,
        trace_id: runtime::trace::current_id(),
        detail,
    };
    if pusher.ledger.settle(settlement).await {
        tracing::info!(report.id = %report.report_id, "a doubtful report was found at the partner");
    }
}
