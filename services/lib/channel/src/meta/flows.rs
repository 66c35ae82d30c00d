//! Forms: create, upload, publish, list, read back, take out of use. Used by the command line, not by the services.

use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use super::graph::{API, GraphClient, refusal, unreadable};
use crate::http_client::{exchange, segment};
use crate::send_error::SendError;
use crate::value::{array, flag, object, whole, word};

/// Already deprecated, or never published: as good as done.
const NOT_DEPRECATED: i64 = 139_003;
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
        word(&answer, "id").ok_or_else(|| unreadable().into())
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
        if flag(&answer, "success") { Ok(()) } else { Err(unreadable().into()) }
    }

    /// Publishes a draft.
    ///
    /// # Errors
    /// The call failed or was refused.
    pub async fn publish_flow(&self, flow_id: &str) -> Result<(), FlowError> {
        let request = self.request(Method::POST, &format!("{}/publish", segment(flow_id)));
        let answer = self.call(request).await?;
        if flag(&answer, "success") { Ok(()) } else { Err(unreadable().into()) }
    }

    /// The document that a form has; `None` if what is stored is no JSON.
    ///
    /// # Errors
    /// A call failed, or no document is listed.
    pub async fn flow_document(&self, flow_id: &str) -> Result<Option<Value>, FlowError> {
        let listing = self.call(self.request(Method::GET, &format!("{}/assets", segment(flow_id)))).await?;
        let asset = array(&listing, "data")
            .iter()
            .find(|asset| word(asset, "asset_type").as_deref() == Some("FLOW_JSON"))
            .and_then(|asset| word(asset, "download_url"))
            .ok_or_else(unreadable)?;
        // The address is signed; the token stays with the Graph API.
        let answer = exchange(API, self.http.get(asset)).await?;
        if !answer.status.is_success() {
            return Err(refusal(&answer).into());
        }
        Ok(answer.body.as_deref().and_then(|bytes| serde_json::from_slice(bytes).ok()))
    }

    /// Takes a form out of use. One that is out of use already, or was never in it, is left as it is.
    ///
    /// # Errors
    /// The call failed or was refused.
    pub async fn deprecate_flow(&self, flow_id: &str) -> Result<(), FlowError> {
        let request = self.request(Method::POST, &format!("{}/deprecate", segment(flow_id)));
        match self.call(request).await {
            Ok(_) => Ok(()),
            Err(error) if error.code == Some(NOT_DEPRECATED) => Ok(()),
            Err(error) => Err(error.into()),
        }
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
