//! The lengths a message may have, and cutting to them.
//!
//! Providers do not say what they count. A UTF-16 unit never counts less than a Unicode scalar, so keeping to
//! a limit in UTF-16 units keeps to it in both.

use unicode_segmentation::UnicodeSegmentation;

/// Text above buttons, a location request or a form.
pub(crate) const BODY: usize = 1024;
/// A plain text.
pub(crate) const TEXT: usize = 4096;
/// The title of a button, of a list's button and of a form's button.
pub(crate) const BUTTON: usize = 20;
/// The title of a list row.
pub(crate) const ROW_TITLE: usize = 24;
/// The description of a list row.
pub(crate) const ROW_DESCRIPTION: usize = 72;
/// The rows of a list.
pub(crate) const ROWS: usize = 10;
/// An address as it is kept and shown.
pub(crate) const ADDRESS: usize = 200;
/// A street or town as the geocoder names it.
pub(crate) const NAME: usize = 80;
/// A house number.
pub(crate) const NUMBER: usize = 20;

/// How long a text counts.
pub(crate) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Cuts at a border of graphemes, with an ellipsis, where a text is too long.
pub(crate) fn fit(text: &str, limit: usize) -> String {
    if length(text) <= limit {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        used += length(grapheme);
        if used + 1 > limit {
            break;
        }
        cut.push_str(grapheme);
    }
    format!("{}…", cut.trim_end())
}

/// One line without control characters, cut; `None` when nothing is left.
pub(crate) fn line(text: &str, limit: usize) -> Option<String> {
    let spaced: String =
        text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    let joined = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    if joined.is_empty() { None } else { Some(fit(&joined, limit)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_graphemes_and_counts_in_utf16() {
        assert_eq!(fit("Calle Mayor", 11), "Calle Mayor");
        assert_eq!(fit("Calle Mayor 5", 11), "Calle Mayo…");
        assert_eq!(fit("Calle Mayor 5", 7), "Calle…");
        assert_eq!(fit("ab👍🏽c", 5), "ab…");
        assert_eq!(fit("👍🏽👍🏽👍🏽", 9), "👍🏽👍🏽…");
        assert!(length(&fit(&"é".repeat(300), 72)) <= 72);
    }

    #[test]
    fn a_line_loses_breaks_controls_and_surrounding_space() {
        assert_eq!(line(" Calle\nMayor\u{0} 5 ", 200).as_deref(), Some("Calle Mayor 5"));
        assert_eq!(line(" \n\t", 200), None);
    }
}
