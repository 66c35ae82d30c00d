//! A report on the channel that leads nowhere, through the whole system.

use serde_json::Value;

use crate::town::Town;

const SECRET: (&str, &str) = ("ABISU_SYNTHETIC_CHANNEL_SECRET", "fake-synthetic-secret");

#[tokio::test(flavor = "multi_thread")]
async fn a_synthetic_report_is_read_back_and_nothing_of_it_leaves_whatever_the_gate_says() {
    let town = Town::start("synthetic", &[SECRET, ("ABISU_PARTNER_ENABLED", "true")]).await;
    let url = town.stack.urls.ingest.clone();
    let report = ["synthetic", "report", "--url", &url];

    for _ in 0..2 {
        let said = town.stack.abisu(&report).await.unwrap();
        assert!(said.contains("4 replies and the push sunk"), "{said}");
    }

    town.at_rest().await;
    assert_eq!(town.database.count("select count(*) from report.report where synthetic").await, 2);
    assert_eq!(town.database.count("select count(*) from report.push_attempt").await, 0);
    assert!(town.simulator.incidents().await.unwrap().is_empty(), "nothing reached the contractor");
    let asked = town.simulator.get("/control/requests").await.unwrap();
    let sent = asked.as_array().unwrap().iter().filter(|call: &&Value| call["surface"] == "meta.messages");
    assert_eq!(sent.count(), 0, "nothing left for Meta");
    // It is no backlog, and a real report goes out beside it.
    let backlog = town.stack.abisu(&["outbox", "backlog"]).await.unwrap();
    assert!(!backlog.contains("REF-"), "{backlog}");
    let citizen = town.citizen("Ane").await;
    let reported = crate::town::report(&citizen, "De verdad", 1, &crate::town::Calm).await;
    town.delivered(&[reported]).await;
    assert_eq!(town.database.count("select count(*) from report.report where not synthetic").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_as_it_should_be_is_one_line_that_says_where_to_look() {
    let town = Town::start("synthetic-off", &[]).await;
    let url = town.stack.urls.ingest.clone();
    let said = async |more: &[&str]| {
        let args: Vec<&str> =
            ["synthetic", "report", "--url", &url].into_iter().chain(more.iter().copied()).collect();
        town.stack.abisu(&args).await.unwrap_err().to_string()
    };
    let unset = said(&[]).await;
    assert!(unset.contains("ABISU_SYNTHETIC_CHANNEL_SECRET"), "{unset}");
    let unknown = said(&["--synthetic-channel-secret", "any"]).await;
    assert!(unknown.contains("there is no channel synthetic"), "{unknown}");
    assert_eq!(unknown.lines().count(), 1);
}
