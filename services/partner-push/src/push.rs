//! One claimed report, from the claim to the settle.

use std::sync::Arc;
use std::time::Duration;

use bus::MAX_ATTEMPTS;
use bus::outbox::{self, Claimed, Evidence, NewAttempt, Opened, Outcome, Photo};
use partner::media::MediaLinks;
use partner::{Found, NoPass, Partner, Pass, Prepared, Seen};
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use uuid::Uuid;

use crate::breaker::{Recorded, Signal};
use crate::classify::{Circumstances, Class, NotProcessed, Rules, classify, outcome};
use crate::config::Sending;
use crate::ending::{Ending, answer, charged, evidence};
use crate::gate::{Gate, Leave};
use crate::ledger::Ledger;
use crate::reads::Reads;
use crate::signal::{login_signal, signal};
use crate::store::{Settlement, ToCome};
use crate::taxonomies::Taxonomies;

/// How soon a report comes back that could not go for a reason of our own.
pub(crate) const SOON: Duration = Duration::from_secs(1);

/// What handles claimed reports.
pub(crate) struct Pusher {
    pub(crate) partner: Arc<dyn Partner>,
    pub(crate) reads: Reads,
    pub(crate) gate: Gate,
    pub(crate) taxonomies: Taxonomies,
    /// For a platform that takes photos as links.
    pub(crate) links: Option<MediaLinks>,
    pub(crate) stopping: CancellationToken,
    pub(crate) ledger: Ledger,
    pub(crate) sending: Sending,
}

impl Pusher {
    /// Handles one report. The first claim belongs to the trace that made the report; later ones are linked to it. The
    /// slot is free again once the partner has answered: the books are written beside the next send.
    pub(crate) async fn push(self: Arc<Self>, mut claimed: Claimed, slot: OwnedSemaphorePermit) {
        let span = tracing::info_span!(
            "process push",
            otel.kind = "consumer",
            report.id = %claimed.report_id,
            attempt = claimed.attempts,
        );
        if claimed.epoch == 1 {
            runtime::trace::set_parent(&span, claimed.trace_context.as_deref());
        } else {
            runtime::trace::add_link(&span, claimed.trace_context.as_deref());
        }
        let photo = claimed.photo.take();
        let work = async {
            tokio::select! {
                () = self.handle(&claimed, photo, slot) => {}
                () = self.keep(&claimed) => {}
            }
        };
        work.instrument(span).await;
    }

    /// Renews the lease for as long as the work takes; never ends. A lease that is lost does not cut the work: no
    /// request leaves without a lease, and one that has left must be waited for.
    async fn keep(&self, claimed: &Claimed) {
        let lease = self.sending.lease;
        loop {
            tokio::time::sleep(lease.renew_after()).await;
            match outbox::renew(&self.ledger.pool, claimed.report_id, claimed.epoch, lease).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(report.id = %claimed.report_id, %error, "a lease was not renewed")
                }
            }
        }
        tracing::warn!(report.id = %claimed.report_id, "the lease was lost");
        std::future::pending().await
    }

    async fn handle(&self, claimed: &Claimed, photo: Option<Photo>, slot: OwnedSemaphorePermit) {
        let Ending { attempt, unconfirmed, outcome, reason, photo, to_come } = self.run(claimed, photo).await;
        drop(slot);
        let (report_id, attempts) = (claimed.report_id, claimed.attempts);
        let sent = matches!(outcome, Outcome::Sent { .. });
        let evidence = attempt.as_ref().map(|(_, evidence)| evidence);
        let detail = json!({
            "attempts": attempts,
            "reason": reason,
            "attempt_id": attempt.as_ref().map(|(id, _)| id),
            "http_status": evidence.and_then(|evidence| evidence.http_status),
            "partner_id": evidence.and_then(|evidence| evidence.partner_id.as_deref()),
            "photo": photo,
        });
        let settlement = Settlement {
            report_id,
            epoch: claimed.epoch,
            attempt,
            unconfirmed,
            outcome: outcome.clone(),
            to_come: to_come.map(|to_come| (to_come, self.sending.token_wait)),
            error: (!sent).then(|| reason.clone()),
            trace_id: runtime::trace::current_id(),
            detail,
        };
        if !self.ledger.settle(settlement).await {
            return;
        }
        match outcome {
            Outcome::Sent { .. } => {
                tracing::info!(report.id = %report_id, attempts, "a report was handed over");
                if !self.stopping.is_cancelled() {
                    self.reads.learn(self.partner.as_ref()).await;
                }
            }
            Outcome::Retry(wait) | Outcome::Defer(wait) => tracing::info!(
                report.id = %report_id, attempts, reason, outcome = outcome.name(), wait_ms = wait.as_millis(),
                "a report waits"
            ),
            Outcome::Review => tracing::warn!(
                report.id = %report_id, attempts, reason,
                "a report waits for a person"
            ),
            Outcome::Dead => tracing::error!(
                report.id = %report_id, attempts, reason,
                "a report was given up: it never reached the partner, somebody must act"
            ),
        }
    }

    /// Everything up to the settle. Whatever it returns is written, even when the lease is lost by then.
    async fn run(&self, claimed: &Claimed, photo: Option<Photo>) -> Ending {
        if claimed.open_attempt.is_some() {
            return Ending::unsent(Outcome::Review, "attempt_open");
        }
        if claimed.attempts > MAX_ATTEMPTS {
            return Ending::unsent(Outcome::Dead, "attempts_exhausted");
        }
        let mut parcel = match self.assemble(claimed, photo).await {
            Ok(parcel) => parcel,
            Err(ending) => return ending,
        };
        let mut prepared = self.partner.prepare(&parcel.incident);
        let mut fresh_pass = false;
        loop {
            let pass = match self.partner.pass().await {
                Ok(pass) => pass,
                Err(why) => return self.without_pass(&why).await,
            };
            // The last moment at which a stop costs nothing.
            if self.stopping.is_cancelled() {
                return Ending::unsent(Outcome::Defer(Duration::ZERO), "stopping");
            }
            let (attempt_id, opened) = match self.open(claimed, &prepared).await {
                Ok(opened) => opened,
                Err(ending) => return ending,
            };
            let (seen, class) = self.create(&pass, &prepared, fresh_pass).await;
            let sent_photo = parcel.photo();
            if class == Class::NotProcessed(NotProcessed::PassSpent) {
                // A refused pass proves that nothing was made: one more request, with an attempt of its own.
                self.partner.forget(&pass).await;
                fresh_pass = true;
            } else if class == Class::Rejected && parcel.reduce(answer(&seen)).await {
                prepared = self.partner.prepare(&parcel.incident);
            } else {
                let recorded = match signal(class, answer(&seen)) {
                    // An answer to what left before anything failed says nothing of what has failed since.
                    Signal::Answered if !opened.troubled => self.gate.quiet(),
                    _ if class == Class::Misconfigured && self.is_its_own(claimed).await => self.gate.aside(),
                    signal => self.record(signal).await,
                };
                let ending = self.judge(claimed, &pass, attempt_id, class, seen, recorded).await;
                return Ending { photo: Some(sent_photo), ..ending };
            }
            if !self.ledger.close(attempt_id, &evidence(class, &seen)).await {
                return Ending::unsent(Outcome::Defer(SOON), "database_unavailable");
            }
        }
    }

    /// Whether the partner refuses its path or our rights to this report only, as for a category that it does not know:
    /// then it waits by itself and holds up nobody. Where that cannot be told, it is taken for everybody's.
    async fn is_its_own(&self, claimed: &Claimed) -> bool {
        let its_own = match self.gate.is_its_own(claimed.report_id).await {
            Ok(its_own) => its_own,
            Err(error) => {
                tracing::warn!(report.id = %claimed.report_id, %error, "the attempts of a report cannot be read");
                false
            }
        };
        if its_own {
            tracing::error!(
                report.id = %claimed.report_id,
                "the partner refuses the path or the right for this report and takes others: it waits until somebody acts"
            );
        }
        its_own
    }

    /// Commits "about to send". Without that, nothing leaves.
    async fn open(&self, claimed: &Claimed, prepared: &Prepared) -> Result<(Uuid, Opened), Ending> {
        let trace_id = runtime::trace::current_id();
        let attempt = NewAttempt {
            id: Uuid::now_v7(),
            owner: self.gate.owner,
            endpoint: &prepared.endpoint,
            body_sha256: &prepared.body_sha256,
            trace_id: trace_id.as_deref(),
        };
        let needed = self.sending.send_timeout;
        match outbox::open_attempt(&self.ledger.pool, claimed, &attempt, needed).await {
            Ok(Some(opened)) => Ok((attempt.id, opened)),
            Ok(None) => Err(self.held().await),
            Err(error) => {
                // It may have been committed all the same: closed as what it is, it sends nobody looking.
                tracing::warn!(report.id = %claimed.report_id, %error, "an attempt was not opened");
                let evidence = Evidence {
                    outcome: Class::NotSent.name().to_owned(),
                    http_status: None,
                    partner_id: None,
                    seen: "the database did not confirm the attempt, nothing was sent".to_owned(),
                };
                Err(Ending {
                    attempt: Some((attempt.id, evidence)),
                    unconfirmed: true,
                    outcome: Outcome::Defer(SOON),
                    reason: "database_unavailable".to_owned(),
                    photo: None,
                    to_come: None,
                })
            }
        }
    }

    /// Why nothing may leave any more: it has changed since the claim.
    async fn held(&self) -> Ending {
        match self.gate.leave().await {
            Ok(Leave::Granted) => Ending::unsent(Outcome::Defer(SOON), "lease_short"),
            Ok(Leave::Paused) => Ending::unsent(Outcome::Defer(Duration::ZERO), "paused"),
            Ok(Leave::Held(wait)) => Ending::unsent(Outcome::Defer(wait), "breaker_open"),
            Err(error) => {
                tracing::warn!(%error, "the gate cannot be read");
                Ending::unsent(Outcome::Defer(SOON), "database_unavailable")
            }
        }
    }

    async fn create(&self, pass: &Pass, prepared: &Prepared, fresh_pass: bool) -> (Seen, Class) {
        let started = Instant::now();
        let span = tracing::info_span!("POST incidents", otel.kind = "client");
        let seen = self.partner.create(pass, prepared).instrument(span).await;
        let rules = Rules { fresh_pass, not_processed: &self.sending.not_processed };
        let class = classify(&seen.proof, rules);
        self.ledger.metrics.request(class, started.elapsed());
        (seen, class)
    }

    async fn judge(
        &self,
        claimed: &Claimed,
        pass: &Pass,
        attempt_id: Uuid,
        class: Class,
        seen: Seen,
        recorded: Recorded,
    ) -> Ending {
        let answer = answer(&seen);
        let now = Circumstances {
            attempts: charged(claimed),
            backoff: self.sending.backoff,
            jitter: rand::random(),
            outage: recorded.outage,
            hold: recorded.hold,
        };
        let mut outcome = outcome(class, answer, now);
        let mut evidence = evidence(class, &seen);
        let mut to_come = None;
        if let Outcome::Sent { partner_id: partner_id @ None } = &mut outcome {
            *partner_id = self.look_up(pass, &claimed.reference).await;
            evidence.partner_id.clone_from(partner_id);
            if partner_id.is_none() {
                let token = answer.and_then(|answer| answer.token.clone()).map(ToCome::ForToken);
                to_come = token.or_else(|| self.partner.searchable().then_some(ToCome::BySearch));
                if class == Class::AcceptedNoId && to_come.is_none() {
                    tracing::warn!(
                        report.id = %claimed.report_id,
                        seen = seen.detail,
                        "the partner took a report and told no id, and cannot be asked for it"
                    );
                }
            }
        }
        let reason = format!("{}: {}", class.name(), seen.detail);
        let attempt = Some((attempt_id, evidence));
        Ending { attempt, unconfirmed: false, outcome, reason, photo: None, to_come }
    }

    /// The id of a record that exists. Not finding it changes nothing: it is asked for again later.
    async fn look_up(&self, pass: &Pass, external_code: &str) -> Option<String> {
        if !self.partner.searchable() {
            return None;
        }
        match self.partner.find(pass, external_code).await {
            Found::Record { id, count: _ } => id,
            Found::Absent | Found::Unclear(_) => None,
        }
    }

    async fn without_pass(&self, why: &NoPass) -> Ending {
        let recorded = self.record(login_signal(why)).await;
        let reason = match why {
            NoPass::Refused(status) => format!("login_refused: http {status}"),
            NoPass::Throttled(_) => "login_throttled".to_owned(),
            NoPass::Unavailable(seen) => format!("login_unavailable: {seen}"),
        };
        Ending::unsent(Outcome::Defer(recorded.hold), &reason)
    }
}
