//! The service over real gRPC, on real PostGIS, against a CartoCiudad that answers in the true shapes and fails in
//! every known way.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod adapter;
mod app;
mod area;
mod cartociudad;
mod contract;
mod coverage;
mod guard;
mod offline;
mod osm;
mod process;
mod service;
