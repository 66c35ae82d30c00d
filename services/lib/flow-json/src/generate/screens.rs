//! The screens of a form, in their order: ROOT, the groups, BRIDGE, INFO, SUMMARY.

use crate::document::{
    Action, Component, Document, Field, Layout, ListItem, MainContent, Next, Pairs, Screen, VERSION,
};
use crate::init::{ADDRESS_FIELD, EXAMPLE_ADDRESS, FIRST_SCREEN};
use crate::limits;
use crate::source::{CatalogFile, Texts};
use crate::taxonomy::{Form, Kind, titles};
use crate::tree::{Entry, Node, leaves, screen_id};

const SUMMARY_SCREEN: &str = "SUMMARY";
/// Shared by all informational leaves.
pub(crate) const INFO_SCREEN: &str = "INFO";
/// Shared by the informational leaves that could be a report as well.
pub(crate) const BRIDGE_SCREEN: &str = "BRIDGE";
/// Screens that are always there.
pub(crate) const FIXED_SCREENS: [&str; 2] = [FIRST_SCREEN, SUMMARY_SCREEN];
/// Between the labels of a category path.
const SEPARATOR: &str = " › ";

/// Makes the screens of one language.
pub(super) struct Generator<'g> {
    pub(super) form: &'g Form,
    pub(super) catalog: &'g CatalogFile,
    pub(super) version: &'g str,
    pub(super) language: &'g str,
}

impl<'g> Generator<'g> {
    pub(super) fn document(&self) -> Document {
        let texts = &self.catalog.form;
        let mut screens = vec![Screen {
            id: FIRST_SCREEN.to_owned(),
            title: texts.root_title.clone(),
            terminal: false,
            data: Pairs(vec![(ADDRESS_FIELD, Field::text(EXAMPLE_ADDRESS))]),
            layout: self.list(&texts.root_prompt, &self.form.tree, &[]),
        }];
        self.add_groups(&self.form.tree, &mut Vec::new(), &mut screens);
        screens.extend(self.bridge());
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
                let mut payload = self.advice(entry);
                let target = match &entry.bridge {
                    Some(report) => {
                        payload.extend([("report", report.clone()), ("category", self.category_of(report))]);
                        BRIDGE_SCREEN
                    }
                    None => INFO_SCREEN,
                };
                (target.to_owned(), Pairs(payload))
            }
        };
        Action::Navigate { next: Next::screen(target), payload }
    }

    fn summary(&self) -> Screen {
        let texts = &self.catalog.form;
        let example = leaves(&self.form.tree).into_iter().find(|(_, kind)| *kind == Kind::Report);
        let (route, category) = example
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
        let example = informational(&self.form.tree).next()?;
        Some(Screen {
            id: INFO_SCREEN.to_owned(),
            title: texts.info_title.clone(),
            terminal: true,
            data: examples(self.advice(example)),
            layout: Layout::of(vec![
                Component::TextHeading { text: "${data.title}".to_owned() },
                Component::TextBody { text: "${data.text}".to_owned() },
                self.footer(&texts.info_close, &[]),
            ]),
        })
    }

    /// Only where a leaf needs it. A checked catalog then has its texts.
    fn bridge(&self) -> Option<Screen> {
        let texts = &self.catalog.form;
        let (example, report) =
            informational(&self.form.tree).find_map(|entry| Some((entry, entry.bridge.as_ref()?)))?;
        let category = self.category_of(report);
        let data =
            self.advice(example).into_iter().chain([("report", report.clone()), ("category", category)]);
        let passed_on = |names: &[(&'static str, &str)]| {
            Pairs(names.iter().map(|(name, field)| (*name, format!("${{data.{field}}}"))).collect())
        };
        Some(Screen {
            id: BRIDGE_SCREEN.to_owned(),
            title: texts.bridge_title.clone()?,
            terminal: false,
            data: examples(data.collect()),
            layout: Layout::of(vec![
                Component::TextHeading { text: "${data.title}".to_owned() },
                Component::TextBody { text: texts.bridge_question.clone()? },
                Component::EmbeddedLink {
                    text: texts.bridge_report.clone()?,
                    on_click_action: Action::Navigate {
                        next: Next::screen(SUMMARY_SCREEN),
                        payload: passed_on(&[("route", "report"), ("category", "category")]),
                    },
                },
                Component::Footer {
                    label: texts.bridge_continue.clone()?,
                    on_click_action: Action::Navigate {
                        next: Next::screen(INFO_SCREEN),
                        payload: passed_on(&[("route", "route"), ("title", "title"), ("text", "text")]),
                    },
                },
            ]),
        })
    }

    /// What INFO is given of a leaf.
    fn advice(&self, entry: &Entry) -> Vec<(&'static str, String)> {
        let Texts { title, text, .. } = self.texts(entry).clone();
        vec![("route", entry.route.clone()), ("title", title), ("text", text.unwrap_or_default())]
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

    fn category_of(&self, route: &str) -> String {
        let of = |path: &[&Entry]| path.last().is_some_and(|leaf| leaf.route == route);
        leaves(&self.form.tree)
            .into_iter()
            .find(|(path, _)| of(path))
            .map(|(path, _)| self.category(&path))
            .expect("a checked tree has the leaf that a bridge leads to")
    }

    fn texts(&self, entry: &Entry) -> &'g Texts {
        let (_, texts) = self
            .catalog
            .find(&entry.route, &entry.key)
            .expect("a checked catalog has texts for every node of its tree");
        texts
    }
}

fn informational(tree: &[Entry]) -> impl Iterator<Item = &Entry> {
    leaves(tree)
        .into_iter()
        .filter(|(_, kind)| *kind == Kind::Informational)
        .filter_map(|(path, _)| path.last().copied())
}

/// A payload as the data of the screen that it leads to.
fn examples(payload: Vec<(&'static str, String)>) -> Pairs<Field> {
    Pairs(payload.into_iter().map(|(name, example)| (name, Field::text(example))).collect())
}
