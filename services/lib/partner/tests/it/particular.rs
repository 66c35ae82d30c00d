//! What only one platform does.

use partner::{Found, Picture, Proof, Redeemed};
use serde_json::{Value, json};

use crate::platform::{AGREED, Kind, NESTED, OPEN311, Platform, RENAMED, incident, photo};

#[tokio::test]
async fn the_agreed_body_has_exactly_the_agreed_fields() {
    let platform = Platform::start(AGREED).await;
    let body: Value = serde_json::from_slice(&platform.partner.prepare(&incident(photo())).body).unwrap();
    let expected = json!({
        "external_code": "REF-2026-00001",
        "category": "PINTADAS",
        "latitude": 42.8467,
        "longitude": -2.6726,
        "address": "Calle Pintorería 12",
        "note": "junto al portal",
        "reported_at": "2026-11-30T09:00:00.250Z",
        "photo": { "content_type": "image/jpeg", "data": "YSBwaWN0dXJl" },
    });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn names_paths_and_codes_come_from_the_file() {
    let platform = Platform::start(RENAMED).await;
    platform.creates(201, RENAMED.accepted, &[]);
    let pass = platform.partner.pass().await.unwrap();
    let prepared = platform.partner.prepare(&incident(photo()));
    platform.partner.create(&pass, &prepared).await;
    platform.found(r#"[{"ref":"REF-2026-00001","order":5},{"ref":"REF-2026-00001","order":6}]"#);
    let found = platform.partner.find(&pass, "REF-2026-00001").await;
    assert_eq!(found, Found::Record { id: Some("5".to_owned()), count: 2 });

    let asked = platform.asked();
    let paths: Vec<&str> = asked.iter().map(|one| one.uri.path()).collect();
    assert_eq!(paths, ["/auth", "/v2/orders", "/v2/find"]);
    let login: Value = serde_json::from_str(&asked[0].body).unwrap();
    assert_eq!(login, json!({ "name": "abisu", "word": "pass word" }));
    assert_eq!(asked[1].authorization.as_deref(), Some("JWT t0ken"));
    assert_eq!(asked[2].authorization.as_deref(), Some("JWT t0ken"));
    let body: Value = serde_json::from_str(&asked[1].body).unwrap();
    let expected = json!({
        "ref": "REF-2026-00001",
        "category": "0417",
        "at": { "lat": 42.8467, "lon": -2.6726 },
        "text": "junto al portal",
        "reported_at": "2026-11-30T09:00:00.250Z",
        "image": { "content_type": "image/jpeg", "b64": "YSBwaWN0dXJl" },
    });
    assert_eq!(body, expected);
    assert_eq!(asked[2].uri.query(), Some("ref=REF-2026-00001"));
}

#[tokio::test]
async fn a_photo_may_be_a_plain_text_and_what_never_changes_comes_from_the_file() {
    for (file, with, without) in [
        (
            "fields: {photo: photo_b64, photo_data: null, photo_content_type: photo_mime}",
            json!({ "photo_b64": "YSBwaWN0dXJl", "photo_mime": "image/jpeg" }),
            json!({ "photo_b64": null, "photo_mime": null }),
        ),
        (
            "fields: {photo_data: null, photo_content_type: null}\nconstants: {channel: whatsapp, meta.source: 7}",
            json!({ "photo": "YSBwaWN0dXJl", "channel": "whatsapp", "meta": { "source": 7 } }),
            json!({ "photo": null, "channel": "whatsapp", "meta": { "source": 7 } }),
        ),
        (
            "fields: {photo_content_type: null}",
            json!({ "photo": { "data": "YSBwaWN0dXJl" } }),
            json!({ "photo": null }),
        ),
    ] {
        let platform = Platform::start(Kind { file: Some(file), ..AGREED }).await;
        for (picture, expected) in [(photo(), with), (Picture::None, without)] {
            let prepared = platform.partner.prepare(&incident(picture));
            let mut body: Value = serde_json::from_slice(&prepared.body).unwrap();
            for agreed in
                ["external_code", "category", "latitude", "longitude", "address", "note", "reported_at"]
            {
                assert!(body.as_object_mut().unwrap().remove(agreed).is_some(), "{file}: {agreed}");
            }
            assert_eq!(body, expected, "{file}");
        }
    }
}

#[tokio::test]
async fn what_is_nested_in_an_answer_is_found_by_its_path() {
    let platform = Platform::start(NESTED).await;
    platform.creates(201, NESTED.accepted, &[]);
    let pass = platform.partner.pass().await.unwrap();
    assert_eq!(&*pass.0, "t0ken");
    let seen = platform.partner.create(&pass, &platform.partner.prepare(&incident(photo()))).await;
    let Proof::Answer(answer) = seen.proof else { panic!("an answer was expected") };
    assert_eq!(answer.id.as_deref(), Some("R-7"));
    platform.found(&NESTED.listed(&[r#"{"keys":{"code":"REF-2026-00001","id":5}}"#]));
    let found = platform.partner.find(&pass, "REF-2026-00001").await;
    assert_eq!(found, Found::Record { id: Some("5".to_owned()), count: 1 });
}

#[tokio::test]
async fn a_refusal_that_quotes_us_does_not_say_that_the_record_exists() {
    let mut quoted = incident(photo());
    quoted.note = Some("ya existe un aviso, duplicate".to_owned());
    for (kind, body) in [
        (AGREED, r#"{"error":"'ya existe un aviso, duplicate' is not allowed in external_code"}"#),
        (OPEN311, r#"[{"code":400,"description":"'ya existe un aviso, duplicate' is not valid"}]"#),
    ] {
        let platform = Platform::start(kind).await;
        platform.creates(400, body, &[]);
        let pass = platform.partner.pass().await.unwrap();
        let seen = platform.partner.create(&pass, &platform.partner.prepare(&quoted)).await;
        let Proof::Answer(answer) = seen.proof else { panic!("an answer was expected") };
        assert!(!answer.already_exists, "{}", kind.name);
    }
}

#[tokio::test]
async fn an_open311_answer_may_stand_outside_a_list() {
    let platform = Platform::start(OPEN311).await;
    platform.creates(201, r#"{"service_request_id":638344,"service_notice":""}"#, &[]);
    let pass = platform.partner.pass().await.unwrap();
    let seen = platform.partner.create(&pass, &platform.partner.prepare(&incident(photo()))).await;
    let Proof::Answer(answer) = seen.proof else { panic!("an answer was expected") };
    assert_eq!(answer.id.as_deref(), Some("638344"));
}

#[tokio::test]
async fn open311_gets_a_form_with_its_key_and_the_reference_at_the_end_of_the_description() {
    let platform = Platform::start(OPEN311).await;
    platform.creates(201, OPEN311.accepted, &[]);
    let pass = platform.partner.pass().await.unwrap();
    let mut long = incident(Picture::Missing);
    long.note = Some("é".repeat(5000));
    for incident in [incident(photo()), long] {
        platform.partner.create(&pass, &platform.partner.prepare(&incident)).await;
    }
    let posted = platform.posted();
    let form: Vec<(String, String)> =
        form_urlencoded::parse(posted[0].body.as_bytes()).into_owned().collect();
    let expected = [
        ("jurisdiction_id", "city.example"),
        ("service_code", "0417"),
        ("lat", "42.8467"),
        ("long", "-2.6726"),
        ("description", "junto al portal\n[REF-2026-00001]"),
        ("address_string", "Calle Pintorería 12"),
        ("api_key", "pass word"),
    ];
    assert_eq!(form, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let (_, description) = form_urlencoded::parse(posted[1].body.as_bytes())
        .into_owned()
        .find(|(name, _)| name == "description")
        .unwrap();
    assert_eq!(description.chars().count(), 4000);
    assert!(description.ends_with("[REF-2026-00001]"));
}

#[tokio::test]
async fn an_open311_400_that_does_not_blame_the_request_leaves_a_doubt() {
    let platform = Platform::start(OPEN311).await;
    let pass = platform.partner.pass().await.unwrap();
    for (body, unclear) in [
        (r#"[{"code":400,"description":"service_code was not provided"}]"#, false),
        (r#"[{"code":400,"description":"The back office is down"}]"#, true),
        ("", true),
    ] {
        platform.creates(400, body, &[]);
        let seen = platform.partner.create(&pass, &platform.partner.prepare(&incident(photo()))).await;
        let Proof::Answer(answer) = seen.proof else { panic!("an answer was expected") };
        assert_eq!(answer.unclear, unclear, "{body}");
    }
}

#[tokio::test]
async fn a_token_that_is_refused_by_a_400_is_no_refusal_of_the_report() {
    let platform = Platform::start(Kind { file: Some("login: {scheme: null}"), ..AGREED }).await;
    let pass = platform.partner.pass().await.unwrap();
    for (body, access_refused) in
        [(r#"{"error":"token expired"}"#, true), (r#"{"error":"category: invalid token"}"#, false)]
    {
        platform.creates(400, body, &[]);
        let seen = platform.partner.create(&pass, &platform.partner.prepare(&incident(photo()))).await;
        let Proof::Answer(answer) = seen.proof else { panic!("an answer was expected") };
        assert_eq!(answer.access_refused, access_refused, "{body}");
    }
    assert_eq!(platform.posted()[0].authorization.as_deref(), Some("t0ken"));
}

/// One whose key has been withdrawn must cost no report its life.
#[tokio::test]
async fn an_open311_refusal_of_our_key_or_our_city_is_no_refusal_of_the_report() {
    let platform = Platform::start(OPEN311).await;
    let pass = platform.partner.pass().await.unwrap();
    for (status, body, access_refused) in [
        (400, r#"[{"code":403,"description":"Missing or invalid"}]"#, true),
        (400, r#"[{"code":400,"description":"api_key is not valid"}]"#, true),
        (422, r#"{"errors":[{"code":400,"description":"jurisdiction_id is unknown"}]}"#, true),
        (400, r#"[{"code":400,"description":"lat is not valid"}]"#, false),
    ] {
        platform.creates(status, body, &[]);
        let seen = platform.partner.create(&pass, &platform.partner.prepare(&incident(photo()))).await;
        let Proof::Answer(answer) = seen.proof else { panic!("an answer was expected") };
        assert_eq!((answer.access_refused, answer.unclear), (access_refused, false), "{body}");
    }
}

#[tokio::test]
async fn an_open311_token_is_asked_for_its_id() {
    let platform = Platform::start(OPEN311).await;
    platform.creates(200, OPEN311.nameless, &[]);
    let pass = platform.partner.pass().await.unwrap();
    let seen = platform.partner.create(&pass, &platform.partner.prepare(&incident(photo()))).await;
    let Proof::Answer(answer) = seen.proof else { panic!("an answer was expected") };
    assert_eq!((answer.id, answer.token.as_deref()), (None, Some("T-1")));
    for (body, expected) in [
        (r#"[{"token":"T-1","service_request_id":""}]"#, Redeemed::NotYet),
        (r#"[{"token":"T-1","service_request_id":638344}]"#, Redeemed::Id("638344".to_owned())),
        ("", Redeemed::Unclear("the answer names no request".to_owned())),
    ] {
        platform.token(body);
        assert_eq!(platform.partner.redeem(&pass, "T/1?x").await, expected);
    }
    let last = platform.asked().pop().unwrap().uri;
    assert_eq!((last.path(), last.query()), ("/tokens/T%2F1%3Fx.json", Some("jurisdiction_id=city.example")));
    assert_eq!(platform.posted().len(), 1);
}
