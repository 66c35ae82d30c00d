//! Where a citizen means, how sure that is, and whether the city serves it.
//!
//! Reads the service areas in `geo`, writes nothing, keeps no state but a cache. A typed text is taken apart by
//! [`parse`], asked of a [`provider`] behind its [`guard`], gated by [`coverage`] and judged by [`rank`]; only the provider and the database
//! are not pure. A provider that is away is a verdict, not an error: a pin needs none.

mod alias;
pub mod args;
mod breaker;
pub mod cache;
pub mod cartociudad;
pub mod chain;
pub mod config;
pub mod coverage;
pub mod differ;
mod error;
mod fold;
pub mod gate;
mod gazetteer;
mod grpc;
pub mod guard;
mod http;
mod language;
pub mod metrics;
pub mod nominatim;
pub mod offline;
mod osm;
pub mod parse;
pub mod photon;
mod point;
pub mod provider;
mod providers;
pub mod query;
pub mod rank;
mod rate;
pub mod resolve;
mod serve;
mod street_type;
mod tidy;

pub use alias::{AliasError, Aliases};
pub use error::Error;
pub use gazetteer::Gazetteer;
pub use language::Language;
pub use point::Point;
pub use serve::{run, start};
