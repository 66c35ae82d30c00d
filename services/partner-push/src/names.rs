//! Asks for the ids of records that exist and whose id is not known yet: for a token that the platform gave, or by a
//! search for the external code. Never posts anything: the report is sent.

use std::sync::Arc;
use std::time::Duration;

use partner::{Found, Pass, Redeemed};
use tracing::Instrument;

use crate::gate::Reach;
use crate::push::Pusher;
use crate::signal::login_signal;
use crate::store::{self, Nameless, ToCome};

/// Looks for ids until the service stops.
pub(crate) async fn run(pusher: Arc<Pusher>) {
    let first = pusher.sending.token_wait;
    let every = first.clamp(Duration::from_millis(50), Duration::from_secs(15));
    loop {
        tokio::select! {
            () = pusher.stopping.cancelled() => return,
            () = tokio::time::sleep(every) => {}
        }
        if pusher.gate.reach().await.unwrap_or(Reach::Away) != Reach::Normal {
            continue;
        }
        let due = match store::take_nameless(&pusher.ledger.pool, &pusher.gate.channel, first).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "reports without an id could not be looked for");
                continue;
            }
        };
        for one in due {
            if pusher.stopping.is_cancelled() {
                return;
            }
            let span = tracing::info_span!("name push", report.id = %one.report_id);
            name(&pusher, &one).instrument(span).await;
        }
    }
}

async fn name(pusher: &Pusher, one: &Nameless) {
    let pass = match pusher.partner.pass().await {
        Ok(pass) => pass,
        Err(why) => {
            pusher.record(login_signal(&why)).await;
            return;
        }
    };
    let report_id = one.report_id;
    let Some(id) = ask(pusher, &pass, one).await else { return };
    match store::write_id(&pusher.ledger.pool, report_id, &id).await {
        Ok(()) => tracing::info!(report.id = %report_id, "the partner told the id of a report"),
        Err(error) => {
            tracing::warn!(report.id = %report_id, %error, "an id was not written; it is asked again")
        }
    }
}

/// The id, if the partner tells one now.
async fn ask(pusher: &Pusher, pass: &Pass, one: &Nameless) -> Option<String> {
    let (report_id, seen) = (
        one.report_id,
        match &one.how {
            ToCome::ForToken(token) => match pusher.partner.redeem(pass, token).await {
                Redeemed::Id(id) => return Some(id),
                Redeemed::NotYet => return None,
                Redeemed::Unclear(seen) => seen,
            },
            ToCome::BySearch => match pusher.partner.find(pass, &one.reference).await {
                Found::Record { id, count } => {
                    if count > 1 {
                        tracing::error!(report.id = %one.report_id, count, "the partner has a report more than once");
                    }
                    return id;
                }
                // It said that it took it: `outbox reconcile` tells those that stay missing.
                Found::Absent => "the partner shows no record of a report that it took".to_owned(),
                Found::Unclear(seen) => {
                    // The pass may be the reason; a new one costs little.
                    pusher.partner.forget(pass).await;
                    seen
                }
            },
        },
    );
    tracing::info!(report.id = %report_id, seen, "the id of a report is not known yet");
    None
}
