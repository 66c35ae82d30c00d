//! The names of what can be wrong: the platform's where it has one, ours where it is silent.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal,)*) => {
        /// What kind of fault a violation is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "each is explained by its name, which is the platform's")]
        pub enum Code {
            $($(#[$doc])* $code,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$code,)*];

            /// The name, as the platform writes it in `validation_errors`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)*
                }
            }
        }
    };
}

codes! {
    ComponentTypeMaxNumberPerScreen = "COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN",
    ComponentsOutsideForm = "COMPONENTS_OUTSIDE_FORM",
    DataSourceItemsHaveBothImageAndColor = "DATA_SOURCE_ITEMS_HAVE_BOTH_IMAGE_AND_COLOR",
    DuplicateFormComponentNames = "DUPLICATE_FORM_COMPONENT_NAMES",
    /// Misspelled by the platform.
    DuplicatePropertyForCondition = "DUPLICATE_PROPETY_FOR_CONDITION",
    DuplicateScreenIds = "DUPLICATE_SCREEN_IDS",
    EmptySwitchCases = "EMPTY_SWITCH_CASES",
    InvalidActionPayloadProperty = "INVALID_ACTION_PAYLOAD_PROPERTY",
    InvalidCompleteAction = "INVALID_COMPLETE_ACTION",
    InvalidComponentPlacement = "INVALID_COMPONENT_PLACEMENT",
    InvalidDataApiVersion = "INVALID_DATA_API_VERSION",
    InvalidDateRange = "INVALID_DATE_RANGE",
    InvalidDependencies = "INVALID_DEPENDENCIES",
    InvalidEnumValue = "INVALID_ENUM_VALUE",
    InvalidFlowJson = "INVALID_FLOW_JSON",
    InvalidFlowJsonVersion = "INVALID_FLOW_JSON_VERSION",
    InvalidMinMaxDays = "INVALID_MIN_MAX_DAYS",
    InvalidNavigateActionNextScreenName = "INVALID_NAVIGATE_ACTION_NEXT_SCREEN_NAME",
    InvalidNavigateActionPayload = "INVALID_NAVIGATE_ACTION_PAYLOAD",
    InvalidOnClickActionPayload = "INVALID_ON_CLICK_ACTION_PAYLOAD",
    InvalidPropertyKey = "INVALID_PROPERTY_KEY",
    InvalidPropertyType = "INVALID_PROPERTY_TYPE",
    InvalidPropertyValue = "INVALID_PROPERTY_VALUE",
    InvalidPropertyValueForCondition = "INVALID_PROPERTY_VALUE_FOR_CONDITION",
    InvalidPropertyValueFormat = "INVALID_PROPERTY_VALUE_FORMAT",
    InvalidRichtextPlacement = "INVALID_RICHTEXT_PLACEMENT",
    InvalidRoutingModel = "INVALID_ROUTING_MODEL",
    InvalidScreenData = "INVALID_SCREEN_DATA",
    InvalidScreenDynamicData = "INVALID_SCREEN_DYNAMIC_DATA",
    InvalidSensitiveField = "INVALID_SENSITIVE_FIELD",
    InvalidUpdateDataActionPayload = "INVALID_UPDATE_DATA_ACTION_PAYLOAD",
    MaxAllowedComponentsPerScreen = "MAX_ALLOWED_COMPONENTS_PER_SCREEN",
    MaxEmbeddedLinkPerScreen = "MAX_EMBEDDED_LINK_PER_SCREEN",
    MaxFooterPerScreen = "MAX_FOOTER_PER_SCREEN",
    MaxImagePerScreen = "MAX_IMAGE_PER_SCREEN",
    MaxItemsRequired = "MAX_ITEMS_REQUIRED",
    MaxOptInPerScreen = "MAX_OPT_IN_PER_SCREEN",
    MaxScreensNumber = "MAX_SCREENS_NUMBER",
    MaximumIfNesting = "MAXIMUM_IF_NESTING",
    MaximumValueRequired = "MAXIMUM_VALUE_REQUIRED",
    MinCharsRequired = "MIN_CHARS_REQUIRED",
    MinItemsRequired = "MIN_ITEMS_REQUIRED",
    MinValueGreaterThanMax = "MIN_VALUE_GREATER_THAN_MAX",
    MinimumValueRequired = "MINIMUM_VALUE_REQUIRED",
    MissingFlowJsonVersion = "MISSING_FLOW_JSON_VERSION",
    MissingFooterInIfElseBranches = "MISSING_FOOTER_IN_IF_ELSE_BRANCHES",
    MissingFooterInSwitchBranches = "MISSING_FOOTER_IN_SWITCH_BRANCHES",
    MissingFooterOnTerminalScreen = "MISSING_FOOTER_ON_TERMINAL_SCREEN",
    MissingNavigationActionPayload = "MISSING_NAVIGATION_ACTION_PAYLOAD",
    MissingRequiredProperty = "MISSING_REQUIRED_PROPERTY",
    MissingRequiredTypeProperty = "MISSING_REQUIRED_TYPE_PROPERTY",
    MissingTerminalScreen = "MISSING_TERMINAL_SCREEN",
    MoreThanOneFooter = "MORE_THAN_ONE_FOOTER",
    NativeComponentInFormInitValues = "NATIVE_COMPONENT_IN_FORM_INIT_VALUES",
    NoSupportedDataApiVersion = "NO_SUPPORTED_DATA_API_VERSION",
    NotKeywordSchemaValidationFailed = "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED",
    PatternMismatch = "PATTERN_MISMATCH",
    ScreenIdIsReservedKeyword = "SCREEN_ID_IS_RESERVED_KEYWORD",
    UnsupportedFlowJsonVersion = "UNSUPPORTED_FLOW_JSON_VERSION",
    /// Ours: a key twice in one object; the platform takes one of the two.
    DuplicateKey = "DUPLICATE_KEY",
    /// Ours: two rows or options with one id cannot be told apart in the answer.
    DuplicateItemId = "DUPLICATE_ITEM_ID",
    /// Ours: a picture above the size that a phone shows.
    ImageTooLarge = "IMAGE_TOO_LARGE",
    /// Ours: what the message gives the first screen does not fit its data.
    InitDataMismatch = "INIT_DATA_MISMATCH",
    /// Ours: the message that opens the form would not arrive.
    MessageTooLarge = "MESSAGE_TOO_LARGE",
    /// Ours: the form of another language has another structure.
    StructureDiffers = "STRUCTURE_DIFFERS",
    /// Ours: a text that a phone cuts or leaves out.
    TextTooLong = "TEXT_TOO_LONG",
    /// Ours: there is more, which is not listed.
    TooManyViolations = "TOO_MANY_VIOLATIONS",
}

impl Code {
    /// Whether the platform knows this fault; the others show only on the phone.
    pub fn is_platform(self) -> bool {
        self < Self::DuplicateKey
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
