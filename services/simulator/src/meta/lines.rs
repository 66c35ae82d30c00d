//! Where in the text of a document a value stands: `validation_errors` point there.

/// First and last line and column, from 1; columns count characters, and the last one is the value's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) lines: (usize, usize),
    pub(crate) columns: (usize, usize),
}

/// The place of the value under a path as `screens[0].layout.children[1].text`, or of the nearest value around it.
/// The text is known to be JSON.
pub(crate) fn find(text: &str, path: &str) -> Span {
    let names: Vec<&str> = path.split(['.', '[', ']']).filter(|name| !name.is_empty()).collect();
    let mut reader = Reader { text, at: 0 };
    let mut span = reader.value(&names);
    if span.1 <= span.0 {
        span = (0, text.len());
    }
    let before = |end: usize| {
        let before = text.get(..end).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        (line, before.rsplit('\n').next().unwrap_or_default().chars().count())
    };
    let ((first, column), (last, end)) = (before(span.0), before(span.1));
    Span { lines: (first, last), columns: (column + 1, end.max(1)) }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or_default()
    }

    fn space(&mut self) {
        while self.peek().is_ascii_whitespace() {
            self.at += 1;
        }
    }

    /// Reads the value here and returns where it, or what was wanted in it, begins and ends. Its nesting is bounded by
    /// the parser that has read the text before.
    fn value(&mut self, wanted: &[&str]) -> (usize, usize) {
        self.space();
        let start = self.at;
        let mut found = None;
        match self.peek() {
            open @ (b'{' | b'[') => {
                let close = open + 2;
                self.at += 1;
                let mut index = 0;
                loop {
                    self.space();
                    match self.peek() {
                        b',' => self.at += 1,
                        one if one == close || one == 0 => {
                            self.at += 1;
                            break;
                        }
                        _ => {
                            let name = if open == b'{' { self.key() } else { index.to_string() };
                            index += 1;
                            let below = wanted.split_first().filter(|(first, _)| **first == name);
                            let span = self.value(below.map_or(&[], |(_, rest)| rest));
                            if below.is_some() {
                                found = Some(span);
                            }
                        }
                    }
                }
            }
            b'"' => self.string(),
            _ => {
                while !matches!(self.peek(), b',' | b'}' | b']' | 0) && !self.peek().is_ascii_whitespace() {
                    self.at += 1;
                }
            }
        }
        found.unwrap_or_else(|| (start, self.at.min(self.text.len())))
    }

    fn string(&mut self) {
        self.at += 1;
        while !matches!(self.peek(), b'"' | 0) {
            self.at += 1 + usize::from(self.peek() == b'\\');
        }
        self.at += 1;
    }

    fn key(&mut self) -> String {
        let start = self.at;
        self.string();
        let raw = self.text.get(start..self.at).unwrap_or_default();
        self.space();
        // The colon.
        self.at += 1;
        serde_json::from_str(raw).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_where_it_stands() {
        let text = "{\n  \"a\": [1, {\"b\\\"\": \"ñ\", \"c\": true}],\n  \"d\": {\n  }\n}\n";
        let at = |path: &str| {
            let Span { lines, columns } = find(text, path);
            (lines, columns)
        };
        assert_eq!(at("a[0]"), ((2, 2), (9, 9)));
        assert_eq!(at("a[1].c"), ((2, 2), (30, 33)));
        assert_eq!(at("a[1].none"), ((2, 2), (12, 34)));
        assert_eq!(at("d"), ((3, 4), (8, 3)));
        assert_eq!(at(""), ((1, 5), (1, 1)));
    }
}
