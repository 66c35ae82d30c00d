//! A small city, made to be broken one line at a time.

use std::collections::BTreeMap;

use flow_json::{Problem, Taxonomy};
use serde_json::Value;

pub(crate) const TREE: &str = "\
option_sets:
  colour: [red, blue]
tree:
  - group: bin
    options: colour
  - report: noise
  - informational: help
";

pub(crate) const CATALOG: &str = "\
form:
  root_title: Root title
  root_prompt: Root prompt
  summary_title: Summary title
  category_heading: What
  address_heading: Where
  photo_label: Photo
  photo_description: One photo
  note_label: Note
  note_helper: Helper
  submit: Send
  info_title: Info title
  info_close: Close
taxonomy:
  bin: { title: Bin, prompt: Which bin }
  red: { title: Red }
  blue: { title: Blue }
  noise: { title: Noise, metadata: Loud }
  help: { title: Help, text: Call us }
";

pub(crate) const PARTNER: &str = "\
options:
  colour:
    note: \"Colour: {option}\"
    values: { red: RED, blue: BLUE }
entries:
  bin: { category: B, note: colour }
  noise: { category: N }
";

/// The small city with one piece of one file replaced; the piece must be there.
pub(crate) fn city(file: &str, piece: &str, by: &str) -> Result<Taxonomy, Vec<Problem>> {
    let mut files = [("tree", TREE), ("catalog", CATALOG), ("partner", PARTNER)]
        .map(|(name, text)| (name, text.to_owned()));
    for (name, text) in &mut files {
        if *name == file {
            assert!(text.contains(piece), "{piece} is not in {file}");
            *text = text.replacen(piece, by, 1);
        }
    }
    let [(_, tree), (_, catalog), (_, partner)] = &files;
    Taxonomy::from_yaml(tree, &[("en", catalog), ("fr", CATALOG)], partner)
}

/// The two languages of the small city, unbroken.
pub(crate) fn small_city() -> Taxonomy {
    Taxonomy::from_yaml(TREE, &[("en", CATALOG), ("fr", CATALOG)], PARTNER).expect("the small city is right")
}

/// The built-in city.
pub(crate) fn builtin() -> Taxonomy {
    Taxonomy::builtin().unwrap_or_else(|problems| {
        panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

/// The screens of a form by their ids.
pub(crate) fn screens(json: &str) -> BTreeMap<String, Value> {
    let document: Value = serde_json::from_str(json).expect("the form is JSON");
    let screens = document["screens"].as_array().expect("a form has screens");
    screens
        .iter()
        .map(|screen| (screen["id"].as_str().expect("a screen has an id").to_owned(), screen.clone()))
        .collect()
}

/// The components of a screen.
pub(crate) fn children(screen: &Value) -> &[Value] {
    screen["layout"]["children"].as_array().map_or(&[], Vec::as_slice)
}

/// The rows of all lists of a screen.
pub(crate) fn rows(screen: &Value) -> Vec<&Value> {
    children(screen)
        .iter()
        .filter(|child| child["type"] == "NavigationList")
        .flat_map(|list| list["list-items"].as_array().into_iter().flatten())
        .collect()
}
