//! Bodies that no document describes: keys in another order, nulls and other types where objects were, numbers as
//! strings and the reverse, escapes in keys, what no database holds. Each is answered with success and is stored, or
//! kept as a rejection with the right reason; its neighbour is always stored.

use serde_json::{Value, json};

use crate::app::{App, SECRET, channels, signature, signature_with};
use crate::generic::post as post_own;

const ALL: &str = "
channels:
  - id: whatsapp
    kind: whatsapp_meta
    default: true
    phone_number_id: 100200300
    app_secrets: [{env: SECRET}]
    verify_token: {env: VERIFY}
  - id: second
    kind: whatsapp_meta
    phone_number_id: 100200301
    app_secrets: [{env: SECRET}]
    verify_token: {env: VERIFY}
  - id: infobip
    kind: whatsapp_infobip
    sender: 34945000001
    hmac: {header: X-Infobip-Signature, prefix: sha256=, secrets: [{env: SECRET}]}
  - id: city-app
    kind: webhook
    secrets: [{env: SECRET}]
";

/// What becomes of a body beside its neighbour.
#[derive(Debug, PartialEq)]
enum Fate {
    /// As a message of this kind.
    Kind(&'static str),
    /// As a rejection with this reason.
    Rejected(&'static str),
    /// As a receipt.
    Receipt,
    /// There is nothing in it to keep.
    Nothing,
}
use Fate::{Kind, Nothing, Receipt, Rejected};

/// Posts a body and says what became of it; of several messages, of the one whose id is not `neighbour`'s.
async fn fate(app: &App, channel: &str, header: &str, body: &[u8]) -> Fate {
    for table in ["inbound.event", "inbound.dedup", "inbound.rejection", "inbound.receipt"] {
        sqlx::query(sqlx::AssertSqlSafe(format!("delete from {table}")))
            .execute(&app.database.pool)
            .await
            .unwrap();
    }
    let response = app.post_to(channel, &[(header, signature(body))], body).await;
    let told = String::from_utf8_lossy(body).into_owned();
    assert_eq!(response.status().as_u16(), 200, "{told}");
    let answer: Value = response.json().await.unwrap();
    let kinds: Vec<String> =
        sqlx::query_scalar("select kind from inbound.event where message_id <> 'neighbour'")
            .fetch_all(&app.database.pool)
            .await
            .unwrap();
    let rejected = app.rejected().await;
    let receipts = app.database.count("select count(*) from inbound.receipt").await;
    let neighbour =
        app.database.count("select count(*) from inbound.event where message_id = 'neighbour'").await;
    assert_eq!(neighbour, i64::from(told.contains("neighbour")), "{told}");
    assert_eq!(answer["activity_ids"].as_array().unwrap().len(), kinds.len() + neighbour as usize, "{told}");
    assert_eq!(
        (&answer["rejected"], &answer["receipts_processed"]),
        (&json!(rejected.len()), &json!(receipts)),
        "{told}"
    );
    match (&kinds[..], &rejected[..], receipts) {
        ([kind], [], 0) => Kind(kind.clone().leak()),
        ([], [(reason, _)], 0) => Rejected(reason.clone().leak()),
        ([], [], 1) => Receipt,
        ([], [], 0) => Nothing,
        other => panic!("{told}: {other:?}"),
    }
}

const NEIGHBOUR: &str = r#"{"from":"34600000009","id":"neighbour","timestamp":"1764500000","type":"text","text":{"body":"kaixo"}}"#;

/// A webhook of Meta's with this value, the metadata last and unknown keys everywhere.
fn of_meta(value: &str) -> String {
    format!(
        r#"{{"trace":{{"a":[1]}},"entry":[{{"x":null,"changes":[{{"value":{{{value},"new":[{{}}],"metadata":{{"z":1,"phone_number_id":"100200300"}},"messaging_product":null}},"field":"messages","y":0}}],"time":1764500000,"id":900}}],"object":"whatsapp_business_account"}}"#
    )
}

#[tokio::test]
async fn whatever_is_odd_in_a_message_of_meta_is_stored_or_rejected_and_costs_its_neighbour_nothing() {
    let app = App::of(channels(ALL)).await;
    let long = "x".repeat(600);
    let deep = format!(
        r#"{{"from":"1","id":"m","type":"text","text":{{"body":"x"}},"deep":{}1{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let s = |text: &str| text.to_owned();
    // A message of this sender with this beside its id.
    let of = |rest: &str| format!(r#"{{{rest},"id":"m","from":"34600000001"}}"#);
    let table: Vec<(String, Fate)> = vec![
        (
            s(r#"{"\u0066rom":"34600000001","\u0069d":"m","typ\u0065":"text","text":{"b\u006fdy":"a"}}"#),
            Kind("text"),
        ),
        (of(r#""\ud800":1,"type":"text","text":{"body":"a"}"#), Kind("text")),
        (
            of(r#""type":"text","text":{"body":"\ud83d\u0000\udc00","\u0000":"\u0000"},"\u0000":1"#),
            Kind("text"),
        ),
        (s(r#"{"from":"34600000001","id":"m\u0000\ud800","type":"text","text":{"body":"a"}}"#), Kind("text")),
        (
            s(
                r#"{"from":"1","from":"34600000001","id":"no","id":"m","type":"image","type":"text","text":{"body":"a"}}"#,
            ),
            Kind("text"),
        ),
        (
            s(
                r#"{"from":34600000001,"id":90071992547409931234567,"timestamp":1764500000,"type":"text","text":{"body":"a"}}"#,
            ),
            Kind("text"),
        ),
        (
            of(
                r#""timestamp":null,"context":null,"referral":null,"errors":null,"type":"text","text":{"body":""}"#,
            ),
            Kind("text"),
        ),
        (
            of(
                r#""timestamp":"soon","context":"x","referral":7,"errors":{},"type":"text","text":{"body":"a"}"#,
            ),
            Kind("text"),
        ),
        (
            of(r#""timestamp":-1,"context":{"id":null,"from":{}},"type":"text","text":{"body":"a"}"#),
            Kind("text"),
        ),
        (
            of(r#""timestamp":"99999999999999999999","context":{"id":7},"type":"text","text":{"body":"a"}"#),
            Kind("text"),
        ),
        (of(r#""group_id":7,"type":"text","text":{"body":"a"}"#), Kind("text")),
        (of(r#""type":"text","text":null"#), Kind("unsupported")),
        (of(r#""type":"text","text":"a""#), Kind("unsupported")),
        (of(r#""type":"text","text":{"body":7}"#), Kind("unsupported")),
        (of(r#""type":"image","image":null"#), Kind("unsupported")),
        (of(r#""type":"image","image":{"id":null,"mime_type":null,"sha256":7,"caption":[]}"#), Kind("image")),
        (
            of(r#""type":"audio","audio":{"id":90071992547409931,"mime_type":";","voice":"true"}"#),
            Kind("audio"),
        ),
        (of(r#""type":"sticker","sticker":[]"#), Kind("unsupported")),
        (
            of(
                r#""type":"location","location":{"longitude":" -2.6 ","latitude":"42.8","name":null,"address":7}"#,
            ),
            Kind("location"),
        ),
        (of(r#""type":"location","location":{"latitude":"42,8","longitude":"-2,6"}"#), Kind("unsupported")),
        (of(r#""type":"location","location":{"latitude":"NaN","longitude":"inf"}"#), Kind("unsupported")),
        (of(r#""type":"location","location":{"latitude":null,"longitude":0}"#), Kind("unsupported")),
        (of(r#""type":"contacts","contacts":[]"#), Kind("contacts")),
        (of(r#""type":"contacts","contacts":[null,7,{"name":"Jon"}]"#), Kind("contacts")),
        (of(r#""type":"contacts","contacts":{"name":{}}"#), Kind("unsupported")),
        (of(r#""type":"interactive","interactive":null"#), Kind("unsupported")),
        (of(r#""type":"interactive","interactive":{}"#), Kind("unknown")),
        (
            of(r#""type":"interactive","interactive":{"type":"button_reply","button_reply":null}"#),
            Kind("unknown"),
        ),
        (
            of(
                r#""type":"interactive","interactive":{"button_reply":{"title":null,"id":7},"type":"button_reply"}"#,
            ),
            Kind("button_reply"),
        ),
        (
            of(
                r#""type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"r","title":7,"description":null}}"#,
            ),
            Kind("list_reply"),
        ),
        (
            of(
                r#""type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"response_json":null}}"#,
            ),
            Kind("form"),
        ),
        (
            of(
                r#""type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"response_json":[1]}}"#,
            ),
            Kind("form"),
        ),
        (
            of(
                r#""type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"response_json":"{\"a\":\"\\ud800\\u0000\"}"}}"#,
            ),
            Kind("form"),
        ),
        (
            of(
                r#""type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"response_json":{"\ud800":90071992547409931234567}}}"#,
            ),
            Kind("form"),
        ),
        (of(r#""type":"button","button":{}"#), Kind("template_button")),
        (of(r#""type":"button","button":{"payload":7,"text":null}"#), Kind("template_button")),
        (of(r#""type":"order","order":{"product_items":null,"text":7}"#), Kind("order")),
        (of(r#""type":"reaction","reaction":{"emoji":null}"#), Kind("reaction")),
        (of(r#""type":"reaction","reaction":null"#), Kind("unsupported")),
        (of(r#""type":"system","system":{}"#), Kind("system")),
        (
            of(r#""type":"system","system":{"type":"user_changed_number","wa_id":null,"user_id":7}"#),
            Kind("system"),
        ),
        (of(r#""type":"edit","edit":{"message":null}"#), Kind("edit")),
        (of(r#""type":"revoke","revoke":{}"#), Kind("revoke")),
        (of(r#""type":"unsupported","unsupported":null,"errors":[]"#), Kind("unsupported")),
        (of(r#""type":null"#), Kind("unknown")),
        (of(r#""type":7"#), Kind("unknown")),
        (of(r#""type":"TEXT","text":{"body":"a"}"#), Kind("unknown")),
        (of(&format!(r#""type":"{long}","{long}":{{"a":"\u0000"}}"#)), Kind("unknown")),
        (s(r#"{"from":"","from_user_id":"ES.1","id":"m","type":"text","text":{"body":"a"}}"#), Kind("text")),
        (s(r#"{"from":"ES.1","id":"m","type":"text","text":{"body":"a"}}"#), Kind("text")),
        (s(r#"{"from":null,"id":"m","type":"text","text":{"body":"a"}}"#), Rejected("no_sender")),
        (s(r#"{"from":{},"from_user_id":[],"id":"m","type":"text"}"#), Rejected("no_sender")),
        (s(r#"{"from":"+34 600","id":"m","type":"text"}"#), Rejected("no_sender")),
        (s(r#"{"from":"346000000011234567890","id":"m","type":"text"}"#), Rejected("no_sender")),
        (format!(r#"{{"from_user_id":"ES.{long}","id":"m","type":"text"}}"#), Rejected("no_sender")),
        (format!(r#"{{"from":"1","id":"{long}","type":"text"}}"#), Rejected("bad_id")),
        (s(r#"{"from":"1","id":"","type":"text"}"#), Rejected("no_id")),
        (s(r#"{"from":"1","id":null,"type":"text"}"#), Rejected("no_id")),
        (s(r#"{"from":"1","id":{"a":1},"type":"text"}"#), Rejected("no_id")),
        (s("null"), Rejected("malformed")),
        (s("[]"), Rejected("malformed")),
        (s(r#""m""#), Rejected("malformed")),
        (s(r#"{"from":"1","id":"m","type":"text","text":{"body":"a"},"n":1e999999}"#), Rejected("malformed")),
        (deep, Rejected("malformed")),
    ];
    for (message, expected) in table {
        for body in [
            of_meta(&format!(r#""messages":[{NEIGHBOUR},{message}]"#)),
            of_meta(&format!(
                r#""contacts":[null,{{}},7,{{"profile":null,"wa_id":null}}],"messages":[{message},{NEIGHBOUR}],"errors":null"#
            )),
            format!("\u{feff}{}", of_meta(&format!(r#""statuses":null,"messages":[{message}]"#))),
        ] {
            let found = fate(&app, "whatsapp", "x-hub-signature-256", body.as_bytes()).await;
            assert_eq!(found, expected, "{body}");
        }
    }
}

#[tokio::test]
async fn whatever_is_odd_around_the_messages_of_meta_loses_none() {
    let app = App::of(channels(ALL)).await;
    let whole = |entry: &str| format!(r#"{{"object":null,"entry":{entry}}}"#);
    let change = |metadata: &str, rest: &str| {
        format!(r#"[{{"changes":[{{"field":"messages","value":{{"metadata":{metadata},{rest}}}}}]}}]"#)
    };
    let ours = r#"{"phone_number_id":100200300}"#;
    let good = format!(r#"{{"changes":[{{"value":{{"messages":[{NEIGHBOUR}],"metadata":{ours}}}}}]}}"#);
    let text = r#"{"from":"34600000001","id":"m","type":"text","text":{"body":"a"}}"#;
    let status = |rest: &str| format!(r#"{{"id":"wamid.s","status":"sent",{rest}}}"#);
    let endless = (0..4000).map(|n| format!("{:x}", n * 7919 % 4096)).collect::<String>();
    let mut table: Vec<(String, Fate)> = vec![
        (whole(&change(ours, &format!(r#""messages":[{text}]"#))), Kind("text")),
        (whole(&change("null", &format!(r#""messages":[{text}]"#))), Rejected("unknown_number")),
        (
            whole(&change(r#"{"phone_number_id":null}"#, &format!(r#""messages":[{text}]"#))),
            Rejected("unknown_number"),
        ),
        (
            whole(&change(r#"{"phone_number_id":"999"}"#, &format!(r#""messages":[{text}]"#))),
            Rejected("unknown_number"),
        ),
        (whole(&change(ours, r#""messages":null"#)), Nothing),
        (whole(&change(ours, r#""messages":[],"statuses":[]"#)), Nothing),
        (whole(&change(ours, r#""errors":[null]"#)), Nothing),
        (whole(&change(ours, &format!(r#""messages":{text}"#))), Rejected("malformed")),
        (whole(&change(ours, r#""messages":"x""#)), Rejected("malformed")),
        (whole("[]"), Nothing),
        (whole(r#"[{}]"#), Nothing),
        (whole(r#"[{"changes":null},{"changes":[]}]"#), Nothing),
        (whole(r#"[{"changes":{}}]"#), Rejected("malformed")),
        (whole("[null]"), Rejected("malformed")),
        (whole(r#"[{"changes":[{"field":"messages","value":null}]}]"#), Rejected("malformed")),
        (whole(r#"[{"changes":[{"field":"messages"}]}]"#), Rejected("malformed")),
        (whole(r#"[{"changes":[{"field":"account_update","value":null}]}]"#), Nothing),
        (whole(r#"[{"changes":[{"field":"of_the_future","value":["\ud800"]}]}]"#), Nothing),
        (whole(r#"[{"changes":[{"field":"flows"}]}]"#), Nothing),
        (whole("{}"), Rejected("unparsable")),
        (whole("null"), Rejected("unparsable")),
        ("{}".to_owned(), Rejected("unparsable")),
        (r#""text""#.to_owned(), Rejected("unparsable")),
        (format!("{},", whole("[]")), Rejected("unparsable")),
        (format!("{0}{0}", whole("[]")), Rejected("unparsable")),
        (whole("[]").replace(']', ",]"), Rejected("unparsable")),
        (whole("[]").replace('"', "'"), Rejected("unparsable")),
        (
            format!(
                r#"{{"\ud800":1,"\u0065ntry":{}}}"#,
                change(ours, &format!(r#""m\u0065ssages":[{text}]"#))
            ),
            Kind("text"),
        ),
        (
            format!(
                r#"{{"entry":{},"deep":{}{}}}"#,
                change(ours, &format!(r#""messages":[{text}]"#)),
                "[".repeat(5000),
                "]".repeat(5000)
            ),
            Kind("text"),
        ),
    ];
    for (rest, expected) in [
        (
            r#""timestamp":null,"errors":null,"recipient_id":null,"conversation":null,"pricing":[]"#
                .to_owned(),
            Receipt,
        ),
        (r#""timestamp":1764500000,"errors":[null],"recipient_id":34600000001"#.to_owned(), Receipt),
        (r#""errors":[{"code":"131047"}],"biz_opaque_callback_data":7"#.to_owned(), Receipt),
        (r#""errors":{},"recipient_user_id":"ES.1","timestamp":"\u0000""#.to_owned(), Receipt),
        (r#""type":"payment""#.to_owned(), Nothing),
        (r#""status":null"#.to_owned(), Rejected("malformed")),
        (r#""id":[]"#.to_owned(), Rejected("malformed")),
        // No index of the database holds it.
        (format!(r#""id":"{endless}""#), Rejected("refused_by_database")),
        (format!(r#""status":"{endless}""#), Receipt),
    ] {
        table.push((whole(&change(ours, &format!(r#""statuses":[{}]"#, status(&rest)))), expected));
    }
    for (body, expected) in table {
        let found = fate(&app, "whatsapp", "x-hub-signature-256", body.as_bytes()).await;
        assert_eq!(found, expected, "{body}");
        // Beside an entry that is as it should be.
        if let Some(entries) = body.strip_prefix(r#"{"object":null,"entry":["#) {
            let comma = if entries.starts_with(']') { "" } else { "," };
            let both = format!(r#"{{"object":null,"entry":[{good}{comma}{entries}"#);
            let unparsable = expected == Rejected("unparsable");
            let both = if unparsable { body } else { both };
            assert_eq!(
                fate(&app, "whatsapp", "x-hub-signature-256", both.as_bytes()).await,
                expected,
                "{both}"
            );
        }
    }
}

#[tokio::test]
async fn statuses_stand_before_messages_and_numbers_are_mixed_and_all_arrive_where_they_belong() {
    let app = App::of(channels(ALL)).await;
    let status = json!({"id": "wamid.s", "status": "read", "timestamp": "1764500000"});
    let message = |from: &str, id: &str| json!({"from": from, "id": id, "timestamp": "1764500000", "type": "text", "text": {"body": id}});
    let change = |number: Value, value: Value| {
        let mut value = value;
        value["metadata"] = json!({"phone_number_id": number});
        json!({"field": "messages", "value": value})
    };
    // Contacts in another order than the messages, and one more than there are.
    let contacts = json!([{"wa_id": "3", "profile": {"name": "nobody"}}, {"wa_id": "2", "user_id": "ES.2", "profile": {"name": "two"}},
                          {"profile": {"name": "one"}, "wa_id": "1"}]);
    let body = json!({"entry": [
        {"id": "1", "changes": [
            change(json!("100200301"), json!({"statuses": [status], "messages": [message("1", "b1")]})),
            change(json!(100_200_300), json!({"statuses": [status], "contacts": contacts, "messages": [message("1", "a1"), message("2", "a2")]})),
            change(json!("777"), json!({"statuses": [status], "messages": [message("1", "x1")]}))]},
        {"id": "2", "changes": [change(json!("100200301"), json!({"messages": [message("1", "b2"), message("1", "b1")]}))]},
    ]});
    let answer = app.post(&body).await;
    let told = (&answer["duplicates"], &answer["rejected"], &answer["receipts_processed"]);
    assert_eq!(told, (&json!(1), &json!(1), &json!(2)));
    let stored: Vec<(String, String, Option<String>)> = sqlx::query_as(
        "select channel, message_id, payload->'metadata'->>'profile_name' from inbound.event
         order by array_position($1::text[], activity_id::text)",
    )
    .bind(
        answer["activity_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect::<Vec<_>>(),
    )
    .fetch_all(&app.database.pool)
    .await
    .unwrap();
    let row = |channel: &str, id: &str, name: Option<&str>| {
        (channel.to_owned(), id.to_owned(), name.map(str::to_owned))
    };
    assert_eq!(
        stored,
        [
            row("second", "b1", None),
            row("whatsapp", "a1", Some("one")),
            row("whatsapp", "a2", Some("two")),
            row("second", "b2", None),
        ]
    );
    let by_id =
        "select count(*) from chat.alias where kind = 'user_id' and value = 'ES.2' and channel = 'whatsapp'";
    assert_eq!(app.database.count(by_id).await, 1);
    assert_eq!(app.database.count("select count(distinct channel) from inbound.receipt").await, 2);
}

#[tokio::test]
async fn whatever_is_odd_in_a_result_of_infobip_is_stored_or_rejected_in_either_dialect() {
    let app = App::of(channels(ALL)).await;
    let older = |part: &str| {
        format!(
            r#"{{"price":null,"message":{part},"contact":null,"to":34945000001,"messageId":"m","from":"+34600000001","integrationType":"WhatsApp","keyword":null,"identity":[]}}"#
        )
    };
    let newer = |parts: &str| {
        format!(
            r#"{{"content":{parts},"message":null,"event":"MO","channel":"whatsapp","destination":"+34945000001","sender":34600000001,"messageId":"m","context":null,"contact":{{"name":null}},"receivedAt":"soon"}}"#
        )
    };
    let mut table: Vec<(String, Fate)> = Vec::new();
    for (part, kind) in [
        (r#"{"t\u0079pe":"TEXT","text":"\ud800\u0000","\ud800":null}"#, "text"),
        (r#"{"type":"TEXT","text":null}"#, "unsupported"),
        (r#"{"type":"TEXT"}"#, "unsupported"),
        (r#"{"type":"IMAGE","url":null,"caption":7}"#, "image"),
        (r#"{"type":"VOICE","url":7}"#, "audio"),
        (r#"{"type":"DOCUMENT","url":"","filename":null,"contentType":""}"#, "document"),
        (r#"{"type":"LOCATION","latitude":"42.8","longitude":"-2.6","name":7}"#, "location"),
        (r#"{"type":"LOCATION","latitude":"","longitude":null}"#, "unsupported"),
        (r#"{"type":"CONTACT","contacts":[null,{"name":7}]}"#, "contacts"),
        (r#"{"type":"CONTACT","contacts":null}"#, "unsupported"),
        (r#"{"type":"INTERACTIVE_BUTTON_REPLY","id":7,"title":null}"#, "button_reply"),
        (r#"{"type":"INTERACTIVE_BUTTON_REPLY","id":null,"title":"x"}"#, "unsupported"),
        (r#"{"type":"INTERACTIVE_LIST_REPLY","id":"a","title":{},"description":7}"#, "list_reply"),
        (r#"{"type":"INTERACTIVE_FLOW_REPLY","response":"{\"a\":1}"}"#, "form"),
        (r#"{"type":"INTERACTIVE_FLOW_REPLY","response":{"\ud800":90071992547409931234567}}"#, "form"),
        (r#"{"type":"INTERACTIVE_FLOW_REPLY","response":null}"#, "unsupported"),
        (r#"{"type":"ORDER","productItems":null}"#, "order"),
        (r#"{"type":"REACTION","emoji":null,"action":null,"context":[]}"#, "reaction"),
        (r#"{"type":"BUTTON","payload":null,"text":"Yes"}"#, "template_button"),
        (r#"{"type":null}"#, "unknown"),
        (r#"{}"#, "unknown"),
        (r#"{"type":"\u0000"}"#, "unknown"),
    ] {
        table.push((older(part), Kind(kind)));
        table.push((newer(&format!("[{part}]")), Kind(kind)));
        table.push((newer(part), Kind(kind)));
    }
    let text = r#"{"type":"TEXT","text":"a"}"#;
    let with = |what: &str, by: &str| older(text).replace(what, by);
    let both = |what: &str, by: &str| newer(&format!("[{text}]")).replace(what, by);
    table.extend([
        (newer(&format!(r#"[{text},null,7,{{"type":"IMAGE","url":"https://x/1"}}]"#)), Kind("image")),
        (newer("[]"), Kind("unsupported")),
        (newer("null"), Kind("unsupported")),
        (newer("[null]"), Kind("unknown")),
        (with(r#""messageId":"m""#, r#""messageId":90071992547409931234567"#), Kind("text")),
        (with(r#""messageId":"m""#, r#""messageId":null"#), Rejected("no_id")),
        (with(r#""messageId":"m""#, &format!(r#""messageId":"{}""#, "x".repeat(513))), Rejected("bad_id")),
        (with(r#""from":"+34600000001""#, r#""from":null"#), Rejected("no_sender")),
        (with(r#""from":"+34600000001","#, ""), Rejected("no_sender")),
        (with(r#""to":34945000001"#, r#""to":null"#), Rejected("unknown_number")),
        (with(r#""to":34945000001"#, r#""to":"34945000009""#), Rejected("unknown_number")),
        (
            with(r#""contact":null"#, r#""contact":{"userId":"ES.1","phoneNumber":7,"name":"\u0000"}"#),
            Kind("text"),
        ),
        (with("WhatsApp", "SMS"), Nothing),
        (both(r#""event":"MO""#, r#""event":null"#), Kind("text")),
        (both(r#""event":"MO","#, ""), Kind("text")),
        (
            both(r#""event":"MO""#, r#""event":"TYPING_STARTED","content":null"#)
                .replace(r#""content":[{"type":"TEXT","text":"a"}]"#, r#""content":[]"#),
            Nothing,
        ),
        ("null".to_owned(), Rejected("malformed")),
        ("[]".to_owned(), Rejected("malformed")),
    ]);
    let report = |rest: &str| format!(r#"{{"messageId":"wamid.s","to":"34600000001",{rest}}}"#);
    table.extend([
        (report(r#""status":{"groupName":"DELIVERED"},"content":null,"message":null,"error":null,"doneAt":null"#), Receipt),
        (report(r#""status":{"groupId":"3","groupName":null},"error":{"id":"0"},"price":7"#), Receipt),
        (report(r#""status":{"groupId":5},"error":{"id":"7015"},"sentAt":7"#), Receipt),
        (report(r#""status":{},"error":[]"#), Nothing),
        (report(r#""seenAt":"2026-11-30T10:00:00.000+0000","status":null"#), Receipt),
        (report(r#""status":{"groupId":3},"messageId":null"#), Rejected("malformed")),
    ]);
    let neighbour = older(text).replace(r#""m""#, r#""neighbour""#);
    for (result, expected) in table {
        for body in [
            format!(r#"{{"results":[{result}]}}"#),
            format!(
                "\u{feff}{{\"pendingMessageCount\":null,\"messageCount\":\"2\",\"results\":[{neighbour},{result}]}}"
            ),
        ] {
            let found = fate(&app, "infobip", "x-infobip-signature", body.as_bytes()).await;
            assert_eq!(found, expected, "{body}");
        }
    }
    for body in ["", "{}", "[]", r#"{"results":null}"#, r#"{"results":{}}"#, "\u{feff}", "{\"results\":[]}x"]
    {
        let found = fate(&app, "infobip", "x-infobip-signature", body.as_bytes()).await;
        assert_eq!(found, Rejected("unparsable"), "{body}");
    }
    assert_eq!(fate(&app, "infobip", "x-infobip-signature", br#"{"results":[]}"#).await, Nothing);
}

#[tokio::test]
async fn every_shape_of_a_body_in_our_own_form_has_its_status() {
    let app = App::of(channels(ALL)).await;
    let message =
        |key: &str| format!(r#"{{"from":34600000001,"type":"text","text":"a","idempotency_key":{key}}}"#);
    let long = |bytes: usize| format!(r#""{}""#, "k".repeat(bytes));
    let good = message(r#""k1""#);
    let bad = r#"{"from":"34600000001"}"#;
    // Body, status, created, duplicates, rejected, reason of what is rejected.
    let table: Vec<(String, u16, [usize; 3], &str)> = vec![
        (good.clone(), 201, [1, 0, 0], ""),
        (good.clone(), 200, [0, 1, 0], ""),
        (format!("\u{feff}{good}"), 200, [0, 1, 0], ""),
        (format!(r#"{{"messages":[{good},{good}]}}"#), 200, [0, 2, 0], ""),
        (format!(r#"{{"messages":[{0},{0}]}}"#, message(r#""k2""#)), 201, [1, 1, 0], ""),
        (format!(r#"{{"messages":[{good},{bad}]}}"#), 200, [0, 1, 1], "malformed"),
        (format!(r#"{{"messages":[{bad},{}]}}"#, message(r#""k3""#)), 201, [1, 0, 1], "malformed"),
        (format!(r#"{{"messages":[{bad},7]}}"#), 200, [0, 0, 2], "malformed"),
        (format!(r#"{{"messages":[{bad}]}}"#), 422, [0, 0, 1], "malformed"),
        (bad.to_owned(), 422, [0, 0, 1], "malformed"),
        (r#"{"messages":[]}"#.to_owned(), 200, [0, 0, 0], ""),
        (r#"{"messages":{}}"#.to_owned(), 422, [0, 0, 1], "malformed"),
        // As good as absent.
        (format!(r#"{{"messages":null,{}"#, &message(r#""k4""#)[1..]), 201, [1, 0, 0], ""),
        (message("90071992547409931234567"), 201, [1, 0, 0], ""),
        (message(r#""90071992547409931234567""#), 200, [0, 1, 0], ""),
        (message(&long(512)), 201, [1, 0, 0], ""),
        (message(&long(513)), 422, [0, 0, 1], "bad_id"),
        (message(r#""""#), 422, [0, 0, 1], "bad_id"),
        (message("true"), 422, [0, 0, 1], "bad_id"),
        (message("null"), 201, [1, 0, 0], ""),
        (message("null"), 201, [1, 0, 0], ""),
        (message(r#""\u0000\ud800""#), 201, [1, 0, 0], ""),
        (r#"{"fr\u006fm":"someone","\u0074ype":"text","text":"\ud800"}"#.to_owned(), 201, [1, 0, 0], ""),
        (r#"{"from":"+34 600","type":"text","text":"a"}"#.to_owned(), 422, [0, 0, 1], "no_sender"),
        (r#"{"from":{},"type":"text","text":"a"}"#.to_owned(), 422, [0, 0, 1], "no_sender"),
        (r#"{"from":"1","type":null,"text":"a"}"#.to_owned(), 422, [0, 0, 1], "malformed"),
        (
            r#"{"from":"1","type":"location","location":{"latitude":"91","longitude":"0"}}"#.to_owned(),
            422,
            [0, 0, 1],
            "malformed",
        ),
        ("null".to_owned(), 422, [0, 0, 1], "malformed"),
        ("7".to_owned(), 422, [0, 0, 1], "malformed"),
        ("[]".to_owned(), 422, [0, 0, 1], "malformed"),
        (String::new(), 422, [0, 0, 1], "unparsable"),
        ("{".to_owned(), 422, [0, 0, 1], "unparsable"),
        (format!("{good}{good}"), 422, [0, 0, 1], "unparsable"),
        ("from=1&type=text".to_owned(), 422, [0, 0, 1], "unparsable"),
    ];
    for (body, status, counts, reason) in table {
        sqlx::query("delete from inbound.rejection").execute(&app.database.pool).await.unwrap();
        let (answered, answer) = post_own(&app, &body).await;
        assert_eq!(answered, status, "{body}: {answer}");
        let told = answer["activity_ids"].as_array().unwrap().len();
        let told = [json!(told), answer["duplicates"].clone(), answer["rejected"].clone()];
        assert_eq!(told, counts.map(|count| json!(count)), "{body}");
        let says = if status == 422 { json!(422) } else { json!("accepted") };
        assert_eq!((&answer["status"], &answer["receipts_processed"]), (&says, &json!(0)), "{body}");
        assert_eq!(
            answer["activity_id"],
            answer["activity_ids"].get(0).cloned().unwrap_or_default(),
            "{body}"
        );
        assert_eq!(
            (answer["title"].is_string(), answer["detail"].is_string()),
            (status == 422, status == 422)
        );
        let rejected = app.rejected().await;
        assert!(
            rejected.len() == counts[2] && rejected.iter().all(|(kept, _)| kept == reason),
            "{body}: {rejected:?}"
        );
    }
    let unsigned = app.post_to("city-app", &[], good.clone()).await;
    assert_eq!(unsigned.status().as_u16(), 403);
    let signed = [("x-abisu-signature-256", signature_with(SECRET, b"other"))];
    assert_eq!(app.post_to("city-app", &signed, good).await.status().as_u16(), 403);
}
