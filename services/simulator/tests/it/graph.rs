use serde_json::{Value, json};

use crate::support::{World, answer};

fn buttons(list: Value) -> Value {
    json!({"type": "interactive", "interactive": {
        "type": "button", "body": {"text": "¿?"}, "action": {"buttons": list}}})
}

fn button(id: &str, title: &str) -> Value {
    json!({"type": "reply", "reply": {"id": id, "title": title}})
}

fn text(body: &str) -> Value {
    json!({"type": "text", "text": {"body": body}})
}

#[tokio::test]
async fn every_limit_of_a_message_is_kept() {
    let world = World::new().await;
    world.citizen().await;
    let long = |count: usize| "ñ".repeat(count);
    let two = json!([button("a", "Sí"), button("b", "No")]);
    let accepted = [
        text(&long(4096)),
        buttons(two.clone()),
        buttons(json!([button("a", &long(20))])),
        json!({"to": "+34600000001", "type": "text", "text": {"body": "x", "preview_url": false}}),
        json!({"type": "interactive", "interactive": {"type": "location_request_message",
            "body": {"text": "¿Dónde?"}, "action": {"name": "send_location"}}}),
        json!({"type": "interactive", "interactive": {"type": "list", "body": {"text": "x"},
            "action": {"button": "Ver", "sections": [{"rows": [{"id": "1", "title": "Uno"}]}]}}}),
    ];
    for message in accepted {
        let (status, body) = world.send(message.clone()).await;
        assert_eq!(status, 200, "{message} {body}");
    }
    let refused = [
        (131_009, text(&long(4097))),
        (131_009, text(" ")),
        (131_008, json!({"type": "text", "text": {}})),
        (100, json!({"type": "text", "text": {"body": "x", "bold": true}})),
        (100, json!({"type": "text", "text": {"body": 7}})),
        (100, json!({"type": "text", "text": {"body": "x"}, "interactive": {}})),
        (131_009, json!({"type": "video", "video": {}})),
        (131_009, json!({"to": "6a", "type": "text", "text": {"body": "x"}})),
        (131_009, json!({"type": "text", "text": {"body": "x"}, "biz_opaque_callback_data": long(513)})),
        (131_009, buttons(json!([]))),
        (131_009, buttons(json!([button("a", "1"), button("b", "2"), button("c", "3"), button("d", "4")]))),
        (131_009, buttons(json!([button("a", "Sí"), button("b", "Sí")]))),
        (131_009, buttons(json!([button("a", &long(21))]))),
        // Eleven emoji are eleven scalars, yet 22 units of UTF-16.
        (131_009, buttons(json!([button("a", &"😮".repeat(11))]))),
        (131_009, buttons(json!([button(" a", "x")]))),
        (131_009, buttons(json!([button(&long(257), "x")]))),
        (
            131_009,
            json!({"type": "interactive", "interactive": {"type": "button",
            "body": {"text": long(1025)}, "action": {"buttons": two}}}),
        ),
        (
            131_009,
            json!({"type": "interactive", "interactive": {"type": "location_request_message",
            "body": {"text": "x"}, "action": {"name": "other"}}}),
        ),
    ];
    for (code, message) in refused {
        let (status, body) = world.send(message.clone()).await;
        assert_eq!((status, &body["error"]["code"]), (400, &json!(code)), "{message} {body}");
        assert_eq!(body["error"]["error_data"]["messaging_product"], "whatsapp");
    }
}

#[tokio::test]
async fn tokens_numbers_and_paths_are_checked() {
    let world = World::new().await;
    let path = format!("{}/messages", world.config.phone_number_id);
    let url = world.url(&format!("/meta/v26.0/{path}"));
    let (status, body) = answer(world.http.post(&url).json(&text("x")).send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["code"]), (401, &json!(190)));
    let (status, body) = world.post("123/messages", &text("x")).await;
    assert_eq!((status, &body["error"]["error_subcode"]), (400, &json!(33)));
    let url = world.url(&format!("/meta/latest/{path}"));
    let call = world.http.post(url).bearer_auth(&world.config.access_token).json(&text("x"));
    assert_eq!(answer(call.send().await.unwrap()).await.1["error"]["code"], 2500);
    let (status, body) = world.get(&world.config.phone_number_id).await;
    assert_eq!((status, &body["display_phone_number"]), (200, &json!(world.config.display_phone_number)));
}

#[tokio::test]
async fn only_known_recipients_inside_the_window_are_reached() {
    let world = World::new().await;
    assert_eq!(world.send(text("x")).await.1["error"]["code"], 131_030);
    let (_, citizen) = world.control("/citizens", json!({"name": "Ane", "phone": "34600000001"})).await;
    assert_eq!(world.send(text("x")).await.1["error"]["code"], 131_047);
    let id = citizen["id"].as_str().unwrap();
    world.control(&format!("/citizens/{id}/say"), json!({"text": "kaixo"})).await;
    assert_eq!(world.send(text("x")).await.0, 200);
    world.control(&format!("/citizens/{id}/silence"), json!({"hours": 24})).await;
    assert_eq!(world.send(text("x")).await.1["error"]["code"], 131_047);
    let unknown = json!({"messaging_product": "whatsapp", "recipient": "ES.none", "type": "text",
                         "text": {"body": "x"}});
    let path = format!("{}/messages", world.config.phone_number_id);
    assert_eq!(world.post(&path, &unknown).await.1["error"]["code"], 131_026);
}

#[tokio::test]
async fn a_tap_answers_the_newest_buttons_and_reading_is_marked() {
    let world = World::new().await;
    let id = world.citizen().await;
    world.send(buttons(json!([button("old", "Castellano")]))).await;
    let (_, sent) = world.send(buttons(json!([button("es", "Castellano"), button("eu", "Euskara")]))).await;
    let (status, body) = world.control(&format!("/citizens/{id}/tap"), json!({"title": "Euskara"})).await;
    assert_eq!(status, 200, "{body}");
    let message = world.receiver.messages().pop().unwrap().message();
    assert_eq!(message["interactive"]["button_reply"], json!({"id": "eu", "title": "Euskara"}));
    assert_eq!(message["context"]["id"], sent["messages"][0]["id"]);

    let path = format!("{}/messages", world.config.phone_number_id);
    let read = |message_id: &Value| {
        json!({"messaging_product": "whatsapp", "status": "read", "message_id": message_id,
               "typing_indicator": {"type": "text"}})
    };
    assert_eq!(world.post(&path, &read(&message["id"])).await, (200, json!({"success": true})));
    assert_eq!(world.post(&path, &read(&json!("wamid.none"))).await.1["error"]["code"], 131_009);

    let (status, seen) = world.look(&format!("/citizens/{id}/wait?after=1&direction=out&count=2")).await;
    assert_eq!(status, 200);
    assert_eq!(
        seen[1]["buttons"],
        json!([{"id": "es", "title": "Castellano"}, {"id": "eu", "title": "Euskara"}])
    );
    assert_eq!(world.look(&format!("/citizens/{id}/wait?after=4&direction=out&timeout_ms=1")).await.0, 408);
}

#[tokio::test]
async fn a_place_answers_the_request_unless_it_is_bare() {
    let world = World::new().await;
    let id = world.citizen().await;
    let request = json!({"type": "interactive", "interactive": {"type": "location_request_message",
        "body": {"text": "¿Dónde?"}, "action": {"name": "send_location"}}});
    let (_, sent) = world.send(request).await;
    let place = json!({"latitude": 42.8467, "longitude": -2.6727});
    world.control(&format!("/citizens/{id}/location"), place.clone()).await;
    let message = world.receiver.messages().pop().unwrap().message();
    assert_eq!(message["location"], place);
    assert_eq!(message["context"]["id"], sent["messages"][0]["id"]);
    let bare = json!({"latitude": 42.8467, "longitude": -2.6727, "bare": true});
    world.control(&format!("/citizens/{id}/location"), bare).await;
    assert_eq!(world.receiver.messages().pop().unwrap().message().get("context"), None);
}
