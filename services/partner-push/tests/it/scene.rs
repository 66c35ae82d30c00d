//! A database, a running service, and reports as `conversation` leaves them.

use clap::Parser;
use partner_push::args::Args;
use runtime::{ServiceArgs, Shell};
use sha2::{Digest, Sha256};
use testkit::{Database, eventually};
use uuid::Uuid;

use crate::platform::Platform;

pub(crate) const PHOTO: &[u8] = b"\xff\xd8\xff a picture";

/// Settings under which a test takes no longer than it must.
const QUICK: [&str; 12] = [
    "--poll=50",
    "--partner-user=abisu",
    "--partner-password=pass word",
    "--partner-connect-timeout=1000",
    "--partner-send-timeout=3000",
    "--partner-login-timeout=3000",
    "--partner-lease=10000",
    "--partner-backoff=20",
    "--partner-defer=20",
    "--partner-parallel=4",
    "--partner-enabled=true",
    "--log=off",
];

/// The arguments of a service: quick ones, and flags that win over them.
pub(crate) fn arguments(database: &Database, url: &str, flags: &[&str]) -> Args {
    let database_url = format!("--database-url={}", database.url_as("abisu_partner_push"));
    let partner_url = format!("--partner-url={url}");
    let settings = QUICK.into_iter().filter(|setting| {
        let name = setting.split('=').next().unwrap();
        !flags.iter().any(|flag| flag.starts_with(name))
    });
    let all = ["partner-push", &database_url, &partner_url].into_iter().chain(settings);
    Args::try_parse_from(all.chain(flags.iter().copied())).unwrap()
}

/// A service under test. Stop it before the end of the test.
pub(crate) struct Service {
    pub(crate) shell: Shell,
}

impl Service {
    /// Starts with the platform's address and further flags, which win.
    pub(crate) async fn start(database: &Database, url: &str, flags: &[&str]) -> Self {
        let shell = Shell::detached("partner-push");
        partner_push::run(arguments(database, url, flags).config().unwrap(), shell.clone()).await.unwrap();
        Self { shell }
    }

    pub(crate) async fn with(database: &Database, platform: &Platform, flags: &[&str]) -> Self {
        Self::start(database, &platform.url, flags).await
    }

    /// Waits until the admin port would tell this line.
    pub(crate) async fn until_metric(&self, line: &str) {
        testkit::until_metric(&self.shell, line).await;
    }

    pub(crate) async fn stop(self) {
        self.shell.stop().await;
    }
}

/// A report to insert.
pub(crate) struct NewReport {
    pub(crate) route: &'static str,
    pub(crate) note: Option<&'static str>,
    pub(crate) taxonomy_version: Option<&'static str>,
    pub(crate) photo: bool,
    pub(crate) picture: Vec<u8>,
}

impl Default for NewReport {
    fn default() -> Self {
        Self {
            route: "container/overflowing/glass",
            note: Some("junto al portal"),
            taxonomy_version: None,
            photo: true,
            picture: PHOTO.to_vec(),
        }
    }
}

impl NewReport {
    /// Inserts it as received and due. `number` makes its reference.
    pub(crate) async fn insert(self, database: &Database, number: u32) -> Uuid {
        let sha256 = Sha256::digest(&self.picture).to_vec();
        sqlx::query(
            "insert into report.photo (sha256, content_type, bytes) values ($1, 'image/jpeg', $2)
             on conflict do nothing",
        )
        .bind(&sha256)
        .bind(&self.picture)
        .execute(&database.pool)
        .await
        .unwrap();
        let id = Uuid::now_v7();
        sqlx::query(
            "insert into report.report (id, channel, chat_id, state, reference, language, point, address, area_id,
               area_version, taxonomy_version, route, note, photo_sha256, received_at)
             values ($1, 'whatsapp', $2, 'received', $3, 'es',
               public.st_setsrid(public.st_makepoint(-2.6726, 42.8467), 4326), 'Calle Pintorería 12', 'city', 1, $4,
               $5, $6, $7, '2026-11-30T09:00:00.25Z')",
        )
        .bind(id)
        .bind(Uuid::now_v7())
        .bind(format!("REF-2026-{number:05}"))
        .bind(self.taxonomy_version)
        .bind(self.route)
        .bind(self.note)
        .bind(self.photo.then_some(sha256))
        .execute(&database.pool)
        .await
        .unwrap();
        id
    }
}

/// What the outbox says of a report.
#[derive(Debug, Clone, sqlx::FromRow)]
pub(crate) struct Push {
    pub(crate) push_state: String,
    pub(crate) push_attempts: i32,
    pub(crate) push_error: Option<String>,
    pub(crate) push_epoch: i64,
    pub(crate) partner_id: Option<String>,
}

pub(crate) async fn push(database: &Database, id: Uuid) -> Push {
    sqlx::query_as(
        "select push_state, push_attempts, push_error, push_epoch, partner_id from report.report where id = $1",
    )
    .bind(id)
    .fetch_one(&database.pool)
    .await
    .unwrap()
}

/// Waits until the report is in `state`.
pub(crate) async fn until(database: &Database, id: Uuid, state: &str) -> Push {
    until_it(database, id, state, |push| push.push_state == state).await
}

/// Waits until what the outbox says is as told.
pub(crate) async fn until_it(database: &Database, id: Uuid, what: &str, is: impl Fn(&Push) -> bool) -> Push {
    eventually(what, || async { Some(push(database, id).await).filter(&is) }).await
}

/// Outcomes of the attempts of a report, oldest first; `open` for one that is.
pub(crate) async fn attempts(database: &Database, id: Uuid) -> Vec<String> {
    sqlx::query_scalar(
        "select coalesce(outcome, 'open') from report.push_attempt where report_id = $1 order by opened_at",
    )
    .bind(id)
    .fetch_all(&database.pool)
    .await
    .unwrap()
}

/// Steps of the timeline of a report, oldest first.
pub(crate) async fn steps(database: &Database, id: Uuid) -> Vec<String> {
    sqlx::query_scalar("select step from report.timeline where report_id = $1 order by id")
        .bind(id)
        .fetch_all(&database.pool)
        .await
        .unwrap()
}

/// Does to the row of a report what another worker would.
pub(crate) async fn meddle(database: &Database, id: Uuid, sql: &'static str) {
    assert_eq!(sqlx::query(sql).bind(id).execute(&database.pool).await.unwrap().rows_affected(), 1);
}
