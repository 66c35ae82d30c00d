//! Flow JSON as types, as far as this form uses it. The order of fields is the order in the document, so the
//! same input gives the same bytes.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// The newest version that may be published. Lists need 6.2.
pub(crate) const VERSION: &str = "7.3";

#[derive(Serialize)]
pub(crate) struct Document {
    pub(crate) version: &'static str,
    pub(crate) screens: Vec<Screen>,
}

#[derive(Serialize)]
pub(crate) struct Screen {
    pub(crate) id: String,
    pub(crate) title: String,
    /// Only said where it is true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) terminal: bool,
    /// What the screen is given when it opens: all of it text.
    #[serde(skip_serializing_if = "Pairs::is_empty")]
    pub(crate) data: Pairs<Field>,
    pub(crate) layout: Layout,
}

/// A member of a screen's data; the example is what the platform's preview shows.
#[derive(Serialize)]
pub(crate) struct Field {
    r#type: &'static str,
    __example__: String,
}

impl Field {
    pub(crate) fn text(example: impl Into<String>) -> Self {
        Self { r#type: "string", __example__: example.into() }
    }
}

#[derive(Serialize)]
pub(crate) struct Layout {
    r#type: &'static str,
    children: Vec<Component>,
}

impl Layout {
    pub(crate) fn of(children: Vec<Component>) -> Self {
        Self { r#type: "SingleColumnLayout", children }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all_fields = "kebab-case")]
pub(crate) enum Component {
    NavigationList {
        name: &'static str,
        label: String,
        list_items: Vec<ListItem>,
    },
    TextHeading {
        text: String,
    },
    TextSubheading {
        text: String,
    },
    TextBody {
        text: String,
    },
    EmbeddedLink {
        text: String,
        on_click_action: Action,
    },
    PhotoPicker {
        name: &'static str,
        label: String,
        description: String,
        photo_source: &'static str,
        min_uploaded_photos: u8,
        max_uploaded_photos: u8,
        max_file_size_kb: u32,
    },
    TextArea {
        name: &'static str,
        label: String,
        required: bool,
        max_length: u32,
        helper_text: String,
    },
    Footer {
        label: String,
        on_click_action: Action,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ListItem {
    pub(crate) id: String,
    pub(crate) main_content: MainContent,
    pub(crate) on_click_action: Action,
}

#[derive(Serialize)]
pub(crate) struct MainContent {
    pub(crate) title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<String>,
}

#[derive(Serialize)]
#[serde(tag = "name", rename_all = "lowercase")]
pub(crate) enum Action {
    Navigate { next: Next, payload: Pairs<String> },
    Complete { payload: Pairs<String> },
}

#[derive(Serialize)]
pub(crate) struct Next {
    r#type: &'static str,
    name: String,
}

impl Next {
    pub(crate) fn screen(name: impl Into<String>) -> Self {
        Self { r#type: "screen", name: name.into() }
    }
}

/// A JSON object whose members keep the order they were given.
pub(crate) struct Pairs<T>(pub(crate) Vec<(&'static str, T)>);

impl<T> Pairs<T> {
    pub(crate) fn none() -> Self {
        Self(Vec::new())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for Pairs<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
