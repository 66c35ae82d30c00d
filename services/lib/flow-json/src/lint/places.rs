//! From the byte where a fault stands to what a person and a program can point at: line, column, JSON pointer.
//!
//! All faults are placed in one pass over the text and one over the document, however many there are.

use super::Violation;
use super::context::Found;
use super::json::{Node, Value};

/// Bytes of one key in a pointer; a longer one is cut.
const MOST_KEY: usize = 200;

pub(crate) fn place(text: &str, root: Option<&Node<'_>>, mut found: Vec<Found>) -> Vec<Violation> {
    found.sort_by_key(|found| found.at);
    let offsets: Vec<usize> = found.iter().map(|found| found.at).collect();
    let lines = lines(text, &offsets);
    let mut pointers = vec![String::new(); offsets.len()];
    if let Some(root) = root {
        Pointers { offsets: &offsets, next: 0, pointers: &mut pointers, path: String::new() }.visit(root);
    }
    found
        .into_iter()
        .zip(lines)
        .zip(pointers)
        .map(|((Found { code, message, .. }, (line, column)), pointer)| Violation {
            code,
            message,
            pointer,
            line,
            column,
            key: None,
        })
        .collect()
}

/// Line and column of each offset, both from 1; columns are characters.
fn lines(text: &str, offsets: &[usize]) -> Vec<(usize, usize)> {
    let (mut at, mut line, mut column) = (0, 1, 1);
    let mut places = Vec::with_capacity(offsets.len());
    for offset in offsets {
        for byte in text.as_bytes().get(at..*offset).unwrap_or_default() {
            match byte {
                b'\n' => (line, column) = (line + 1, 1),
                // The continuation of a character.
                0x80..0xC0 => {}
                _ => column += 1,
            }
        }
        at = *offset;
        places.push((line, column));
    }
    places
}

/// Values and keys start in the order in which they are visited, so one pass meets all offsets.
struct Pointers<'p> {
    offsets: &'p [usize],
    next: usize,
    pointers: &'p mut [String],
    path: String,
}

impl Pointers<'_> {
    fn meet(&mut self, at: usize) {
        while self.offsets.get(self.next) == Some(&at) {
            self.pointers[self.next].clone_from(&self.path);
            self.next += 1;
        }
    }

    /// Nothing is to be met before the next value, so this one need not be looked into.
    fn is_beyond(&self, next: Option<usize>) -> bool {
        match (self.offsets.get(self.next), next) {
            (Some(offset), Some(next)) => *offset >= next,
            (Some(_), None) => false,
            (None, _) => true,
        }
    }

    fn visit(&mut self, node: &Node<'_>) {
        self.meet(node.at);
        if self.next == self.offsets.len() {
            return;
        }
        let length = self.path.len();
        match &node.value {
            Value::Array(elements) => {
                for (place, element) in elements.iter().enumerate() {
                    if self.is_beyond(elements.get(place + 1).map(|next| next.at)) {
                        continue;
                    }
                    self.path.push('/');
                    self.path.push_str(&place.to_string());
                    self.visit(element);
                    self.path.truncate(length);
                }
            }
            Value::Object(members) => {
                for (place, member) in members.iter().enumerate() {
                    if self.is_beyond(members.get(place + 1).map(|next| next.at)) {
                        continue;
                    }
                    self.path.push('/');
                    let end = member.key.floor_char_boundary(MOST_KEY);
                    self.path.push_str(&member.key[..end].replace('~', "~0").replace('/', "~1"));
                    self.meet(member.at);
                    self.visit(&member.value);
                    self.path.truncate(length);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}
