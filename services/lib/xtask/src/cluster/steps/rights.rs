//! What the services may do where nobody looks: in the database, and at the cluster's API.

use std::collections::BTreeSet;

use anyhow::{bail, ensure};
use sqlx::{AssertSqlSafe, Connection, Executor};

use super::{Verdict, held};
use crate::cluster::kube::Kube;
use crate::cluster::site::{RELEASE, SERVICES};
use crate::cluster::world::Release;
use crate::lint::rules::list;

/// What no role of a service may do.
const NOBODY: [&str; 8] = [
    "create schema mine",
    "create table public.mine (id int)",
    "create role mine",
    "set role abisu",
    "select * from pg_catalog.pg_authid",
    "drop table inbound.event",
    "delete from inbound.event",
    "update public._sqlx_migrations set success = false",
];

/// What is another service's, by role.
const OTHERS: [(&str, &[&str]); 4] = [
    (
        "abisu_ingest",
        &[
            "select body from inbound.delivery",
            "select payload from inbound.event",
            "select * from report.report",
            "select * from chat.session",
            "update chat.chat set hold = true",
            "select * from flow.release",
        ],
    ),
    (
        "abisu_conversation",
        &[
            "select body from inbound.delivery",
            "insert into inbound.event (chat_id) values (null)",
            "update report.report set push_state = 'sent'",
            "select * from report.push_attempt",
            "insert into flow.release (channel) values ('x')",
            "delete from geo.service_area",
        ],
    ),
    (
        "abisu_geocode",
        &[
            "select * from report.report",
            "select * from chat.alias",
            "select payload from inbound.event",
            "delete from geo.service_area",
        ],
    ),
    (
        "abisu_partner_push",
        &[
            "select * from chat.alias",
            "select payload from inbound.event",
            "update report.report set note = 'x'",
            "delete from report.report",
            "insert into flow.release (channel) values ('x')",
        ],
    ),
];

/// The code of Postgres for "not allowed".
const FORBIDDEN: &str = "42501";

/// Each service's role is refused what is not its job.
pub(in crate::cluster) async fn roles(release: &Release) -> anyhow::Result<Verdict> {
    let mut refused = 0;
    for (role, others) in OTHERS {
        let mut on = release.site.connect_as(role).await?;
        for &statement in NOBODY.iter().chain(others) {
            let mut transaction = on.begin().await?;
            match transaction.execute(AssertSqlSafe(statement)).await {
                Ok(_) => bail!("{role} may: {statement}"),
                Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(FORBIDDEN) => {
                    refused += 1
                }
                Err(error) => return Err(anyhow::Error::new(error).context(format!("{role}: {statement}"))),
            }
            transaction.rollback().await?;
        }
        on.close().await?;
    }
    held(format!("{refused} statements refused"))
}

/// No pod has a token, and each account may do nothing that not everybody may.
pub(in crate::cluster) async fn accounts(release: &Release) -> anyhow::Result<Verdict> {
    let kube = &release.site.kube;
    let pods = kube.get(&["pods"]).await?;
    for pod in list(&pods["items"]) {
        let mut sources =
            list(&pod["spec"]["volumes"]).iter().flat_map(|volume| list(&volume["projected"]["sources"]));
        let name = &pod["metadata"]["name"];
        ensure!(
            sources.all(|source| source["serviceAccountToken"].is_null()),
            "the pod {name} has a token of the API"
        );
    }
    // What everybody may, such as asking about oneself: an account that nobody was given anything has it too.
    let everybodys = rules(kube, "nobody-was-given-anything").await?;
    for component in SERVICES.into_iter().chain(["jobs"]) {
        let account = format!("{RELEASE}-{component}");
        let more: Vec<String> = rules(kube, &account).await?.difference(&everybodys).cloned().collect();
        ensure!(more.is_empty(), "{account} may: {}", more.join("; "));
    }
    held("")
}

/// What an account may do, a line each.
async fn rules(kube: &Kube, account: &str) -> anyhow::Result<BTreeSet<String>> {
    let account = format!("system:serviceaccount:{}:{account}", kube.namespace);
    let rules = kube.kubectl(&["auth", "can-i", "--list", "--no-headers", "--as", &account]).await?;
    ensure!(!rules.trim().is_empty(), "the cluster does not say what {account} may");
    Ok(rules.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect())
}
