//! Half of a surrogate pair, escaped, makes the JSON parser refuse the whole text: a phone that cut an emoji
//! in two would cost the citizen the report. Such an escape becomes the replacement character.

/// The text with every lone `\uD800`…`\uDFFF` replaced.
pub(super) fn repair_escapes(text: &str) -> String {
    let mut repaired = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('\\') {
        let (before, escape) = rest.split_at(start);
        repaired.push_str(before);
        let taken = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                repaired.push('\u{FFFD}');
                rest = &escape[6..];
                continue;
            }
            // The escaped character goes along, so that the second backslash of `\\u` starts nothing.
            (Some(_) | None, _) => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        let (escape, after) = escape.split_at(taken);
        repaired.push_str(escape);
        rest = after;
    }
    repaired.push_str(rest);
    repaired
}

/// The code unit of a `\uXXXX` at the start.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    // from_str_radix would take a sign.
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::repair_escapes;

    #[test]
    fn only_lone_halves_are_replaced() {
        for (text, expected) in [
            (r"", r""),
            (r"plain", r"plain"),
            (r"\ud83d\uDE00", r"\ud83d\uDE00"),
            (r"a\ud83d", "a\u{FFFD}"),
            (r"\ude00b", "\u{FFFD}b"),
            (r"\ud83d\ud83d\ude00", "\u{FFFD}\\ud83d\\ude00"),
            (r"\\ud83d", r"\\ud83d"),
            (r"\\\ud83d", "\\\\\u{FFFD}"),
            (r"\n\u00f1", r"\n\u00f1"),
            (r"\u+12f", r"\u+12f"),
            ("\\", "\\"),
            ("\\ñ\\ud8", "\\ñ\\ud8"),
            ("\\u12ñ4", "\\u12ñ4"),
        ] {
            assert_eq!(repair_escapes(text), expected, "{text}");
        }
    }
}
