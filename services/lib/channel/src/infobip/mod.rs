//! WhatsApp through Infobip: its older form (`results[].message`) and that of its Messages API (`results[].content[]`),
//! which may both come to one address.

mod body;
pub mod inbound;
mod report;
