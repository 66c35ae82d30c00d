//! Demo, tests, checks: everything a developer runs, as a library, so that tests can run the whole system too.
//!
//! * [`postgres`]: a private server with PostGIS, found or installed.
//! * [`stack`]: the services and the simulators as processes that are started again when they end.
//! * [`citizen`]: a person with a phone, played by the simulator.
//! * [`demo`], [`up`], [`converse`], [`bench`], [`chart`], [`image`], [`test`], [`cluster`], [`lint`], [`sqlx`]: the commands.
//!
//! This crate depends on no service and not on `runtime`: it is compiled before them, and it must run while they do
//! not compile. Of the others it takes the two pure ones; what measures them all is a program of its own in
//! `benches/`, whose dependencies are those of development. Whatever it starts, it stops: on return, on failure and on a signal; what a killed run left behind is
//! removed by the next one (see [`ledger`]).
#![deny(missing_docs)]

pub mod bench;
pub mod chart;
pub mod citizen;
pub mod cluster;
pub mod converse;
mod debian;
pub mod demo;
pub mod image;
pub mod ledger;
pub mod lint;
pub mod ports;
pub mod postgres;
pub mod process;
pub mod progress;
pub mod sqlx;
pub mod stack;
pub mod test;
pub mod tree;
pub mod up;
