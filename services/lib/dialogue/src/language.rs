//! The two languages of a conversation.

use serde::{Deserialize, Serialize};

/// A language Abisu speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Spanish.
    Es,
    /// Basque.
    Eu,
}

impl Language {
    /// Both, in the order in which a bilingual message speaks them.
    pub const ALL: [Self; 2] = [Self::Es, Self::Eu];

    /// The code used in button ids, rows and catalogs: `es` or `eu`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Es => "es",
            Self::Eu => "eu",
        }
    }

    /// Reads a code written by [`Language::as_str`].
    #[must_use]
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.as_str() == code)
    }
}
