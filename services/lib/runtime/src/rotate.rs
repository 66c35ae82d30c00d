//! A database URL that changes while the service runs: its file is looked at again, and what connects from then on uses
//! what stands there. So a password is rotated, and a wrong one mended, without a restart.

use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use sqlx::PgPool;
use sqlx::postgres::PgConnectOptions;

use crate::config::required_secret;
use crate::database::{check_url, connect_options};

/// Between two looks; orchestrators take longer to bring a new secret into the file.
pub(crate) const LOOK: Duration = Duration::from_secs(5);

/// Keeps the pool to the URL in the file, of which it has `url` so far. Never returns; a file that cannot be used leaves
/// the URL in force, and is told of once.
pub(crate) async fn follow(pool: PgPool, file: PathBuf, mut url: SecretString, look: Duration) {
    let mut said = String::new();
    loop {
        tokio::time::sleep(look).await;
        match read(&file, &pool) {
            Ok((new, _)) if new.expose_secret() == url.expose_secret() => said.clear(),
            Ok((new, options)) => {
                pool.set_connect_options(options);
                url = new;
                said.clear();
                tracing::info!("the database's URL has changed: new connections use it");
            }
            Err(reason) if reason == said => {}
            Err(reason) => {
                tracing::warn!(%reason, "the file with the database's URL cannot be used, the URL stays: {reason}");
                said = reason;
            }
        }
    }
}

/// The URL in the file, checked, and how to connect to it.
fn read(file: &Path, pool: &PgPool) -> Result<(SecretString, PgConnectOptions), String> {
    let url =
        required_secret("ABISU_DATABASE_URL", None, Some(file.to_owned())).map_err(|e| e.to_string())?;
    check_url(&url).map_err(|error| error.to_string())?;
    let name = pool.connect_options().get_application_name().unwrap_or("abisu").to_owned();
    // An error may quote the password.
    let options = connect_options("", &url).map_err(|_| "not a URL that Postgres accepts".to_owned())?;
    Ok((url, options.application_name(&name)))
}

#[cfg(test)]
mod tests {
    use testkit::eventually;

    use super::*;
    use crate::config::DatabaseConfig;
    use crate::database::connect_lazy;

    #[tokio::test]
    async fn a_new_url_is_used_and_a_bad_one_is_not() {
        let database = testkit::database().await;
        let folder = std::env::temp_dir().join(format!("abisu-rotate-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("url");
        let wrong = SecretString::from(database.url_as("nobody_is_called_so"));
        std::fs::write(&file, "not a url").unwrap();
        let config = DatabaseConfig { url: wrong.clone(), pool: 2, file: Some(file.clone()) };
        let pool = connect_lazy("test", &config).unwrap();
        assert!(sqlx::query("select 1").execute(&pool).await.is_err());

        let look = Duration::from_millis(20);
        let following = tokio::spawn(follow(pool.clone(), file.clone(), wrong, look));
        assert!(sqlx::query("select 1").execute(&pool).await.is_err(), "the file cannot be used yet");
        std::fs::write(&file, format!("{}\n", database.url)).unwrap();
        eventually("the new URL is in force", async || sqlx::query("select 1").execute(&pool).await.ok())
            .await;
        following.abort();
        std::fs::remove_dir_all(folder).unwrap();
    }
}
