//! The checks between the files as written and a [`crate::Taxonomy`]. Each part adds every problem it finds
//! and goes on, so that one run tells an editor all there is to repair.

pub(crate) mod catalog;
pub(crate) mod partner;
pub(crate) mod tree;

/// Path of the tree, for messages.
pub(crate) const TAXONOMY_FILE: &str = "flows/report/taxonomy.yaml";
/// Path of the contractor's mapping, for messages.
pub(crate) const PARTNER_FILE: &str = "catalogs/partner.yaml";

/// Path of a language's catalog, for messages.
pub(crate) fn catalog_file(language: &str) -> String {
    format!("catalogs/{language}.yaml")
}

/// Lower-case words joined by single underscores: safe in a route, in a payload and, in upper case, as the id
/// of a screen, where the platform takes no digits.
pub(crate) fn is_key(key: &str) -> bool {
    key.split('_').all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::is_key;

    #[test]
    fn keys_are_lower_case_words() {
        for (key, valid) in [
            ("glass", true),
            ("used_oil", true),
            ("", false),
            ("_glass", false),
            ("used__oil", false),
            ("Glass", false),
            ("glass2", false),
            ("a/b", false),
            ("${x}", false),
            ("`x`", false),
            ("año", false),
        ] {
            assert_eq!(is_key(key), valid, "{key}");
        }
    }
}
