//! A city that asks nobody outside for addresses.

use serde_json::json;
use xtask::tree::ROOT;

use crate::town::{Town, answer};

#[tokio::test(flavor = "multi_thread")]
async fn a_typed_address_is_found_among_the_loaded_streets_with_nobody_outside_to_ask() {
    // Nobody listens on that port: a question that leaves would end as “unavailable”.
    let outside = [("ABISU_GEOCODER", "offline"), ("ABISU_CARTOCIUDAD_URL", "http://127.0.0.1:9")];
    let town = Town::start("offline", &outside).await;
    let streets = ROOT.join("services/geocode/streets/vitoria-gasteiz.csv");
    town.stack.abisu(&["geocoder", "load", &streets.to_string_lossy()]).await.unwrap();
    let citizen = town.citizen("Ane").await;
    citizen.say("Kaixo").await.unwrap();
    answer(&citizen, "the language buttons", |message| message.buttons.len() == 2).await;
    citizen.act("tap", &json!({"title": "Euskara"})).await.unwrap();
    answer(&citizen, "the location request", |message| message.kind.contains("location")).await;
    citizen.say("Pintore kalea 1").await.unwrap();
    answer(&citizen, "the form", |message| message.flow.is_some()).await;
    let drafts = "select count(*) from report.report where state = 'draft' and address like '%Pintore%'";
    assert_eq!(town.database.count(drafts).await, 1);
}
