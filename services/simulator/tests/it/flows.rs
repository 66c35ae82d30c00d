use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::support::{World, answer};

fn item(id: &str, title: &str, next: &str, payload: Value) -> Value {
    json!({"id": id, "main-content": {"title": title}, "on-click-action": {
        "name": "navigate", "next": {"type": "screen", "name": next}, "payload": payload}})
}

/// A small form: a list, a list below it, a dead end that only informs, and a summary.
fn document() -> Value {
    let text = |example: &str| json!({"type": "string", "__example__": example});
    json!({"version": "7.3", "screens": [
        {"id": "ROOT", "title": "¿Qué?", "data": {"address": text("Dato 1")},
         "layout": {"type": "SingleColumnLayout", "children": [{"type": "NavigationList", "name": "root",
            "list-items": [
                item("container", "Contenedor", "CONTAINER", json!({})),
                item("graffiti", "Pintada", "SUMMARY", json!({"route": "graffiti", "category": "Pintada"})),
                item("bulky", "Muebles", "INFO", json!({"text": "Llame"}))]}]}},
        {"id": "CONTAINER", "title": "Contenedor",
         "layout": {"type": "SingleColumnLayout", "children": [{"type": "NavigationList", "name": "fraction",
            "list-items": [item("glass", "Vidrio", "SUMMARY",
                json!({"route": "container/glass", "category": "Contenedor › Vidrio"}))]}]}},
        {"id": "INFO", "title": "Aviso", "data": {"text": text("Llame")},
         "layout": {"type": "SingleColumnLayout", "children": [{"type": "TextBody", "text": "${data.text}"}]}},
        {"id": "SUMMARY", "title": "Resumen", "terminal": true,
         "data": {"route": text("graffiti"), "category": text("Pintada")},
         "layout": {"type": "SingleColumnLayout", "children": [
            {"type": "TextBody", "text": "`${data.category} ': ' ${screen.ROOT.data.address}`"},
            {"type": "TextArea", "name": "note", "label": "Nota", "required": false, "max-length": 600},
            {"type": "PhotoPicker", "name": "photo", "label": "Foto", "min-uploaded-photos": 1,
             "max-uploaded-photos": 1, "max-file-size-kb": 10240},
            {"type": "Footer", "label": "Enviar", "on-click-action": {"name": "complete", "payload": {
                "route": "${data.route}", "note": "${form.note}", "photo": "${form.photo}",
                "where": "`'en ' ${screen.ROOT.data.address}`", "version": "v1"}}}]}}]})
}

async fn upload(world: &World, flow: &str, document: &Value) -> Value {
    let file = Part::text(document.to_string()).file_name("flow.json").mime_str("application/json").unwrap();
    let form = Form::new().text("name", "flow.json").text("asset_type", "FLOW_JSON").part("file", file);
    let call = world.graph(reqwest::Method::POST, &format!("{flow}/assets")).multipart(form);
    let (status, body) = answer(call.send().await.unwrap()).await;
    assert_eq!((status, &body["success"]), (200, &json!(true)), "{body}");
    body["validation_errors"].clone()
}

async fn create(world: &World, name: &str) -> String {
    let path = format!("{}/flows", world.config.waba_id);
    let (status, body) = world.post(&path, &json!({"name": name, "categories": ["OTHER"]})).await;
    assert_eq!(status, 200, "{body}");
    body["id"].as_str().unwrap().to_owned()
}

fn message(flow: &str, parameters: Value) -> Value {
    let mut all = json!({"flow_message_version": "3", "flow_id": flow, "flow_cta": "Abrir",
        "flow_token": "token-1", "flow_action": "navigate",
        "flow_action_payload": {"screen": "ROOT", "data": {"address": "Dato 1"}}});
    for (key, value) in parameters.as_object().unwrap() {
        if value.is_null() {
            all.as_object_mut().unwrap().remove(key);
        } else {
            all[key] = value.clone();
        }
    }
    json!({"type": "interactive", "interactive": {"type": "flow", "body": {"text": "Cuéntenos"},
        "action": {"name": "flow", "parameters": all}}})
}

#[tokio::test]
async fn a_form_is_created_uploaded_published_and_filled_in() {
    let world = World::new().await;
    let id = world.citizen().await;
    let flow = create(&world, "report_es").await;
    let (status, body) = world.post(&format!("{flow}/publish"), &json!({})).await;
    assert_eq!((status, &body["error"]["code"]), (400, &json!(139_002)));
    assert_eq!(upload(&world, &flow, &document()).await, json!([]));
    assert_eq!(world.send(message(&flow, json!({}))).await.1["error"]["code"], 131_009);
    assert_eq!(world.send(message(&flow, json!({"mode": "draft"}))).await.0, 200);
    assert_eq!(world.post(&format!("{flow}/publish"), &json!({})).await, (200, json!({"success": true})));
    let (_, sent) = world.send(message(&flow, json!({}))).await;

    let answers = json!({"path": ["Contenedor", "Vidrio"], "note": "lleno"});
    let (status, body) = world.control(&format!("/citizens/{id}/form"), answers).await;
    assert_eq!(status, 200, "{body}");
    let message = world.receiver.messages().pop().unwrap().message();
    assert_eq!(message["context"]["id"], sent["messages"][0]["id"]);
    let reply = &message["interactive"]["nfm_reply"];
    assert_eq!((&reply["name"], &reply["body"]), (&json!("flow"), &json!("Sent")));
    let answer: Value = serde_json::from_str(reply["response_json"].as_str().unwrap()).unwrap();
    assert_eq!(answer["route"], "container/glass");
    assert_eq!((&answer["note"], &answer["where"]), (&json!("lleno"), &json!("en Dato 1")));
    assert_eq!(answer["flow_token"], "token-1");
    assert_eq!(answer["photo"][0]["id"], body["media_id"]);
    let (_, media) = world.get(body["media_id"].as_str().unwrap()).await;
    assert_eq!(media["sha256"], body["photo_sha256_hex"]);

    let dropped = json!({"path": ["Pintada"], "drop_token": true});
    world.control(&format!("/citizens/{id}/form"), dropped).await;
    let message = world.receiver.messages().pop().unwrap().message();
    let text = message["interactive"]["nfm_reply"]["response_json"].as_str().unwrap().to_owned();
    assert!(!text.contains("flow_token"));
    for stuck in [
        json!({"path": ["Muebles"]}),
        json!({"path": ["Contenedor"]}),
        json!({"path": ["Nada"]}),
        json!({"path": ["Pintada", "Vidrio"]}),
        json!({"path": ["Pintada"], "photo": false}),
        json!({"path": ["Pintada"], "note": "x".repeat(601)}),
    ] {
        assert_eq!(world.control(&format!("/citizens/{id}/form"), stuck.clone()).await.0, 422, "{stuck}");
    }
}

#[tokio::test]
async fn an_edited_form_keeps_sending_what_was_published() {
    let world = World::new().await;
    let id = world.citizen().await;
    let flow = create(&world, "report_es").await;
    upload(&world, &flow, &document()).await;
    world.post(&format!("{flow}/publish"), &json!({})).await;
    let mut broken = document();
    broken["screens"][0]["title"] = json!("");
    assert_eq!(upload(&world, &flow, &broken).await[0]["error"], "PATTERN_MISMATCH");
    let (_, read) = world.get(&format!("{flow}?fields=id,status,json_version")).await;
    assert_eq!(read, json!({"id": flow, "status": "DRAFT", "json_version": "7.3"}));
    assert_eq!(world.post(&format!("{flow}/publish"), &json!({})).await.1["error"]["code"], 139_002);
    assert_eq!(world.send(message(&flow, json!({}))).await.0, 200);
    let answers = json!({"path": ["Pintada"]});
    assert_eq!(world.control(&format!("/citizens/{id}/form"), answers).await.0, 200);

    let (_, assets) = world.get(&format!("{flow}/assets")).await;
    let text = world.http.get(assets["data"][0]["download_url"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(text.json::<Value>().await.unwrap(), broken);
    assert_eq!(world.post(&format!("{flow}/deprecate"), &json!({})).await.0, 200);
    assert_eq!(world.send(message(&flow, json!({}))).await.1["error"]["code"], 131_009);
    let delete = world.graph(reqwest::Method::DELETE, &flow).send().await.unwrap();
    assert_eq!(answer(delete).await.1["error"]["code"], 139_004);
}

#[tokio::test]
async fn forms_are_listed_page_by_page_and_names_are_unique() {
    let world = World::new().await;
    let first = create(&world, "one").await;
    let second = create(&world, "two").await;
    let path = format!("{}/flows", world.config.waba_id);
    let (status, _) = world.post(&path, &json!({"name": "one", "categories": ["OTHER"]})).await;
    assert_eq!(status, 400);
    assert_eq!(world.post(&path, &json!({"name": "x", "categories": []})).await.0, 400);
    let (_, page) = world.get(&format!("{path}?limit=1")).await;
    assert_eq!(page["data"][0]["id"], *first);
    let next = page["paging"]["next"].as_str().unwrap();
    let call = world.http.get(next).bearer_auth(&world.config.access_token);
    let (_, page) = answer(call.send().await.unwrap()).await;
    assert_eq!((&page["data"][0]["id"], page["paging"].get("next")), (&json!(second), None));
}

#[tokio::test]
async fn the_parameters_of_a_form_message_are_checked() {
    let world = World::new().await;
    world.citizen().await;
    let flow = create(&world, "report_es").await;
    upload(&world, &flow, &document()).await;
    world.post(&format!("{flow}/publish"), &json!({})).await;
    for wrong in [
        json!({"flow_message_version": 3}),
        json!({"flow_message_version": "4"}),
        json!({"flow_id": "1"}),
        json!({"flow_id": null}),
        json!({"flow_name": "report_es"}),
        json!({"flow_cta": "x".repeat(21)}),
        json!({"flow_cta": "Abrir 📝"}),
        json!({"flow_action": "data_exchange"}),
        json!({"mode": "draft"}),
        json!({"flow_action_payload": null}),
        json!({"flow_action_payload": {"screen": "NONE"}}),
        json!({"flow_action_payload": {"screen": "SUMMARY", "data": {"route": "a", "category": "b"}}}),
        json!({"flow_action_payload": {"screen": "ROOT", "data": {}}}),
        json!({"flow_action_payload": {"screen": "ROOT", "data": {"address": 1}}}),
        json!({"flow_action_payload": {"screen": "ROOT", "data": {"address": "x", "more": "y"}}}),
        json!({"header": "x"}),
    ] {
        let (status, body) = world.send(message(&flow, wrong.clone())).await;
        assert_eq!(status, 400, "{wrong} {body}");
    }
    world.control(&format!("/flows/{flow}"), json!({"status": "BLOCKED"})).await;
    assert_eq!(world.send(message(&flow, json!({}))).await.1["error"]["code"], 132_068);
}

#[tokio::test]
async fn every_fault_of_a_document_is_named() {
    let world = World::new().await;
    let flow = create(&world, "report_es").await;
    let list = "/screens/0/layout/children/0";
    let first = format!("{list}/list-items/0");
    let picker = "/screens/3/layout/children/2";
    let button = "/screens/3/layout/children/3";
    let long = |count: usize| json!("ñ".repeat(count));
    let many: Vec<Value> = (0..21).map(|at| item(&format!("i{at}"), "x", "CONTAINER", json!({}))).collect();
    // Pointer of the parent, key, new value (null removes), expected code.
    let cases: Vec<(String, &str, Value, &str)> = vec![
        (String::new(), "version", json!("4.0"), "INVALID_FLOW_JSON_VERSION"),
        (String::new(), "version", json!("6.1"), "INVALID_PROPERTY_VALUE"),
        (String::new(), "data_api_version", json!("3.0"), "INVALID_PROPERTY_KEY"),
        (String::new(), "routing_model", json!({"NONE": []}), "INVALID_ROUTING_MODEL"),
        (String::new(), "routing_model", json!({"ROOT": ["ROOT"]}), "INVALID_ROUTING_MODEL"),
        ("/screens/0".into(), "id", json!("ROOT_1"), "PATTERN_MISMATCH"),
        ("/screens/0".into(), "id", json!("Success"), "SCREEN_ID_IS_RESERVED_KEYWORD"),
        ("/screens/1".into(), "id", json!("ROOT"), "DUPLICATE_SCREEN_IDS"),
        ("/screens/0".into(), "title", Value::Null, "MISSING_REQUIRED_PROPERTY"),
        ("/screens/3".into(), "terminal", Value::Null, "MISSING_TERMINAL_SCREEN"),
        ("/screens/0/data/address".into(), "__example__", Value::Null, "INVALID_SCREEN_DATA"),
        ("/screens/0/data/address".into(), "__example__", json!(1), "INVALID_SCREEN_DATA"),
        (list.into(), "visible", json!(true), "INVALID_PROPERTY_KEY"),
        (list.into(), "list-items", json!([]), "MAX_ITEMS_REQUIRED"),
        (list.into(), "list-items", json!(many), "MAX_ITEMS_REQUIRED"),
        (list.into(), "on-click-action", json!({"name": "navigate"}), "DUPLICATE_PROPETY_FOR_CONDITION"),
        (first.clone(), "on-click-action", Value::Null, "MISSING_REQUIRED_PROPERTY"),
        (first.clone(), "id", Value::Null, "MISSING_REQUIRED_PROPERTY"),
        (first.clone(), "main-content", Value::Null, "MISSING_REQUIRED_PROPERTY"),
        (format!("{first}/main-content"), "title", long(31), "MAX_CHARS_REQUIRED"),
        (format!("{first}/main-content"), "description", long(21), "MAX_CHARS_REQUIRED"),
        (format!("{first}/main-content"), "metadata", long(81), "MAX_CHARS_REQUIRED"),
        (
            format!("{first}/on-click-action/next"),
            "name",
            json!("X"),
            "INVALID_NAVIGATE_ACTION_NEXT_SCREEN_NAME",
        ),
        (
            format!("{first}/on-click-action/next"),
            "name",
            json!("ROOT"),
            "INVALID_NAVIGATE_ACTION_NEXT_SCREEN_NAME",
        ),
        (format!("{first}/on-click-action"), "payload", json!({"x": 1}), "INVALID_NAVIGATE_ACTION_PAYLOAD"),
        (
            format!("{list}/list-items/1/on-click-action/payload"),
            "route",
            json!(1),
            "INVALID_NAVIGATE_ACTION_PAYLOAD",
        ),
        (
            format!("{list}/list-items/1/on-click-action"),
            "payload",
            Value::Null,
            "MISSING_NAVIGATION_ACTION_PAYLOAD",
        ),
        ("/screens/3/layout/children/1".into(), "label", long(21), "MAX_CHARS_REQUIRED"),
        ("/screens/3/layout/children/1".into(), "name", Value::Null, "MISSING_REQUIRED_TYPE_PROPERTY"),
        ("/screens/3/layout/children/0".into(), "text", json!("${data.none}"), "INVALID_SCREEN_DYNAMIC_DATA"),
        (
            "/screens/3/layout/children/0".into(),
            "text",
            json!("a ${data.route}"),
            "INVALID_SCREEN_DYNAMIC_DATA",
        ),
        (picker.into(), "required", json!(true), "INVALID_PROPERTY_KEY"),
        (picker.into(), "min-uploaded-photos", json!(2), "MIN_VALUE_GREATER_THAN_MAX"),
        (picker.into(), "max-file-size-kb", json!(25_601), "MAXIMUM_VALUE_REQUIRED"),
        (picker.into(), "max-uploaded-photos", Value::Null, "INVALID_ON_CLICK_ACTION_PAYLOAD"),
        (button.into(), "label", long(36), "MAX_CHARS_REQUIRED"),
        (
            format!("{button}/on-click-action/payload"),
            "photo",
            json!(["${form.photo}"]),
            "INVALID_ON_CLICK_ACTION_PAYLOAD",
        ),
        (
            format!("{button}/on-click-action/payload"),
            "note",
            json!("${form.none}"),
            "INVALID_ON_CLICK_ACTION_PAYLOAD",
        ),
        (button.into(), "type", json!("Button"), "INVALID_PROPERTY_VALUE"),
        ("/screens/2/layout/children/0".into(), "type", json!("NavigationList"), "INVALID_PROPERTY_KEY"),
    ];
    for (parent, key, value, code) in cases {
        let mut changed = document();
        let map = changed.pointer_mut(&parent).unwrap().as_object_mut().unwrap();
        if value.is_null() {
            map.remove(key);
        } else {
            map.insert(key.to_owned(), value.clone());
        }
        let errors = upload(&world, &flow, &changed).await;
        let found = errors.as_array().unwrap().iter().any(|error| error["error"] == code);
        assert!(found, "{parent} {key} {value}: {errors}");
    }
}

#[tokio::test]
async fn the_ways_through_a_document_are_checked() {
    let world = World::new().await;
    let flow = create(&world, "report_es").await;
    let codes = async |document: &Value| -> Vec<String> {
        let errors = upload(&world, &flow, document).await;
        errors.as_array().unwrap().iter().map(|one| one["error"].as_str().unwrap().to_owned()).collect()
    };
    let push = |list: &mut Value, value: Value| list.as_array_mut().unwrap().push(value);
    let mut lonely = document();
    let screen = json!({"id": "LONELY", "title": "x", "layout": {"type": "SingleColumnLayout",
        "children": [{"type": "TextBody", "text": "x"}]}});
    push(&mut lonely["screens"], screen.clone());
    assert!(codes(&lonely).await.contains(&"INVALID_ROUTING_MODEL".to_owned()));

    let mut wide = document();
    for (at, letter) in "ABCDEFGH".chars().enumerate() {
        let mut extra = screen.clone();
        extra["id"] = json!(format!("EXTRA_{letter}"));
        push(&mut wide["screens"], extra);
        let row = item(&format!("e{at}"), "x", &format!("EXTRA_{letter}"), json!({}));
        push(&mut wide["screens"][1]["layout"]["children"][0]["list-items"], row);
    }
    assert!(codes(&wide).await.contains(&"INVALID_ROUTING_MODEL".to_owned()));
    wide["screens"].as_array_mut().unwrap().pop();
    wide["screens"][1]["layout"]["children"][0]["list-items"].as_array_mut().unwrap().pop();
    assert_eq!(codes(&wide).await, Vec::<String>::new());

    let mut beside = document();
    push(&mut beside["screens"][0]["layout"]["children"], json!({"type": "TextBody", "text": "x"}));
    assert_eq!(codes(&beside).await, ["INVALID_COMPONENT_PLACEMENT"]);
    let mut open = document();
    open["screens"][3]["layout"]["children"].as_array_mut().unwrap().pop();
    assert!(codes(&open).await.contains(&"MISSING_FOOTER_ON_TERMINAL_SCREEN".to_owned()));
    let mut early = document();
    let button = early["screens"][3]["layout"]["children"][3].clone();
    push(&mut early["screens"][2]["layout"]["children"], button);
    assert!(codes(&early).await.contains(&"INVALID_COMPLETE_ACTION".to_owned()));
}
