//! `abisu migrate` on an empty database.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Executor};
use uuid::Uuid;

use crate::abisu;

#[tokio::test]
async fn two_migrations_at_once_are_safe_and_a_third_finds_nothing_to_do() {
    let server: PgConnectOptions = std::env::var("ABISU_TEST_DATABASE_URL").unwrap().parse().unwrap();
    let name = format!("abisu_migrate_{}", Uuid::now_v7().simple());
    let mut on = server.connect().await.unwrap();
    on.execute(AssertSqlSafe(format!("create database {name}"))).await.unwrap();
    let url = server.database(&name).to_url_lossy().to_string();

    let (one, other) =
        tokio::join!(abisu(Some(&url), &[], &["migrate"]), abisu(Some(&url), &[], &["migrate"]));
    let third = abisu(Some(&url), &[], &["migrate"]).await;
    on.execute(AssertSqlSafe(format!("drop database {name} with (force)"))).await.unwrap();

    for said in [&one, &other, &third] {
        assert_eq!(said.code, 0, "{}", said.error);
    }
    let applied =
        [&one, &other].map(|said| said.out.lines().filter(|line| line.starts_with("applied ")).count());
    let all = runtime::database::MIGRATIONS.iter().count();
    assert!(
        applied == [all, 0] || applied == [0, all],
        "each migration is applied by one of the two: {applied:?}"
    );
    assert!(third.out.ends_with(": nothing to apply\n"), "{}", third.out);
}

/// Managed databases have owners of this kind. Both rights are asked for one after the other, each in one line.
#[tokio::test]
async fn an_owner_who_may_too_little_is_told_which_right_it_lacks() {
    let server: PgConnectOptions = std::env::var("ABISU_TEST_DATABASE_URL").unwrap().parse().unwrap();
    let name = format!("abisu_poor_{}", Uuid::now_v7().simple());
    let mut admin = server.connect().await.unwrap();
    admin.execute(AssertSqlSafe(format!("create role {name} login"))).await.unwrap();
    admin.execute(AssertSqlSafe(format!("create database {name} owner {name}"))).await.unwrap();
    let mut inside = server.clone().database(&name).connect().await.unwrap();
    let url = server.database(&name).username(&name).to_url_lossy().to_string();

    let no_extension = abisu(Some(&url), &[], &["migrate"]).await;
    inside.execute("create extension postgis").await.unwrap();
    let no_roles = abisu(Some(&url), &[], &["migrate"]).await;
    admin.execute(AssertSqlSafe(format!("alter role {name} createrole"))).await.unwrap();
    let complete = abisu(Some(&url), &[], &["migrate"]).await;

    drop(inside);
    admin.execute(AssertSqlSafe(format!("drop database {name} with (force)"))).await.unwrap();
    admin.execute(AssertSqlSafe(format!("drop role {name}"))).await.unwrap();
    for (said, right) in [(&no_extension, "createrole"), (&no_roles, "CREATEROLE")] {
        assert_eq!(said.code, 1);
        assert!(said.error.contains(right) && said.error.trim().lines().count() == 1, "{}", said.error);
    }
    assert_eq!(complete.code, 0, "{}", complete.error);
}
