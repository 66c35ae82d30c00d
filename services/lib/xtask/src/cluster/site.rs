//! A place to install into: a namespace, a database of its own on the test's Postgres, the Secrets that a platform team
//! would make, and the values.

use std::net::IpAddr;

use anyhow::Context;
use serde_json::{Value, json};
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use super::kube::Kube;
use super::world::World;
use crate::tree::ROOT;
use crate::{ledger, stack};

/// The release's name, and with it the beginning of every name in it.
pub(super) const RELEASE: &str = "abisu";
/// The Deployments of a release.
pub(super) const SERVICES: [&str; 4] = stack::SERVICES;
pub(super) const NUMBER: &str = "100000000000001";
pub(super) const ACCOUNT: &str = "200000000000002";
/// They open nothing but the simulators.
pub(super) const APP_SECRET: &str = "cluster-app-secret";
pub(super) const NEXT_APP_SECRET: &str = "cluster-next-app-secret";
pub(super) const VERIFY_TOKEN: &str = "cluster-verify-token";
pub(super) const ACCESS_TOKEN: &str = "cluster-access-token";
pub(super) const PARTNER_USER: &str = "abisu";
pub(super) const PARTNER_PASSWORD: &str = "cluster-partner-password";
/// Of every role; the test looks at rights, and at what happens where the password is another one.
const DATABASE_PASSWORD: &str = "cluster-database-password";
/// Keys of the Secret with the database's URLs, with their roles.
const ROLES: [(&str, &str); 6] = [
    ("owner", "abisu"),
    ("ingest", "abisu_ingest"),
    ("conversation", "abisu_conversation"),
    ("geocode", "abisu_geocode"),
    ("partner-push", "abisu_partner_push"),
    ("metrics", "abisu_metrics"),
];

/// A namespace with a database and Secrets.
pub(super) struct Site {
    pub(super) kube: Kube,
    pub(super) values: Value,
    /// The owner's connections, from this machine.
    pub(super) pool: PgPool,
    database: String,
    host: IpAddr,
    port: u16,
}

impl Site {
    /// Makes namespace, database and Secrets. Nothing is installed.
    pub(super) async fn make(world: &World, name: &str) -> anyhow::Result<Self> {
        let kube = world.kube.of(format!("{}-{name}", world.prefix));
        let database = format!("abisu_{}", name.replace('-', "_"));
        let (port, url) = {
            let postgres = world.postgres.lock().await;
            postgres.database(&database).await?;
            (postgres.port(), postgres.url(&database))
        };
        let pool = PgPoolOptions::new().max_connections(4).connect_lazy(&url)?;
        kube.create().await?;
        let values = values(world, port)?;
        let site = Self { kube, values, pool, database, host: world.settings.host, port };
        site.set_secret("abisu-database", site.database_urls(DATABASE_PASSWORD)).await?;
        site.set_whatsapp(APP_SECRET, "not-used-yet").await?;
        site.set_secret("abisu-partner", json!({"password": PARTNER_PASSWORD})).await?;
        Ok(site)
    }

    /// The URLs of all roles, as the Secret of the chart has them.
    pub(super) fn database_urls(&self, password: &str) -> Value {
        let (host, port, database) = (self.host, self.port, &self.database);
        ROLES
            .iter()
            .map(|(key, role)| {
                ((*key).to_owned(), json!(format!("postgres://{role}:{password}@{host}:{port}/{database}")))
            })
            .collect()
    }

    /// With the passwords that are right.
    pub(super) fn right_database_urls(&self) -> Value {
        self.database_urls(DATABASE_PASSWORD)
    }

    pub(super) async fn set_secret(&self, name: &str, values: Value) -> anyhow::Result<()> {
        self.kube.apply(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": values})).await
    }

    /// The Secret of the number, with the app secret in force and the one that is to follow.
    pub(super) async fn set_whatsapp(&self, secret: &str, next: &str) -> anyhow::Result<()> {
        let values = json!({"app-secret": secret, "app-secret-next": next, "verify-token": VERIFY_TOKEN, "access-token": ACCESS_TOKEN});
        self.set_secret("abisu-whatsapp", values).await
    }

    /// Installs the chart, or brings the release to it; `over` is laid over the values.
    pub(super) async fn install(&self, chart: &str, over: &Value, flags: &[&str]) -> anyhow::Result<String> {
        let mut values = self.values.clone();
        lay(&mut values, over);
        let file = crate::tree::STATE.join("cluster").join(format!("{}.json", self.kube.namespace));
        // Helm reads JSON as the YAML that it is.
        ledger::replace(&file, &serde_json::to_vec_pretty(&values)?)?;
        let file = file.display().to_string();
        let args = ["upgrade", RELEASE, chart, "--install", "--values", &file, "--timeout", "180s"];
        self.kube.helm(&[&args, flags].concat()).await
    }

    /// Removes everything but the database.
    pub(super) async fn remove(&self) -> anyhow::Result<()> {
        self.kube
            .kubectl(&["delete", "namespace", &self.kube.namespace, "--wait=false", "--ignore-not-found"])
            .await?;
        Ok(())
    }

    /// One number.
    pub(super) async fn count(&self, statement: &'static str) -> anyhow::Result<i64> {
        sqlx::query_scalar(statement).fetch_one(&self.pool).await.with_context(|| statement.to_owned())
    }

    /// A connection as one of the roles.
    pub(super) async fn connect_as(&self, role: &str) -> anyhow::Result<PgConnection> {
        let (host, port, database) = (self.host, self.port, &self.database);
        let url = format!("postgres://{role}:{DATABASE_PASSWORD}@{host}:{port}/{database}");
        Ok(PgConnection::connect(&url).await?)
    }
}

/// Names of the Deployments.
pub(super) fn deployments() -> Vec<String> {
    SERVICES.iter().map(|service| format!("{RELEASE}-{service}")).collect()
}

/// Makes the roles with their passwords, as a platform team does before it installs; the migrations find them.
pub(super) async fn make_roles(owner: &str) -> anyhow::Result<()> {
    let mut on = PgConnection::connect(owner).await?;
    for (_, role) in ROLES {
        // All of it is ours: letters, underscores and dashes.
        let verb = if role == "abisu" { "alter" } else { "create" };
        let statement = format!("{verb} role {role} login password '{DATABASE_PASSWORD}'");
        on.execute(AssertSqlSafe(statement)).await.with_context(|| format!("the role {role}"))?;
    }
    Ok(on.close().await?)
}

/// What everything here is installed with: the chart's defaults, but for the other sides, and for waits that are short
/// enough for a test.
fn values(world: &World, port: u16) -> anyhow::Result<Value> {
    let area = std::fs::read_to_string(ROOT.join(stack::AREA)).context("the service area")?;
    let simulator = &world.simulator_url;
    // A node that is lost is noticed as fast as the cluster allows, and its pods are replaced 5 s later.
    let gone =
        |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5});
    let env = |pairs: &[(&str, &str)]| -> Value {
        pairs.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
    };
    Ok(json!({
        "image": {"tag": world.tag},
        "database": {"existingSecret": "abisu-database", "port": port, "connections": {"max": 400}},
        "whatsapp": {
            "phoneNumberId": NUMBER,
            "businessAccountId": ACCOUNT,
            "graphUrl": format!("{simulator}/meta"),
            "existingSecret": "abisu-whatsapp",
            "keys": {"appSecretNext": "app-secret-next"},
        },
        "city": {"serviceArea": {"files": {"vitoria-gasteiz.geojson": area}}},
        "partner": {
            "enabled": true,
            "url": format!("{simulator}/partner"),
            "user": PARTNER_USER,
            "existingSecret": "abisu-partner",
            "search": true,
        },
        "defaults": {
            "tolerations": [gone("node.kubernetes.io/not-ready"), gone("node.kubernetes.io/unreachable")],
            // Two cores carry the cluster, the database, the other sides and all pods.
            "minReadySeconds": 2,
        },
        "ingest": {"service": {"type": "NodePort"}},
        "geocode": {"cartociudad": {"url": format!("{simulator}/cartociudad")}},
        "conversation": {
            "sendTimeoutMs": 3000,
            "lookupTimeoutMs": 3000,
            "sendsPerSecond": 1000,
            "markRead": false,
            "extraEnv": env(&[("ABISU_LEASE_MS", "8000"), ("ABISU_BACKOFF_MS", "500")]),
        },
        "partnerPush": {
            "sendTimeoutMs": 3000,
            "loginTimeoutMs": 3000,
            "extraEnv": env(&[
                ("ABISU_PARTNER_LEASE_MS", "10000"),
                ("ABISU_PARTNER_CONNECT_TIMEOUT_MS", "1000"),
                ("ABISU_PARTNER_BACKOFF_MS", "500"),
                ("ABISU_PARTNER_DEFER_MS", "500"),
                ("ABISU_PARTNER_PROBE_DELAY_MS", "5000"),
            ]),
        },
    }))
}

/// Lays values over others, object by object; null takes a value away.
pub(super) fn lay(under: &mut Value, over: &Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                lay(under.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_laid_over_others_object_by_object() {
        let mut values = json!({"a": {"b": 1, "c": [1, 2]}, "d": 3});
        lay(&mut values, &json!({"a": {"c": [3], "e": 4}, "f": {"g": 5}}));
        assert_eq!(values, json!({"a": {"b": 1, "c": [3], "e": 4}, "d": 3, "f": {"g": 5}}));
    }
}
