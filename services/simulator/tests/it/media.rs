use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;
use simulator::Config;

use crate::support::World;

#[tokio::test]
async fn a_photo_is_looked_up_and_downloaded_with_the_token() {
    let world = World::new().await;
    let id = world.citizen().await;
    let (_, sent) = world.control(&format!("/citizens/{id}/photo"), json!({"caption": "aquí"})).await;
    let image = world.receiver.messages().pop().unwrap().message()["image"].clone();
    assert_eq!(image["id"], sent["media_id"]);
    let (status, found) = world.get(image["id"].as_str().unwrap()).await;
    assert_eq!((status, &found["sha256"]), (200, &sent["photo_sha256_hex"]));
    let hash = STANDARD.decode(image["sha256"].as_str().unwrap()).unwrap();
    assert_eq!(hex::encode(hash), found["sha256"]);

    let url = found["url"].as_str().unwrap();
    assert_eq!(world.http.get(url).send().await.unwrap().status(), 401);
    let call = world.http.get(url).bearer_auth(&world.config.access_token);
    let response = call.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "image/jpeg");
    let bytes = response.bytes().await.unwrap();
    assert_eq!(bytes.len(), found["file_size"].as_u64().unwrap() as usize);
    assert!(bytes.starts_with(&[0xff, 0xd8]) && bytes.ends_with(&[0xff, 0xd9]));
}

#[tokio::test]
async fn links_and_ids_end() {
    let config = Config { media_link_life: Duration::ZERO, statuses: false, ..Config::default() };
    let world = World::with(config).await;
    let id = world.citizen().await;
    let given = json!({"base64": "aGV5", "mime_type": "image/png"});
    let (_, sent) = world.control(&format!("/citizens/{id}/photo"), given).await;
    let media_id = sent["media_id"].as_str().unwrap();
    let (_, found) = world.get(media_id).await;
    assert_eq!((&found["mime_type"], &found["file_size"]), (&json!("image/png"), &json!(3)));
    let call = world.http.get(found["url"].as_str().unwrap()).bearer_auth(&world.config.access_token);
    assert_eq!(call.send().await.unwrap().status(), 404);

    let url = world.url(&format!("/control/media/{media_id}"));
    assert_eq!(world.http.delete(url).send().await.unwrap().status(), 200);
    let (status, gone) = world.get(media_id).await;
    assert_eq!(
        (status, &gone["error"]["code"], &gone["error"]["error_subcode"]),
        (400, &json!(100), &json!(33))
    );
}
