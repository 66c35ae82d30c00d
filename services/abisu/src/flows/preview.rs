//! `abisu flows preview`: the form as a tree, in the order in which a thumb meets it.

use std::fmt::Write;

use anyhow::Context;
use flow_json::FlowDocument;
use serde_json::Value;

use crate::Failure;

/// From the first screen: rows with what they lead to, and the screens without rows once, below.
pub(crate) fn tree(form: &FlowDocument) -> Result<String, Failure> {
    let document: Value = serde_json::from_str(&form.json).context("the form cannot be read")?;
    let screens = document["screens"].as_array().map_or(&[][..], Vec::as_slice);
    let mut preview = Preview { screens, said: String::new() };
    if let Some(first) = preview.screen(&form.first_screen) {
        let _ = writeln!(preview.said, "{}", heading(first));
        preview.rows(first, "");
    }
    for screen in screens.iter().filter(|screen| !is_list(screen)) {
        let _ = writeln!(preview.said, "\n{}", heading(screen));
        preview.components(screen);
    }
    Ok(preview.said)
}

struct Preview<'d> {
    screens: &'d [Value],
    said: String,
}

impl<'d> Preview<'d> {
    fn screen(&self, id: &str) -> Option<&'d Value> {
        self.screens.iter().find(|screen| screen["id"] == id)
    }

    /// A screen leads only to screens of groups below it, so this ends.
    fn rows(&mut self, screen: &Value, indent: &str) {
        let rows: Vec<&Value> =
            children(screen).iter().filter_map(|child| child["list-items"].as_array()).flatten().collect();
        for (place, row) in rows.iter().enumerate() {
            let (branch, below) =
                if place + 1 == rows.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let content = &row["main-content"];
            let more: Vec<&str> =
                ["description", "metadata"].iter().filter_map(|key| content[*key].as_str()).collect();
            let more = if more.is_empty() { String::new() } else { format!("  ({})", more.join(" · ")) };
            let target = row["on-click-action"]["next"]["name"].as_str().unwrap_or_default();
            let title = content["title"].as_str().unwrap_or_default();
            let target = self.screen(target);
            let is_end = target.is_some_and(|target| !is_list(target));
            let after = match target {
                Some(target) if is_end => format!("  → {}", text(&target["id"])),
                Some(target) => format!("  → {}", heading(target)),
                None => String::new(),
            };
            let _ = writeln!(self.said, "{indent}{branch}{title}{more}{after}");
            if let Some(target) = target
                && !is_end
            {
                self.rows(target, &format!("{indent}{below}"));
            }
        }
    }

    fn components(&mut self, screen: &Value) {
        for child in children(screen) {
            let kind = text(&child["type"]);
            let shown = ["text", "label"].iter().find_map(|key| child[*key].as_str()).unwrap_or_default();
            let help = ["description", "helper-text"]
                .iter()
                .find_map(|key| child[*key].as_str())
                .unwrap_or_default();
            let line = match kind {
                "TextHeading" | "TextSubheading" => format!("  {shown}"),
                "Footer" | "EmbeddedLink" => match child["on-click-action"]["next"]["name"].as_str() {
                    Some(target) => format!("  [ {shown} ] → {target}"),
                    None => format!("  [ {shown} ]"),
                },
                "PhotoPicker" => format!("  (+) {shown}: {help}"),
                "TextArea" => format!("  ___ {shown}: {help}"),
                _ => format!("      {shown}"),
            };
            let _ = writeln!(self.said, "{line}");
        }
    }
}

fn heading(screen: &Value) -> String {
    let prompt = children(screen)
        .iter()
        .find_map(|child| child["list-items"].as_array().and_then(|_| child["label"].as_str()));
    let prompt = prompt.map(|prompt| format!(" “{prompt}”")).unwrap_or_default();
    format!("{} [{}]{prompt}", text(&screen["title"]), text(&screen["id"]))
}

fn is_list(screen: &Value) -> bool {
    children(screen).iter().any(|child| child["list-items"].is_array())
}

fn children(screen: &Value) -> &[Value] {
    screen["layout"]["children"].as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
