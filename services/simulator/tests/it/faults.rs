use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{World, answer};

async fn login(world: &World) -> reqwest::Result<reqwest::Response> {
    let body = json!({"user": world.config.partner_user, "password": world.config.partner_password});
    world.http.post(world.url("/partner/api/login")).json(&body).send().await
}

async fn create(world: &World) -> reqwest::Result<reqwest::Response> {
    let token = answer(login(world).await.unwrap()).await.1["token"].as_str().unwrap().to_owned();
    let body = json!({"external_code": "REF-2026-00001", "category": "X", "latitude": 42.8, "longitude": -2.6,
        "address": "", "note": "", "reported_at": "2026-11-30T11:00:00Z"});
    world.http.post(world.url("/partner/api/incidents")).bearer_auth(token).json(&body).send().await
}

#[tokio::test]
async fn a_status_acts_as_often_as_it_was_told() {
    let world = World::new().await;
    world
        .fault(json!({"surface": "partner.login", "kind": "status", "status": 429, "retry_after": 7, "times": 1}))
        .await;
    let response = login(&world).await.unwrap();
    assert_eq!((response.status().as_u16(), response.headers()["retry-after"].to_str().unwrap()), (429, "7"));
    assert_eq!(login(&world).await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_fault_acts_on_every_so_manieth_request() {
    let world = World::new().await;
    world
        .fault(json!({"surface": "partner.login", "kind": "status", "status": 503, "skip": 1, "every": 3}))
        .await;
    let mut statuses = Vec::new();
    for _ in 0..7 {
        statuses.push(login(&world).await.unwrap().status().as_u16());
    }
    assert_eq!(statuses, [200, 200, 200, 503, 200, 200, 503]);
}

#[tokio::test]
async fn metas_own_errors_can_be_asked_for() {
    let world = World::new().await;
    world.citizen().await;
    world
        .fault(json!({"surface": "meta.messages", "kind": "meta_error", "code": 130_429, "status": 429, "times": 1}))
        .await;
    let text = json!({"type": "text", "text": {"body": "x"}});
    let (status, body) = world.send(text.clone()).await;
    assert_eq!((status, &body["error"]["code"]), (429, &json!(130_429)));
    assert_eq!(world.send(text).await.0, 200);
}

#[tokio::test]
async fn closing_before_and_after_the_work_looks_the_same_from_outside() {
    let world = World::new().await;
    for kind in ["reset", "down", "accept_then_reset"] {
        world.fault(json!({"surface": "partner.incidents", "kind": kind, "times": 1})).await;
        let error = create(&world).await.unwrap_err();
        assert!(!error.is_status() && !error.is_timeout(), "{kind} {error:?}");
    }
    let (_, posts) = world.look("/partner/posts").await;
    let outcomes: Vec<&Value> =
        posts["posts"].as_array().unwrap().iter().map(|one| &one["outcome"]).collect();
    assert_eq!(outcomes, ["not handled", "not handled", "created"]);
    assert!(posts["posts"].as_array().unwrap().iter().all(|one| one["status"].is_null()));
    assert_eq!(create(&world).await.unwrap().status(), 201);
    assert_eq!(world.look("/partner/incidents").await.1.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn the_work_may_be_done_and_denied() {
    let world = World::new().await;
    world
        .fault(
            json!({"surface": "partner.incidents", "kind": "accept_then_status", "status": 502, "times": 1}),
        )
        .await;
    assert_eq!(create(&world).await.unwrap().status(), 502);
    assert_eq!(world.look("/partner/incidents").await.1.as_array().unwrap().len(), 1);
    let (_, requests) = world.look("/requests").await;
    let last = requests.as_array().unwrap().last().unwrap();
    assert_eq!((&last["surface"], &last["status"]), (&json!("partner.incidents"), &json!(502)));
    assert_eq!(last["body"]["external_code"], "REF-2026-00001");
}

#[tokio::test]
async fn a_hang_ends_with_the_callers_patience_and_with_the_simulator() {
    let world = World::new().await;
    world.fault(json!({"surface": "cartociudad", "kind": "hang"})).await;
    let url = world.url("/cartociudad/candidates?q=dato");
    let call = world.http.get(&url).timeout(Duration::from_millis(50));
    assert!(call.send().await.unwrap_err().is_timeout());

    let hanging = tokio::spawn(world.http.get(&url).send());
    while world.look("/requests").await.1.as_array().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    world.simulator.stop().await;
    assert!(!hanging.await.unwrap().unwrap_err().is_timeout());
}

#[tokio::test]
async fn faults_are_cleared_by_surface() {
    let world = World::new().await;
    for surface in ["cartociudad", "partner.login"] {
        world.fault(json!({"surface": surface, "kind": "status", "status": 500})).await;
    }
    let clear = world.http.delete(world.url("/control/faults?surface=partner.login"));
    assert_eq!(clear.send().await.unwrap().status(), 200);
    assert_eq!(login(&world).await.unwrap().status(), 200);
    let broken = world.http.get(world.url("/cartociudad/candidates?q=dato")).send().await.unwrap();
    assert_eq!(broken.status(), 500);
    assert!(broken.text().await.unwrap().starts_with("<!doctype html>"));
}

#[tokio::test]
async fn a_fault_lets_pass_as_many_as_it_was_told() {
    let world = World::new().await;
    world
        .fault(json!({"surface": "partner.login", "kind": "status", "status": 503, "skip": 2, "times": 1}))
        .await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(login(&world).await.unwrap().status().as_u16());
    }
    assert_eq!(statuses, [200, 200, 503, 200]);
}

#[tokio::test]
async fn a_proxy_in_between_answers_html_or_sends_elsewhere() {
    let world = World::new().await;
    world
        .fault(json!({"surface": "partner.login", "kind": "status", "status": 200, "html": "<p>Sesión</p>", "times": 1}))
        .await;
    assert_eq!(login(&world).await.unwrap().text().await.unwrap(), "<p>Sesión</p>");
    world
        .fault(json!({"surface": "partner.login", "kind": "status", "status": 307,
            "location": world.url("/control/health"), "times": 1}))
        .await;
    let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let response = http.post(world.url("/partner/api/login")).body("{}").send().await.unwrap();
    assert_eq!(response.status(), 307);
    assert_eq!(response.headers()["location"].to_str().unwrap(), world.url("/control/health"));
}

#[tokio::test]
async fn a_message_that_fails_later_is_taken_and_only_its_receipt_tells() {
    let world = World::new().await;
    let citizen = world.citizen().await;
    world.fault(json!({"surface": "meta.messages", "kind": "fail_later", "code": 131_042, "times": 1})).await;
    let (status, body) =
        world.send(json!({"type": "text", "text": {"body": "x"}, "biz_opaque_callback_data": "ours"})).await;
    assert_eq!(status, 200, "{body}");

    let told = world.receiver.status().await;
    assert_eq!((&told["id"], &told["status"]), (&body["messages"][0]["id"], &json!("failed")));
    assert_eq!(
        (&told["errors"][0]["code"], &told["biz_opaque_callback_data"]),
        (&json!(131_042), &json!("ours"))
    );
    assert_eq!((&told["recipient_id"], told.get("recipient_user_id")), (&json!("34600000001"), None));
    let (_, shown) = world.look(&format!("/citizens/{citizen}/messages")).await;
    assert!(shown.as_array().unwrap().iter().all(|one| one["direction"] == "in"), "{shown}");
}

#[tokio::test]
async fn a_mark_is_a_surface_of_its_own() {
    let world = World::new().await;
    let citizen = world.citizen().await;
    let (_, shown) = world.look(&format!("/citizens/{citizen}/messages")).await;
    world.fault(json!({"surface": "meta.marks", "kind": "status", "status": 503, "times": 1})).await;
    assert_eq!(world.send(json!({"type": "text", "text": {"body": "x"}})).await.0, 200);
    let path = format!("{}/messages", world.config.phone_number_id);
    let mark = json!({"messaging_product": "whatsapp", "status": "read", "message_id": shown[0]["wamid"]});
    assert_eq!(world.post(&path, &mark).await.0, 503);
    assert_eq!(world.post(&path, &mark).await.0, 200);
    let (_, calls) = world.look("/requests").await;
    let surfaces: Vec<&Value> = calls.as_array().unwrap().iter().map(|call| &call["surface"]).collect();
    assert_eq!(surfaces, ["meta.messages", "meta.marks", "meta.marks"]);
}
