//! Which properties a component has, and what they may hold.

mod table;

use super::expressions::Type;
pub(super) use table::of;

/// What a property holds. Texts, truths and numbers may be references unless it is said otherwise.
pub(super) enum Holds {
    /// A text of at most so many characters.
    Text(usize),
    /// One text, or a list of them.
    Lines(usize),
    /// Formatted text: one, or a list of them; never an expression, and the lines of a list never a reference.
    Formatted,
    /// A text; by reference also an object with a text for each file.
    Message(usize),
    /// A picture in base64.
    Picture,
    /// One text, or, for a range of dates, two: `start-date` and `end-date`.
    Labels(usize),
    /// A name: never a reference.
    Name,
    /// A boolean.
    Flag,
    /// One boolean, or, for a range of dates, two.
    Flags,
    /// A whole number in a range; never a reference.
    Number(u64, u64),
    /// A whole number in a range; may be written as a text.
    Count(u64, u64),
    OneOf(&'static [&'static str]),
    /// A day, as `2026-11-30`.
    Date,
    Dates,
    /// Texts of which none is a reference, or a reference to all of them.
    Names,
    /// Anything of the type that the component answers with.
    Answer,
    /// Anything by the name of a component.
    Values,
    /// Checked with the actions.
    Action,
    /// Components: checked as such.
    Children,
    /// Checked where the component is.
    Special,
}

pub(super) struct Property {
    pub(super) name: &'static str,
    pub(super) holds: Holds,
    pub(super) required: bool,
    /// The version that it came with.
    pub(super) since: (u32, u32),
}

/// The type of what a component answers with. `None`: it is no input.
pub(super) fn answer(component: &str, input_type: &str, mode: &str) -> Option<Type> {
    Some(match component {
        "PhotoPicker" | "DocumentPicker" => Type::Media,
        "OptIn" => Type::Boolean,
        // Written as a number, and handed on as phones like.
        "TextInput" if input_type == "number" => Type::Unknown,
        "TextInput" | "TextArea" | "NavigationList" | "Dropdown" | "RadioButtonsGroup" | "DatePicker" => {
            Type::Text
        }
        "CheckboxGroup" | "ChipsSelector" => Type::Array,
        "CalendarPicker" if mode == "range" => Type::Object,
        "CalendarPicker" => Type::Text,
        _ => return None,
    })
}

/// Components that take what the citizen enters. A list is left by its rows, so it is none.
pub(super) fn is_input(component: &str) -> bool {
    component != "NavigationList" && answer(component, "", "").is_some()
}

/// Components that neither an If nor a Switch may hold.
pub(super) fn stands_apart(component: &str) -> bool {
    ["PhotoPicker", "DocumentPicker", "NavigationList", "RichText", "Form", "ImageCarousel"]
        .contains(&component)
}

/// How many of a component a screen may have.
pub(super) fn most(component: &str, version: (u32, u32)) -> usize {
    match component {
        "Form" if version < (7, 0) => 50,
        "PhotoPicker" | "DocumentPicker" | "Form" => 1,
        "EmbeddedLink" | "NavigationList" | "ImageCarousel" => 2,
        "Image" => 3,
        "OptIn" => 5,
        _ => 50,
    }
}

/// The version that a component came with.
pub(super) fn since(component: &str) -> (u32, u32) {
    match component {
        "CalendarPicker" => (6, 1),
        "NavigationList" => (6, 2),
        "ChipsSelector" => (6, 3),
        "ImageCarousel" => (7, 1),
        _ => OLDEST,
    }
}

/// The oldest version that may be published.
pub(super) const OLDEST: (u32, u32) = (5, 1);
