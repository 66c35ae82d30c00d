//! Forms: create, upload, publish, list. Used by the command line, not by the services.

use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use super::error::{Failure, SendError};
use super::graph::{GraphClient, segment};
use crate::value::{array, flag, object, whole, word};

/// More pages than any account has forms for (25 a page); ends a listing that would never end.
const MOST_PAGES: usize = 100;

/// A form as the provider lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// The provider's id.
    pub id: String,
    /// Unique in the account.
    pub name: String,
    /// `DRAFT`, `PUBLISHED`, `DEPRECATED`, `THROTTLED`, `BLOCKED`.
    pub status: String,
}

/// Something that the provider's linter found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}{}", self.place())]
pub struct FlowProblem {
    /// The provider's word.
    pub code: String,
    /// The provider's explanation.
    pub message: String,
    /// Line in the uploaded text.
    pub line: Option<i64>,
    /// Path into the document.
    pub path: Option<String>,
}

/// Why a form could not be created, uploaded or published.
#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    /// The call failed.
    #[error("the call failed")]
    Call(#[from] SendError),
    /// The document was stored and cannot be published.
    #[error("the form has {} problem(s)", .0.len())]
    Invalid(Vec<FlowProblem>),
    /// The document cannot be put into a request.
    #[error("the upload cannot be made")]
    Upload,
}

impl GraphClient {
    /// All forms of a business account.
    ///
    /// # Errors
    /// A call failed.
    pub async fn list_flows(&self, account: &str) -> Result<Vec<Flow>, FlowError> {
        let (mut flows, mut after) = (Vec::new(), None::<String>);
        for _ in 0..MOST_PAGES {
            let mut request = self
                .request(Method::GET, &format!("{}/flows", segment(account)))
                .query(&[("fields", "id,name,status")]);
            if let Some(after) = &after {
                request = request.query(&[("after", after)]);
            }
            let page = self.call(request).await?;
            flows.extend(array(&page, "data").iter().filter_map(|flow| {
                Some(Flow { id: word(flow, "id")?, name: word(flow, "name")?, status: word(flow, "status")? })
            }));
            let paging = object(&page, "paging").filter(|paging| word(paging, "next").is_some());
            after = paging
                .and_then(|paging| object(paging, "cursors"))
                .and_then(|cursors| word(cursors, "after"));
            if after.is_none() {
                break;
            }
        }
        Ok(flows)
    }

    /// Makes an empty draft and returns its id. `name` must be new in the account.
    ///
    /// # Errors
    /// The call failed.
    pub async fn create_flow(
        &self,
        account: &str,
        name: &str,
        categories: &[&str],
    ) -> Result<String, FlowError> {
        let request = self
            .request(Method::POST, &format!("{}/flows", segment(account)))
            .json(&json!({"name": name, "categories": categories}));
        let answer = self.call(request).await?;
        word(&answer, "id").ok_or_else(|| SendError::new(Failure::Unreadable).into())
    }

    /// Uploads the document of a form. A published form becomes a draft again; what was sent keeps the old document.
    ///
    /// # Errors
    /// The call failed, or the linter found something; the document is stored all the same.
    pub async fn upload_flow(&self, flow_id: &str, document: String) -> Result<(), FlowError> {
        let file = Part::text(document)
            .file_name("flow.json")
            .mime_str("application/json")
            .map_err(|_| FlowError::Upload)?;
        let form = Form::new().text("name", "flow.json").text("asset_type", "FLOW_JSON").part("file", file);
        let request = self.request(Method::POST, &format!("{}/assets", segment(flow_id))).multipart(form);
        let answer = self.call(request).await?;
        let problems: Vec<FlowProblem> = array(&answer, "validation_errors").iter().map(problem).collect();
        if !problems.is_empty() {
            return Err(FlowError::Invalid(problems));
        }
        if flag(&answer, "success") { Ok(()) } else { Err(SendError::new(Failure::Unreadable).into()) }
    }

    /// Publishes a draft.
    ///
    /// # Errors
    /// The call failed or was refused.
    pub async fn publish_flow(&self, flow_id: &str) -> Result<(), FlowError> {
        let request = self.request(Method::POST, &format!("{}/publish", segment(flow_id)));
        let answer = self.call(request).await?;
        if flag(&answer, "success") { Ok(()) } else { Err(SendError::new(Failure::Unreadable).into()) }
    }
}

impl FlowProblem {
    fn place(&self) -> String {
        let line = self.line.map(|line| format!(" (line {line})"));
        let path = self.path.as_ref().map(|path| format!(" at {path}"));
        line.unwrap_or_default() + &path.unwrap_or_default()
    }
}

fn problem(value: &Value) -> FlowProblem {
    FlowProblem {
        code: word(value, "error").unwrap_or_else(|| "UNKNOWN".to_owned()),
        message: word(value, "message").unwrap_or_default(),
        line: whole(value, "line_start"),
        path: array(value, "pointers").first().and_then(|pointer| word(pointer, "path")),
    }
}
