//! Where a citizen means, how sure that is, and whether the city serves it.
//!
//! Reads the service areas in `geo`, writes nothing, keeps no state but a cache. A typed text is taken apart by
//! [`parse`], asked of a [`provider`], gated by [`coverage`] and judged by [`rank`]; only the provider and the database
//! are not pure. A provider that is away is a verdict, not an error: a pin needs none.

mod alias;
pub mod args;
mod cache;
pub mod cartociudad;
pub mod config;
pub mod coverage;
mod error;
mod fold;
mod gazetteer;
mod grpc;
mod language;
pub mod metrics;
pub mod parse;
mod point;
pub mod provider;
mod query;
pub mod rank;
pub mod resolve;
mod serve;
mod street_type;
mod tidy;

pub use alias::Aliases;
pub use error::Error;
pub use gazetteer::Gazetteer;
pub use language::Language;
pub use point::Point;
pub use serve::{run, start};
