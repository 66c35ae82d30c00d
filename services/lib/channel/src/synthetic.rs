//! The end of the synthetic channel: what is sent to it goes nowhere.

use crate::config::SYNTHETIC;
use crate::media_error::MediaError;
use crate::outgoing::{Accepted, Answer, Channel, Forms, Media, Outgoing, Recipient};
use crate::send_error::SendError;

/// Takes everything and passes nothing on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sink;

impl Channel for Sink {
    fn send<'a>(
        &'a self,
        _recipient: &'a Recipient,
        _message: &'a Outgoing,
        callback: &'a str,
    ) -> Answer<'a, Accepted, SendError> {
        let taken = Accepted { provider_ids: vec![format!("{SYNTHETIC}:{callback}")] };
        Box::pin(std::future::ready(Ok(taken)))
    }

    fn forms(&self) -> Forms {
        Forms::Fields
    }

    fn shows_work(&self) -> bool {
        false
    }

    fn working<'a>(&'a self, _message_id: &'a str) -> Answer<'a, (), SendError> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn probe(&self) -> Answer<'_, (), SendError> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn fetch_media<'a>(&'a self, _media_id: &'a str) -> Answer<'a, Media, MediaError> {
        Box::pin(std::future::ready(Err(MediaError::NoFiles)))
    }
}
