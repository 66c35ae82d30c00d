//! The command line as a person runs it: the built program, a real database, a Graph API that checks what it gets.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it stands")]

mod area;
mod channels;
mod erase;
mod flows;
mod forms;
mod geocoder;
mod migrate;
mod outbox;
mod queue;
mod queue_status;
mod show;

use std::process::Stdio;

use tokio::process::Command;

/// What a run of `abisu` said and how it ended.
struct Said {
    code: i32,
    out: String,
    error: String,
}

/// `abisu` with this database and these variables, and nothing of the surrounding configuration.
fn command(database: Option<&str>, variables: &[(&str, &str)], args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_abisu"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ABISU_") {
            command.env_remove(name);
        }
    }
    command.envs(database.map(|url| ("ABISU_DATABASE_URL", url))).envs(variables.iter().copied());
    command.args(args).stdin(Stdio::null());
    command
}

/// Runs it to its end.
async fn abisu(database: Option<&str>, variables: &[(&str, &str)], args: &[&str]) -> Said {
    let output = command(database, variables, args).output().await.unwrap();
    Said {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        error: String::from_utf8(output.stderr).unwrap(),
    }
}

#[tokio::test]
async fn what_is_missing_or_wrong_is_one_line_with_its_name_and_code_64() {
    let cases: [(&[&str], &str); 4] = [
        (&["migrate"], "ABISU_DATABASE_URL is not set"),
        (&["queue", "status"], "ABISU_DATABASE_URL is not set"),
        (&["migrate", "--database-url", "mysql://x"], "ABISU_DATABASE_URL: not a URL like postgres://"),
        (&["flows", "publish"], "ABISU_META_ACCESS_TOKEN is not set"),
    ];
    for (args, says) in cases {
        let said = abisu(None, &[], args).await;
        assert_eq!(said.code, 64, "{args:?}: {}", said.error);
        assert!(said.error.starts_with(&format!("abisu: {says}")), "{args:?}: {}", said.error);
        assert_eq!(said.error.lines().count(), 1, "{}", said.error);
    }
    assert_eq!(abisu(None, &[], &["report", "show"]).await.code, 64);
    assert_eq!(abisu(None, &[], &["--help"]).await.code, 0);
}

#[tokio::test]
async fn a_database_that_refuses_is_named_without_its_password() {
    let url = std::env::var("ABISU_TEST_DATABASE_URL").unwrap();
    let mut url: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
    url = url.database("abisu_absent").password("hunter2");
    let said =
        abisu(Some(sqlx::ConnectOptions::to_url_lossy(&url).as_str()), &[], &["queue", "status"]).await;
    assert_eq!(said.code, 1);
    assert!(said.error.contains("cannot use database \"abisu_absent\""), "{}", said.error);
    assert!(!said.error.contains("hunter2"), "{}", said.error);
}
