//! The components and their properties, as the platform documents them.

use super::super::code::Code;
use super::super::data_model::Type;
use super::super::version::{V5_1, V6_0, V6_1, V6_2, V6_3, V7_0, V7_1, Version};
use super::{Kind, Prop, Spec};

const fn need(name: &'static str, kind: Kind) -> Prop {
    Prop { name, kind, required: true, since: V5_1 }
}

const fn may(name: &'static str, kind: Kind) -> Prop {
    Prop { name, kind, required: false, since: V5_1 }
}

const fn since(since: Version, prop: Prop) -> Prop {
    Prop { since, ..prop }
}

const fn shown(name: &'static str, props: &'static [Prop]) -> Spec {
    Spec { name, since: V5_1, props, most: None, in_branch: true, is_input: false, answer: None }
}

const fn input(name: &'static str, answer: Type, props: &'static [Prop]) -> Spec {
    Spec { is_input: true, answer: Some(answer), ..shown(name, props) }
}

/// A component that an If or a Switch may not hold.
const fn apart(spec: Spec) -> Spec {
    Spec { in_branch: false, ..spec }
}

const fn limited(most: usize, code: Code, spec: Spec) -> Spec {
    Spec { most: Some((most, code)), ..spec }
}

const fn from(since: Version, spec: Spec) -> Spec {
    Spec { since, ..spec }
}

const SCREEN_CLICK: Kind = Kind::Click(&["navigate", "complete", "data_exchange"]);
const LINK_CLICK: Kind = Kind::Click(&["navigate", "data_exchange", "open_url"]);
const SELECT: Kind = Kind::Select(&["data_exchange", "update_data"]);
const UNSELECT: Prop = since(V6_0, may("on-unselect-action", Kind::Select(&["update_data"])));
const LARGE: Prop = since(V7_0, may("label-variant", Kind::Dynamic(&["large"])));
const WEIGHT: Kind = Kind::Dynamic(&["bold", "italic", "bold_italic", "normal"]);
const MEDIA_SIZE: Kind = Kind::Dynamic(&["regular", "large"]);
const CHARS: Kind = Kind::Count { min: 0, max: u32::MAX, dynamic: true };
const CHOICES: Kind = Kind::Count { min: 0, max: 200, dynamic: true };
const PER_SCREEN: Code = Code::ComponentTypeMaxNumberPerScreen;
const VISIBLE: Prop = may("visible", Kind::Bool);
const ENABLED: Prop = may("enabled", Kind::Bool);
const REQUIRED: Prop = may("required", Kind::Bool);
const NAME: Prop = need("name", Kind::Name);
const INIT: Prop = may("init-value", Kind::Value);
const HELPER: Prop = may("helper-text", Kind::Text(80));
const DESCRIPTION: Prop = may("description", Kind::Text(300));

pub(super) const SPECS: &[Spec] = &[
    shown("TextHeading", &[need("text", Kind::Text(80)), VISIBLE]),
    shown("TextSubheading", &[need("text", Kind::Text(80)), VISIBLE]),
    shown(
        "TextBody",
        &[
            need("text", Kind::Lines(4096)),
            may("font-weight", WEIGHT),
            may("strikethrough", Kind::Bool),
            may("markdown", Kind::Bool),
            VISIBLE,
        ],
    ),
    shown(
        "TextCaption",
        &[
            need("text", Kind::Lines(409)),
            may("font-weight", WEIGHT),
            may("strikethrough", Kind::Bool),
            may("markdown", Kind::Bool),
            VISIBLE,
        ],
    ),
    apart(shown("RichText", &[need("text", Kind::Lines(usize::MAX)), VISIBLE])),
    input(
        "TextInput",
        Type::String,
        &[
            need("label", Kind::Text(20)),
            NAME,
            may("input-type", Kind::Choice(&["text", "number", "email", "password", "passcode", "phone"])),
            since(V6_2, may("pattern", Kind::Pattern)),
            REQUIRED,
            may("min-chars", CHARS),
            may("max-chars", CHARS),
            HELPER,
            VISIBLE,
            ENABLED,
            INIT,
            may("error-message", Kind::Text(30)),
            LARGE,
        ],
    ),
    input(
        "TextArea",
        Type::String,
        &[
            need("label", Kind::Text(20)),
            NAME,
            REQUIRED,
            may("max-length", CHARS),
            HELPER,
            VISIBLE,
            ENABLED,
            INIT,
            may("error-message", Kind::Text(80)),
            LARGE,
        ],
    ),
    input(
        "CheckboxGroup",
        Type::Array,
        &[
            need("label", Kind::Text(30)),
            NAME,
            need("data-source", Kind::Options(1, 20, 20)),
            may("min-selected-items", CHOICES),
            may("max-selected-items", CHOICES),
            REQUIRED,
            VISIBLE,
            ENABLED,
            DESCRIPTION,
            INIT,
            may("error-message", Kind::Text(80)),
            may("media-size", MEDIA_SIZE),
            may("on-select-action", SELECT),
            UNSELECT,
        ],
    ),
    input(
        "RadioButtonsGroup",
        Type::String,
        &[
            need("label", Kind::Text(30)),
            NAME,
            need("data-source", Kind::Options(1, 20, 20)),
            REQUIRED,
            VISIBLE,
            ENABLED,
            DESCRIPTION,
            INIT,
            may("error-message", Kind::Text(80)),
            may("media-size", MEDIA_SIZE),
            may("on-select-action", SELECT),
            UNSELECT,
        ],
    ),
    input(
        "Dropdown",
        Type::String,
        &[
            need("label", Kind::Text(20)),
            NAME,
            need("data-source", Kind::Options(1, 200, 100)),
            REQUIRED,
            VISIBLE,
            ENABLED,
            INIT,
            may("error-message", Kind::Text(80)),
            may("on-select-action", SELECT),
            UNSELECT,
        ],
    ),
    from(
        V6_3,
        input(
            "ChipsSelector",
            Type::Array,
            &[
                need("label", Kind::Text(80)),
                NAME,
                need("data-source", Kind::Options(2, 20, 20)),
                may("min-selected-items", CHOICES),
                may("max-selected-items", CHOICES),
                REQUIRED,
                VISIBLE,
                ENABLED,
                DESCRIPTION,
                INIT,
                may("error-message", Kind::Text(80)),
                may("on-select-action", SELECT),
                UNSELECT,
            ],
        ),
    ),
    limited(
        5,
        Code::MaxOptInPerScreen,
        input(
            "OptIn",
            Type::Boolean,
            &[
                need("label", Kind::Text(120)),
                NAME,
                REQUIRED,
                VISIBLE,
                INIT,
                may("on-click-action", LINK_CLICK),
                since(V6_0, may("on-select-action", Kind::Select(&["update_data"]))),
                UNSELECT,
            ],
        ),
    ),
    input(
        "DatePicker",
        Type::String,
        &[
            need("label", Kind::Text(40)),
            NAME,
            may("min-date", Kind::Date),
            may("max-date", Kind::Date),
            may("unavailable-dates", Kind::Dates),
            HELPER,
            REQUIRED,
            VISIBLE,
            ENABLED,
            INIT,
            may("error-message", Kind::Text(80)),
            may("on-select-action", Kind::Select(&["data_exchange"])),
        ],
    ),
    from(
        V6_1,
        Spec {
            answer: None,
            ..input(
                "CalendarPicker",
                Type::String,
                &[
                    need("label", Kind::Labels(40)),
                    NAME,
                    may("title", Kind::Text(80)),
                    may("description", Kind::Text(300)),
                    may("helper-text", Kind::Labels(80)),
                    may("mode", Kind::Choice(&["single", "range"])),
                    may("min-date", Kind::Date),
                    may("max-date", Kind::Date),
                    may("unavailable-dates", Kind::Dates),
                    may("include-days", Kind::Strings),
                    may("min-days", Kind::Count { min: 1, max: u32::MAX, dynamic: true }),
                    may("max-days", Kind::Count { min: 1, max: u32::MAX, dynamic: true }),
                    may("required", Kind::Value),
                    VISIBLE,
                    ENABLED,
                    INIT,
                    may("error-message", Kind::Labels(80)),
                    may("on-select-action", Kind::Select(&["data_exchange"])),
                ],
            )
        },
    ),
    shown(
        "Footer",
        &[
            need("label", Kind::Text(35)),
            need("on-click-action", SCREEN_CLICK),
            may("left-caption", Kind::Text(15)),
            may("center-caption", Kind::Text(15)),
            may("right-caption", Kind::Text(15)),
            ENABLED,
        ],
    ),
    limited(
        2,
        Code::MaxEmbeddedLinkPerScreen,
        shown("EmbeddedLink", &[need("text", Kind::Text(25)), need("on-click-action", LINK_CLICK), VISIBLE]),
    ),
    limited(
        3,
        Code::MaxImagePerScreen,
        shown(
            "Image",
            &[
                need("src", Kind::Picture),
                may("width", Kind::Count { min: 1, max: u32::MAX, dynamic: true }),
                may("height", Kind::Count { min: 1, max: u32::MAX, dynamic: true }),
                may("scale-type", Kind::Dynamic(&["cover", "contain"])),
                may("aspect-ratio", Kind::Ratio),
                may("alt-text", Kind::Text(usize::MAX)),
                VISIBLE,
            ],
        ),
    ),
    from(
        V7_1,
        limited(
            2,
            PER_SCREEN,
            apart(shown(
                "ImageCarousel",
                &[
                    need("images", Kind::Pictures),
                    may("aspect-ratio", Kind::Choice(&["4:3", "16:9"])),
                    may("scale-type", Kind::Choice(&["cover", "contain"])),
                    VISIBLE,
                ],
            )),
        ),
    ),
    limited(
        1,
        PER_SCREEN,
        apart(input(
            "PhotoPicker",
            Type::Array,
            &[
                need("label", Kind::Text(80)),
                NAME,
                DESCRIPTION,
                may("photo-source", Kind::Choice(&["camera_gallery", "camera", "gallery"])),
                may("max-file-size-kb", Kind::Count { min: 1, max: 25_600, dynamic: false }),
                may("min-uploaded-photos", Kind::Count { min: 0, max: 30, dynamic: false }),
                may("max-uploaded-photos", Kind::Count { min: 1, max: 30, dynamic: false }),
                ENABLED,
                VISIBLE,
                may("error-message", Kind::Message(80)),
            ],
        )),
    ),
    limited(
        1,
        PER_SCREEN,
        apart(input(
            "DocumentPicker",
            Type::Array,
            &[
                need("label", Kind::Text(80)),
                NAME,
                DESCRIPTION,
                may("allowed-mime-types", Kind::Strings),
                may("max-file-size-kb", Kind::Count { min: 1, max: 25_600, dynamic: false }),
                may("min-uploaded-documents", Kind::Count { min: 0, max: 30, dynamic: false }),
                may("max-uploaded-documents", Kind::Count { min: 1, max: 30, dynamic: false }),
                ENABLED,
                VISIBLE,
                may("error-message", Kind::Message(80)),
            ],
        )),
    ),
    from(
        V6_2,
        limited(
            2,
            PER_SCREEN,
            apart(shown(
                "NavigationList",
                &[
                    NAME,
                    need("list-items", Kind::Items),
                    may("label", Kind::Text(80)),
                    may("description", Kind::Text(300)),
                    may("media-size", MEDIA_SIZE),
                    may("on-click-action", Kind::Click(&["navigate", "data_exchange"])),
                ],
            )),
        ),
    ),
    apart(shown(
        "Form",
        &[
            NAME,
            need("children", Kind::Children),
            may("init-values", Kind::Values),
            may("error-messages", Kind::Values),
        ],
    )),
    shown(
        "If",
        &[need("condition", Kind::Condition), need("then", Kind::Children), may("else", Kind::Children)],
    ),
    shown("Switch", &[need("value", Kind::Condition), need("cases", Kind::Cases)]),
];
