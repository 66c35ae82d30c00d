//! Meta: the Graph API the services call, and the deliveries it sends them.

mod binding;
mod document;
mod error;
mod expression;
mod flow;
mod flow_check;
mod flow_form;
mod flow_message;
mod flows;
mod graph;
mod lines;
mod media;
mod validate;
mod walker;
pub(crate) mod webhook;

use axum::{
    Router,
    http::StatusCode,
    routing::{get, post},
};

use crate::state::Shared;

pub(crate) use error::GraphError;
pub(crate) use flow::{Flow, Status as FlowStatus};
pub(crate) use validate::is_user_id;
pub(crate) use walker::{Answers, Walked, walk};

/// What an upload of a Flow JSON is told.
pub(crate) fn flow_problems(text: &str) -> Vec<serde_json::Value> {
    flow_check::check(text).iter().map(|problem| problem.to_json(text)).collect()
}

pub(crate) fn router() -> Router<Shared> {
    Router::new()
        .route("/media-download/{token}", get(media::download))
        .route("/flow-asset/{id}", get(flows::asset))
        .route("/{version}/{node}", get(graph::read).delete(flows::delete))
        .route("/{version}/{node}/messages", post(graph::messages))
        .route("/{version}/{node}/flows", get(flows::list).post(flows::create))
        .route("/{version}/{node}/assets", get(flows::assets).post(flows::upload))
        .route("/{version}/{node}/publish", post(flows::publish))
        .route("/{version}/{node}/deprecate", post(flows::deprecate))
        .method_not_allowed_fallback(unknown)
        .fallback(unknown)
}

async fn unknown() -> GraphError {
    GraphError::with_code(2500, StatusCode::BAD_REQUEST, "Unknown path components")
}
