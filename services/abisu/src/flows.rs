//! `abisu flows publish`: the form of every language, live on the account and recorded for the services.
//!
//! A form's name holds the hash of its content, and names are unique in an account: a run that was cut after any step
//! finds on the next run what it had made, and goes on from there. The record in `flow.release` is written last; it
//! carries the compiled taxonomy, so that an answer to an old form is understood from its row alone.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use anyhow::{Context, anyhow};
use channel::meta::{Flow, FlowError, GraphClient, GraphConfig};
use flow_json::{FlowDocument, Taxonomy, generate};
use runtime::ConfigError;
use runtime::config::required_secret;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Failure;
use crate::args::PublishArgs;
use crate::connect::connect;

/// An upload may take the platform a while to check.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Meta's own list has no category for reports to a city.
const CATEGORIES: [&str; 1] = ["OTHER"];

/// Where forms go.
struct Account {
    graph: GraphClient,
    id: String,
    channel: String,
}

pub(crate) async fn publish(args: PublishArgs) -> Result<String, Failure> {
    let PublishArgs {
        language,
        channel,
        graph_url,
        graph_version,
        phone_number_id,
        waba_id,
        access_token,
        access_token_file,
        database,
    } = args;
    let token = required_secret("ABISU_META_ACCESS_TOKEN", access_token, access_token_file)?;
    let config = GraphConfig {
        base_url: graph_url,
        version: graph_version,
        phone_number_id: given("ABISU_META_PHONE_NUMBER_ID", phone_number_id)?,
        token,
        timeout: TIMEOUT,
    };
    let id = given("ABISU_META_WABA_ID", waba_id)?;
    let graph = GraphClient::new(config)
        .map_err(|error| ConfigError::invalid("ABISU_META_GRAPH_URL", error.to_string()))?;
    let account = Account { graph, id, channel };
    let taxonomy = Taxonomy::builtin().map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Failure::Failed(anyhow!("the taxonomy cannot be used: {}", lines.join("; ")))
    })?;
    let languages = choose_languages(&taxonomy, language.as_deref())?;

    let mut on = connect(database).await?;
    // Two of these at once would race for the names.
    sqlx::query("select pg_advisory_lock(hashtext('abisu flows publish'))").execute(&mut on).await?;
    let listed = account.graph.list_flows(&account.id).await.map_err(explain)?;
    let mut text = String::new();
    for language in languages {
        let document = generate(&taxonomy, language).context("no form can be generated")?;
        let line = account.publish(&mut on, &listed, &taxonomy, language, &document).await?;
        let _ = writeln!(text, "{line}");
    }
    Ok(text)
}

impl Account {
    async fn publish(
        &self,
        on: &mut PgConnection,
        listed: &[Flow],
        taxonomy: &Taxonomy,
        language: &str,
        document: &FlowDocument,
    ) -> Result<String, Failure> {
        let hash = &document.content_hash;
        let name = format!("abisu-{language}-{}", hash.get(..8).unwrap_or(hash));
        let on_account = listed.iter().find(|flow| flow.name == name);
        let newest = sqlx::query!(
            "select content_hash, provider_flow_id from flow.release
             where channel = $1 and language = $2 and state = 'published'
             order by published_at desc limit 1",
            self.channel,
            language
        )
        .fetch_optional(&mut *on)
        .await?;
        if let (Some(newest), Some(flow)) = (newest, on_account)
            && newest.content_hash == *hash
            && newest.provider_flow_id == flow.id
            && sends(flow)
        {
            return Ok(format!("{language}: {name} is live already as {}", flow.id));
        }
        let flow_id = self.make_live(on_account, &name, document).await?;
        sqlx::query_file!(
            "src/store/upsert_flow_release.sql",
            Uuid::now_v7(),
            self.channel,
            language,
            taxonomy.version(),
            hash,
            flow_id,
            document.first_screen,
            taxonomy.compiled()
        )
        .execute(on)
        .await?;
        Ok(format!("{language}: {name} is live as {flow_id}"))
    }

    /// The provider's id of a form that can be sent, whatever of it exists already.
    async fn make_live(
        &self,
        found: Option<&Flow>,
        name: &str,
        document: &FlowDocument,
    ) -> Result<String, Failure> {
        let flow_id = match found {
            Some(flow) if sends(flow) => return Ok(flow.id.clone()),
            Some(flow) if flow.status == "DRAFT" => flow.id.clone(),
            Some(flow) => {
                return Err(Failure::Failed(anyhow!(
                    "the form {name} is {} on the account; change a text of the catalog so that it gets a new name",
                    flow.status
                )));
            }
            None => self.graph.create_flow(&self.id, name, &CATEGORIES).await.map_err(explain)?,
        };
        self.graph.upload_flow(&flow_id, document.json.clone()).await.map_err(explain)?;
        self.graph.publish_flow(&flow_id).await.map_err(explain)?;
        Ok(flow_id)
    }
}

/// A throttled form is sent as well, only slowly.
fn sends(flow: &Flow) -> bool {
    matches!(flow.status.as_str(), "PUBLISHED" | "THROTTLED")
}

fn choose_languages<'t>(taxonomy: &'t Taxonomy, only: Option<&str>) -> Result<BTreeSet<&'t str>, Failure> {
    let all: BTreeSet<&str> = taxonomy.languages().collect();
    match only {
        None => Ok(all),
        Some(only) => match all.get(only) {
            Some(language) => Ok(BTreeSet::from([*language])),
            None => {
                let known = all.into_iter().collect::<Vec<_>>().join(", ");
                Err(Failure::Usage(format!("--language: no catalog for {only:?}; there are {known}")))
            }
        },
    }
}

fn given(name: &'static str, value: Option<String>) -> Result<String, ConfigError> {
    value
        .filter(|value| !value.is_empty())
        .ok_or_else(|| ConfigError::invalid(name, "is not set; it is shown in the app's WhatsApp settings"))
}

/// What the platform found wrong, line by line of the document, belongs to the one line that a person sees.
fn explain(error: FlowError) -> Failure {
    let context = match &error {
        FlowError::Invalid(problems) => {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            format!("the Graph API refuses the form: {}", lines.join("; "))
        }
        FlowError::Call(_) => {
            "Graph API: check ABISU_META_GRAPH_URL, ABISU_META_WABA_ID and the access token".to_owned()
        }
        FlowError::Upload => "Graph API".to_owned(),
    };
    Failure::Failed(anyhow::Error::new(error).context(context))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_without_a_catalog_is_refused_with_those_that_are_there() {
        let taxonomy = Taxonomy::builtin().unwrap();
        assert_eq!(choose_languages(&taxonomy, None).unwrap().into_iter().collect::<Vec<_>>(), ["es", "eu"]);
        let error = choose_languages(&taxonomy, Some("fr")).unwrap_err().to_string();
        assert_eq!(error, "--language: no catalog for \"fr\"; there are es, eu");
    }
}
