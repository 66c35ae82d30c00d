//! `abisu flows diff`: what a new form changes, said by screens and rows instead of by lines.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use anyhow::anyhow;
use serde_json::Value;

use super::read;
use crate::Failure;

/// Nested lists and objects within each other; below it, values are compared as a whole.
const MAX_DEPTH: usize = 40;

pub(crate) fn files(old: &Path, new: &Path) -> Result<String, Failure> {
    let parse = |path: &Path| -> Result<Value, Failure> {
        serde_json::from_str(&read(path)?)
            .map_err(|error| Failure::Failed(anyhow!("{}: not JSON: {error}", path.display())))
    };
    Ok(diff(&parse(old)?, &parse(new)?))
}

/// One line for each difference: `+` new, `-` gone, `~` changed.
pub(crate) fn diff(old: &Value, new: &Value) -> String {
    let mut said = String::new();
    compare(&mut said, "", old, new, 0);
    if said.is_empty() {
        said.push_str("no difference\n");
    }
    said
}

fn compare(said: &mut String, place: &str, old: &Value, new: &Value, depth: usize) {
    if old == new {
        return;
    }
    match (old, new) {
        (Value::Object(before), Value::Object(after)) if depth < MAX_DEPTH => {
            for key in before.keys().chain(after.keys().filter(|key| !before.contains_key(*key))) {
                pair(said, &format!("{place}/{key}"), before.get(key), after.get(key), depth);
            }
        }
        (Value::Array(before), Value::Array(after)) if depth < MAX_DEPTH => {
            match (names(before), names(after)) {
                (Some(first), Some(second)) => {
                    let find = |all: &[String], name: &String| all.iter().position(|other| other == name);
                    let new_names = second.iter().filter(|name| !first.contains(*name));
                    for name in first.iter().chain(new_names) {
                        let one = find(&first, name).and_then(|place| before.get(place));
                        let two = find(&second, name).and_then(|place| after.get(place));
                        pair(said, &format!("{place}[{name}]"), one, two, depth);
                    }
                    let kept = |all: &[String], other: &[String]| -> Vec<String> {
                        all.iter().filter(|name| other.contains(name)).cloned().collect()
                    };
                    if kept(&first, &second) != kept(&second, &first) {
                        let _ = writeln!(said, "~ {place}: another order: {}", second.join(", "));
                    }
                }
                _ => {
                    for index in 0..before.len().max(after.len()) {
                        let place = format!("{place}[{index}]");
                        pair(said, &place, before.get(index), after.get(index), depth);
                    }
                }
            }
        }
        _ => {
            let _ = writeln!(said, "~ {place}: {old} → {new}");
        }
    }
}

fn pair(said: &mut String, place: &str, old: Option<&Value>, new: Option<&Value>, depth: usize) {
    let _ = match (old, new) {
        (Some(old), Some(new)) => {
            compare(said, place, old, new, depth + 1);
            Ok(())
        }
        (Some(_), None) => writeln!(said, "- {place}"),
        (None, Some(_)) => writeln!(said, "+ {place}"),
        (None, None) => Ok(()),
    };
}

/// The ids or names of all elements, if each has its own.
fn names(elements: &[Value]) -> Option<Vec<String>> {
    let names: Option<Vec<String>> = elements
        .iter()
        .map(|element| element.get("id").or_else(|| element.get("name"))?.as_str().map(str::to_owned))
        .collect();
    names.filter(|names| names.iter().collect::<BTreeSet<_>>().len() == names.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::diff;

    #[test]
    fn differences_are_named_by_ids() {
        let old = json!({"screens": [{"id": "A", "title": "a"}, {"id": "B", "title": "b"}, {"id": "C"}], "x": [1, 2]});
        let new =
            json!({"screens": [{"id": "B", "title": "z"}, {"id": "A", "title": "a"}, {"id": "D"}], "x": [1]});
        assert_eq!(
            diff(&old, &new),
            "~ /screens[B]/title: \"b\" → \"z\"\n- /screens[C]\n+ /screens[D]\n\
             ~ /screens: another order: B, A, D\n- /x[1]\n"
        );
        assert_eq!(diff(&old, &old), "no difference\n");
    }
}
