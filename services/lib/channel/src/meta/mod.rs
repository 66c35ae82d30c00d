//! WhatsApp Business Cloud API, as Meta runs it.

mod alert;
mod body;
mod code;
mod envelope;
pub mod flows;
pub mod graph;
pub mod inbound;
mod media;
mod message;
mod send;

pub use flows::{Flow, FlowError, FlowProblem};
pub use graph::{GraphClient, GraphConfig};
