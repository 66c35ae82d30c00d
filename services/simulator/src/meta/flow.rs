//! A form of the account: its states, its last upload and its published version.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{error::GraphError, flow_problems};
use crate::state::numeric_id;

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Status {
    Draft,
    Published,
    Deprecated,
    Throttled,
    Blocked,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Draft => "DRAFT",
            Self::Published => "PUBLISHED",
            Self::Deprecated => "DEPRECATED",
            Self::Throttled => "THROTTLED",
            Self::Blocked => "BLOCKED",
        }
    }
}

/// A form of the account.
pub(crate) struct Flow {
    pub(crate) id: String,
    pub(crate) name: String,
    categories: Vec<String>,
    pub(crate) status: Status,
    /// The text as uploaded last.
    text: Option<String>,
    /// What is wrong with it, as Meta reports it.
    problems: Vec<Value>,
    /// The version that messages show.
    pub(crate) published: Option<Arc<Value>>,
}

impl Flow {
    /// A new form without a document.
    pub(super) fn new(name: String, categories: Vec<String>) -> Self {
        Self {
            id: numeric_id(),
            name,
            categories,
            status: Status::Draft,
            text: None,
            problems: Vec::new(),
            published: None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    pub(super) fn problems(&self) -> &[Value] {
        &self.problems
    }

    /// The last upload, if it is JSON.
    pub(crate) fn draft_document(&self) -> Option<Arc<Value>> {
        serde_json::from_str(self.text.as_deref()?).ok().map(Arc::new)
    }

    pub(super) fn upload(&mut self, text: String) {
        self.problems = flow_problems(&text);
        self.text = Some(text);
        self.status = Status::Draft;
    }

    pub(super) fn publish(&mut self) -> Result<(), GraphError> {
        if self.status != Status::Draft {
            return Err(GraphError::flow(139_002, "Flow is not in DRAFT status"));
        }
        if !self.problems.is_empty() {
            return Err(GraphError::flow(139_002, "Flow JSON has validation errors"));
        }
        let document = self.draft_document();
        self.published = Some(document.ok_or_else(|| GraphError::flow(139_002, "Flow JSON is missing"))?);
        self.status = Status::Published;
        Ok(())
    }

    fn field(&self, name: &str) -> Option<Value> {
        let version = || self.draft_document().and_then(|document| document.get("version").cloned());
        match name {
            "id" => Some(json!(self.id)),
            "name" => Some(json!(self.name)),
            "status" => Some(json!(self.status.name())),
            "categories" => Some(json!(self.categories)),
            "validation_errors" => Some(json!(self.problems)),
            "json_version" => version(),
            _ => None,
        }
    }

    pub(super) fn to_json(&self, fields: Option<&str>) -> Result<Value, GraphError> {
        let known = ["id", "name", "status", "categories", "validation_errors"];
        let mut map = Map::new();
        map.insert("id".to_owned(), json!(self.id));
        for field in fields.map_or_else(|| known.to_vec(), |fields| fields.split(',').collect()) {
            let optional = ["json_version", "data_api_version", "endpoint_uri"].contains(&field);
            match self.field(field) {
                Some(value) => drop(map.insert(field.to_owned(), value)),
                None if optional => {}
                None => {
                    return Err(GraphError::parameter(format!(
                        "Tried accessing nonexisting field ({field})"
                    )));
                }
            }
        }
        Ok(Value::Object(map))
    }
}
