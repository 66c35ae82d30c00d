//! WhatsApp through Infobip. In: its older form (`results[].message`) and that of its Messages API
//! (`results[].content[]`), which may both come to one address. Out: `/whatsapp/1/message/…`.

mod body;
mod client;
mod code;
pub mod inbound;
mod report;
mod send;

pub use client::InfobipClient;
