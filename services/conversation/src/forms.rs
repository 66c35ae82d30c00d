//! Completed forms: the route is read by the taxonomy version that the answer names.

use anyhow::bail;
use dialogue::{Form, FormAnswer, Language, PhotoRef};
use flow_json::{Completion, Kind, Taxonomy};
use serde_json::Value;
use sqlx::PgPool;
use uuid::Uuid;

use crate::store;

/// The taxonomies that answers can be read by: the built-in one, and those that a release carries.
pub struct Forms {
    builtin: Taxonomy,
}

impl Forms {
    /// The built-in taxonomy.
    ///
    /// # Errors
    /// Its files contradict each other.
    pub fn builtin() -> anyhow::Result<Self> {
        match Taxonomy::builtin() {
            Ok(builtin) => Ok(Self { builtin }),
            Err(problems) => bail!(
                "the built-in taxonomy is not valid: {}",
                problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
            ),
        }
    }

    /// Reads what a phone sent back. `spoken` is the language of the conversation, for an answer that names none.
    ///
    /// # Errors
    /// The database's, where an older release must be read.
    pub async fn read(
        &self,
        pool: &PgPool,
        channel: &str,
        response: &Value,
        spoken: Option<Language>,
    ) -> Result<Form, sqlx::Error> {
        let completion = match flow_json::parse_completion(response) {
            Ok(completion) => completion,
            Err(error) => {
                tracing::warn!(%error, "a completed form cannot be read: {error}");
                return Ok(Form { token: None, answer: FormAnswer::Malformed });
            }
        };
        // A token that is there decides, also one that is not of ours: it then belongs to no prompt.
        let token =
            completion.flow_token.as_deref().map(|token| Uuid::parse_str(token).unwrap_or(Uuid::nil()));
        let answer = match completion.version.as_deref() {
            Some(version) if version != self.builtin.version() => {
                let compiled = store::compiled_taxonomy(pool, channel, version).await?;
                match compiled.as_ref().map(Taxonomy::from_compiled) {
                    Some(Ok(taxonomy)) => classify(&taxonomy, completion, spoken),
                    Some(Err(error)) => {
                        tracing::error!(%error, version, "the taxonomy of release {version} cannot be read: {error}");
                        FormAnswer::UnknownRoute
                    }
                    None => FormAnswer::UnknownRoute,
                }
            }
            Some(_) | None => classify(&self.builtin, completion, spoken),
        };
        Ok(Form { token, answer })
    }
}

fn classify(taxonomy: &Taxonomy, completion: Completion, spoken: Option<Language>) -> FormAnswer {
    let Some(leaf) = taxonomy.leaf(&completion.route) else { return FormAnswer::UnknownRoute };
    match leaf.kind {
        Kind::Informational => FormAnswer::Informational,
        Kind::Report => {
            let language =
                completion.language.as_deref().or_else(|| spoken.map(Language::as_str)).unwrap_or_default();
            FormAnswer::Report {
                category: taxonomy.labels(&completion.route, language).unwrap_or_default(),
                route: completion.route,
                note: completion.note,
                more_photos: completion.photos.len().saturating_sub(1),
                photo: completion.photos.into_iter().next().map(|photo| PhotoRef {
                    id: photo.id,
                    sha256: photo.sha256,
                    mime_type: photo.mime_type,
                }),
                version: Some(taxonomy.version().to_owned()),
            }
        }
    }
}
