//! The languages of citizens.

use crate::Error;

/// The language in which an address is worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// "Calle Dato 12".
    Spanish,
    /// "Dato kalea 12".
    Basque,
}

impl Language {
    /// Reads a language as the proto names it.
    ///
    /// # Errors
    /// It is none of the two.
    pub fn parse(code: &str) -> Result<Self, Error> {
        match code {
            "es" => Ok(Self::Spanish),
            "eu" => Ok(Self::Basque),
            _ => Err(Error::invalid("language", "must be \"es\" or \"eu\"")),
        }
    }
}
