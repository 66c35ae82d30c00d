//! What a message gives the form when it opens.

use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation;

use crate::limits;

/// The screen a message must open.
pub const FIRST_SCREEN: &str = "ROOT";
/// Its one member.
pub(crate) const ADDRESS_FIELD: &str = "address";
/// For the platform's preview.
pub(crate) const EXAMPLE_ADDRESS: &str = "Plaza Mayor, 1";

/// UTF-16 units of an address. Far below what the screen could show, and more than any address has.
const ADDRESS_LENGTH: usize = 300;
/// Shown when there is no address: the platform refuses a blank text.
const NO_ADDRESS: &str = "–";

/// The data of the first screen: `{"address": …}`, made fit to be shown.
///
/// Runs of white space become one space, other control characters go, an empty address becomes a dash, what
/// is too long is cut between two characters as a reader sees them, and a backtick or `${` can start no
/// expression.
pub fn init_data(address: &str) -> Value {
    let visible: String = address.chars().filter(|sign| sign.is_whitespace() || !sign.is_control()).collect();
    let words = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = cut(&words.replace('`', "’").replace("${", "$ {"));
    json!({ ADDRESS_FIELD: if text.is_empty() { NO_ADDRESS } else { &text } })
}

fn cut(text: &str) -> String {
    if limits::length(text) <= ADDRESS_LENGTH {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut length = limits::length("…");
    for grapheme in text.graphemes(true) {
        length += limits::length(grapheme);
        if length > ADDRESS_LENGTH {
            break;
        }
        kept.push_str(grapheme);
    }
    kept.push('…');
    kept
}
