//! The components that there are, each with its properties; `type` aside.

use super::{Holds, OLDEST, Property};

const fn must(name: &'static str, holds: Holds) -> Property {
    Property { name, holds, required: true, since: OLDEST }
}

const fn may(name: &'static str, holds: Holds) -> Property {
    Property { name, holds, required: false, since: OLDEST }
}

const fn from(major: u32, minor: u32, property: Property) -> Property {
    Property { since: (major, minor), ..property }
}

const VISIBLE: Property = may("visible", Holds::Flag);
const ENABLED: Property = may("enabled", Holds::Flag);
const REQUIRED: Property = may("required", Holds::Flag);
const NAME: Property = must("name", Holds::Name);
const INIT: Property = may("init-value", Holds::Answer);
const HELPER: Property = may("helper-text", Holds::Text(80));
const ERROR: Property = may("error-message", Holds::Text(80));
const DESCRIPTION: Property = may("description", Holds::Text(300));
const LARGE: Property = from(7, 0, may("label-variant", Holds::OneOf(&["large"])));
const SELECT: Property = may("on-select-action", Holds::Action);
const UNSELECT: Property = from(6, 0, may("on-unselect-action", Holds::Action));
const SOURCE: Property = must("data-source", Holds::Special);
const MEDIA_SIZE: Property = may("media-size", Holds::OneOf(&["regular", "large"]));
const LEAST: Property = may("min-selected-items", Holds::Count(0, 20));
const MOST: Property = may("max-selected-items", Holds::Count(1, 20));
const WEIGHTS: Holds = Holds::OneOf(&["normal", "bold", "italic", "bold_italic"]);

static HEADING: [Property; 2] = [must("text", Holds::Text(80)), VISIBLE];
static BODY: [Property; 5] = [
    must("text", Holds::Lines(4096)),
    VISIBLE,
    may("font-weight", WEIGHTS),
    may("strikethrough", Holds::Flag),
    may("markdown", Holds::Flag),
];
static CAPTION: [Property; 5] = [
    must("text", Holds::Lines(409)),
    VISIBLE,
    may("font-weight", WEIGHTS),
    may("strikethrough", Holds::Flag),
    may("markdown", Holds::Flag),
];
static RICH_TEXT: [Property; 2] = [must("text", Holds::Formatted), VISIBLE];
static TEXT_INPUT: [Property; 13] = [
    must("label", Holds::Text(20)),
    NAME,
    LARGE,
    may("input-type", Holds::OneOf(&["text", "number", "email", "password", "passcode", "phone"])),
    from(6, 2, may("pattern", Holds::Name)),
    REQUIRED,
    may("min-chars", Holds::Count(0, 4096)),
    may("max-chars", Holds::Count(1, 4096)),
    HELPER,
    ENABLED,
    VISIBLE,
    INIT,
    may("error-message", Holds::Text(30)),
];
static TEXT_AREA: [Property; 10] = [
    must("label", Holds::Text(20)),
    NAME,
    LARGE,
    REQUIRED,
    may("max-length", Holds::Count(1, 4096)),
    HELPER,
    ENABLED,
    VISIBLE,
    INIT,
    ERROR,
];
static CHECKBOXES: [Property; 14] = [
    must("label", Holds::Text(30)),
    NAME,
    SOURCE,
    LEAST,
    MOST,
    ENABLED,
    REQUIRED,
    VISIBLE,
    DESCRIPTION,
    INIT,
    ERROR,
    MEDIA_SIZE,
    SELECT,
    UNSELECT,
];
static RADIO: [Property; 12] = [
    must("label", Holds::Text(30)),
    NAME,
    SOURCE,
    ENABLED,
    REQUIRED,
    VISIBLE,
    DESCRIPTION,
    INIT,
    ERROR,
    MEDIA_SIZE,
    SELECT,
    UNSELECT,
];
static DROPDOWN: [Property; 10] =
    [must("label", Holds::Text(20)), NAME, SOURCE, ENABLED, REQUIRED, VISIBLE, INIT, ERROR, SELECT, UNSELECT];
static CHIPS: [Property; 13] = [
    must("label", Holds::Text(80)),
    NAME,
    SOURCE,
    LEAST,
    MOST,
    ENABLED,
    REQUIRED,
    VISIBLE,
    DESCRIPTION,
    INIT,
    ERROR,
    SELECT,
    UNSELECT,
];
static DATE: [Property; 12] = [
    must("label", Holds::Text(40)),
    NAME,
    may("min-date", Holds::Date),
    may("max-date", Holds::Date),
    may("unavailable-dates", Holds::Dates),
    HELPER,
    ENABLED,
    REQUIRED,
    VISIBLE,
    INIT,
    ERROR,
    SELECT,
];
static CALENDAR: [Property; 18] = [
    must("label", Holds::Labels(40)),
    NAME,
    may("title", Holds::Text(80)),
    DESCRIPTION,
    may("helper-text", Holds::Labels(80)),
    may("mode", Holds::OneOf(&["single", "range"])),
    may("min-date", Holds::Date),
    may("max-date", Holds::Date),
    may("unavailable-dates", Holds::Dates),
    may("include-days", Holds::Names),
    may("min-days", Holds::Count(1, 10_000)),
    may("max-days", Holds::Count(1, 10_000)),
    may("required", Holds::Flags),
    ENABLED,
    VISIBLE,
    INIT,
    may("error-message", Holds::Labels(80)),
    SELECT,
];
static PHOTO_PICKER: [Property; 10] = [
    must("label", Holds::Text(80)),
    NAME,
    DESCRIPTION,
    may("photo-source", Holds::OneOf(&["camera_gallery", "camera", "gallery"])),
    may("max-file-size-kb", Holds::Number(1, 25_600)),
    may("min-uploaded-photos", Holds::Number(0, 30)),
    may("max-uploaded-photos", Holds::Number(1, 30)),
    ENABLED,
    VISIBLE,
    may("error-message", Holds::Message(80)),
];
static DOCUMENT_PICKER: [Property; 10] = [
    must("label", Holds::Text(80)),
    NAME,
    DESCRIPTION,
    may("allowed-mime-types", Holds::Names),
    may("max-file-size-kb", Holds::Number(1, 25_600)),
    may("min-uploaded-documents", Holds::Number(0, 30)),
    may("max-uploaded-documents", Holds::Number(1, 30)),
    ENABLED,
    VISIBLE,
    may("error-message", Holds::Message(80)),
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
    DESCRIPTION,
    MEDIA_SIZE,
    may("on-click-action", Holds::Action),
];
static OPT_IN: [Property; 8] = [
    must("label", Holds::Text(120)),
    NAME,
    REQUIRED,
    VISIBLE,
    INIT,
    may("on-click-action", Holds::Action),
    from(6, 0, SELECT),
    UNSELECT,
];
static EMBEDDED_LINK: [Property; 3] =
    [must("text", Holds::Text(25)), must("on-click-action", Holds::Action), VISIBLE];
static IMAGE: [Property; 7] = [
    must("src", Holds::Picture),
    may("width", Holds::Count(1, 10_000)),
    may("height", Holds::Count(1, 10_000)),
    may("scale-type", Holds::OneOf(&["cover", "contain"])),
    may("aspect-ratio", Holds::Special),
    may("alt-text", Holds::Text(4096)),
    VISIBLE,
];
static IMAGE_CAROUSEL: [Property; 4] = [
    must("images", Holds::Special),
    may("aspect-ratio", Holds::OneOf(&["4:3", "16:9"])),
    may("scale-type", Holds::OneOf(&["cover", "contain"])),
    VISIBLE,
];
static FORM: [Property; 4] = [
    NAME,
    must("children", Holds::Children),
    may("init-values", Holds::Values),
    may("error-messages", Holds::Values),
];
static IF: [Property; 3] =
    [must("condition", Holds::Special), must("then", Holds::Children), may("else", Holds::Children)];
static SWITCH: [Property; 2] = [must("value", Holds::Special), must("cases", Holds::Special)];

/// The properties of a component. `None`: there is no such component.
pub(in super::super) fn of(component: &str) -> Option<&'static [Property]> {
    let properties: &[Property] = match component {
        "TextHeading" | "TextSubheading" => &HEADING,
        "TextBody" => &BODY,
        "TextCaption" => &CAPTION,
        "RichText" => &RICH_TEXT,
        "TextInput" => &TEXT_INPUT,
        "TextArea" => &TEXT_AREA,
        "CheckboxGroup" => &CHECKBOXES,
        "RadioButtonsGroup" => &RADIO,
        "Dropdown" => &DROPDOWN,
        "ChipsSelector" => &CHIPS,
        "DatePicker" => &DATE,
        "CalendarPicker" => &CALENDAR,
        "PhotoPicker" => &PHOTO_PICKER,
        "DocumentPicker" => &DOCUMENT_PICKER,
        "Footer" => &FOOTER,
        "NavigationList" => &NAVIGATION_LIST,
        "OptIn" => &OPT_IN,
        "EmbeddedLink" => &EMBEDDED_LINK,
        "Image" => &IMAGE,
        "ImageCarousel" => &IMAGE_CAROUSEL,
        "Form" => &FORM,
        "If" => &IF,
        "Switch" => &SWITCH,
        _ => return None,
    };
    Some(properties)
}
