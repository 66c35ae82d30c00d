//! Photos by signed links.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ingest::MediaSource;
use partner::media::{MediaKeys, PhotoId};
use reqwest::{Method, Response};
use sha2::{Digest, Sha256};
use testkit::eventually;

use crate::app::{App, channels, problem};
use crate::channels::SecretFile;
use crate::contract::{Contract, MEDIA};

const PICTURE: &[u8] = b"\xff\xd8\xff a picture";

fn token(secret: &str, photo: &PhotoId, seconds: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    MediaKeys::parse(&secret.into()).unwrap().token(photo, i64::try_from(now).unwrap() + seconds)
}

async fn keep(app: &App) -> PhotoId {
    let id: PhotoId = Sha256::digest(PICTURE).into();
    sqlx::query("insert into report.photo (sha256, content_type, bytes) values ($1, 'image/jpeg', $2)")
        .bind(&id[..])
        .bind(PICTURE)
        .execute(&app.database.pool)
        .await
        .unwrap();
    id
}

async fn ask(app: &App, method: Method, token: &str, tag: Option<&str>) -> Response {
    let request = app.http.request(method, format!("{}/media/{token}", app.url));
    let request = tag.into_iter().fold(request, |request, tag| request.header("if-none-match", tag));
    request.send().await.unwrap()
}

#[tokio::test]
async fn a_photo_is_had_by_a_genuine_link_of_either_secret_and_by_no_other() {
    let app = App::start().await;
    let id = keep(&app).await;
    let mut contract = Contract::of(&app).await;
    let (new, old) = (token("the new secret of links", &id, 60), token("the old secret of links", &id, 60));
    for genuine in [&new, &old] {
        let answer = ask(&app, Method::GET, genuine, None).await;
        let headers = answer.headers().clone();
        let told = |name: &str| headers[name].to_str().unwrap().to_owned();
        contract.check(MEDIA, "get", answer.status().as_u16(), &told("content-type"), "\"\"");
        assert!(told("etag").len() == 66 && told("cache-control") == "private, no-cache");
        assert_eq!(told("x-content-type-options"), "nosniff");
        assert_eq!(answer.bytes().await.unwrap(), PICTURE);
        let same = ask(&app, Method::GET, genuine, Some(&told("etag"))).await;
        assert_eq!((same.status().as_u16(), same.headers()["etag"].to_str().unwrap()), (304, &*told("etag")));
        assert!(same.bytes().await.unwrap().is_empty());
    }
    let head = ask(&app, Method::HEAD, &new, None).await;
    assert_eq!(head.headers()["content-length"], PICTURE.len().to_string());

    let forged = token("some secret that is not ours", &id, 60);
    for wrong in [forged.as_str(), &new[1..], "x", "%FF", "..%2f..%2fopenapi.json"] {
        contract.saw(MEDIA, "get", ask(&app, Method::GET, wrong, None).await).await;
    }
    contract
        .saw(MEDIA, "get", ask(&app, Method::GET, &token("the new secret of links", &id, -1), None).await)
        .await;
    let unknown = token("the new secret of links", &[7; 32], 60);
    contract.saw(MEDIA, "get", ask(&app, Method::GET, &unknown, None).await).await;
    app.proxy.cut();
    contract.saw(MEDIA, "get", ask(&app, Method::GET, &new, None).await).await;
    app.proxy.mend();
    let named = ("/media/{token}".to_owned(), "get".to_owned(), "304".to_owned());
    assert_eq!(contract.unseen(MEDIA), [named], "a 304 has no body to check; it was had above");
    problem(ask(&app, Method::POST, &new, None).await, 405).await;
    let counted = app.metrics();
    for told in ["Served\"} 5", "Forged\"} 5", "Expired\"} 1", "Gone\"} 1", "Unavailable\"} 1"] {
        assert!(counted.contains(&format!("media_requests_total{{outcome=\"{told}")), "{told}: {counted}");
    }
}

#[tokio::test]
async fn the_secret_of_links_is_rotated_without_a_restart_and_without_a_link_that_breaks() {
    let (old, new) = ("the old secret of links", "the new secret of links");
    let file = SecretFile::new(old);
    let media = MediaSource::in_file(file.0.clone()).unwrap();
    let app =
        App::with(channels("channels: [{id: a, kind: webhook, secrets: [{env: SECRET}]}]"), media).await;
    let id = keep(&app).await;
    let status =
        async |secret: &str| ask(&app, Method::GET, &token(secret, &id, 60), None).await.status().as_u16();
    assert_eq!((status(old).await, status(new).await), (200, 403));
    file.write(&format!("{new},{old}\n"));
    eventually("the new one is in force", async || (status(new).await == 200).then_some(())).await;
    assert_eq!(status(old).await, 200, "links that are under way still open");
    // None that may be used, and none at all: what was in force stays until there is one.
    for wrong in ["short", ""] {
        file.write(wrong);
        let closed = async || (status(new).await != 200 || status(old).await != 200).then_some(());
        let waited = tokio::time::timeout(Duration::from_millis(200), eventually("", closed)).await;
        assert!(waited.is_err(), "{wrong:?}");
    }
    file.write(new);
    eventually("the old one has gone", async || (status(old).await == 403).then_some(())).await;
    assert_eq!(status(new).await, 200);
}

#[tokio::test]
async fn the_role_of_the_door_reads_photos_by_their_hash_and_nothing_else_of_a_report() {
    let app = App::start().await;
    keep(&app).await;
    let pool = sqlx::PgPool::connect(&app.database.url_as("abisu_ingest")).await.unwrap();
    let tables: Vec<String> = sqlx::query_scalar(
        "select format('%I.%I', schemaname, tablename) from pg_tables where schemaname in ('report', 'chat', 'flow')",
    )
    .fetch_all(&app.database.pool)
    .await
    .unwrap();
    assert!(tables.len() > 8, "{tables:?}");
    for table in tables {
        let denied: bool = sqlx::query_scalar("select not has_table_privilege('abisu_ingest', $1, 'select')")
            .bind(&table)
            .fetch_one(&app.database.pool)
            .await
            .unwrap();
        assert!(denied, "{table}");
    }
    let others = sqlx::query("select * from report.read_photo_v1(null)").fetch_all(&pool).await.unwrap();
    assert!(others.is_empty());
    for role in ["abisu_conversation", "abisu_geocode", "abisu_partner_push"] {
        let call = "select has_function_privilege($1, 'report.read_photo_v1(bytea)', 'execute')";
        let may: bool = sqlx::query_scalar(call).bind(role).fetch_one(&app.database.pool).await.unwrap();
        assert!(!may, "{role}");
    }
}
