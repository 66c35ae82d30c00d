//! The tree with every option set unfolded and every route known.

use crate::source::NodeSource;
use crate::taxonomy::Kind;

/// A node under its group.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) route: String,
    pub(crate) node: Node,
    /// Of an informational leaf: the route of the report leaf that it could be as well.
    pub(crate) bridge: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) enum Node {
    Group(Group),
    Leaf(Kind),
}

#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) entries: Vec<Entry>,
    /// The option set whose members the entries are.
    pub(crate) option_set: Option<String>,
}

/// Calls `visit` for every node, a group before what is in it, with the path from the top to the node.
pub(crate) fn walk<'a>(entries: &'a [Entry], visit: &mut impl FnMut(&[&'a Entry])) {
    fn step<'a>(entries: &'a [Entry], path: &mut Vec<&'a Entry>, visit: &mut impl FnMut(&[&'a Entry])) {
        for entry in entries {
            path.push(entry);
            visit(path);
            match &entry.node {
                Node::Group(group) => step(&group.entries, path, visit),
                Node::Leaf(Kind::Report | Kind::Informational) => {}
            }
            path.pop();
        }
    }
    step(entries, &mut Vec::new(), visit);
}

/// Every group of the tree in the order of its screens.
pub(crate) fn groups(entries: &[Entry]) -> Vec<(&Entry, &Group)> {
    let mut found = Vec::new();
    walk(entries, &mut |path| {
        if let Some(entry) = path.last()
            && let Node::Group(group) = &entry.node
        {
            found.push((*entry, group));
        }
    });
    found
}

/// Every leaf of the tree, in order, with its path from the top.
pub(crate) fn leaves(entries: &[Entry]) -> Vec<(Vec<&Entry>, Kind)> {
    let mut found = Vec::new();
    walk(entries, &mut |path| {
        if let Some(entry) = path.last()
            && let Node::Leaf(kind) = entry.node
        {
            found.push((path.to_vec(), kind));
        }
    });
    found
}

/// Whether a leaf could be a report as well, so that the form has to ask.
pub(crate) fn has_bridge(entries: &[Entry]) -> bool {
    leaves(entries).iter().any(|(path, _)| path.last().is_some_and(|leaf| leaf.bridge.is_some()))
}

/// The screen of a group. Letters and underscores only, which the check of the keys guarantees.
pub(crate) fn screen_id(key: &str) -> String {
    key.to_ascii_uppercase()
}

/// What a written node says it is: its one key and how the key was given.
pub(crate) enum Said<'a> {
    Group(&'a str),
    Report(&'a str),
    Informational(&'a str),
    /// None or more than one.
    Unclear,
}

impl NodeSource {
    pub(crate) fn said(&self) -> Said<'_> {
        match (&self.group, &self.report, &self.informational) {
            (Some(key), None, None) => Said::Group(key),
            (None, Some(key), None) => Said::Report(key),
            (None, None, Some(key)) => Said::Informational(key),
            (None, None, None) | (Some(_), Some(_), _) | (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => {
                Said::Unclear
            }
        }
    }
}
