//! The parts of the chart's README that are made.

use std::fmt::Write;

use anyhow::Context;
use serde_json::Value;

use super::values::Node;

/// The text with what stands between `<!-- NAME -->` and `<!-- /NAME -->` replaced.
///
/// # Errors
/// A pair of marks is missing.
pub(super) fn fill(text: &str, parts: &[(&str, String)]) -> anyhow::Result<String> {
    let mut text = text.to_owned();
    for (name, part) in parts {
        let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
        let missing = || format!("README.md of the chart: {open:?} … {close:?} is missing");
        let start = text.find(&open).with_context(missing)? + open.len();
        let end = text.get(start..).and_then(|rest| rest.find(&close)).with_context(missing)? + start;
        text.replace_range(start..end, &format!("\n{part}\n"));
    }
    Ok(text)
}

/// A table for each key at the top.
pub(super) fn values(root: &Node) -> String {
    let mut text = String::new();
    let (maps, plain): (Vec<_>, Vec<_>) =
        root.children.iter().partition(|(_, node)| !node.children.is_empty());
    table(&mut text, plain.iter().map(|(_, node)| node));
    for (key, node) in maps {
        let _ = write!(text, "\n#### `{key}`\n\n{}\n\n", node.about);
        if let Some(all) = &node.extends {
            let _ = write!(text, "Also takes every value of `{all}`.\n\n");
        }
        let mut below = Vec::new();
        collect(node, &mut below);
        table(&mut text, below.into_iter());
    }
    text
}

fn collect<'n>(node: &'n Node, into: &mut Vec<&'n Node>) {
    for (_, child) in &node.children {
        into.push(child);
        collect(child, into);
    }
}

fn table<'n>(text: &mut String, nodes: impl Iterator<Item = &'n Node>) {
    text.push_str("| value | default | |\n| --- | --- | --- |\n");
    for node in nodes {
        let default = match &node.default {
            // What is below it has rows of its own.
            Value::Object(_) if !node.children.is_empty() => String::new(),
            Value::String(text) if text.is_empty() => String::new(),
            Value::String(text) => format!("`{text}`"),
            other => format!("`{other}`"),
        };
        let (default, about) = (default.replace('|', "\\|"), node.about.replace('|', "\\|"));
        let _ = writeln!(text, "| `{}` | {default} | {about} |", node.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_changes() {
        let text = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n";
        let filled = fill(text, &[("x", "new\n".into())]).unwrap();
        assert_eq!(filled, "a\n<!-- x -->\n\nnew\n\n<!-- /x -->\nb\n");
        assert_eq!(fill(&filled, &[("x", "new\n".into())]).unwrap(), filled);
        assert!(fill("none", &[("x", String::new())]).is_err());
    }
}
