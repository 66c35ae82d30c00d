//! What names a message and its sender, whatever the provider: ids and phones that can be stored and looked up.

/// Longer than any id that a provider makes; an index of Postgres takes no key beyond 2,700 bytes.
pub(crate) const LONGEST_ID: usize = 512;
/// E.164 has 15 digits; some room for what providers do with prefixes.
const LONGEST_PHONE: usize = 20;

/// Digits without `+`, if that is what it is.
pub(crate) fn phone(text: &str) -> Option<String> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let plausible =
        (1..=LONGEST_PHONE).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    plausible.then(|| digits.to_owned())
}

/// A business-scoped id. Its form is the provider's own affair, save that it is short and printable.
pub(crate) fn user_id(text: &str) -> Option<String> {
    let plausible =
        (1..=LONGEST_ID).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    plausible.then(|| text.to_owned())
}
