//! Lengths the platform can show, and how they are counted.
//!
//! The platform publishes a form whose texts are too long and then cuts them or leaves the row blank on the
//! phone, so they are ours to check. How it counts is not documented. UTF-16 units are counted here: never
//! fewer than Unicode scalars, so a text that passes fits under both readings.

/// Rows of a list.
pub(crate) const LIST_ITEMS: usize = 20;
/// Title of a row; also used for screen titles, for which no limit is documented.
pub(crate) const TITLE: usize = 30;
/// Description of a row.
pub(crate) const DESCRIPTION: usize = 20;
/// Third line of a row.
pub(crate) const METADATA: usize = 80;
/// Label above a list.
pub(crate) const LIST_LABEL: usize = 80;
/// Headings and subheadings.
pub(crate) const HEADING: usize = 80;
/// Body text.
pub(crate) const BODY: usize = 4096;
/// Label of the note.
pub(crate) const AREA_LABEL: usize = 20;
/// Helper text of the note.
pub(crate) const AREA_HELPER: usize = 80;
/// Label of the photo picker.
pub(crate) const PHOTO_LABEL: usize = 80;
/// Description of the photo picker.
pub(crate) const PHOTO_DESCRIPTION: usize = 300;
/// Label of the button that ends the form.
pub(crate) const FOOTER: usize = 35;
/// Text of a link.
pub(crate) const LINK: usize = 25;
/// Characters of the note itself.
pub(crate) const NOTE: u32 = 600;
/// Size of the photo in KiB.
pub(crate) const PHOTO_KB: u32 = 10_240;
/// Screens in all: without an endpoint every screen with a list is linked to all others, and a screen may
/// have ten links.
pub(crate) const SCREENS: usize = 11;

/// Length in UTF-16 units.
pub(crate) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn length_is_never_below_the_number_of_scalars() {
        for (text, expected) in [("", 0), ("año", 3), ("🗑️", 3), ("e\u{301}", 2), ("👨‍👩‍👧", 8)]
        {
            assert_eq!(length(text), expected, "{text}");
            assert!(length(text) >= text.chars().count(), "{text}");
        }
    }
}
