//! What every rule may look at: the version, the screens with all that is on them, and where to put what is wrong.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use super::code::Code;
use super::json::{Member, Node};
use super::spec::{self, Spec};
use super::version::Version;

/// Listed at most; a document with more has one cause for most of them.
pub(crate) const MOST: usize = 10_000;
/// Screens looked into. A form has at most a tenth of it, which is said.
const MOST_SCREENS: usize = 1000;
/// Characters of a quoted piece of the document.
const QUOTED: usize = 60;

/// One fault and the byte where it stands.
pub(crate) struct Found {
    pub(crate) at: usize,
    pub(crate) code: Code,
    pub(crate) message: String,
}

pub(crate) struct Context<'a, 't> {
    pub(crate) version: Version,
    /// Whether the document declares an endpoint.
    pub(crate) endpoint: bool,
    pub(crate) screens: Vec<Screen<'a, 't>>,
    /// The first screen of each id.
    pub(crate) by_id: HashMap<&'a str, usize>,
    pub(crate) found: RefCell<Vec<Found>>,
}

pub(crate) struct Screen<'a, 't> {
    pub(crate) node: &'a Node<'t>,
    pub(crate) id: Option<&'a str>,
    pub(crate) terminal: bool,
    pub(crate) fields: HashMap<&'a str, &'a Node<'t>>,
    /// Every component, a form or condition before what is in it.
    pub(crate) components: Vec<Placed<'a, 't>>,
    /// Components with a name, but forms; the first of each.
    pub(crate) names: HashMap<&'a str, usize>,
    pub(crate) forms: Vec<&'a str>,
    pub(crate) has_list: bool,
}

/// A component and what it stands in.
pub(crate) struct Placed<'a, 't> {
    pub(crate) node: &'a Node<'t>,
    /// None where the type is missing, unknown or newer than the document.
    pub(crate) spec: Option<&'static Spec>,
    pub(crate) in_form: bool,
    /// Ifs around it.
    pub(crate) ifs: usize,
    /// Ifs and Switches around it.
    pub(crate) branches: usize,
}

impl Placed<'_, '_> {
    pub(crate) fn is(&self, name: &str) -> bool {
        self.spec.is_some_and(|spec| spec.name == name)
    }
}

impl<'a, 't> Context<'a, 't> {
    pub(crate) fn new(version: Version, root: &'a Node<'t>) -> Self {
        let listed = root.get("screens").map_or(&[][..], Node::elements);
        let screens: Vec<_> =
            listed.iter().take(MOST_SCREENS).map(|node| Screen::new(node, version)).collect();
        let mut by_id = HashMap::new();
        for (place, screen) in screens.iter().enumerate() {
            if let Some(id) = screen.id {
                by_id.entry(id).or_insert(place);
            }
        }
        let endpoint = root.get("data_api_version").is_some();
        Self { version, endpoint, screens, by_id, found: RefCell::default() }
    }

    pub(crate) fn add(&self, node: &Node<'_>, code: Code, message: impl Into<Cow<'static, str>>) {
        self.at(node.at, code, message);
    }

    /// At a key instead of its value.
    pub(crate) fn add_key(&self, member: &Member<'_>, code: Code, message: impl Into<Cow<'static, str>>) {
        self.at(member.at, code, message);
    }

    pub(crate) fn at(&self, at: usize, code: Code, message: impl Into<Cow<'static, str>>) {
        let mut found = self.found.borrow_mut();
        if found.len() <= MOST {
            found.push(Found { at, code, message: message.into().into_owned() });
        }
    }

    /// Nothing more would be listed.
    pub(crate) fn full(&self) -> bool {
        self.found.borrow().len() > MOST
    }

    pub(crate) fn screen(&self, id: &str) -> Option<&Screen<'a, 't>> {
        self.by_id.get(id).and_then(|place| self.screens.get(*place))
    }
}

impl<'a, 't> Screen<'a, 't> {
    fn new(node: &'a Node<'t>, version: Version) -> Self {
        let data = node.get("data").map_or(&[][..], Node::members);
        let mut screen = Self {
            node,
            id: node.get("id").and_then(Node::text),
            terminal: node.get("terminal").and_then(Node::truth) == Some(true),
            fields: data.iter().map(|member| (member.key.as_ref(), &member.value)).collect(),
            components: Vec::new(),
            names: HashMap::new(),
            forms: Vec::new(),
            has_list: false,
        };
        if let Some(children) = node.get("layout").and_then(|layout| layout.get("children")) {
            screen.gather(children, version, (false, 0, 0));
        }
        screen
    }

    /// Bounded by the nesting that the reader allows.
    fn gather(
        &mut self,
        children: &'a Node<'t>,
        version: Version,
        (in_form, ifs, branches): (bool, usize, usize),
    ) {
        for node in children.elements() {
            let kind = node.get("type").and_then(Node::text);
            let spec = kind.and_then(spec::find).filter(|spec| spec.since <= version);
            let place = self.components.len();
            self.components.push(Placed { node, spec, in_form, ifs, branches });
            let Some(spec) = spec else { continue };
            if let Some(name) = node.get("name").and_then(Node::text) {
                if spec.name == "Form" {
                    self.forms.push(name);
                } else {
                    self.names.entry(name).or_insert(place);
                }
            }
            match spec.name {
                "NavigationList" => self.has_list = true,
                "Form" => {
                    if let Some(inner) = node.get("children") {
                        self.gather(inner, version, (true, ifs, branches));
                    }
                }
                "If" => {
                    for inner in ["then", "else"].iter().filter_map(|key| node.get(key)) {
                        self.gather(inner, version, (in_form, ifs + 1, branches + 1));
                    }
                }
                "Switch" => {
                    for case in node.get("cases").map_or(&[][..], Node::members) {
                        self.gather(&case.value, version, (in_form, ifs, branches + 1));
                    }
                }
                _ => {}
            }
        }
    }

    /// The component of a name and what its answer is.
    pub(crate) fn component(&self, name: &str) -> Option<(&'static Spec, &'a Node<'t>)> {
        let placed = self.names.get(name).and_then(|place| self.components.get(*place))?;
        Some((placed.spec?, placed.node))
    }
}

/// A piece of the document for a message, shortened.
pub(crate) fn quote(text: &str) -> String {
    let mut signs = text.chars();
    let mut quoted: String = signs.by_ref().take(QUOTED).collect();
    if signs.next().is_some() {
        quoted.push('…');
    }
    format!("`{quoted}`")
}
