//! What an upload of a Flow JSON is told: an independent reading of the rules for forms without an endpoint.
//!
//! It is stricter than the platform where the platform is silent and the phone then fails: lengths of
//! texts, actions of single rows, screens nobody can reach.

mod actions;
mod branches;
mod components;
mod expressions;
mod groups;
mod lists;
mod properties;
mod routes;
mod screens;

use serde_json::{Value, json};

use super::{
    document::Document,
    lines::{self, Span},
};
pub(super) use groups::is_day;

const LARGEST: usize = 10 * 1024 * 1024;

/// One violation, with the platform's code.
pub(crate) struct Problem {
    code: &'static str,
    path: String,
    message: String,
}

impl Problem {
    /// As `validation_errors` shows it, with its place in the text that was uploaded.
    pub(crate) fn to_json(&self, text: &str) -> Value {
        let Span { lines, columns } = lines::find(text, &self.path);
        let place = json!({"line_start": lines.0, "line_end": lines.1, "column_start": columns.0,
            "column_end": columns.1});
        let mut error = json!({"error": self.code, "error_type": "FLOW_JSON_ERROR", "message": self.message});
        let mut pointer = place.clone();
        pointer["path"] = json!(self.path);
        for (key, value) in place.as_object().into_iter().flatten() {
            error[key] = value.clone();
        }
        error["pointers"] = json!([pointer]);
        error
    }
}

/// The violations found so far.
#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, code: &'static str, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(Problem { code, path: path.into(), message: message.into() });
    }

    /// Refuses keys that are not known at this place.
    fn only(&mut self, path: &str, map: &super::document::Object, allowed: &[&str]) {
        for key in map.keys().filter(|key| !allowed.contains(&key.as_str())) {
            self.add("INVALID_PROPERTY_KEY", path, format!("Property '{key}' is not expected"));
        }
    }
}

/// All violations of a document, in the order of the checks.
pub(crate) fn check(text: &str) -> Vec<Problem> {
    let mut problems = Problems::default();
    if text.len() > LARGEST {
        problems.add("INVALID_FLOW_JSON", "", "The document is larger than 10 MB");
        return problems.0;
    }
    let root: Value = match serde_json::from_str(text) {
        Ok(root) => root,
        Err(error) => {
            problems.add("INVALID_FLOW_JSON", "", format!("The document is not JSON: {error}"));
            return problems.0;
        }
    };
    screens::check(&mut problems, &root);
    // What follows walks from screen to screen, which makes sense only in a document of the right shape.
    if problems.0.is_empty() {
        let document = Document::new(&root);
        components::check(&mut problems, &document);
        actions::check(&mut problems, &document);
        routes::check(&mut problems, &document);
    }
    problems.0
}
