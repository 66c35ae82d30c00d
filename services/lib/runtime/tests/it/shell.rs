//! A service as a process would see it: this test binary runs itself as the service, so that signals and exit codes
//! are the real ones.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use runtime::config::{DatabaseArgs, DatabaseConfig, ServiceArgs, ShellArgs};
use runtime::{ConfigError, Shell};
use sqlx::postgres::PgPoolOptions;

/// Set in the child only: the test then is the service.
const AS_SERVICE: &str = "ABISU_TEST_AS_SERVICE";

#[derive(clap::Parser)]
struct Args {
    #[command(flatten)]
    shell: ShellArgs,
    #[command(flatten)]
    database: DatabaseArgs,
}

impl ServiceArgs for Args {
    type Config = DatabaseConfig;

    fn shell(&self) -> &ShellArgs {
        &self.shell
    }

    fn config(self) -> Result<DatabaseConfig, ConfigError> {
        self.database.config()
    }
}

/// Wires the behaviour named by the environment.
async fn run(config: DatabaseConfig, shell: Shell) -> anyhow::Result<()> {
    let _pool = shell.database(&config)?;
    let behaviour = std::env::var(AS_SERVICE).unwrap_or_default();
    let stopping = shell.stopping();
    shell.spawn("work", async move {
        match behaviour.as_str() {
            "fails" => anyhow::bail!("the work cannot go on"),
            "panics" => panic!("a fault"),
            "stubborn" => std::future::pending().await,
            _ => {
                stopping.cancelled().await;
                Ok(())
            }
        }
    });
    Ok(())
}

/// Not a test of its own: the entry of the child. In the parent it has nothing to do.
#[test]
fn service_entry() {
    if std::env::var_os(AS_SERVICE).is_some() {
        let code = runtime::main::<Quiet, _, _>("specimen", run);
        std::process::exit(if code == std::process::ExitCode::SUCCESS { 0 } else { exit_number(code) });
    }
}

/// [`Args`] from the environment alone: the flags on the command line are those of the test harness.
struct Quiet(Args);

impl clap::Parser for Quiet {
    fn try_parse() -> Result<Self, clap::Error> {
        <Args as clap::Parser>::try_parse_from(["specimen"]).map(Self)
    }
}

impl clap::CommandFactory for Quiet {
    fn command() -> clap::Command {
        <Args as clap::CommandFactory>::command()
    }

    fn command_for_update() -> clap::Command {
        <Args as clap::CommandFactory>::command_for_update()
    }
}

impl clap::FromArgMatches for Quiet {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        Args::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl ServiceArgs for Quiet {
    type Config = DatabaseConfig;

    fn shell(&self) -> &ShellArgs {
        &self.0.shell
    }

    fn config(self) -> Result<DatabaseConfig, ConfigError> {
        self.0.config()
    }
}

/// `ExitCode` does not show its number, but it shows whether it equals another.
fn exit_number(code: std::process::ExitCode) -> i32 {
    (1..=255_u8).find(|number| code == std::process::ExitCode::from(*number)).map_or(255, i32::from)
}

struct Specimen {
    child: Child,
    admin: String,
}

impl Specimen {
    fn start(behaviour: &str, variables: &[(&str, &str)]) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "shell::service_entry", "--nocapture"])
            .env_remove("ABISU_DATABASE_URL")
            .env(AS_SERVICE, behaviour)
            .env("ABISU_ADMIN_LISTEN", port.to_string())
            .env("ABISU_DRAIN_DELAY_MS", "300")
            .env("ABISU_GRACE_MS", "300")
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self { child: command.spawn().unwrap(), admin: format!("http://{port}") }
    }

    async fn get(&self, path: &str) -> Option<(u16, String)> {
        let client =
            runtime::http::client(Duration::from_secs(1), Duration::from_secs(2), Duration::ZERO).unwrap();
        let answer = client.get(format!("{}{path}", self.admin)).send().await.ok()?;
        Some((answer.status().as_u16(), answer.text().await.ok()?))
    }

    async fn ready(&self) {
        testkit::eventually("the service is ready", async || {
            self.get("/readyz").await.filter(|(status, _)| *status == 200)
        })
        .await;
    }

    fn signal(&self, signal: &str) {
        let done = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(done.success());
    }

    fn exit(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().unwrap();
        let errors = BufReader::new(self.child.stderr.take().unwrap());
        (status.code(), errors.lines().map_while(Result::ok).collect::<Vec<_>>().join("\n"))
    }
}

#[tokio::test]
async fn bad_configuration_is_one_clear_line_and_exit_code_64() {
    let (code, said) = Specimen::start("works", &[]).exit();
    assert_eq!(code, Some(64));
    assert_eq!(
        said,
        "specimen: ABISU_DATABASE_URL is not set; set it, or ABISU_DATABASE_URL_FILE to the path of a file that holds it"
    );
    let (code, said) = Specimen::start("works", &[("ABISU_DATABASE_URL", "mysql://u:secret@h/d")]).exit();
    assert_eq!(code, Some(64));
    assert!(said.contains("ABISU_DATABASE_URL") && !said.contains("secret"), "{said}");
    let (code, said) = Specimen::start("works", &[("ABISU_GRACE_MS", "soon")]).exit();
    assert_eq!(code, Some(64));
    assert!(said.starts_with("specimen: ABISU_GRACE_MS: ") && said.lines().count() == 1, "{said}");
}

#[tokio::test]
async fn a_service_is_live_at_once_and_ready_only_when_the_schema_is() {
    let db = testkit::database().await;
    let empty = format!("empty_{}", uuid::Uuid::now_v7().simple());
    sqlx::query(sqlx::AssertSqlSafe(format!("create database {empty}"))).execute(&db.pool).await.unwrap();
    let url = db.url.rsplit_once('/').map(|(server, _)| format!("{server}/{empty}")).unwrap();
    let specimen = Specimen::start("works", &[("ABISU_DATABASE_URL", &url)]);
    testkit::eventually("liveness", async || specimen.get("/livez").await).await;
    let waiting = testkit::eventually("its wiring", async || {
        specimen.get("/readyz").await.filter(|(_, body)| !body.contains("start"))
    });
    assert_eq!(waiting.await, (503, "waiting for database schema".to_owned()));
    let pool = PgPoolOptions::new().max_connections(1).connect(&url).await.unwrap();
    runtime::database::MIGRATIONS.run(&pool).await.unwrap();
    specimen.ready().await;
    let (_, version) = specimen.get("/version").await.unwrap();
    assert!(
        version.contains(&format!("\"schema_version\":{}", runtime::database::schema_version())),
        "{version}"
    );
    specimen.signal("-TERM");
    assert_eq!(specimen.exit().0, Some(0));
    pool.close().await;
    sqlx::query(sqlx::AssertSqlSafe(format!("drop database {empty} with (force)")))
        .execute(&db.pool)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_stopping_service_is_unready_first_and_still_live() {
    let db = testkit::database().await;
    let specimen =
        Specimen::start("works", &[("ABISU_DATABASE_URL", &db.url), ("ABISU_DRAIN_DELAY_MS", "60000")]);
    specimen.ready().await;
    specimen.signal("-TERM");
    testkit::eventually("unreadiness", async || {
        specimen.get("/readyz").await.filter(|answer| *answer == (503, "draining".to_owned()))
    })
    .await;
    assert_eq!(specimen.get("/livez").await.map(|(status, _)| status), Some(200));
    // A second signal does not wait for the drain.
    specimen.signal("-TERM");
    assert_eq!(specimen.exit().0, Some(1));
}

#[tokio::test]
async fn work_that_does_not_end_is_cut_after_the_grace_and_said() {
    let db = testkit::database().await;
    let specimen = Specimen::start("stubborn", &[("ABISU_DATABASE_URL", &db.url)]);
    specimen.ready().await;
    specimen.signal("-INT");
    assert_eq!(specimen.exit().0, Some(1));
}

#[tokio::test]
async fn a_task_that_fails_or_panics_ends_the_service() {
    let db = testkit::database().await;
    for behaviour in ["fails", "panics"] {
        let specimen = Specimen::start(behaviour, &[("ABISU_DATABASE_URL", &db.url)]);
        assert_eq!(specimen.exit().0, Some(1), "{behaviour}");
    }
}
