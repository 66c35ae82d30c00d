//! Completed forms: the route is read by the taxonomy version that the answer names.

use std::borrow::Cow;

use channel::outgoing::{Choice, Field, FieldKind, FormShape};
use dialogue::{Form, FormAnswer, Language, PhotoRef};
use flow_json::{Completion, Kind, Taxonomy};
use serde_json::Value;
use sqlx::{PgConnection, PgExecutor, PgPool};
use uuid::Uuid;

use crate::store;

/// The longest note that a form of the city's own takes; a client that draws it itself is told so.
const NOTE_LENGTH: usize = 600;

/// The taxonomies that answers can be read by: the city's, and those that a release carries.
pub struct Forms {
    current: Taxonomy,
}

impl Forms {
    /// Of the city's files as they are now.
    pub fn new(current: Taxonomy) -> Self {
        Self { current }
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
        let version = completion.version.clone();
        let answer = match self.of_version(pool, channel, version.as_deref()).await? {
            Some(taxonomy) => classify(&taxonomy, completion, spoken),
            None => FormAnswer::UnknownRoute,
        };
        Ok(Form { token, answer })
    }

    /// What a received report is about, in words: by the version that it was filled in under.
    ///
    /// # Errors
    /// The database's.
    pub async fn labels(
        &self,
        on: &mut PgConnection,
        channel: &str,
        version: Option<&str>,
        route: &str,
        language: Language,
    ) -> Result<Vec<String>, sqlx::Error> {
        let taxonomy = self.of_version(on, channel, version).await?;
        let labels = taxonomy.and_then(|taxonomy| taxonomy.labels(route, language.as_str()));
        Ok(labels.unwrap_or_default())
    }

    /// The form as a client draws it that has none of the provider's.
    pub fn fields(&self, language: Language, address: &str) -> FormShape {
        let code = language.as_str();
        let options = self.current.report_leaves().map(|leaf| Choice {
            value: leaf.route.clone(),
            labels: self.current.labels(&leaf.route, code).unwrap_or_default(),
        });
        let field = |name: &str, kind, required| Field { name: name.to_owned(), kind, required };
        FormShape::Fields {
            version: self.current.version().to_owned(),
            language: code.to_owned(),
            address: address.to_owned(),
            fields: vec![
                field("route", FieldKind::Choice { options: options.collect() }, true),
                field("note", FieldKind::Text { max_length: NOTE_LENGTH }, false),
                field("photo", FieldKind::Photo { max_count: 1 }, true),
            ],
        }
    }

    /// The taxonomy of a version; without one, the city's as it is now. `None`: nobody knows it.
    async fn of_version(
        &self,
        executor: impl PgExecutor<'_>,
        channel: &str,
        version: Option<&str>,
    ) -> Result<Option<Cow<'_, Taxonomy>>, sqlx::Error> {
        let Some(version) = version.filter(|version| *version != self.current.version()) else {
            return Ok(Some(Cow::Borrowed(&self.current)));
        };
        let compiled = store::compiled_taxonomy(executor, channel, version).await?;
        Ok(match compiled.as_ref().map(Taxonomy::from_compiled) {
            Some(Ok(taxonomy)) => Some(Cow::Owned(taxonomy)),
            Some(Err(error)) => {
                tracing::error!(%error, version, "the taxonomy of release {version} cannot be read: {error}");
                None
            }
            None => None,
        })
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
