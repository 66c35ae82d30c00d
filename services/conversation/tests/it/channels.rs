//! Many channels in one process: each speaks its provider's words, none waits for another, and secrets change under way.

use std::time::Duration;

use flow_json::{BUILTIN, Taxonomy};
use serde_json::{Value, json};

use crate::citizen::{ROUTE, reference};
use crate::geo::{Geo, PIN};
use crate::receiver::{AppUser, InfobipUser, PICTURE, Receiver};
use crate::replies::text;
use crate::support::{TEST_NUMBER, World};

fn pin() -> Value {
    json!({"type": "location", "location": {"latitude": PIN.latitude, "longitude": PIN.longitude}})
}

#[tokio::test]
async fn a_report_travels_through_somebodys_own_app_which_draws_the_form_itself() {
    let (world, receiver) = (World::without_forms().await, Receiver::start().await);
    let mut config = world.config();
    config.channels = world.channels(&receiver.channels());
    let _service = world.serve_with(config, &world.geo).await;
    let ane = AppUser { world: &world, channel: "app", from: "ane-7" };

    ane.sends(json!({"type": "text", "text": "Kaixo"})).await;
    let language = receiver.hears().await;
    assert_eq!(
        (&language["type"], &language["channel"], &language["to"]),
        (&json!("buttons"), &json!("app"), &json!("ane-7"))
    );
    ane.taps(&language, "Euskara").await;
    assert_eq!(receiver.hears().await["type"], "location_request");
    ane.sends(pin()).await;
    let form = receiver.hears().await;
    assert_eq!((&form["type"], &form["language"]), (&json!("form"), &json!("eu")));
    let taxonomy = Taxonomy::builtin().unwrap();
    assert_eq!(form["version"], taxonomy.version());
    let options = form["fields"][0]["options"].as_array().unwrap();
    assert_eq!(options.len(), taxonomy.report_leaves().count());
    let chosen = options.iter().find(|option| option["value"] == ROUTE).unwrap();
    assert_eq!(json!(taxonomy.labels(ROUTE, "eu").unwrap()), chosen["labels"]);

    // Under the token's own name, as it was posted.
    let response = json!({"token": form["token"], "route": ROUTE, "version": form["version"], "language": "eu",
                          "note": "Kontuz", "photo": [{"id": PICTURE, "mime_type": "image/jpeg"}]});
    ane.sends(json!({"type": "form", "interactive_reply": {"response": response}})).await;
    let told = receiver.hears().await;
    let stored: String = world.value("select reference from report.report where channel = 'app'").await;
    assert_eq!(reference(told["text"].as_str().unwrap()), stored);
    world.until("select photo_sha256 is not null from report.report").await;
    world.at_rest().await;
    assert!(receiver.all_were_proven());
    // Their id and ours.
    let ids: Vec<String> =
        world.values("select provider_id from chat.outbound_id order by provider_id").await;
    assert_eq!(ids.len(), 8);
    assert!(ids.contains(&"app-1".to_owned()) && ids.contains(&form["id"].as_str().unwrap().to_owned()));
}

#[tokio::test]
async fn a_form_without_its_token_is_known_by_the_message_that_it_answers_also_by_our_id_of_it() {
    let (world, receiver) = (World::without_forms().await, Receiver::start().await);
    let mut config = world.config();
    config.channels = world.channels(&receiver.channels());
    let _service = world.serve_with(config, &world.geo).await;
    let ane = AppUser { world: &world, channel: "app", from: "34600990002" };
    ane.sends(json!({"type": "text", "text": "Hola"})).await;
    ane.taps(&receiver.hears().await, "Castellano").await;
    receiver.hears().await;
    ane.sends(pin()).await;
    let form = receiver.hears().await;
    world.at_rest().await;

    let response = json!({"route": ROUTE, "version": form["version"], "language": "es"});
    ane.sends(json!({"type": "form", "reply_to": form["id"], "interactive_reply": {"response": response}}))
        .await;

    reference(receiver.hears().await["text"].as_str().unwrap());
}

#[tokio::test]
async fn a_report_travels_through_infobip_with_its_form_and_its_photo() {
    let (world, receiver) = (World::without_forms().await, Receiver::start().await);
    let taxonomy = Taxonomy::builtin().unwrap();
    world.record_on("infobip", "es", &taxonomy, "77", "published").await;
    let mut config = world.config();
    config.channels = world.channels(&receiver.channels());
    config.mark_read = true;
    let _service = world.serve_with(config, &world.geo).await;
    let ane = InfobipUser { world: &world, phone: "34600990003" };

    ane.sends(json!({"type": "TEXT", "text": "Hola"})).await;
    let language = receiver.hears().await;
    assert_eq!(language["path"], "/infobip/whatsapp/1/message/interactive/buttons");
    assert_eq!(language["messageId"], language["callbackData"]);
    let button = language["content"]["action"]["buttons"][0].clone();
    ane.sends(json!({"type": "INTERACTIVE_BUTTON_REPLY", "id": button["id"], "title": button["title"]}))
        .await;
    assert_eq!(receiver.hears().await["path"], "/infobip/whatsapp/1/message/interactive/location-request");
    ane.sends(json!({"type": "LOCATION", "latitude": PIN.latitude, "longitude": PIN.longitude})).await;
    let form = receiver.hears().await;
    world.at_rest().await;
    let action = &form["content"]["action"];
    assert_eq!((&action["flowId"], &action["mode"]), (&json!("77"), &json!("PUBLISHED")));
    // The token is lost on the way; the answer names the message.
    let response = json!({"route": ROUTE, "version": taxonomy.version(), "language": "es",
                          "photo": [{"id": "9007199254740993", "mime_type": "image/jpeg"}]});
    ane.sends(json!({"type": "INTERACTIVE_FLOW_REPLY", "text": "Sent", "response": response,
                     "context": {"id": form["messageId"]}}))
        .await;

    let told = receiver.hears().await;
    assert_eq!(told["path"], "/infobip/whatsapp/1/message/text");
    reference(told["content"]["text"].as_str().unwrap());
    world.until("select photo_sha256 is not null from report.report where channel = 'infobip'").await;
    assert!(receiver.all_were_proven());
}

#[tokio::test]
async fn a_channel_whose_every_place_is_taken_holds_up_no_other() {
    let (world, receiver) = (World::without_forms().await, Receiver::start().await);
    let held = Geo::holding();
    let mut config = world.config();
    config.channels = world.channels(&receiver.channels());
    config.workers = 1;
    let _service = world.serve_with(config, &held).await;
    // The one place of this channel waits for the geocoder, so do all sixteen that may stand aside, and more chats are
    // ready behind them.
    let mut crowd = Vec::new();
    for n in 0..19 {
        crowd.push(world.citizen(&format!("3460099010{n:02}")).await);
    }
    futures::future::join_all(crowd.iter().map(|citizen| citizen.begins())).await;
    world.at_rest().await;
    for citizen in &crowd {
        citizen.pin().await;
    }
    held.asked(17).await;

    let ane = AppUser { world: &world, channel: "app", from: "ane-8" };
    ane.sends(json!({"type": "text", "text": "Hola"})).await;
    ane.taps(&receiver.hears().await, "Castellano").await;
    assert_eq!(receiver.hears().await["type"], "location_request");

    assert_eq!(held.times_asked(), 17);
    let waiting = "select count(*) from chat.chat where channel = 'whatsapp' and done_seq < next_seq - 1";
    assert_eq!(world.value::<i64>(waiting).await, 19);
    held.let_go();
}

#[tokio::test]
async fn a_crowd_on_one_channel_is_no_queue_that_another_stands_in() {
    let (world, receiver) = (World::without_forms().await, Receiver::start().await);
    let mut config = world.config();
    config.channels = world.channels(&receiver.channels());
    for chunk in 0..6 {
        let phones = (0..500).map(|n| format!("346{:08}", chunk * 500 + n));
        world.webhook.bring(phones.map(|phone| text(&phone, "Hola", None)).collect()).await;
    }
    let ready = async || {
        let waiting = "select count(*) from chat.chat where channel = 'whatsapp' and done_seq < next_seq - 1";
        world.value::<i64>(waiting).await
    };
    assert_eq!(ready().await, 3000);
    let _service = world.serve_with(config, &world.geo).await;
    testkit::eventually("the crowd is being worked", async || (ready().await < 2990).then_some(())).await;

    let ane = AppUser { world: &world, channel: "app", from: "ane-10" };
    ane.sends(json!({"type": "text", "text": "Hola"})).await;
    ane.taps(&receiver.hears().await, "Castellano").await;
    assert_eq!(receiver.hears().await["type"], "location_request");

    assert!(ready().await > 0, "two answers came while the crowd was still waiting");
}

#[tokio::test]
async fn a_paused_channel_pauses_no_other() {
    let (world, receiver) = (World::without_forms().await, Receiver::start().await);
    let mut config = world.config();
    config.channels = world.channels(&receiver.channels());
    let _service = world.serve_with(config, &world.geo).await;
    for surface in ["meta.messages", "meta.other"] {
        world.fault(json!({"surface": surface, "kind": "meta_error", "code": 190, "status": 401})).await;
    }
    world.citizen("34600990021").await.say("Hola").await;
    world.until("select count(*) = 1 from chat.channel_state where paused_at is not null").await;

    let ane = AppUser { world: &world, channel: "app", from: "ane-9" };
    ane.sends(json!({"type": "text", "text": "Hola"})).await;

    assert_eq!(receiver.hears().await["type"], "buttons");
    let paused: Vec<String> =
        world.values("select channel from chat.channel_state where paused_at is not null").await;
    assert_eq!(paused, ["whatsapp"]);
}

#[tokio::test]
async fn a_token_that_changes_in_its_file_is_in_force_without_a_restart_and_ends_the_pause_it_caused() {
    let world = World::without_forms().await;
    let path = std::env::temp_dir().join(format!("abisu-token-{}", uuid::Uuid::now_v7()));
    std::fs::write(&path, "expired").unwrap();
    let mut config = world.config();
    config.channels = world.channels_with(&format!("{{file: {}}}", path.display()), "");
    // Only the new token can end the pause in the time of this test.
    let hour = Duration::from_secs(3600);
    config.probing = bus::outbound::pause::Probing { first: hour, longest: hour };
    let _service = world.serve_with(config, &world.geo).await;
    let citizen = world.citizen("34600990031").await;
    citizen.say("Hola").await;
    world.until("select count(*) = 1 from chat.channel_state where paused_at is not null").await;

    std::fs::write(&path, format!("{}\n", world.token())).unwrap();

    assert_eq!(citizen.hears().await["kind"], "button");
    std::fs::remove_file(&path).unwrap();
    // A file that is gone leaves its secret in force.
    citizen.tap("Castellano").await;
    assert_eq!(citizen.hears().await["kind"], "location_request");
}

#[tokio::test]
async fn a_test_number_is_sent_the_draft_and_everybody_else_what_is_live() {
    let world = World::without_forms().await;
    let _service = world.serve().await;
    let draft = world.upload("es", "abisu-draft").await;
    world.record("es", &Taxonomy::builtin().unwrap(), &draft, "draft").await;

    let (tester, other) = (world.citizen(TEST_NUMBER).await, world.citizen("34600990041").await);
    tester.reaches_the_form().await;
    let sent = world.last_body("meta.messages").await;
    let parameters = &sent["interactive"]["action"]["parameters"];
    assert_eq!((&parameters["mode"], &parameters["flow_id"]), (&json!("draft"), &json!(draft)));
    tester.fill_in("es", ROUTE, json!({})).await;
    reference(&tester.hears_text().await);

    other.begins().await;
    other.pin().await;
    assert!(other.hears_text().await.contains("Te llegará"));
    world.publish("es").await;
    assert_eq!(other.hears().await["kind"], "flow");
    // What was published since is newer than the draft.
    tester.reaches_the_form().await;
    let sent = world.last_body("meta.messages").await;
    assert_eq!(sent["interactive"]["action"]["parameters"]["mode"], "published");
}

#[tokio::test]
async fn a_repeated_completion_hears_what_was_received_whatever_it_says_itself() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600990051").await;
    citizen.reaches_the_form().await;
    citizen.fill_in("es", ROUTE, json!({})).await;
    let first = citizen.hears_text().await;
    assert!(first.contains("Qué: Contenedor › Desbordado › Vidrio"), "{first}");

    citizen.fill_in("es", "street/graffiti", json!({})).await;

    assert_eq!(citizen.hears_text().await, first);
}

#[tokio::test]
async fn an_answer_is_read_by_the_version_that_it_names_also_when_the_city_has_changed_its_files_since() {
    let world = World::new().await;
    let mut config = world.config();
    let renamed: Vec<(&str, String)> = BUILTIN
        .catalogs
        .iter()
        .map(|(language, text)| (*language, text.replace("title: Vidrio", "title: Cristal")))
        .collect();
    let catalogs: Vec<(&str, &str)> =
        renamed.iter().map(|(language, text)| (*language, text.as_str())).collect();
    config.taxonomy = Taxonomy::from_yaml(BUILTIN.taxonomy, &catalogs, BUILTIN.partner).unwrap();
    let now = config.taxonomy.clone();
    let _service = world.serve_with(config, &world.geo).await;
    let citizen = world.citizen("34600990061").await;

    // The form that is live is of the version before.
    citizen.reaches_the_form().await;
    citizen.fill_in("es", ROUTE, json!({})).await;
    assert!(citizen.hears_text().await.contains("› Vidrio"));
    let used: String = world.value("select taxonomy_version from report.report").await;
    assert_eq!(used, Taxonomy::builtin().unwrap().version());
    // A version that nobody knows is refused politely and kept.
    citizen.reaches_the_form().await;
    let answer = async |version: &str| {
        let token: uuid::Uuid = world.value("select prompt from chat.session").await;
        let response = json!({"flow_token": token, "route": ROUTE, "version": version, "language": "es"});
        world.webhook.bring(vec![crate::photo::form(&citizen.phone, response)]).await;
    };
    answer("000000000000").await;
    assert_eq!(citizen.hears().await["kind"], "flow");
    answer(now.version()).await;
    world.until("select count(*) = 2 from report.report where state = 'received'").await;
    world.at_rest().await;
    let last = citizen.conversation().await.pop().unwrap();
    assert!(last["text"].as_str().unwrap().contains("› Cristal"), "{last}");
}

/// Every table with a row that came by the synthetic channel or of one of its reports, unmarked.
const UNMARKED: &str = "
select 'delivery' from inbound.delivery where channel = 'synthetic' and not synthetic
union all select 'event' from inbound.event where channel = 'synthetic' and not synthetic
union all select 'rejection' from inbound.rejection where channel = 'synthetic' and not synthetic
union all select 'alias' from chat.alias where channel = 'synthetic' and not synthetic
union all select 'chat' from chat.chat where channel = 'synthetic' and not synthetic
union all select 'session' from chat.session join chat.chat on id = chat_id where channel = 'synthetic' and not session.synthetic
union all select 'sender' from chat.sender where channel = 'synthetic' and not synthetic
union all select 'outbound' from chat.outbound where channel = 'synthetic' and not synthetic
union all select 'outbound_id' from chat.outbound_id where channel = 'synthetic' and not synthetic
union all select 'report' from report.report where channel = 'synthetic' and not synthetic
union all select 'timeline' from report.timeline t join report.report r on r.id = t.report_id
  where r.channel = 'synthetic' and not t.synthetic";

#[tokio::test]
async fn a_synthetic_report_is_marked_everywhere_and_leaves_by_no_door_whatever_anybody_does() {
    let world = World::without_forms().await;
    let mut config = world.config();
    config.channels = world.channels("  - {id: synthetic, kind: synthetic, secrets: [{env: S}]}\n");
    let _service = world.serve_with(config, &world.geo).await;
    let nobody = AppUser { world: &world, channel: "synthetic", from: "synthetic-1" };
    let real = world.citizen("34600990071").await;
    real.begins().await;
    let calls = world.calls("meta.messages").await;

    nobody.sends(json!({"type": "text", "text": "Hola"})).await;
    world
        .until("select count(*) = 1 from chat.outbound where channel = 'synthetic' and payload ? 'buttons'")
        .await;
    let id: String = world
        .value("select payload #>> '{buttons,buttons,0,0}' from chat.outbound where channel = 'synthetic'")
        .await;
    nobody.sends(json!({"type": "button_reply", "interactive_reply": {"id": id}})).await;
    world.until("select count(*) = 2 from chat.outbound where channel = 'synthetic'").await;
    nobody.sends(pin()).await;
    world
        .until("select count(*) = 1 from chat.outbound where channel = 'synthetic' and payload ? 'form'")
        .await;
    let token: uuid::Uuid = world
        .value("select prompt from chat.outbound where channel = 'synthetic' and payload ? 'form'")
        .await;
    let response = json!({"token": token, "route": ROUTE, "language": "es"});
    nobody.sends(json!({"type": "form", "interactive_reply": {"response": response}})).await;

    let sunk = "select count(*) = 1 from report.report
                where synthetic and push_state = 'sent' and partner_id = 'synthetic' and push_attempts = 0";
    world.until(sunk).await;
    world.until("select count(*) = 4 from chat.outbound where synthetic and outcome = 'sent'").await;
    world.at_rest().await;
    assert_eq!(world.values::<String>(UNMARKED).await, Vec::<String>::new());
    let ids: Vec<String> = world.values("select provider_id from chat.outbound_id where synthetic").await;
    assert!(ids.len() == 4 && ids.iter().all(|id| id.starts_with("synthetic:")), "{ids:?}");
    assert!(
        world.value::<bool>("select bool_or(step = 'pushed') from report.timeline where synthetic").await
    );
    assert_eq!(world.calls("meta.messages").await, calls, "nothing left for Meta");

    // A person sends it again by hand, an old binary puts it to review: it stays where it is.
    for state in ["pending", "review", "dead"] {
        sqlx::query("update report.report set push_state = $1, partner_id = null where synthetic")
            .bind(state)
            .execute(&world.db.pool)
            .await
            .unwrap();
        assert!(world.value::<bool>(sunk).await, "{state}");
    }
    // What is not of that channel is not marked, and waits for the contractor as ever.
    real.pin().await;
    world.until("select count(*) = 1 from report.report where channel = 'whatsapp'").await;
    assert!(
        !world.value::<bool>("select bool_or(synthetic) from report.report where channel = 'whatsapp'").await
    );
    assert!(!world.value::<bool>("select bool_or(s.synthetic) from chat.session s join chat.chat c on c.id = s.chat_id where c.channel = 'whatsapp'").await);
}
