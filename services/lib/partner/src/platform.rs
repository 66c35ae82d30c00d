//! What a platform speaks: paths, field names, category codes, and the sentences that we add to a note. The default is
//! the agreed API, so a file needs to say only what differs:
//!
//! ```yaml
//! create: { path: /v2/orders, id: order_id }
//! fields: { external_code: ref, latitude: position.lat, longitude: position.lon, address: null }
//! categories: { PINTADAS: "0417" }
//! ```
//!
//! A field, or a constant, named by a dotted path is nested; a field that is null is not sent. In answers a dotted path
//! leads to what is nested (`data.id`, or `0.id` in a list).

mod check;

use std::collections::BTreeMap;

use serde::Deserialize;

/// What is wrong with a platform's file.
#[derive(Debug, thiserror::Error)]
pub enum PlatformError {
    /// It is no YAML of this form. The parser's words; they quote nothing but names.
    #[error("not a platform's file: {0}")]
    Yaml(String),
    /// What it says cannot work.
    #[error("{0}")]
    Contradiction(String),
}

/// Which adapter speaks to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Adapter {
    /// JSON with a login for a token, the photo inline.
    #[default]
    Contractor,
    /// Open311 GeoReport v2.
    Open311,
}

/// In what an Open311 endpoint is asked to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// At `/requests.json`.
    #[default]
    Json,
    /// At `/requests.xml`, for one that has no JSON.
    Xml,
}

impl Format {
    /// The ending of a path.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Xml => "xml",
        }
    }
}

/// A platform.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Platform {
    /// Which adapter speaks to it.
    pub adapter: Adapter,
    /// The login of the JSON adapter.
    pub login: Login,
    /// The create of the JSON adapter.
    pub create: Create,
    /// The search of the JSON adapter, where it works.
    pub search: Search,
    /// The list of records by date of the JSON adapter, where there is one.
    pub list: Option<List>,
    /// The names of what is sent by the JSON adapter.
    pub fields: Fields,
    /// What is particular to Open311.
    pub open311: Open311,
    /// What each create of the JSON adapter holds besides, name to value.
    pub constants: BTreeMap<String, serde_json::Value>,
    /// Our category codes in the platform's words. A code that is not here is sent as it is.
    pub categories: BTreeMap<String, String>,
    /// What a note says when a report goes without its photo.
    pub remarks: Remarks,
}

/// `POST path` with user and password, answered by a token.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Login {
    /// After the base URL.
    pub path: String,
    /// Name of the user's field.
    pub user: String,
    /// Name of the password's field.
    pub password: String,
    /// Name of the token in the answer.
    pub token: String,
    /// Name of the token's life in seconds in the answer.
    pub expires_in: String,
    /// What stands before the token in `Authorization`; null: nothing.
    pub scheme: Option<String>,
}

/// `POST path`, answered by an id.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Create {
    /// After the base URL.
    pub path: String,
    /// Name of the record's id in the answer.
    pub id: String,
}

/// `GET path?query=code`, answered by a list of records.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// After the base URL.
    pub path: String,
    /// The query's parameter for the external code.
    pub query: String,
    /// Name of the external code in a record.
    pub external_code: String,
    /// Name of the id in a record.
    pub id: String,
    /// Name of the list in the answer, where that is not the answer itself.
    pub items: Option<String>,
}

/// Names of what is sent. Only the external code must be.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "each is the name of the field of the same name")]
pub struct Fields {
    pub external_code: String,
    pub category: Option<String>,
    pub latitude: Option<String>,
    pub longitude: Option<String>,
    pub address: Option<String>,
    pub note: Option<String>,
    pub reported_at: Option<String>,
    pub photo: Option<String>,
    /// Within `photo`; beside it, where `photo` is the base64 itself.
    pub photo_content_type: Option<String>,
    /// Within `photo`; base64. Null: `photo` is the base64 itself.
    pub photo_data: Option<String>,
}

/// What is particular to an Open311 endpoint.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Open311 {
    /// Sent with every call, where one endpoint serves several.
    pub jurisdiction_id: Option<String>,
    /// What it is asked to answer in; read is either.
    pub format: Format,
    /// The code of the attribute that takes our reference, where the service declares one. Without it the reference
    /// ends the description.
    pub reference_attribute: Option<String>,
    /// Further attributes that the services require, code to value.
    pub attributes: BTreeMap<String, String>,
    /// It fetches photos from `media_url`. Where it does not, reports go without their photos.
    pub photos: bool,
}

/// What a note says when a report goes without its photo.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Remarks {
    /// The platform refused it for its size.
    pub photo_too_large: String,
    /// It never came, and a person let the report go.
    pub photo_missing: String,
}

/// `GET path?since=…&until=…`, answered by a list of records whose names are those of the search.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// After the base URL.
    pub path: String,
    /// Name of the parameter for the earliest moment, RFC 3339.
    #[serde(default = "since")]
    pub since: String,
    /// Name of the parameter for the latest moment.
    #[serde(default = "until")]
    pub until: String,
    /// So many records at most in one answer: a list of that length is asked for again in halves.
    #[serde(default = "most")]
    pub most: usize,
    /// So many days at most in one question.
    #[serde(default = "longest_days")]
    pub longest_days: u32,
    /// Name of the list in the answer, where that is not the answer itself.
    #[serde(default)]
    pub items: Option<String>,
}

fn since() -> String {
    "since".to_owned()
}

fn until() -> String {
    "until".to_owned()
}

const fn most() -> usize {
    1000
}

const fn longest_days() -> u32 {
    31
}

impl Default for Login {
    fn default() -> Self {
        let [path, user, password, token, expires_in] =
            ["/api/login", "user", "password", "token", "expires_in"].map(str::to_owned);
        Self { path, user, password, token, expires_in, scheme: Some("Bearer".to_owned()) }
    }
}

impl Default for Create {
    fn default() -> Self {
        Self { path: "/api/incidents".to_owned(), id: "id".to_owned() }
    }
}

impl Default for Search {
    fn default() -> Self {
        let [path, query, external_code, id] =
            ["/api/incidents", "external_code", "external_code", "id"].map(str::to_owned);
        Self { path, query, external_code, id, items: None }
    }
}

impl Default for Fields {
    fn default() -> Self {
        let named = |name: &str| Some(name.to_owned());
        Self {
            external_code: "external_code".to_owned(),
            category: named("category"),
            latitude: named("latitude"),
            longitude: named("longitude"),
            address: named("address"),
            note: named("note"),
            reported_at: named("reported_at"),
            photo: named("photo"),
            photo_content_type: named("content_type"),
            photo_data: named("data"),
        }
    }
}

impl Default for Open311 {
    fn default() -> Self {
        Self {
            jurisdiction_id: None,
            format: Format::Json,
            reference_attribute: None,
            attributes: BTreeMap::new(),
            photos: true,
        }
    }
}

impl Default for Remarks {
    fn default() -> Self {
        Self {
            photo_too_large: "(La foto era demasiado grande para esta plataforma y no se adjunta.)"
                .to_owned(),
            photo_missing: "(La foto no se pudo obtener.)".to_owned(),
        }
    }
}

impl Platform {
    /// Reads and checks the text of a file.
    ///
    /// # Errors
    /// It is no YAML of this form, or what it says cannot work.
    pub fn parse(text: &str) -> Result<Self, PlatformError> {
        let platform: Self = serde_saphyr::from_str(text).map_err(|error| {
            let said = error.to_string();
            PlatformError::Yaml(said.lines().next().unwrap_or_default().to_owned())
        })?;
        platform.check()?;
        Ok(platform)
    }

    /// The platform's word for one of our category codes.
    pub fn category<'a>(&'a self, code: &'a str) -> &'a str {
        self.categories.get(code).map_or(code, String::as_str)
    }
}

impl Fields {
    /// All names that are sent, `photo` as one.
    pub(crate) fn names(&self) -> Vec<&str> {
        let beside = self.photo.as_ref().filter(|_| self.photo_data.is_none());
        let optional = [
            &self.category,
            &self.latitude,
            &self.longitude,
            &self.address,
            &self.note,
            &self.reported_at,
            &self.photo,
            beside.map_or(&None, |_| &self.photo_content_type),
        ];
        std::iter::once(self.external_code.as_str())
            .chain(optional.into_iter().filter_map(Option::as_deref))
            .collect()
    }

    /// Names within `photo`.
    fn within_photo(&self) -> Vec<&str> {
        let Some(data) = &self.photo_data else { return Vec::new() };
        std::iter::once(data).chain(&self.photo_content_type).map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_the_agreed_api() {
        let platform = Platform::parse("{}").unwrap();
        assert_eq!(
            (platform.login.path.as_str(), platform.create.path.as_str()),
            ("/api/login", "/api/incidents")
        );
        assert_eq!(platform.category("PINTADAS"), "PINTADAS");
    }

    #[test]
    fn the_files_of_the_readme_can_be_used_and_the_first_is_the_agreed_api() {
        let readme = include_str!("../README.md");
        let files = readme.split("```yaml\n").skip(1).map(|text| text.split("```").next().unwrap());
        let platforms: Vec<String> =
            files.map(|text| format!("{:?}", Platform::parse(text).unwrap())).collect();
        assert_eq!(platforms.len(), 3);
        assert_eq!(platforms[0], format!("{:?}", Platform::default()));
    }

    #[test]
    fn a_file_says_only_what_differs() {
        let text = "create: {path: /v2/orders, id: order}\nfields: {note: null, latitude: at.lat}\ncategories: {A: \"1\"}\n";
        let platform = Platform::parse(text).unwrap();
        assert_eq!(
            (platform.create.id.as_str(), platform.category("A"), platform.category("B")),
            ("order", "1", "B")
        );
        assert_eq!((platform.fields.note, platform.fields.latitude.as_deref()), (None, Some("at.lat")));
    }
}
