//! `abisu flows publish`, against a Graph API with its own reading of what a form may be.

use simulator::{Config, Simulator};
use testkit::Database;

use crate::{Said, abisu};

const TOKEN: &str = "token-of-the-test";
const ACCOUNT: &str = "200000000000002";

async fn publish(database: &Database, graph: &Simulator, token: &str) -> Said {
    let url = format!("{}/meta", graph.url());
    let variables = [
        ("ABISU_META_GRAPH_URL", url.as_str()),
        ("ABISU_META_ACCESS_TOKEN", token),
        ("ABISU_META_WABA_ID", ACCOUNT),
        ("ABISU_META_PHONE_NUMBER_ID", "100000000000001"),
    ];
    abisu(Some(&database.url), &variables, &["flows", "publish"]).await
}

async fn start() -> (Database, Simulator) {
    let config = Config { access_token: TOKEN.to_owned(), waba_id: ACCOUNT.to_owned(), ..Config::default() };
    (testkit::database().await, Simulator::start(config).await.unwrap())
}

#[tokio::test]
async fn both_languages_are_published_once_however_often_it_runs_and_wherever_it_was_cut() {
    let (database, graph) = start().await;
    let first = publish(&database, &graph, TOKEN).await;
    assert_eq!(first.code, 0, "{}", first.error);
    assert_eq!(first.out.matches(" is live as ").count(), 2, "{}", first.out);
    let releases = "select count(*) from flow.release where state = 'published' and published_at is not null";
    assert_eq!(database.count(releases).await, 2);

    let again = publish(&database, &graph, TOKEN).await;
    assert_eq!(again.out.matches(" is live already as ").count(), 2, "{}", again.out);

    // As if it had been cut between the publishing of one language and its record.
    sqlx::query("delete from flow.release where language = 'eu'").execute(&database.pool).await.unwrap();
    let repaired = publish(&database, &graph, TOKEN).await;
    assert_eq!(repaired.code, 0, "{}", repaired.error);
    assert_eq!(database.count(releases).await, 2);
    let id = |text: &str| {
        text.lines().find(|line| line.starts_with("eu:")).unwrap().rsplit(' ').next().unwrap().to_owned()
    };
    assert_eq!(id(&first.out), id(&repaired.out), "no second form is made");
}

#[tokio::test]
async fn a_token_that_is_refused_is_named_and_not_shown() {
    let (database, graph) = start().await;
    let said = publish(&database, &graph, "wrong-token").await;
    assert_eq!(said.code, 1);
    assert!(said.error.contains("the access token"), "{}", said.error);
    assert!(!said.error.contains("wrong-token"), "{}", said.error);
    assert_eq!(said.error.lines().count(), 1, "{}", said.error);
}
