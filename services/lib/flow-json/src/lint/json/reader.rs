//! From a text to its tree: lists, objects and what stands between their elements.

use std::collections::HashSet;

use super::{Malformed, Member, Node, Read, Value};

/// Deeper than any form; far below what a stack bears.
const MAX_DEPTH: usize = 96;
/// Keys of an object that are compared one by one.
const FEW_KEYS: usize = 12;

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

/// A place in a text.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    repeated: Vec<usize>,
}

impl<'t> Reader<'t> {
    pub(super) fn wrong(&self, message: &'static str) -> Malformed {
        Malformed { at: self.at, message }
    }

    pub(super) fn peek(&self) -> Option<u8> {
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
}
