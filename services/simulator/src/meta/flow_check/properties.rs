//! Which properties a component has, and what they may hold.

/// What a property holds.
pub(super) enum Holds {
    /// A text of at most so many characters, or a reference to one.
    Text(usize),
    /// A name: never a reference.
    Name,
    /// A boolean, or a reference to one.
    Flag,
    /// A whole number in a range.
    Number(u64, u64),
    OneOf(&'static [&'static str]),
    /// Checked with the actions.
    Action,
    /// Checked where the component is.
    Special,
}

pub(super) struct Property {
    pub(super) name: &'static str,
    pub(super) holds: Holds,
    pub(super) required: bool,
}

const fn must(name: &'static str, holds: Holds) -> Property {
    Property { name, holds, required: true }
}

const fn may(name: &'static str, holds: Holds) -> Property {
    Property { name, holds, required: false }
}

const VISIBLE: Property = may("visible", Holds::Flag);
const ENABLED: Property = may("enabled", Holds::Flag);
const REQUIRED: Property = may("required", Holds::Flag);
const NAME: Property = must("name", Holds::Name);
const WEIGHTS: Holds = Holds::OneOf(&["normal", "bold", "italic", "bold_italic"]);

static HEADING: [Property; 2] = [must("text", Holds::Text(80)), VISIBLE];
static BODY: [Property; 5] = [
    must("text", Holds::Text(4096)),
    VISIBLE,
    may("font-weight", WEIGHTS),
    may("strikethrough", Holds::Flag),
    may("markdown", Holds::Flag),
];
static CAPTION: [Property; 5] = [
    must("text", Holds::Text(409)),
    VISIBLE,
    may("font-weight", WEIGHTS),
    may("strikethrough", Holds::Flag),
    may("markdown", Holds::Flag),
];
static RICH_TEXT: [Property; 2] = [must("text", Holds::Special), VISIBLE];
static TEXT_INPUT: [Property; 13] = [
    must("label", Holds::Text(20)),
    NAME,
    may("label-variant", Holds::OneOf(&["large"])),
    may("input-type", Holds::OneOf(&["text", "number", "email", "password", "passcode", "phone"])),
    may("pattern", Holds::Name),
    REQUIRED,
    may("min-chars", Holds::Number(0, 4096)),
    may("max-chars", Holds::Number(1, 4096)),
    may("helper-text", Holds::Text(80)),
    ENABLED,
    VISIBLE,
    may("init-value", Holds::Text(4096)),
    may("error-message", Holds::Text(30)),
];
static TEXT_AREA: [Property; 10] = [
    must("label", Holds::Text(20)),
    NAME,
    may("label-variant", Holds::OneOf(&["large"])),
    REQUIRED,
    may("max-length", Holds::Number(1, 4096)),
    may("helper-text", Holds::Text(80)),
    ENABLED,
    VISIBLE,
    may("init-value", Holds::Text(4096)),
    may("error-message", Holds::Text(80)),
];
static PHOTO_PICKER: [Property; 10] = [
    must("label", Holds::Text(80)),
    NAME,
    may("description", Holds::Text(300)),
    may("photo-source", Holds::OneOf(&["camera_gallery", "camera", "gallery"])),
    may("max-file-size-kb", Holds::Number(1, 25_600)),
    may("min-uploaded-photos", Holds::Number(0, 30)),
    may("max-uploaded-photos", Holds::Number(1, 30)),
    ENABLED,
    VISIBLE,
    may("error-message", Holds::Text(80)),
];
static FOOTER: [Property; 6] = [
    must("label", Holds::Text(35)),
    must("on-click-action", Holds::Action),
    may("left-caption", Holds::Text(15)),
    may("center-caption", Holds::Text(15)),
    may("right-caption", Holds::Text(15)),
    ENABLED,
];
static NAVIGATION_LIST: [Property; 6] = [
    NAME,
    must("list-items", Holds::Special),
    may("label", Holds::Text(80)),
    may("description", Holds::Text(300)),
    may("media-size", Holds::OneOf(&["regular", "large"])),
    may("on-click-action", Holds::Action),
];
static OPT_IN: [Property; 6] = [
    must("label", Holds::Text(120)),
    NAME,
    REQUIRED,
    VISIBLE,
    may("init-value", Holds::Flag),
    may("on-click-action", Holds::Action),
];
static EMBEDDED_LINK: [Property; 3] =
    [must("text", Holds::Text(25)), must("on-click-action", Holds::Action), VISIBLE];
static IMAGE: [Property; 7] = [
    must("src", Holds::Text(400_000)),
    may("width", Holds::Number(1, 10_000)),
    may("height", Holds::Number(1, 10_000)),
    may("scale-type", Holds::OneOf(&["cover", "contain"])),
    may("aspect-ratio", Holds::Special),
    may("alt-text", Holds::Text(4096)),
    VISIBLE,
];
static FORM: [Property; 2] = [NAME, must("children", Holds::Special)];

/// The properties of a component, `type` aside. `None`: no such component, or one that is not played.
pub(super) fn of(component: &str) -> Option<&'static [Property]> {
    let properties: &[Property] = match component {
        "TextHeading" | "TextSubheading" => &HEADING,
        "TextBody" => &BODY,
        "TextCaption" => &CAPTION,
        "RichText" => &RICH_TEXT,
        "TextInput" => &TEXT_INPUT,
        "TextArea" => &TEXT_AREA,
        "PhotoPicker" => &PHOTO_PICKER,
        "Footer" => &FOOTER,
        "NavigationList" => &NAVIGATION_LIST,
        "OptIn" => &OPT_IN,
        "EmbeddedLink" => &EMBEDDED_LINK,
        "Image" => &IMAGE,
        "Form" => &FORM,
        _ => return None,
    };
    Some(properties)
}

/// Components that take what the citizen enters.
pub(super) fn is_input(component: &str) -> bool {
    ["TextInput", "TextArea", "PhotoPicker", "OptIn"].contains(&component)
}

/// How many of a component a screen may have.
pub(super) fn most(component: &str) -> usize {
    match component {
        "Footer" | "PhotoPicker" | "Form" => 1,
        "EmbeddedLink" | "NavigationList" => 2,
        "Image" => 3,
        "OptIn" => 5,
        _ => 50,
    }
}
