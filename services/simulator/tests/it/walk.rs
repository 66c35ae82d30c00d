//! Forms with everything in them, filled in.

use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::support::{World, answer};

fn options(ids: &[&str]) -> Value {
    ids.iter().map(|id| json!({"id": id, "title": id.to_uppercase()})).collect()
}

/// Inputs of every kind, conditions, choices that change the screen, links, expressions.
fn document() -> Value {
    let text = |example: &str| json!({"type": "string", "__example__": example});
    let navigate = |target: &str, payload: Value| json!({"name": "navigate", "next": {"type": "screen", "name": target}, "payload": payload});
    let screen = |children: Value| json!({"type": "SingleColumnLayout", "children": children});
    let option =
        json!({"type": "object", "properties": {"id": {"type": "string"}, "title": {"type": "string"}}});
    json!({"version": "7.3", "screens": [
        {"id": "FIRST", "title": "`'Para ' ${data.name}`",
         "data": {"name": text("Ane"), "hint": text("-"), "limit": {"type": "number", "__example__": 2},
                  "districts": {"type": "array", "items": option, "__example__": []}},
         "layout": screen(json!([
            {"type": "TextHeading", "text": "`'Hola, ' ${data.name}`"},
            {"type": "Dropdown", "name": "district", "label": "Barrio", "required": true,
             "data-source": "${data.districts}"},
            {"type": "RadioButtonsGroup", "name": "kind", "label": "Tipo", "required": true,
             "data-source": [
                {"id": "noise", "title": "Ruido", "on-select-action":
                    {"name": "update_data", "payload": {"hint": "¿A qué hora?"}}},
                {"id": "smell", "title": "Olor"},
                {"id": "old", "title": "Antiguo", "enabled": false}]},
            {"type": "TextBody", "text": "${data.hint}"},
            {"type": "Switch", "value": "${form.kind}", "cases": {
                "noise": [{"type": "TextInput", "name": "hour", "label": "Hora", "input-type": "number",
                           "required": true, "max-chars": 2}],
                "default": [{"type": "TextCaption", "text": "Sin más preguntas"}]}},
            {"type": "If", "condition": "${form.kind} == 'noise' && ${form.hour} >= 22 - ${data.limit}",
             "then": [
                {"type": "CheckboxGroup", "name": "days", "label": "Días", "min-selected-items": 1,
                 "max-selected-items": 2, "required": true, "data-source": options(&["mon", "tue", "wed"])},
                {"type": "If", "condition": "${data.limit} > 1", "then": [
                    {"type": "OptIn", "name": "again", "label": "Ocurre cada semana"}]}],
             "else": [{"type": "TextBody", "text": "De día"}]},
            {"type": "ChipsSelector", "name": "tags", "label": "Etiquetas",
             "data-source": options(&["a", "b", "c"])},
            {"type": "DatePicker", "name": "since", "label": "Desde", "min-date": "2026-01-01",
             "unavailable-dates": ["2026-01-06"]},
            {"type": "CalendarPicker", "name": "between", "label": {"start-date": "De", "end-date": "A"},
             "mode": "range"},
            {"type": "EmbeddedLink", "text": "Ayuda", "on-click-action":
                {"name": "open_url", "url": "https://example.org"}},
            {"type": "EmbeddedLink", "text": "Otra cosa", "on-click-action":
                navigate("LAST", json!({"kind": "other", "ready": true, "days": []}))},
            {"type": "Footer", "label": "Seguir", "enabled": "`${form.kind} != 'smell'`", "on-click-action":
                navigate("LAST", json!({"kind": "${form.kind}", "ready": "${form.again}",
                    "days": "${form.days}"}))}]))},
        {"id": "LAST", "title": "Fin", "terminal": true,
         "data": {"kind": text("noise"), "ready": {"type": "boolean", "__example__": true},
                  "days": {"type": "array", "items": {"type": "string"}, "__example__": []}},
         "layout": screen(json!([
            {"type": "Form", "name": "form", "init-values": {"mail": "nadie@example.org"}, "children": [
                {"type": "TextInput", "name": "mail", "label": "Correo", "input-type": "email"},
                {"type": "TextArea", "name": "note", "label": "Nota"},
                {"type": "If", "condition": "${data.ready}", "then": [
                    {"type": "Footer", "label": "Enviar", "on-click-action": {"name": "complete", "payload": {
                        "kind": "${data.kind}", "days": "${data.days}", "mail": "${form.mail}",
                        "note": "${form.note}", "range": "${screen.FIRST.form.between}",
                        "tags": "${screen.FIRST.form.tags}", "since": "${screen.FIRST.form.since}",
                        "late": "`${screen.FIRST.form.hour} % 12 + 1`",
                        "said": "`${data.kind} ': ' (${screen.FIRST.form.hour} / 2)`"}}}],
                 "else": [{"type": "Footer", "label": "Enviar sin más", "on-click-action":
                    {"name": "complete", "payload": {"kind": "${data.kind}"}}}]}]}]))}]})
}

/// Publishes the form and sends it to a citizen; returns the citizen's id.
async fn sent(world: &World) -> String {
    let id = world.citizen().await;
    let path = format!("{}/flows", world.config.waba_id);
    let (_, made) = world.post(&path, &json!({"name": "all", "categories": ["OTHER"]})).await;
    let flow = made["id"].as_str().unwrap();
    let file =
        Part::text(document().to_string()).file_name("flow.json").mime_str("application/json").unwrap();
    let form = Form::new().text("name", "flow.json").text("asset_type", "FLOW_JSON").part("file", file);
    let call = world.graph(reqwest::Method::POST, &format!("{flow}/assets")).multipart(form);
    let (_, told) = answer(call.send().await.unwrap()).await;
    assert_eq!(told["validation_errors"], json!([]));
    assert_eq!(world.post(&format!("{flow}/publish"), &json!({})).await.0, 200);
    let districts = json!([{"id": "d1", "title": "Casco viejo"}, {"id": "d2", "title": "Zabalgana"}]);
    let parameters = json!({"flow_message_version": "3", "flow_id": flow, "flow_cta": "Abrir",
        "flow_action_payload": {"screen": "FIRST", "data":
            {"name": "Ane", "hint": "Elige", "limit": 2, "districts": districts}}});
    let message = json!({"type": "interactive", "interactive": {"type": "flow", "body": {"text": "x"},
        "action": {"name": "flow", "parameters": parameters}}});
    let (status, body) = world.send(message).await;
    assert_eq!(status, 200, "{body}");
    id
}

#[tokio::test]
async fn a_form_with_every_component_is_filled_in_and_returns_what_a_phone_returns() {
    let world = World::new().await;
    let id = sent(&world).await;
    let answers = json!({"district": "Zabalgana", "kind": "noise", "hour": "23", "days": ["MON", "wed"],
        "tags": ["a"], "since": "2026-03-01", "between": {"start-date": "2026-03-01", "end-date": "2026-03-09"}});
    let (status, body) =
        world.control(&format!("/citizens/{id}/form"), json!({"answers": answers, "note": "a nota"})).await;
    assert_eq!(status, 200, "{body}");
    let reply = world.receiver.messages().pop().unwrap().message();
    let reply: Value =
        serde_json::from_str(reply["interactive"]["nfm_reply"]["response_json"].as_str().unwrap()).unwrap();
    assert_eq!(
        reply,
        json!({"kind": "noise", "days": ["mon", "wed"], "mail": "nadie@example.org", "note": "a nota",
            "range": {"start-date": "2026-03-01", "end-date": "2026-03-09"}, "tags": ["a"],
            "since": "2026-03-01", "late": 12, "said": "noise: 11.5", "flow_token": "unused"})
    );
    let screens = &body["screens"];
    assert_eq!(screens[0]["title"], "Para Ane");
    let shown: Vec<&str> = screens[0]["shown"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for (text, seen) in [
        ("Hola, Ane", true),
        ("¿A qué hora?", true),
        ("Hora", true),
        ("Días", true),
        ("Ocurre cada semana", true),
        ("Sin más preguntas", false),
        ("De día", false),
    ] {
        assert_eq!(shown.contains(&text), seen, "{text}: {shown:?}");
    }
}

#[tokio::test]
async fn a_link_is_tapped_by_its_text_and_another_branch_ends_the_form() {
    let world = World::new().await;
    let id = sent(&world).await;
    let answers = json!({"district": "d1", "kind": "Olor"});
    let (status, body) = world
        .control(&format!("/citizens/{id}/form"), json!({"path": ["Otra cosa"], "answers": answers}))
        .await;
    assert_eq!((status, &body["screens"][1]["id"]), (200, &json!("LAST")), "{body}");
    let answers = json!({"district": "d1", "kind": "noise", "hour": "23", "days": ["mon"], "again": false});
    let (status, body) = world.control(&format!("/citizens/{id}/form"), json!({"answers": answers})).await;
    assert_eq!(status, 200, "{body}");
    assert!(body["screens"][1]["shown"].as_array().unwrap().contains(&json!("Enviar sin más")), "{body}");
}

#[tokio::test]
async fn what_a_phone_does_not_let_pass_is_said() {
    let world = World::new().await;
    let id = sent(&world).await;
    let right = json!({"district": "d1", "kind": "noise", "hour": "23", "days": ["mon"]});
    for (change, says) in [
        (json!({"district": null}), "takes an id or a title"),
        (json!({"district": "Judimendi"}), "district of FIRST has no option 'Judimendi', only: Casco viejo"),
        (json!({"kind": "old"}), "no option 'old'"),
        (json!({"kind": "smell"}), "the button of FIRST is disabled"),
        (json!({"hour": "x"}), "takes no such text"),
        (json!({"hour": "100"}), "takes no text of this length"),
        (json!({"hour": ""}), "wants a text"),
        (json!({"days": []}), "wants a choice"),
        (json!({"days": ["mon", "tue", "wed"]}), "takes no 3 choices"),
        (json!({"since": "2025-12-31"}), "cannot be on"),
        (json!({"since": "2026-01-06"}), "cannot be on"),
        (json!({"since": "6 de enero"}), "takes a day"),
        (json!({"between": {"start-date": "2026-03-02", "end-date": "2026-03-01"}}), "ends before it begins"),
        (json!({"between": "2026-03-02"}), "wants a start-date and an end-date"),
        (json!({"mail": "nobody"}), "takes no such text"),
        // By day there is no `again`, and nothing is no boolean.
        (json!({"hour": "9"}), "LAST cannot be shown: ready is not of type boolean"),
    ] {
        let mut answers = right.clone();
        for (key, value) in change.as_object().unwrap() {
            answers[key] = value.clone();
        }
        let (status, body) =
            world.control(&format!("/citizens/{id}/form"), json!({"answers": answers})).await;
        assert_eq!(status, 422, "{change} {body}");
        assert!(body["error"].as_str().unwrap().contains(says), "{change}: {body}");
    }
    let (status, body) =
        world.control(&format!("/citizens/{id}/form"), json!({"path": ["Ayuda"], "answers": right})).await;
    assert_eq!(status, 422);
    assert!(body["error"].as_str().unwrap().contains("leads out of the form"), "{body}");
}
