//! What a component is: its properties, since when there are any, and how many a screen may have.

mod table;

use super::code::Code;
use super::data_model::Type;
use super::version::Version;

/// What may stand in a property. Texts and truths may refer to data unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Shown, with the UTF-16 units that are shown.
    Text(usize),
    /// One text or a list of them.
    Lines(usize),
    /// The label of a calendar: one text, or two for a range.
    Labels(usize),
    /// An error message of a picker: a text, or by reference an object.
    Message(usize),
    /// Never a reference.
    Name,
    Pattern,
    Bool,
    /// A whole number; also as text, and by reference where it says so.
    Count {
        min: u32,
        max: u32,
        dynamic: bool,
    },
    /// A number.
    Ratio,
    Choice(&'static [&'static str]),
    /// A choice that may also be a reference.
    Dynamic(&'static [&'static str]),
    /// The actions of a tap.
    Click(&'static [&'static str]),
    /// The actions of a choice.
    Select(&'static [&'static str]),
    Picture,
    /// Options of a group: fewest, most, most with pictures.
    Options(usize, usize, usize),
    Items,
    Pictures,
    Date,
    Dates,
    /// Anything that fits the answer.
    Value,
    /// Values by the name of a component.
    Values,
    Strings,
    Children,
    Condition,
    Cases,
}

pub(crate) struct Prop {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    pub(crate) since: Version,
}

pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) since: Version,
    pub(crate) props: &'static [Prop],
    /// Most on a screen.
    pub(crate) most: Option<(usize, Code)>,
    /// Whether an If or a Switch may hold it.
    pub(crate) in_branch: bool,
    /// Belongs into the form where there is one.
    pub(crate) is_input: bool,
    /// What its answer is.
    pub(crate) answer: Option<Type>,
}

/// The component of a name.
pub(crate) fn find(name: &str) -> Option<&'static Spec> {
    table::SPECS.iter().find(|spec| spec.name == name)
}

impl Spec {
    /// Photos and documents: native, not values.
    pub(crate) fn is_native(&self) -> bool {
        matches!(self.name, "PhotoPicker" | "DocumentPicker")
    }
}
