//! A JSON reader that keeps the place of every value and every key, so that what is wrong can be shown where it
//! stands.
//!
//! Nesting is bounded, so nothing that walks what was read can exhaust the stack. Strings without escapes are
//! borrowed from the text: ten megabytes of pictures cost no copy.

use std::borrow::Cow;
use std::collections::HashSet;

/// Deeper than any form; far below what a stack bears.
const MAX_DEPTH: usize = 96;
/// Keys of an object that are compared one by one.
const FEW_KEYS: usize = 12;

/// A value and the byte it starts at.
#[derive(Debug)]
pub(crate) struct Node<'t> {
    pub(crate) at: usize,
    pub(crate) value: Value<'t>,
}

#[derive(Debug)]
pub(crate) enum Value<'t> {
    Null,
    Bool(bool),
    /// As written.
    Number(&'t str),
    String(Cow<'t, str>),
    Array(Vec<Node<'t>>),
    Object(Vec<Member<'t>>),
}

/// A key with its place, and its value.
#[derive(Debug)]
pub(crate) struct Member<'t> {
    pub(crate) at: usize,
    pub(crate) key: Cow<'t, str>,
    pub(crate) value: Node<'t>,
}

/// A text that was read.
pub(crate) struct Read<'t> {
    pub(crate) root: Node<'t>,
    /// Places of keys that stand a second time in their object.
    pub(crate) repeated: Vec<usize>,
}

/// Why a text is not JSON, and the byte where that showed.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) at: usize,
    pub(crate) message: &'static str,
}

impl<'t> Node<'t> {
    /// The first member of this name, if this is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Node<'t>> {
        self.members().iter().find(|member| member.key == key).map(|member| &member.value)
    }

    /// The members of an object; none for anything else.
    pub(crate) fn members(&self) -> &[Member<'t>] {
        if let Value::Object(members) = &self.value { members } else { &[] }
    }

    /// The elements of an array; none for anything else.
    pub(crate) fn elements(&self) -> &[Node<'t>] {
        if let Value::Array(elements) = &self.value { elements } else { &[] }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Value::String(text) = &self.value { Some(text) } else { None }
    }

    pub(crate) fn truth(&self) -> Option<bool> {
        if let Value::Bool(truth) = self.value { Some(truth) } else { None }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        if let Value::Number(digits) = self.value { digits.parse().ok() } else { None }
    }
}

/// Reads one document.
pub(crate) fn read(text: &str) -> Result<Read<'_>, Malformed> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, repeated: Vec::new() };
    let root = reader.value(0)?;
    reader.space();
    if reader.at < reader.bytes.len() {
        return Err(reader.wrong("something follows the end of the document"));
    }
    Ok(Read { root, repeated: reader.repeated })
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    repeated: Vec<usize>,
}

impl<'t> Reader<'t> {
    fn wrong(&self, message: &'static str) -> Malformed {
        Malformed { at: self.at, message }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node<'t>, Malformed> {
        self.space();
        let at = self.at;
        let value = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Value::Number(self.number()?),
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            Some(_) => return Err(self.wrong("a value was expected")),
            None => return Err(self.wrong("the document ends too early")),
        };
        Ok(Node { at, value })
    }

    fn word(&mut self, word: &str, value: Value<'t>) -> Result<Value<'t>, Malformed> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.wrong("a value was expected"))
        }
    }

    fn open(&mut self, depth: usize) -> Result<usize, Malformed> {
        if depth >= MAX_DEPTH {
            return Err(self.wrong("the document is nested too deeply"));
        }
        self.at += 1;
        self.space();
        Ok(depth + 1)
    }

    /// After an element: whether another follows.
    fn more(&mut self, close: u8) -> Result<bool, Malformed> {
        self.space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.space();
                if self.peek() == Some(close) {
                    return Err(self.wrong("a comma before the end of a list or an object"));
                }
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) => Err(self.wrong("a comma or the end of the list or object was expected")),
            None => Err(self.wrong("the document ends too early")),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value<'t>, Malformed> {
        let depth = self.open(depth)?;
        let mut elements = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(elements));
        }
        loop {
            elements.push(self.value(depth)?);
            if !self.more(b']')? {
                return Ok(Value::Array(elements));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value<'t>, Malformed> {
        let depth = self.open(depth)?;
        let mut members = Vec::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(members));
        }
        loop {
            let at = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a key in double quotes was expected"));
            }
            let key = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.wrong("a colon was expected"));
            }
            self.at += 1;
            members.push(Member { at, key, value: self.value(depth)? });
            if !self.more(b'}')? {
                break;
            }
        }
        self.note_repeated(&members);
        Ok(Value::Object(members))
    }

    /// Most objects have a handful of keys, for which a table costs more than it saves.
    fn note_repeated(&mut self, members: &[Member<'t>]) {
        if members.len() <= FEW_KEYS {
            let again = members
                .iter()
                .enumerate()
                .filter(|(place, member)| members[..*place].iter().any(|before| before.key == member.key));
            self.repeated.extend(again.map(|(_, member)| member.at));
            return;
        }
        let mut seen = HashSet::with_capacity(members.len());
        let again = members.iter().filter(|member| !seen.insert(member.key.as_ref()));
        self.repeated.extend(again.map(|member| member.at));
    }

    fn number(&mut self) -> Result<&'t str, Malformed> {
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

    fn string(&mut self) -> Result<Cow<'t, str>, Malformed> {
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
