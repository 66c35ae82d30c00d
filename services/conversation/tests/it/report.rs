//! A whole report: both languages, its reference, and that it is one report however often it comes.

use conversation::store::{Completed, Received, receive};
use serde_json::json;
use uuid::Uuid;

use crate::citizen::{ROUTE, reference};
use crate::geo::{ADDRESS, PIN, PIN_NAME};
use crate::support::World;

#[tokio::test]
async fn a_report_travels_in_spanish_from_a_greeting_to_its_reference() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600100001").await;

    citizen.reaches_the_form().await;
    citizen.fill_in("es", ROUTE, json!({"note": "  Lleva así tres días  "})).await;
    let told = citizen.hears_text().await;

    let (stored, address): (String, String) =
        sqlx::query_as("select reference, address from report.report where state = 'received'")
            .fetch_one(&world.db.pool)
            .await
            .unwrap();
    assert_eq!(reference(&told), stored);
    assert_eq!(address, PIN_NAME);
    assert!(told.starts_with("¡Gracias!") && told.contains(PIN_NAME) && told.contains("Vidrio"), "{told}");
    let year: String = world
        .value("select to_char(created_at at time zone 'Europe/Madrid', 'YYYY') from report.report")
        .await;
    let number = stored.strip_prefix(&format!("REF-{year}-")).unwrap();
    assert!(number.len() >= 5 && number.bytes().all(|digit| digit.is_ascii_digit()), "{stored}");

    let (route, note, language, push): (String, String, String, String) =
        sqlx::query_as("select route, note, language, push_state from report.report")
            .fetch_one(&world.db.pool)
            .await
            .unwrap();
    assert_eq!((route.as_str(), note.as_str()), (ROUTE, "Lleva así tres días"));
    assert_eq!((language.as_str(), push.as_str()), ("es", "pending"));
    let (longitude, latitude): (f64, f64) =
        sqlx::query_as("select public.st_x(point), public.st_y(point) from report.report")
            .fetch_one(&world.db.pool)
            .await
            .unwrap();
    assert_eq!((longitude, latitude), (PIN.longitude, PIN.latitude));
    world.until("select photo_sha256 is not null from report.report").await;
    world.until("select count(*) = 5 from report.timeline").await;
    let mut steps: Vec<String> = world.values("select step from report.timeline order by id").await;
    assert_eq!(steps[..3], ["draft_opened", "form_sent", "received"]);
    steps.sort();
    assert_eq!(steps, ["citizen_told", "draft_opened", "form_sent", "photo_stored", "received"]);
    assert_eq!(world.value::<String>("select step from chat.session").await, "idle");
}

#[tokio::test]
async fn a_report_travels_in_basque_with_a_typed_address() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600100002").await;

    citizen.say("Kaixo").await;
    citizen.hears().await;
    citizen.tap("Euskara").await;
    assert_eq!(citizen.hears().await["kind"], "location_request");
    citizen.say(ADDRESS).await;
    let form = citizen.hears().await;
    assert_eq!((&form["kind"], &form["flow"]["data"]["address"]), (&json!("flow"), &json!(ADDRESS)));
    citizen.fill_in("eu", "street/graffiti", json!({})).await;
    let told = citizen.hears_text().await;

    assert!(told.starts_with("Eskerrik asko!") && told.contains(ADDRESS), "{told}");
    let stored: String = world.value("select reference from report.report where state = 'received'").await;
    assert_eq!(reference(&told), stored);
    assert_eq!(world.value::<String>("select language from report.report").await, "eu");
}

#[tokio::test]
async fn the_year_is_that_of_the_draft_in_the_time_zone_of_the_city() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600100003").await;

    citizen.reaches_the_form().await;
    // Half an hour before the end of the year at Greenwich, half an hour after it in the city.
    world.run("update report.report set created_at = '2027-12-31 23:30:00+00'").await;
    citizen.fill_in("es", ROUTE, json!({})).await;

    assert!(reference(&citizen.hears_text().await).starts_with("REF-2028-"));
}

#[tokio::test]
async fn a_number_has_at_least_five_digits_and_is_never_cut() {
    let world = World::new().await;
    let _service = world.serve().await;
    let (first, second) = (world.citizen("34600100004").await, world.citizen("34600100005").await);

    world.run("alter sequence report.reference_number restart with 7").await;
    assert!(first.reports().await.ends_with("-00007"));
    world.run("alter sequence report.reference_number restart with 99999").await;
    assert!(first.reports().await.ends_with("-99999"));
    assert!(second.reports().await.ends_with("-100000"));
}

#[tokio::test]
async fn a_form_that_comes_again_and_again_is_one_report_with_one_reference() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600100006").await;

    citizen.reaches_the_form().await;
    // The same webhook three times at once, beside the same form sent once more as a message of its own.
    let (_, _) = tokio::join!(
        citizen.fill_in("es", ROUTE, json!({"copies": 3})),
        citizen.fill_in("es", ROUTE, json!({})),
    );
    let told = (citizen.hears_text().await, citizen.hears_text().await);
    citizen.fill_in("es", ROUTE, json!({})).await;
    let later = reference(&citizen.hears_text().await);

    assert_eq!((reference(&told.0), reference(&told.1)), (later.clone(), later));
    world.at_rest().await;
    assert_eq!(world.value::<i64>("select count(*) from report.report").await, 1);
    assert_eq!(world.value::<i64>("select count(*) from inbound.event where kind = 'form'").await, 3);
    assert_eq!(world.value::<i64>("select count(*) from report.timeline where step = 'received'").await, 1);
    assert_eq!(world.value::<i64>("select last_value from report.reference_number").await, 1);
}

#[tokio::test]
async fn of_two_completions_at_once_one_mints_the_reference() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600100011").await;
    citizen.reaches_the_form().await;
    let report_id: Uuid = world.value("select id from report.report").await;
    let completed = Completed {
        report_id,
        route: ROUTE,
        note: None,
        version: None,
        prompt: Uuid::now_v7(),
        trace_context: None,
        has_photo: false,
        time_zone: "Europe/Madrid",
    };

    // Past the lock of the chat, which would have put them in order.
    let (mut one, mut other) =
        (world.db.pool.acquire().await.unwrap(), world.db.pool.acquire().await.unwrap());
    let (first, second) = tokio::join!(receive(&mut one, &completed), receive(&mut other, &completed));
    let third = receive(&mut one, &completed).await.unwrap();

    let minted: Vec<Received> = [first.unwrap(), second.unwrap(), third].into_iter().flatten().collect();
    assert_eq!(minted.len(), 1);
    assert_eq!(world.value::<String>("select reference from report.report").await, minted[0].reference);
    assert!(world.value::<bool>("select push_without_photo from report.report").await, "nothing to wait for");
}

#[tokio::test]
async fn a_form_that_lost_its_token_counts_by_the_message_it_answers() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600100007").await;

    citizen.reaches_the_form().await;
    citizen.fill_in("es", ROUTE, json!({"drop_token": true})).await;

    let told = reference(&citizen.hears_text().await);
    assert_eq!(world.value::<String>("select reference from report.report").await, told);
}

#[tokio::test]
async fn a_second_report_starts_with_the_language_selector_and_has_its_own_reference() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600100008").await;

    let (first, second) = (citizen.reports().await, citizen.reports().await);

    assert_ne!(first, second);
    assert_eq!(world.value::<i64>("select count(*) from report.report where state = 'received'").await, 2);
}

#[tokio::test]
async fn a_cancelled_draft_is_forgotten_and_its_form_says_so_or_starts_anew() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600100009").await;

    citizen.reaches_the_form().await;
    citizen.say("cancelar").await;
    citizen.hears().await;
    assert_eq!(world.value::<i64>("select count(*) from report.report").await, 0);
    citizen.fill_in("es", ROUTE, json!({})).await;

    assert_eq!(citizen.hears().await["kind"], "button");
    assert_eq!(world.value::<i64>("select count(*) from report.report").await, 0);
}

#[tokio::test]
async fn a_draft_that_vanished_below_its_form_costs_no_reference() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600100010").await;

    citizen.reaches_the_form().await;
    world.run("delete from report.report").await;
    citizen.fill_in("es", ROUTE, json!({})).await;

    assert!(citizen.hears_text().await.contains("ha caducado"));
    assert!(!world.value::<bool>("select is_called from report.reference_number").await);
}
