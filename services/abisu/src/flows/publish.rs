//! `abisu flows publish`: the form of every language, live on every channel's account and recorded for the services.
//!
//! A form is updated in place: what was sent of it keeps its old document, and answers name the version they are from.
//! Names are unique in an account and given by channel and language, so a run that was cut after any step finds on
//! the next run what it had made, and goes on from there. The record in `flow.release` is written last; it carries the
//! compiled taxonomy, so that an answer to an old form is understood from its row alone.

use std::collections::BTreeMap;

use anyhow::{Context, anyhow};
use channel::meta::{Flow, FlowError, GraphClient};
use flow_json::{FlowDocument, Taxonomy};
use runtime::ConfigError;
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::accounts::Place;
use super::args::PublishArgs;
use super::city::City;
use super::explain::{cannot_update, explain, refused};
use super::target::{Target, choose, names, sends};
use super::{check, forms};
use crate::Failure;
use crate::connect::connect;

/// Meta's own list has no category for reports to a city.
const CATEGORIES: [&str; 1] = ["OTHER"];

/// Where forms go, and how.
struct Account<'p> {
    graph: GraphClient,
    id: String,
    channel: String,
    /// Whether lines begin with the channel: there are several.
    named: bool,
    plan: &'p Plan,
}

/// What is the same for all accounts.
struct Plan {
    draft: bool,
    dry_run: bool,
    deprecate_old: bool,
    city: City,
}

/// The newest release of a language.
struct Live {
    content_hash: String,
    provider_flow_id: String,
}

pub(crate) async fn publish(args: PublishArgs) -> Result<String, Failure> {
    let PublishArgs { lang, dry_run, draft, deprecate_old, accounts, city, database } = args;
    let (places, nowhere) = accounts.places()?;
    let plan = Plan { draft, dry_run, deprecate_old, city: City::from(city) };
    let named = places.len() + nowhere.len() > 1;
    let accounts: Vec<Account<'_>> =
        places.into_iter().map(|place| plan.account(place, named)).collect::<Result<_, _>>()?;
    let taxonomy = plan.city.load()?;
    check::prove(&taxonomy, &plan.city)?;
    let forms = forms(&taxonomy, lang.as_deref())?;

    let mut lines: Vec<String> = nowhere
        .into_iter()
        .map(|channel| {
            format!("{channel}: has no waba_id in the file of channels; nothing is published for it")
        })
        .collect();
    if accounts.is_empty() && lines.is_empty() {
        lines.push("there is no channel at Meta: nothing to publish".to_owned());
    }
    if !accounts.is_empty() {
        let mut on = connect(database).await?;
        // Two of these at once would race for the names.
        sqlx::query("select pg_advisory_lock(hashtext('abisu flows publish'))").execute(&mut on).await?;
        all(&mut on, &accounts, &taxonomy, &forms, &mut lines).await?;
    }
    lines.push(String::new());
    Ok(lines.join("\n"))
}

/// Publishes everywhere. An account that refuses does not keep the others without their forms.
async fn all(
    on: &mut PgConnection,
    accounts: &[Account<'_>],
    taxonomy: &Taxonomy,
    forms: &BTreeMap<&str, FlowDocument>,
    said: &mut Vec<String>,
) -> Result<(), Failure> {
    let mut failed = Vec::new();
    for account in accounts {
        match account.languages(on, taxonomy, forms, said).await {
            Ok(()) => {}
            Err(failure) if !account.named => return Err(failure),
            Err(failure) => failed.push(format!("{}: {failure}", account.channel)),
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    let summary = format!("{} of {} channels have not got their forms", failed.len(), accounts.len());
    let lines: Vec<String> = [summary].into_iter().chain(failed).chain(said.drain(..)).collect();
    Err(Failure::Failed(anyhow!(lines.join("\n"))))
}

impl Plan {
    fn account(&self, place: Place, named: bool) -> Result<Account<'_>, ConfigError> {
        let Place { channel, waba_id, config } = place;
        let graph = GraphClient::new(config).map_err(|error| {
            ConfigError::invalid("ABISU_META_GRAPH_URL", format!("the channel {channel}: {error}"))
        })?;
        Ok(Account { graph, id: waba_id, channel, named, plan: self })
    }
}

impl Account<'_> {
    async fn languages(
        &self,
        on: &mut PgConnection,
        taxonomy: &Taxonomy,
        forms: &BTreeMap<&str, FlowDocument>,
        said: &mut Vec<String>,
    ) -> Result<(), Failure> {
        for (language, form) in forms {
            self.language(on, taxonomy, language, form, said).await?;
        }
        Ok(())
    }

    /// How lines about a language begin.
    fn label(&self, language: &str) -> String {
        if self.named { format!("{}, {language}", self.channel) } else { language.to_owned() }
    }

    async fn language(
        &self,
        on: &mut PgConnection,
        taxonomy: &Taxonomy,
        language: &str,
        form: &FlowDocument,
        said: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let label = self.label(language);
        // Anew for each language: the one before may have made a form.
        let listed = self.listed(language).await?;
        let live = sqlx::query_file_as!(Live, "src/store/newest_flow_release.sql", self.channel, language)
            .fetch_optional(&mut *on)
            .await?;
        let hash = &form.content_hash;
        let same = live.as_ref().filter(|live| live.content_hash == *hash);
        let listed_live = same.and_then(|live| {
            listed.as_deref()?.iter().find(|flow| flow.id == live.provider_flow_id).filter(|flow| sends(flow))
        });
        if let (Some(live), None) = (same, &listed) {
            said.push(format!("{label}: {} is live already, by our own books", live.provider_flow_id));
        } else if let Some(flow) = listed_live
            && self.holds(language, &flow.id, form).await?
        {
            said.push(format!("{label}: {} is live already as {}", flow.name, flow.id));
        } else {
            let listed = listed.unwrap_or_default();
            let live = live.map(|live| live.provider_flow_id);
            let Some((name, flow_id)) = self.bring(&listed, language, form, live.as_deref(), said).await?
            else {
                return Ok(());
            };
            let state = if self.plan.draft { "draft" } else { "published" };
            sqlx::query_file!(
                "src/store/upsert_flow_release.sql",
                Uuid::now_v7(),
                self.channel,
                language,
                taxonomy.version(),
                hash,
                flow_id,
                form.first_screen,
                taxonomy.compiled(),
                state
            )
            .execute(&mut *on)
            .await?;
            let how = if self.plan.draft { "a draft" } else { "live" };
            said.push(format!("{label}: {name} is {how} as {flow_id}"));
        }
        if self.plan.deprecate_old && !self.plan.dry_run {
            self.deprecate(on, language, said).await?;
        }
        Ok(())
    }

    /// Makes the document a form of the account; its name and the provider's id. None where only the plan is wanted.
    async fn bring(
        &self,
        listed: &[Flow],
        language: &str,
        form: &FlowDocument,
        live: Option<&str>,
        said: &mut Vec<String>,
    ) -> Result<Option<(String, String)>, Failure> {
        let label = self.label(language);
        let (plain, copy) = names(&self.channel, language, &form.content_hash);
        let mut refusing = Vec::new();
        loop {
            let target = choose(listed, (&plain, &copy), live, &refusing);
            if self.plan.dry_run {
                said.push(match target {
                    Target::Update(flow) => {
                        format!("{label}: {} ({}) would be updated", flow.name, flow.id)
                    }
                    Target::Create(name) => format!("{label}: {name} would be made"),
                });
                return Ok(None);
            }
            let (name, flow_id, is_new) = match target {
                Target::Update(flow) => (flow.name.clone(), flow.id.clone(), false),
                Target::Create(name) => {
                    progress(&label, &format!("making {name}"));
                    let id = self.graph.create_flow(&self.id, &name, &CATEGORIES).await.map_err(explain)?;
                    (name, id, true)
                }
            };
            progress(&label, &format!("uploading to {name} ({flow_id})"));
            match self.graph.upload_flow(&flow_id, form.json.clone()).await {
                Ok(()) => {}
                Err(error) if cannot_update(&error) && !is_new => {
                    progress(&label, &format!("{name} takes no edits; a copy is made"));
                    refusing.push(flow_id);
                    continue;
                }
                Err(FlowError::Invalid(problems)) => {
                    return Err(refused(&problems, form, |key| self.plan.city.in_folder(key)));
                }
                Err(error) => return Err(explain(error)),
            }
            progress(&label, "reading it back");
            if !self.holds(language, &flow_id, form).await? {
                let what = format!("form {flow_id} holds another document than was uploaded; run this again");
                return Err(Failure::Failed(anyhow!(what)));
            }
            if !self.plan.draft {
                progress(&label, "publishing");
                self.graph.publish_flow(&flow_id).await.map_err(explain)?;
            }
            return Ok(Some((name, flow_id)));
        }
    }

    /// The forms of the account. `None` where the server has no such list: what has been made is then known from our own
    /// books only.
    async fn listed(&self, language: &str) -> Result<Option<Vec<Flow>>, Failure> {
        match self.graph.list_flows(&self.id).await {
            Ok(flows) => Ok(Some(flows)),
            Err(FlowError::Call(error)) if matches!(error.http_status, Some(404 | 405 | 501)) => {
                progress(
                    &self.label(language),
                    "the forms of the account cannot be listed; going on without",
                );
                Ok(None)
            }
            Err(error) => Err(explain(error)),
        }
    }

    /// Whether a form of the account has this document; how it is written does not count. What cannot be read back does
    /// not speak against it: the platform checked the upload, and the read is only a second look.
    async fn holds(&self, language: &str, flow_id: &str, form: &FlowDocument) -> Result<bool, Failure> {
        let ours: Value = serde_json::from_str(&form.json).context("the form cannot be read")?;
        match self.graph.flow_document(flow_id).await {
            Ok(theirs) => Ok(theirs.is_some_and(|theirs| theirs == ours)),
            Err(error) => {
                let error = anyhow::Error::new(error);
                progress(
                    &self.label(language),
                    &format!("{flow_id} cannot be read back ({error:#}); going on without"),
                );
                Ok(true)
            }
        }
    }

    /// Releases of forms that the newest release does not use.
    async fn deprecate(
        &self,
        on: &mut PgConnection,
        language: &str,
        said: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let label = self.label(language);
        let old = sqlx::query_file_scalar!("src/store/old_flow_ids.sql", self.channel, language)
            .fetch_all(&mut *on)
            .await?;
        for flow_id in old {
            progress(&label, &format!("deprecating {flow_id}"));
            self.graph.deprecate_flow(&flow_id).await.map_err(explain)?;
            sqlx::query!(
                "update flow.release set state = 'deprecated'
                 where channel = $1 and language = $2 and provider_flow_id = $3",
                self.channel,
                language,
                flow_id
            )
            .execute(&mut *on)
            .await?;
            said.push(format!("{label}: {flow_id} is deprecated"));
        }
        Ok(())
    }
}

/// What takes time is said as it happens; what was done is said at the end, on the other stream.
fn progress(label: &str, step: &str) {
    eprintln!("{label}: {step}");
}
