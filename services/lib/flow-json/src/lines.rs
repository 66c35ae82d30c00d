//! Which line of a file a key stands on, so that a problem can be gone to.
//!
//! The places of problems are dotted keys, as `taxonomy.container.title`. In the tree they name the route instead of
//! the position: `tree.container/overflowing`.

use std::collections::BTreeMap;

use granit_parser::{Event, Parser};

/// Deeper than any of the files; what is below is not looked up.
const MAX_DEPTH: usize = 40;
/// The three keys that name a node of the tree.
const NODES: [&str; 3] = ["group", "report", "informational"];

/// Lines from 1 by dotted key.
pub(crate) struct Lines(BTreeMap<String, usize>);

impl Lines {
    /// Of a file that can be read; of one that cannot, as far as it can.
    pub(crate) fn of(text: &str) -> Self {
        let mut reader = Reader { parser: Parser::new_from_str(text), lines: BTreeMap::new() };
        while let Some((event, _)) = reader.next() {
            if let Event::MappingStart(..) = event {
                reader.mapping(&Place::Key(String::new()), 0);
            }
        }
        Self(reader.lines)
    }

    /// The line of a key, or of the nearest that is around it.
    pub(crate) fn find(&self, key: &str) -> Option<usize> {
        let mut key = key;
        loop {
            if let Some(line) = self.0.get(key) {
                return Some(*line);
            }
            key = key.rfind(['.', '/']).map(|end| &key[..end])?;
        }
    }
}

/// What the values of a mapping are called by.
enum Place {
    /// A dotted key.
    Key(String),
    /// A node of the tree below this route.
    Below(String),
}

struct Reader<'t> {
    parser: Parser<'t, granit_parser::StrInput<'t>>,
    lines: BTreeMap<String, usize>,
}

impl<'t> Reader<'t> {
    /// The next event with its line; none at the end or at what cannot be read.
    fn next(&mut self) -> Option<(Event<'t>, usize)> {
        loop {
            let (event, span) = self.parser.next_event()?.ok()?;
            if event.is_node() || matches!(event, Event::MappingEnd | Event::SequenceEnd) {
                return Some((event, span.start.line()));
            }
        }
    }

    fn mapping(&mut self, place: &Place, depth: usize) {
        let mut route = None;
        // Values of a node that stand before its key wait for the route: they are looked up by the group's alone.
        while let Some((event, line)) = self.next() {
            let Event::Scalar(key, ..) = event else {
                if matches!(event, Event::MappingEnd) {
                    return;
                }
                self.skip(&event);
                continue;
            };
            let below = match place {
                Place::Key(prefix) => {
                    let name = join(prefix, '.', &key);
                    self.lines.entry(name.clone()).or_insert(line);
                    if name == "tree" { Place::Below(String::new()) } else { Place::Key(name) }
                }
                Place::Below(parent) => Place::Below(route.clone().unwrap_or_else(|| parent.clone())),
            };
            let Some((value, line)) = self.next() else { return };
            if let (Place::Below(parent), Event::Scalar(name, ..)) = (place, &value)
                && NODES.contains(&key.as_ref())
            {
                let full = join(parent, '/', name);
                self.lines.entry(format!("tree.{full}")).or_insert(line);
                route = Some(full);
            }
            self.value(&value, &below, depth);
        }
    }

    fn value(&mut self, value: &Event<'t>, place: &Place, depth: usize) {
        match value {
            Event::MappingStart(..) if depth < MAX_DEPTH => self.mapping(place, depth + 1),
            Event::SequenceStart(..) if depth < MAX_DEPTH => {
                while let Some((event, _)) = self.next() {
                    if matches!(event, Event::SequenceEnd) {
                        return;
                    }
                    self.value(&event, place, depth + 1);
                }
            }
            other => self.skip(other),
        }
    }

    /// Past a value that is not looked into.
    fn skip(&mut self, value: &Event<'t>) {
        let mut open = usize::from(matches!(value, Event::MappingStart(..) | Event::SequenceStart(..)));
        while open > 0 {
            match self.next() {
                Some((Event::MappingStart(..) | Event::SequenceStart(..), _)) => open += 1,
                Some((Event::MappingEnd | Event::SequenceEnd, _)) => open -= 1,
                Some(_) => {}
                None => return,
            }
        }
    }
}

fn join(prefix: &str, between: char, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}{between}{key}") }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn keys_and_routes_have_the_line_they_stand_on() {
        let text = "\
# a comment
option_sets:
  fraction: [a, b]
tree:
  - group: bin
    items:
      - group: full
        options: fraction
      - { report: noise }
  - report: last
taxonomy:
  bin: { title: Bin,
    prompt: Which }
  a/b:
    title: >-
      long
";
        let lines = Lines::of(text);
        for (key, line) in [
            ("option_sets", Some(2)),
            ("option_sets.fraction", Some(3)),
            ("tree", Some(4)),
            ("tree.bin", Some(5)),
            ("tree.bin/full", Some(7)),
            ("tree.bin/full/glass", Some(7)),
            ("tree.bin/noise", Some(9)),
            ("tree.last", Some(10)),
            ("taxonomy.bin.title", Some(12)),
            ("taxonomy.bin.prompt", Some(13)),
            ("taxonomy.a/b.title", Some(15)),
            ("taxonomy.a/b.text", Some(14)),
            ("taxonomy.none", Some(11)),
            ("none", None),
        ] {
            assert_eq!(lines.find(key), line, "{key}");
        }
    }

    #[test]
    fn what_cannot_be_read_ends_the_looking() {
        for text in ["", "a: [", "a: b: c", "- - -", "{[1]: 2, a: 3}", &"[".repeat(10_000)] {
            let _ = Lines::of(text).find("a");
        }
    }
}
