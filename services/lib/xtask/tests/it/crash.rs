//! Services that die at any moment. Each is started again, as a cluster would, and every report still arrives once.

use serde_json::json;
use testkit::eventually;
use xtask::stack::{SERVICES, Stack};

use crate::books;
use crate::town::{Calm, Reported, Town, Trouble, report};

/// Kills one service right before one message.
struct Kill<'a> {
    stack: &'a Stack,
    service: &'a str,
    step: usize,
}

impl Trouble for Kill<'_> {
    fn before(&self, step: usize) {
        if step == self.step {
            self.stack.kill(self.service);
        }
    }
}

/// Every report is at the contractor's once. Only one whose push was cut between its attempt row and the stored answer
/// may stand in review instead, and then it may have arrived, once. And all books agree, with `repeats` as there.
pub(crate) async fn accounted_for(town: &Town, reports: &[Reported], repeats: usize) {
    eventually("every push has ended", async || {
        let open = "select count(*) from report.report where state = 'received' and push_state = 'pending'";
        (town.database.count(open).await == 0).then_some(())
    })
    .await;
    let incidents = town.simulator.incidents().await.unwrap();
    for Reported { reference, .. } in reports {
        let records = incidents.iter().filter(|incident| incident.external_code == *reference).count();
        match town.push_state(reference).await.as_str() {
            "sent" => assert_eq!(records, 1, "{reference} is sent"),
            "review" => {
                assert!(records <= 1, "{reference} is in review and at the contractor's {records} times")
            }
            other => panic!("{reference} ended as {other}"),
        }
    }
    assert_eq!(
        incidents.len(),
        incidents.iter().map(|i| &i.external_code).collect::<std::collections::HashSet<_>>().len()
    );
    town.at_rest().await;
    books::agree(town, reports, repeats).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_killed_before_any_message_costs_nothing() {
    let town = Town::start("kill", &[]).await;
    let mut reports = Vec::new();
    // One after the other, so that each kill meets the one report that it is aimed at.
    for service in SERVICES {
        for step in 0..=4 {
            let citizen = town.citizen(&format!("{service} {step}")).await;
            let kill = Kill { stack: &town.stack, service, step };
            reports.push(report(&citizen, &format!("{service} antes de {step}"), 1, &kill).await);
        }
    }
    accounted_for(&town, &reports, reports.len()).await;
    let in_review = "select count(*) from report.report r where push_state = 'review' \
                     and not exists (select from report.push_attempt a where a.report_id = r.id)";
    assert_eq!(town.database.count(in_review).await, 0, "review without an attempt");
}

#[tokio::test(flavor = "multi_thread")]
async fn services_killed_over_and_over_while_many_report_lose_and_double_nothing() {
    let town = Town::start("storm", &[]).await;
    let reports = async {
        let citizens = (0..8).map(async |n| {
            let citizen = town.citizen(&format!("Vecino {n}")).await;
            report(&citizen, &format!("Aviso {n}"), 2, &Calm).await
        });
        futures::future::join_all(citizens).await
    };
    let kills = async {
        // Each service three times, each time once the one before is back: a fixed order, so that a failure is found again.
        for round in 0..3 {
            for offset in 0..SERVICES.len() {
                let service = SERVICES[(offset + round) % SERVICES.len()];
                let before = town.stack.pid(service);
                town.stack.kill(service);
                eventually("the killed service is back", async || {
                    town.stack.pid(service).filter(|pid| Some(*pid) != before)
                })
                .await;
            }
        }
        town.stack.wait_ready().await.unwrap();
    };
    let (reports, ()) = tokio::join!(reports, kills);
    // A kill may meet a reply of each of them.
    accounted_for(&town, &reports, 3 * SERVICES.len() * reports.len()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_whose_answer_is_lost_is_never_repeated() {
    let town = Town::start("lost-answer", &[]).await;
    town.fault(json!({"surface": "partner.incidents", "kind": "accept_then_reset", "times": 1})).await;
    let citizen = town.citizen("Itziar").await;
    let reported = report(&citizen, "Una sola vez", 1, &Calm).await;
    eventually("the push is parked", async || {
        (town.push_state(&reported.reference).await == "review").then_some(())
    })
    .await;
    assert_eq!(town.simulator.incidents().await.unwrap().len(), 1);
    let posts = town.simulator.get("/control/partner/posts").await.unwrap();
    assert_eq!(posts["count"], 1, "{posts}");
}
