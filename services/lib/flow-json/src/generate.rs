//! The form of one language, without an endpoint: lists that lead to a summary.
//!
//! ```text
//! ROOT ──▶ one list per group ──▶ … ──▶ SUMMARY  report leaves: category, address, photo, note   ● complete
//!                                  └──▶ INFO     informational leaves: what to do                 ● complete
//! ```
//!
//! A screen with a list may hold nothing else, so its question is the list's label. The route of a leaf is a
//! literal in the payload of its row; the screens hand it on untouched. INFO ends the form as well: a route
//! that ends on a screen without a button is only tolerated by the platform, and the chat can then repeat what
//! to do where the citizen can tap the number. The address stays on ROOT, where the message puts it, and is
//! read from there, so every way into SUMMARY carries the same two values.

use serde_json::Value;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::document::{
    Action, Component, Document, Field, Layout, ListItem, MainContent, Next, Pairs, Screen, VERSION,
};
use crate::init::{ADDRESS_FIELD, EXAMPLE_ADDRESS, FIRST_SCREEN, init_data};
use crate::keys::{Keys, keys};
use crate::limits;
use crate::lint::{Violation, lint, lint_init_data, lint_languages};
use crate::source::{CatalogFile, Texts};
use crate::taxonomy::{Form, Kind, Taxonomy, titles};
use crate::tree::{Entry, Node, leaves, screen_id};

const SUMMARY_SCREEN: &str = "SUMMARY";
/// Shared by all informational leaves.
pub(crate) const INFO_SCREEN: &str = "INFO";
/// Screens that are always there.
pub(crate) const FIXED_SCREENS: [&str; 2] = [FIRST_SCREEN, SUMMARY_SCREEN];
/// Between the labels of a category path.
const SEPARATOR: &str = " › ";

/// The Flow JSON of one language and what goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowDocument {
    /// Pretty-printed, with a final newline, so that the platform's line numbers mean something.
    pub json: String,
    /// SHA-256 of `json`, in hex.
    pub content_hash: String,
    /// The screen a message must open.
    pub first_screen: String,
    /// An example of the data that screen needs; see [`init_data`].
    pub init_example: Value,
    /// Where each of its texts came from.
    pub keys: Keys,
}

impl FlowDocument {
    /// What is wrong with the form, with the keys that caused it: the document itself, and what a message gives it.
    /// A checked taxonomy gives none; this is the proof that it does not.
    pub fn lint(&self) -> Vec<Violation> {
        let mut violations = lint(&self.json);
        violations.extend(lint_init_data(&self.json, &self.first_screen, Some(&self.init_example)));
        self.with_keys(violations)
    }

    /// Where the form of another language differs from this one in more than words. The violations are of `other`.
    pub fn lint_language(&self, other: &Self) -> Vec<Violation> {
        other.with_keys(lint_languages(&self.json, &other.json, |key| matches!(key, "route" | "version")))
    }

    fn with_keys(&self, mut violations: Vec<Violation>) -> Vec<Violation> {
        for violation in &mut violations {
            violation.key = self.keys.find(&violation.pointer).map(str::to_owned);
        }
        violations
    }
}

/// Why there is no form.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GenerateError {
    /// The taxonomy has no catalog of this language.
    #[error("the taxonomy has no language {0:?}")]
    UnknownLanguage(String),
    /// The taxonomy was read back from its compiled shape, which does not hold the form.
    #[error("a form cannot be generated from a compiled taxonomy")]
    CompiledOnly,
}

/// The form of one language. The same taxonomy gives the same bytes.
///
/// # Errors
/// When the taxonomy does not have the language, or is a compiled one.
pub fn generate(taxonomy: &Taxonomy, language: &str) -> Result<FlowDocument, GenerateError> {
    let form = taxonomy.form.as_ref().ok_or(GenerateError::CompiledOnly)?;
    let catalog =
        form.catalogs.get(language).ok_or_else(|| GenerateError::UnknownLanguage(language.to_owned()))?;
    let document = Generator { form, catalog, version: &taxonomy.version, language }.document();
    let mut json =
        serde_json::to_string_pretty(&document).expect("structs and maps with string keys always serialise");
    json.push('\n');
    Ok(FlowDocument {
        content_hash: hex::encode(Sha256::digest(&json)),
        json,
        first_screen: FIRST_SCREEN.to_owned(),
        init_example: init_data(EXAMPLE_ADDRESS),
        keys: keys(form, catalog, language),
    })
}

struct Generator<'g> {
    form: &'g Form,
    catalog: &'g CatalogFile,
    version: &'g str,
    language: &'g str,
}

impl<'g> Generator<'g> {
    fn document(&self) -> Document {
        let texts = &self.catalog.form;
        let mut screens = vec![Screen {
            id: FIRST_SCREEN.to_owned(),
            title: texts.root_title.clone(),
            terminal: false,
            data: Pairs(vec![(ADDRESS_FIELD, Field::text(EXAMPLE_ADDRESS))]),
            layout: self.list(&texts.root_prompt, &self.form.tree, &[]),
        }];
        self.add_groups(&self.form.tree, &mut Vec::new(), &mut screens);
        screens.extend(self.info());
        screens.push(self.summary());
        Document { version: VERSION, screens }
    }

    fn add_groups<'a>(&self, entries: &'a [Entry], path: &mut Vec<&'a Entry>, screens: &mut Vec<Screen>) {
        for entry in entries {
            let Node::Group(group) = &entry.node else { continue };
            path.push(entry);
            let texts = self.texts(entry);
            screens.push(Screen {
                id: screen_id(&entry.key),
                title: texts.title.clone(),
                terminal: false,
                data: Pairs::none(),
                layout: self.list(texts.prompt.as_deref().unwrap_or_default(), &group.entries, path),
            });
            self.add_groups(&group.entries, path, screens);
            path.pop();
        }
    }

    fn list(&self, label: &str, entries: &[Entry], path: &[&Entry]) -> Layout {
        let list_items = entries
            .iter()
            .map(|entry| {
                let Texts { title, description, metadata, .. } = self.texts(entry).clone();
                ListItem {
                    id: entry.route.clone(),
                    main_content: MainContent { title, description, metadata },
                    on_click_action: self.action(entry, path),
                }
            })
            .collect();
        Layout::of(vec![Component::NavigationList { name: "choice", label: label.to_owned(), list_items }])
    }

    /// A payload has exactly the keys of the target's data.
    fn action(&self, entry: &Entry, path: &[&Entry]) -> Action {
        let route = || entry.route.clone();
        let (target, payload) = match entry.node {
            Node::Group(_) => (screen_id(&entry.key), Pairs::none()),
            Node::Leaf(Kind::Report) => {
                let path: Vec<&Entry> = path.iter().copied().chain([entry]).collect();
                let payload = Pairs(vec![("route", route()), ("category", self.category(&path))]);
                (SUMMARY_SCREEN.to_owned(), payload)
            }
            Node::Leaf(Kind::Informational) => {
                let texts = self.texts(entry).clone();
                let payload = Pairs(vec![
                    ("route", route()),
                    ("title", texts.title),
                    ("text", texts.text.unwrap_or_default()),
                ]);
                (INFO_SCREEN.to_owned(), payload)
            }
        };
        Action::Navigate { next: Next::screen(target), payload }
    }

    fn summary(&self) -> Screen {
        let texts = &self.catalog.form;
        let (route, category) = leaves(&self.form.tree)
            .into_iter()
            .find(|(_, kind)| *kind == Kind::Report)
            .and_then(|(path, _)| Some((path.last()?.route.clone(), self.category(&path))))
            .unwrap_or_default();
        Screen {
            id: SUMMARY_SCREEN.to_owned(),
            title: texts.summary_title.clone(),
            terminal: true,
            data: Pairs(vec![("route", Field::text(route)), ("category", Field::text(category))]),
            layout: Layout::of(vec![
                Component::TextSubheading { text: texts.category_heading.clone() },
                Component::TextBody { text: "${data.category}".to_owned() },
                Component::TextSubheading { text: texts.address_heading.clone() },
                Component::TextBody { text: format!("${{screen.{FIRST_SCREEN}.data.{ADDRESS_FIELD}}}") },
                // Exactly one is asked for by minimum and maximum; the component has no `required`.
                Component::PhotoPicker {
                    name: "photo",
                    label: texts.photo_label.clone(),
                    description: texts.photo_description.clone(),
                    photo_source: "camera_gallery",
                    min_uploaded_photos: 1,
                    max_uploaded_photos: 1,
                    max_file_size_kb: limits::PHOTO_KB,
                },
                Component::TextArea {
                    name: "note",
                    label: texts.note_label.clone(),
                    required: false,
                    max_length: limits::NOTE,
                    helper_text: texts.note_helper.clone(),
                },
                self.footer(&texts.submit, &[("note", "${form.note}"), ("photo", "${form.photo}")]),
            ]),
        }
    }

    /// Only where the tree has an informational leaf: a screen that nothing leads to is an error.
    fn info(&self) -> Option<Screen> {
        let texts = &self.catalog.form;
        let example = leaves(&self.form.tree)
            .into_iter()
            .find(|(_, kind)| *kind == Kind::Informational)
            .and_then(|(path, _)| path.last().copied())?;
        let Texts { title, text, .. } = self.texts(example).clone();
        Some(Screen {
            id: INFO_SCREEN.to_owned(),
            title: texts.info_title.clone(),
            terminal: true,
            data: Pairs(vec![
                ("route", Field::text(example.route.clone())),
                ("title", Field::text(title)),
                ("text", Field::text(text.unwrap_or_default())),
            ]),
            layout: Layout::of(vec![
                Component::TextHeading { text: "${data.title}".to_owned() },
                Component::TextBody { text: "${data.text}".to_owned() },
                self.footer(&texts.info_close, &[]),
            ]),
        })
    }

    /// The answer names its taxonomy and its language, since the platform does not say which form it is from.
    fn footer(&self, label: &str, answers: &[(&'static str, &str)]) -> Component {
        let mut payload = vec![("route", "${data.route}".to_owned())];
        payload.extend(answers.iter().map(|(name, value)| (*name, (*value).to_owned())));
        payload.extend([("version", self.version.to_owned()), ("language", self.language.to_owned())]);
        Component::Footer {
            label: label.to_owned(),
            on_click_action: Action::Complete { payload: Pairs(payload) },
        }
    }

    fn category(&self, path: &[&Entry]) -> String {
        titles(self.catalog, path).join(SEPARATOR)
    }

    fn texts(&self, entry: &Entry) -> &'g Texts {
        let (_, texts) = self
            .catalog
            .find(&entry.route, &entry.key)
            .expect("a checked catalog has texts for every node of its tree");
        texts
    }
}
