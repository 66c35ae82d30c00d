//! Numbers and strings, as RFC 8259 writes them.

use std::borrow::Cow;

use super::Malformed;
use super::reader::Reader;

impl<'t> Reader<'t> {
    /// A number, as written.
    pub(super) fn number(&mut self) -> Result<&'t str, Malformed> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits()?;
        if leading_zero && whole > 1 {
            return Err(self.wrong("a number may not start with a zero"));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    fn digits(&mut self) -> Result<usize, Malformed> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.wrong("a digit was expected")) } else { Ok(self.at - start) }
    }

    /// A string without its quotes; borrowed where nothing in it is escaped.
    pub(super) fn string(&mut self) -> Result<Cow<'t, str>, Malformed> {
        self.at += 1;
        let mut start = self.at;
        let mut unescaped: Option<String> = None;
        loop {
            let rest = &self.bytes[self.at..];
            let Some(length) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1F)) else {
                return Err(self.wrong("a text has no closing quote"));
            };
            self.at += length;
            let piece = &self.text[start..self.at];
            match rest[length] {
                b'"' => {
                    self.at += 1;
                    return Ok(match unescaped {
                        None => Cow::Borrowed(piece),
                        Some(text) => Cow::Owned(text + piece),
                    });
                }
                b'\\' => {
                    let text = unescaped.get_or_insert_default();
                    text.push_str(piece);
                    self.at += 1;
                    let sign = self.escape()?;
                    unescaped.get_or_insert_default().push(sign);
                    start = self.at;
                }
                _ => return Err(self.wrong("a control character stands unescaped in a text")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Malformed> {
        let sign = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            Some(_) | None => return Err(self.wrong("an unknown escape in a text")),
        };
        self.at += 1;
        Ok(sign)
    }

    /// Half of a surrogate pair reads as the replacement character.
    fn unicode(&mut self) -> Result<char, Malformed> {
        let first = self.unit(self.at)?;
        self.at += 5;
        if (0xD800..0xDC00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
            let second = self.unit(self.at + 1)?;
            if (0xDC00..0xE000).contains(&second) {
                self.at += 6;
                let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// The four digits after the `u` at this place.
    fn unit(&self, at: usize) -> Result<u32, Malformed> {
        let digits = self.text.get(at + 1..at + 5).filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()));
        digits
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.wrong("an escape needs four hexadecimal digits"))
    }
}
