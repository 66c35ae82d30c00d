//! The world of a test: a database, the simulator, the receiver of its deliveries, the service, citizens.

use std::sync::Arc;
use std::time::Duration;

use bus::outbound::pace::Pace;
use bus::outbound::pause::Probing;
use channel::config::{ChannelsFile, Loaded, Purpose};
use channel::meta::graph::{GraphClient, GraphConfig};
use conversation::config::{CHANNEL, Config};
use flow_json::Taxonomy;
use runtime::Shell;
use runtime::backoff::Backoff;
use runtime::config::DatabaseConfig;
use secrecy::SecretString;
use serde_json::{Value, json};
use simulator::Simulator;
use uuid::Uuid;

use crate::citizen::Citizen;
use crate::geo::{Geo, Stub};
use crate::telemetry;
use crate::webhook::Webhook;

/// Longer than anything a test waits for.
const PATIENCE: Duration = Duration::from_secs(25);
/// Is sent forms that are still drafts.
pub(crate) const TEST_NUMBER: &str = "34600999001";

pub(crate) struct World {
    pub(crate) db: testkit::Database,
    pub(crate) webhook: Webhook,
    pub(crate) geo: Arc<Geo>,
    simulator: Simulator,
    settings: simulator::Config,
    http: reqwest::Client,
}

/// The service in a runtime of its own. Dropped, it ends as a killed process does.
pub(crate) struct Service {
    shell: Shell,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Service {
    /// Drains, as on SIGTERM.
    pub(crate) async fn stop(self) {
        let stopped = tokio::time::timeout(PATIENCE, self.shell.stop()).await;
        assert!(stopped.is_ok(), "the service did not drain");
    }

    /// Waits until the admin port would tell this line.
    pub(crate) async fn until_metric(&self, line: &str) {
        testkit::until_metric(&self.shell, line).await;
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl World {
    /// With the forms of both languages published.
    pub(crate) async fn new() -> Self {
        let world = Self::without_forms().await;
        world.publish("es").await;
        world.publish("eu").await;
        world
    }

    /// Whose provider says what became of each message.
    pub(crate) async fn with_receipts() -> Self {
        let world = Self::made(true).await;
        world.publish("es").await;
        world.publish("eu").await;
        world
    }

    pub(crate) async fn without_forms() -> Self {
        Self::made(false).await
    }

    async fn made(receipts: bool) -> Self {
        telemetry::start();
        let db = testkit::database().await;
        let (webhook, url) = Webhook::start(db.pool.clone()).await;
        let settings =
            simulator::Config { webhook_url: Some(url), statuses: receipts, ..simulator::Config::default() };
        let simulator = Simulator::start(settings.clone()).await.unwrap();
        let second = Duration::from_secs(1);
        let http = runtime::http::client(second, PATIENCE, second).unwrap();
        Self { db, webhook, geo: Geo::new(), simulator, settings, http }
    }

    pub(crate) fn config(&self) -> Config {
        Config {
            database: DatabaseConfig {
                url: SecretString::from(self.db.url_as("abisu_conversation")),
                pool: 8,
                file: None,
            },
            channels: self.channels(""),
            reread: Duration::from_millis(50),
            taxonomy: Taxonomy::builtin().unwrap(),
            texts: None,
            time_zone: "Europe/Madrid".to_owned(),
            geocode_url: "http://127.0.0.1:1".to_owned(),
            geocode_resolve: Duration::from_secs(5),
            lookup_timeout: Duration::from_secs(5),
            workers: 8,
            events_per_chat: 8,
            lease: bus::Lease { length: Duration::from_secs(30) },
            poll: Duration::from_millis(50),
            backoff: quick(),
            send_backoff: quick(),
            photo_backoff: quick(),
            defer: Duration::from_millis(20),
            send_timeout: Duration::from_secs(5),
            pace: Pace {
                number_every: Duration::from_millis(1),
                pair_every: Duration::from_secs(6),
                pair_burst: 45,
            },
            receipt_wait: Duration::from_millis(20),
            probing: Probing { first: Duration::from_millis(50), longest: Duration::from_millis(200) },
            form_retry: Duration::from_millis(100),
            one_moment: Duration::from_millis(300),
            mark_read: false,
        }
    }

    /// The simulator's number, and what `more` lists (YAML).
    pub(crate) fn channels(&self, more: &str) -> Loaded {
        self.channels_with("{env: TOKEN}", more)
    }

    /// As [`World::channels`], where the number's token is said to be.
    pub(crate) fn channels_with(&self, token: &str, more: &str) -> Loaded {
        let (url, id) = (self.simulator.url(), &self.settings.phone_number_id);
        let text = format!(
            "channels:\n  - {{id: {CHANNEL}, kind: whatsapp_meta, default: true, phone_number_id: {id}, graph_url: \
             \"{url}/meta\", app_secrets: [{{env: X}}], verify_token: {{env: X}}, access_token: {token}, \
             test_numbers: [\"{TEST_NUMBER}\"]}}\n{more}"
        );
        let env = |name: &str| {
            Some(if name == "TOKEN" { self.settings.access_token.clone() } else { "s3cret".to_owned() })
        };
        Loaded::of(ChannelsFile::parse(&text).unwrap(), Purpose::Send, env).unwrap()
    }

    /// The token that the simulator takes.
    pub(crate) fn token(&self) -> &str {
        &self.settings.access_token
    }

    fn graph(&self) -> GraphClient {
        GraphClient::new(GraphConfig {
            base_url: format!("{}/meta", self.simulator.url()),
            version: "v26.0".to_owned(),
            phone_number_id: self.settings.phone_number_id.clone(),
            token: SecretString::from(self.settings.access_token.clone()),
            timeout: Duration::from_secs(5),
        })
        .unwrap()
    }

    pub(crate) async fn serve(&self) -> Service {
        self.serve_with(self.config(), &self.geo).await
    }

    pub(crate) async fn serve_with(&self, config: Config, geo: &Arc<Geo>) -> Service {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let shell = Shell::detached("conversation");
        let (given, geocoder) = (shell.clone(), Box::new(Stub(Arc::clone(geo))));
        let started = runtime.spawn(async move { conversation::start(config, &given, geocoder) });
        started.await.unwrap().unwrap();
        Service { shell, runtime: Some(runtime) }
    }

    /// Creates, uploads and publishes the form of a language and records it, as `abisu flows publish` does.
    pub(crate) async fn publish(&self, language: &str) {
        let id = self.upload(language, &format!("abisu-{language}")).await;
        self.graph().publish_flow(&id).await.unwrap();
        let taxonomy = Taxonomy::builtin().unwrap();
        self.record(language, &taxonomy, &id, "published").await;
    }

    /// Uploads a form and returns the provider's id of it, which is a draft.
    pub(crate) async fn upload(&self, language: &str, name: &str) -> String {
        let form = flow_json::generate(&Taxonomy::builtin().unwrap(), language).unwrap();
        let graph = self.graph();
        let id = graph.create_flow(&self.settings.waba_id, name, &["OTHER"]).await.unwrap();
        graph.upload_flow(&id, form.json).await.unwrap();
        id
    }

    /// Records a form as a release of the taxonomy.
    pub(crate) async fn record(&self, language: &str, taxonomy: &Taxonomy, flow_id: &str, state: &str) {
        self.record_on(CHANNEL, language, taxonomy, flow_id, state).await;
    }

    /// As [`World::record`], for another channel.
    pub(crate) async fn record_on(
        &self,
        channel: &str,
        language: &str,
        taxonomy: &Taxonomy,
        flow_id: &str,
        state: &str,
    ) {
        let form = flow_json::generate(taxonomy, language).unwrap();
        sqlx::query(
            "insert into flow.release (id, channel, language, version, content_hash, provider_flow_id, first_screen,
                                       state, compiled, published_at)
             values ($1, $2, $3, $4, $5, $6, $7, $9, $8, case when $9 = 'published' then now() end)",
        )
        .bind(Uuid::now_v7())
        .bind(channel)
        .bind(language)
        .bind(taxonomy.version())
        .bind(format!("{}-{flow_id}", form.content_hash))
        .bind(flow_id)
        .bind(form.first_screen)
        .bind(taxonomy.compiled())
        .bind(state)
        .execute(&self.db.pool)
        .await
        .unwrap();
    }

    pub(crate) async fn citizen(&self, phone: &str) -> Citizen<'_> {
        let made = self.control("/citizens", json!({"name": "Ane", "phone": phone})).await;
        Citizen::new(self, made["id"].as_str().unwrap(), phone)
    }

    pub(crate) async fn fault(&self, fault: Value) {
        self.control("/faults", fault).await;
    }

    pub(crate) async fn clear_faults_of(&self, surface: &str) {
        let url = self.url(&format!("/faults?surface={surface}"));
        self.http.delete(url).send().await.unwrap().error_for_status().unwrap();
    }

    /// The calls to a surface, oldest first.
    pub(crate) async fn requests(&self, surface: &str) -> Vec<Value> {
        let all = self.look("/requests").await;
        all.as_array().unwrap().iter().filter(|call| call["surface"] == surface).cloned().collect()
    }

    pub(crate) async fn clear_faults(&self) {
        self.http.delete(self.url("/faults")).send().await.unwrap().error_for_status().unwrap();
    }

    /// Meta no longer has the file.
    pub(crate) async fn forget_media(&self, id: &str) {
        let url = self.url(&format!("/media/{id}"));
        self.http.delete(url).send().await.unwrap().error_for_status().unwrap();
    }

    /// How often the service called a surface.
    pub(crate) async fn calls(&self, surface: &str) -> usize {
        let all = self.look("/requests").await;
        all.as_array().unwrap().iter().filter(|call| call["surface"] == surface).count()
    }

    /// The body of the newest call to a surface.
    pub(crate) async fn last_body(&self, surface: &str) -> Value {
        let all = self.look("/requests").await;
        let newest = all.as_array().unwrap().iter().rfind(|call| call["surface"] == surface);
        newest.unwrap()["body"].clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}/control{path}", self.simulator.url())
    }

    pub(crate) async fn control(&self, path: &str, body: Value) -> Value {
        let answer = self.http.post(self.url(path)).json(&body).send().await.unwrap();
        let status = answer.status();
        let body: Value = answer.json().await.unwrap();
        assert!(status.is_success(), "{path}: {status} {body}");
        body
    }

    pub(crate) async fn look(&self, path: &str) -> Value {
        let answer = self.http.get(self.url(path)).send().await.unwrap();
        let status = answer.status();
        let body: Value = answer.json().await.unwrap();
        assert!(status.is_success(), "{path}: {status} {body}");
        body
    }

    /// The one value that `sql` selects.
    pub(crate) async fn value<T>(&self, sql: &'static str) -> T
    where
        T: Send + Unpin + for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
    {
        sqlx::query_scalar(sql)
            .fetch_one(&self.db.pool)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// The values that `sql` selects.
    pub(crate) async fn values<T>(&self, sql: &'static str) -> Vec<T>
    where
        T: Send + Unpin + for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
    {
        sqlx::query_scalar(sql)
            .fetch_all(&self.db.pool)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    pub(crate) async fn run(&self, sql: &'static str) {
        sqlx::query(sql).execute(&self.db.pool).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// Waits until `sql` selects true.
    pub(crate) async fn until(&self, sql: &'static str) {
        testkit::eventually(sql, async || {
            let is = sqlx::query_scalar::<_, Option<bool>>(sql).fetch_optional(&self.db.pool).await.unwrap();
            is.flatten().filter(|is| *is)
        })
        .await;
    }

    /// Waits until every event is settled and every reply is finished.
    pub(crate) async fn at_rest(&self) {
        self.until(
            "select not exists (select from chat.chat where done_seq < next_seq - 1)
                and not exists (select from chat.sender where done_seq < next_seq - 1)",
        )
        .await;
    }
}

/// So quick that a test need not wait, and long enough that the order of things can be seen.
fn quick() -> Backoff {
    Backoff { first: Duration::from_millis(5), longest: Duration::from_millis(40) }
}
