//! Asks for the ids that a platform promised for a token. Never posts anything: the report is sent.

use std::sync::Arc;
use std::time::Duration;

use partner::Redeemed;
use tracing::Instrument;
use uuid::Uuid;

use crate::push::Pusher;
use crate::signal::login_signal;
use crate::store;

/// Looks for tokens until the service stops.
pub(crate) async fn run(pusher: Arc<Pusher>) {
    let first = pusher.sending.token_wait;
    let every = first.clamp(Duration::from_millis(50), Duration::from_secs(15));
    loop {
        tokio::select! {
            () = pusher.stopping.cancelled() => return,
            () = tokio::time::sleep(every) => {}
        }
        if pusher.gate.is_open().await.unwrap_or(true) {
            continue;
        }
        let due = match store::take_tokens(&pusher.ledger.pool, &pusher.gate.channel, first).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "tokens could not be looked for");
                continue;
            }
        };
        for (report_id, token) in due {
            if pusher.stopping.is_cancelled() {
                return;
            }
            let span = tracing::info_span!("redeem token", report.id = %report_id);
            redeem(&pusher, report_id, &token).instrument(span).await;
        }
    }
}

async fn redeem(pusher: &Pusher, report_id: Uuid, token: &str) {
    let pass = match pusher.partner.pass().await {
        Ok(pass) => pass,
        Err(why) => {
            pusher.record(login_signal(&why)).await;
            return;
        }
    };
    match pusher.partner.redeem(&pass, token).await {
        Redeemed::Id(id) => match store::redeem_token(&pusher.ledger.pool, report_id, &id).await {
            Ok(()) => tracing::info!(report.id = %report_id, "the partner told the id of a report"),
            Err(error) => {
                tracing::warn!(report.id = %report_id, %error, "an id was not written; it is asked again")
            }
        },
        Redeemed::NotYet => {}
        Redeemed::Unclear(seen) => tracing::info!(report.id = %report_id, seen, "a token told nothing"),
    }
}
