//! Makes the bytes of a JSON text parsable and storable without losing what it says.
//!
//! Postgres stores neither NUL nor lone surrogates, and serde_json refuses a whole document over one lone `\ud800`,
//! or over one byte that is not UTF-8. So escapes are mended on the bytes, before parsing: what cannot be a character
//! becomes U+FFFD. Whole numbers longer than 64 bits hold become strings of the same digits, since a parser would
//! round them. The raw bytes are kept elsewhere; this is only the form that is worked with.

use std::borrow::Cow;

/// The longest run of digits that always fits 64 bits without a sign: `u64::MAX` has 20.
const EXACT_DIGITS: usize = 19;
const REPLACEMENT: &str = "\\ufffd";

/// The text with everything mended that Postgres or the parser would refuse. Borrowed when nothing had to be.
pub(crate) fn storable(input: &[u8]) -> Cow<'_, str> {
    match String::from_utf8_lossy(input) {
        Cow::Borrowed(text) => mend(text).map_or(Cow::Borrowed(text), Cow::Owned),
        Cow::Owned(text) => Cow::Owned(mend(&text).unwrap_or(text)),
    }
}

/// `None` when nothing had to be mended.
fn mend(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out: Option<String> = None;
    let (mut at, mut kept, mut in_string) = (0, 0, false);
    let mut replace = |from: usize, to: usize, with: &str| {
        let out = out.get_or_insert_with(|| String::with_capacity(text.len() + 64));
        out.push_str(&text[kept..from]);
        out.push_str(with);
        kept = to;
    };
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                in_string = !in_string;
                at += 1;
            }
            b'\\' if in_string => match escaped_unit(bytes, at) {
                Some(0) => {
                    replace(at, at + 6, REPLACEMENT);
                    at += 6;
                }
                Some(0xd800..=0xdbff) => {
                    if matches!(escaped_unit(bytes, at + 6), Some(0xdc00..=0xdfff)) {
                        at += 12;
                    } else {
                        replace(at, at + 6, REPLACEMENT);
                        at += 6;
                    }
                }
                Some(0xdc00..=0xdfff) => {
                    replace(at, at + 6, REPLACEMENT);
                    at += 6;
                }
                Some(_) => at += 6,
                // A short escape; the byte after the backslash is never the end of the string.
                None => at += 2,
            },
            // Control characters must be escaped inside strings; a sender that does not is understood all the same.
            control @ 0..=0x1f if in_string => {
                let escape = if control == 0 { REPLACEMENT.to_owned() } else { format!("\\u{control:04x}") };
                replace(at, at + 1, &escape);
                at += 1;
            }
            b'-' | b'0'..=b'9' if !in_string => {
                let end = at + number_length(&bytes[at..]);
                let number = &text[at..end];
                let (digits, exact) = match number.strip_prefix('-') {
                    Some(digits) => (digits, EXACT_DIGITS - 1),
                    None => (number, EXACT_DIGITS),
                };
                if digits.len() > exact && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    replace(at, end, &format!("\"{number}\""));
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if let Some(out) = out.as_mut() {
        out.push_str(&text[kept..]);
    }
    out
}

/// The UTF-16 unit of a `\uXXXX` escape that begins at `at`.
fn escaped_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at.checked_add(6)?)?;
    let digits = escape.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0u16, |unit, &digit| {
        let digit = char::from(digit).to_digit(16)?;
        // Four hex digits always fit.
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

fn number_length(bytes: &[u8]) -> usize {
    let of_number = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    bytes.iter().take_while(of_number).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cannot_be_stored_is_mended() {
        let table: &[(&[u8], &str)] = &[
            (
                br#"{"t":"plain \u00e9 \ud83d\ude2e \\ \" a\/b"}"#,
                r#"{"t":"plain \u00e9 \ud83d\ude2e \\ \" a\/b"}"#,
            ),
            (br#"["\ud800"]"#, r#"["\ufffd"]"#),
            (br#"["\udc00x"]"#, r#"["\ufffdx"]"#),
            (br#"["\ud83d\ud83d\ude2e"]"#, r#"["\ufffd\ud83d\ude2e"]"#),
            (br#"["a\u0000b"]"#, r#"["a\ufffdb"]"#),
            // An escaped backslash before `u` is no escape of a character.
            (br#"["\\ud800 \\u0000"]"#, r#"["\\ud800 \\u0000"]"#),
            (b"[\"a\x00\x01b\"]", "[\"a\\ufffd\\u0001b\"]"),
            (b"[\"\xff\"]", "[\"\u{fffd}\"]"),
            (br#"[18446744073709551616,-1.5e3,12]"#, r#"["18446744073709551616",-1.5e3,12]"#),
            (br#"["18446744073709551616"]"#, r#"["18446744073709551616"]"#),
            (br#"["\ud800"#, r#"["\ufffd"#),
            (br#"["\ud8"#, r#"["\ud8"#),
            (b"\"\\", "\"\\"),
        ];
        for (input, expected) in table {
            assert_eq!(storable(input), *expected);
        }
    }

    #[test]
    fn a_text_without_faults_is_not_copied() {
        assert!(matches!(storable(br#"{"a":[1,"\u00e9"]}"#), Cow::Borrowed(_)));
    }
}
