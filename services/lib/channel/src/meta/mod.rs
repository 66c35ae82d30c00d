//! WhatsApp Business Cloud API, as Meta runs it.

mod alert;
mod body;
mod envelope;
mod error;
pub mod flows;
pub mod graph;
pub mod inbound;
mod media;
mod media_error;
mod message;
mod send;

pub use error::{Class, Failure, Scope, SendError};
pub use flows::{Flow, FlowError, FlowProblem};
pub use graph::{GraphClient, GraphConfig, GraphConfigError};
pub use media::LARGEST_FILE;
pub use media_error::{MediaClass, MediaError};
