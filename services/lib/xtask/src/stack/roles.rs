//! Each service's own role, derived from the owner's URL.
//!
//! The migrations create the roles without a password. Where the owner has one, so do they: made from the owner's, so
//! that nothing has to be kept, and different for each role.

use anyhow::{Context, anyhow};
use sha2::{Digest, Sha256};
use sqlx::{Connection, Executor, PgConnection};

use super::SERVICES;

/// The role of a service.
pub(super) fn role(service: &str) -> String {
    format!("abisu_{}", service.replace('-', "_"))
}

/// The owner's URL, as another role.
pub(super) fn url(owner: &str, role: &str) -> anyhow::Result<String> {
    let mut url = parse(owner)?;
    let password = url.password().map(|owner| password(role, owner));
    url.set_username(role)
        .and_then(|()| url.set_password(password.as_deref()))
        .map_err(|()| anyhow!("ABISU_DATABASE_URL: names no host"))?;
    Ok(url.into())
}

/// Gives every role its password, if the owner has one.
pub(super) async fn set_passwords(owner: &str) -> anyhow::Result<()> {
    let url = parse(owner)?;
    let Some(owner_password) = url.password() else { return Ok(()) };
    let mut on = PgConnection::connect(owner).await.context("ABISU_DATABASE_URL: cannot connect")?;
    for role in SERVICES.map(role) {
        let password = password(&role, owner_password);
        // Both are letters, digits and underscores.
        let statement = format!("alter role {role} password '{password}'");
        on.execute(sqlx::AssertSqlSafe(statement)).await.with_context(|| {
            format!("ABISU_DATABASE_URL: its role may not set the password of {role}; it needs the right CREATEROLE")
        })?;
    }
    Ok(on.close().await?)
}

fn parse(owner: &str) -> anyhow::Result<reqwest::Url> {
    owner.parse().context("ABISU_DATABASE_URL: not a URL like postgres://role:password@host:5432/database")
}

/// The password as it stands in the URL goes in, so that encoding makes no difference.
fn password(role: &str, owner: &str) -> String {
    hex::encode(Sha256::digest(format!("abisu:{role}:{owner}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_keeps_host_and_database_and_has_a_password_only_if_the_owner_has() {
        assert_eq!(
            url("postgres://abisu@127.0.0.1:5433/city?sslmode=disable", "abisu_ingest").unwrap(),
            "postgres://abisu_ingest@127.0.0.1:5433/city?sslmode=disable"
        );
        let with = url("postgres://abisu:secret@db/city", &role("partner-push")).unwrap();
        assert!(with.starts_with("postgres://abisu_partner_push:") && with.ends_with("@db/city"), "{with}");
        let known = hex::encode(Sha256::digest("abisu:abisu_partner_push:secret"));
        assert!(with.contains(&known));
        assert!(url("not a url", "abisu_ingest").is_err());
    }
}
