//! Providers' payloads in and out, and the one normalised form that the rest of Abisu knows.
//!
//! * [`signature`]: whether the bytes of a webhook come from the provider, decided before anything is parsed.
//! * [`meta::inbound`]: a webhook body taken apart into messages, receipts and what cannot be understood. One bad
//!   message never costs its neighbours.
//! * [`infobip::inbound`], [`webhook::inbound`]: the same for Infobip, and for whoever posts in our own form.
//! * [`config`]: channels as a file lists them, and where their secrets are.
//! * [`normalised`]: the message as it is stored in the inbound queue.
//! * [`outgoing`]: what can be sent, and the [`Channel`] trait that sends it.
//! * [`meta::graph`], [`infobip::InfobipClient`], [`webhook::WebhookClient`], [`synthetic::Sink`]: who sends;
//!   [`config::Account::connect`] chooses. Every failure ([`send_error`], [`media_error`]) has a class that says what
//!   the queue does with it.
//!
//! No database and no HTTP server here; errors carry codes and places, never numbers, texts or tokens.
#![deny(missing_docs)]

pub mod config;
mod connect;
pub mod digest;
mod http_client;
mod identity;
pub mod inbound;
pub mod infobip;
mod keyed_hash;
pub mod media_error;
pub mod meta;
pub mod normalised;
pub mod outgoing;
mod pieces;
mod repair;
pub mod send_error;
pub mod signature;
pub mod synthetic;
mod value;
pub mod webhook;

pub use http_client::{ConnectError, LARGEST_FILE};
pub use media_error::{MediaClass, MediaError};
pub use normalised::{Attachment, Interactive, Kind, Message};
pub use outgoing::{Channel, Outgoing, Recipient};
pub use send_error::{Class, Failure, Reason, Scope, SendError};
