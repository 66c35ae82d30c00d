//! Creating, uploading and publishing forms over HTTP.

use channel::meta::FlowError;
use serde_json::json;

use crate::server::Server;

#[tokio::test]
async fn a_form_is_created_uploaded_and_published() {
    let server = Server::start().await;
    server.replies_json(200, &json!({"id": "77", "success": true}));
    server.replies_json(200, &json!({"success": true, "validation_errors": []}));
    server.replies_json(200, &json!({"success": true}));
    let client = server.client();
    let id = client.create_flow("900", "report es", &["OTHER"]).await.unwrap();
    client.upload_flow(&id, r#"{"version":"7.3"}"#.to_owned()).await.unwrap();
    client.publish_flow(&id).await.unwrap();
    let asked = server.asked();
    let paths: Vec<_> = asked.iter().map(|asked| asked.path.as_str()).collect();
    assert_eq!(paths, ["/meta/v26.0/900/flows", "/meta/v26.0/77/assets", "/meta/v26.0/77/publish"]);
    let upload = String::from_utf8_lossy(&asked[1].body).into_owned();
    for part in ["name=\"asset_type\"", "FLOW_JSON", "filename=\"flow.json\"", "application/json", "7.3"] {
        assert!(upload.contains(part), "{part} is missing in {upload}");
    }
}

#[tokio::test]
async fn what_the_linter_finds_is_an_error_although_the_call_succeeds() {
    let server = Server::start().await;
    server.replies_json(
        200,
        &json!({"success": true, "validation_errors": [
            {"error": "INVALID_PROPERTY", "message": "no such property", "line_start": 3,
             "pointers": [{"path": "screens[0]"}]},
            {},
        ]}),
    );
    let error = server.client().upload_flow("77", "{}".to_owned()).await.unwrap_err();
    let FlowError::Invalid(problems) = error else { panic!("{error}") };
    assert_eq!(problems[0].to_string(), "INVALID_PROPERTY: no such property (line 3) at screens[0]");
    assert_eq!(problems.len(), 2);
}

#[tokio::test]
async fn all_pages_of_a_listing_are_read() {
    let server = Server::start().await;
    let flow = |id: &str| json!({"id": id, "name": format!("n{id}"), "status": "DRAFT"});
    server.replies_json(
        200,
        &json!({"data": [flow("1")], "paging": {"cursors": {"after": "c"}, "next": "https://x"}}),
    );
    server.replies_json(200, &json!({"data": [flow("2")], "paging": {"cursors": {"after": "d"}}}));
    let flows = server.client().list_flows("900").await.unwrap();
    let ids: Vec<_> = flows.iter().map(|flow| flow.id.as_str()).collect();
    assert_eq!(ids, ["1", "2"]);
    assert_eq!(server.asked()[1].path, "/meta/v26.0/900/flows?fields=id%2Cname%2Cstatus&after=c");
}

#[tokio::test]
async fn a_document_is_read_back_without_the_token_and_taking_out_of_use_may_be_repeated() {
    let server = Server::start().await;
    let listed =
        json!({"data": [{"asset_type": "FLOW_JSON", "download_url": format!("{}/asset", server.url)}]});
    server.replies_json(200, &listed);
    server.replies_json(200, &json!({"version": "7.3"}));
    assert_eq!(server.client().flow_document("9").await.unwrap().unwrap()["version"], "7.3");
    let asked = server.asked();
    assert_eq!(asked[0].path, "/meta/v26.0/9/assets");
    assert!(asked[1].headers.get("authorization").is_none());

    server.replies_json(200, &json!({"success": true}));
    server.replies_json(400, &json!({"error": {"code": 139_003}}));
    server.replies_json(400, &json!({"error": {"code": 100}}));
    server.client().deprecate_flow("9").await.unwrap();
    server.client().deprecate_flow("9").await.unwrap();
    server.client().deprecate_flow("9").await.unwrap_err();
}
