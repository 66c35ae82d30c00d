//! `values.yaml` with its comments, as a tree.
//!
//! Above a value stand its description and, where its default does not say enough, a line `@schema {…}` with parts of a
//! JSON schema. `@extends KEY` says that the values below another key may stand here as well. What is inside lists is
//! data and has no comments of ours.

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};
use serde_json::{Map, Value};

/// A value of the chart.
#[derive(Debug)]
pub(super) struct Node {
    /// Its place, as `whatsapp.keys.appSecret`; empty for the root.
    pub(super) path: String,
    /// Its description.
    pub(super) about: String,
    /// What the comment adds to the schema.
    pub(super) extra: Map<String, Value>,
    /// The key at the top whose values may stand here as well.
    pub(super) extends: Option<String>,
    /// Its default.
    pub(super) default: Value,
    /// The values below it, by key; empty where it is no map, or an empty one.
    pub(super) children: Vec<(String, Node)>,
}

#[derive(Default)]
struct Comment {
    about: String,
    extra: Map<String, Value>,
    extends: Option<String>,
}

/// Reads the file.
///
/// # Errors
/// It is not YAML, a value has no comment, or a comment cannot be read.
pub(super) fn parse(text: &str) -> anyhow::Result<Node> {
    let default: Value = serde_saphyr::from_str(text).context("values.yaml")?;
    let mut comments = comments(text)?;
    let children = children("", &default, &mut comments)?;
    if let Some(path) = comments.keys().next() {
        bail!("values.yaml: the comment of {path} belongs to nothing");
    }
    let (about, extra) = (String::new(), Map::new());
    Ok(Node { path: String::new(), about, extra, extends: None, default, children })
}

fn children(
    path: &str,
    value: &Value,
    comments: &mut BTreeMap<String, Comment>,
) -> anyhow::Result<Vec<(String, Node)>> {
    let Value::Object(map) = value else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for (key, default) in map {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let comment =
            comments.remove(&path).with_context(|| format!("values.yaml: {path} has no comment"))?;
        ensure!(!comment.about.is_empty(), "values.yaml: {path} has no description");
        let children = children(&path, default, comments)?;
        let Comment { about, extra, extends } = comment;
        found.push((key.clone(), Node { path, about, extra, extends, default: default.clone(), children }));
    }
    Ok(found)
}

/// The comments by the place of the key that they stand above.
fn comments(text: &str) -> anyhow::Result<BTreeMap<String, Comment>> {
    let mut found = BTreeMap::new();
    let mut above: Vec<&str> = Vec::new();
    let mut places: Vec<(usize, &str)> = Vec::new();
    let mut list: Option<usize> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if trimmed.is_empty() {
            above.clear();
            continue;
        }
        if list.is_some_and(|start| indent > start || (indent == start && trimmed.starts_with('-'))) {
            continue;
        }
        list = trimmed.starts_with('-').then_some(indent);
        if list.is_some() {
            continue;
        }
        if let Some(comment) = trimmed.strip_prefix('#') {
            above.push(comment.trim());
            continue;
        }
        let (key, _) =
            trimmed.split_once(':').with_context(|| format!("values.yaml: {line:?} has no key"))?;
        places.retain(|(at, _)| *at < indent);
        places.push((indent, key));
        let path = places.iter().map(|(_, key)| *key).collect::<Vec<_>>().join(".");
        if !above.is_empty() {
            let comment = read(&above).with_context(|| format!("values.yaml: the comment of {path}"))?;
            found.insert(path, comment);
        }
        above.clear();
    }
    Ok(found)
}

fn read(lines: &[&str]) -> anyhow::Result<Comment> {
    let mut comment = Comment::default();
    for line in lines {
        if let Some(schema) = line.strip_prefix("@schema ") {
            comment.extra = serde_json::from_str(schema).context("@schema is not a JSON object")?;
        } else if let Some(key) = line.strip_prefix("@extends ") {
            comment.extends = Some(key.trim().to_owned());
        } else {
            ensure!(!line.starts_with('@'), "{line:?} is neither @schema nor @extends");
            if !comment.about.is_empty() {
                comment.about.push(' ');
            }
            comment.about.push_str(line);
        }
    }
    Ok(comment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_belongs_to_the_key_below_it_and_lists_have_none() {
        let text = "# The file.\n\n# One.\n# More of it.\n# @schema {\"minimum\": 1}\none: 1\n# Two.\ntwo:\n  # A list.\n  list:\n    \
                    - name: x\n      # not ours\n      other: y\n  # Last.\n  last: {}\n";
        let root = parse(text).unwrap();
        let (key, one) = &root.children[0];
        assert_eq!((key.as_str(), one.about.as_str()), ("one", "One. More of it."));
        assert_eq!(one.extra["minimum"], 1);
        let two = &root.children[1].1;
        let paths: Vec<&str> = two.children.iter().map(|(_, node)| node.path.as_str()).collect();
        assert_eq!(paths, ["two.list", "two.last"]);
    }

    #[test]
    fn what_has_no_comment_is_named() {
        let error = parse("# A.\na:\n  b: 1\n").unwrap_err();
        assert!(error.to_string().contains("a.b has no comment"), "{error}");
        let error = parse("# @type x\na: 1\n").unwrap_err();
        assert!(format!("{error:#}").contains("neither @schema nor @extends"), "{error:#}");
    }
}
