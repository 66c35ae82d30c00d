//! What a platform's file must not say: paths that are none, names that are empty, twice the same, or in each other's way.

use std::collections::BTreeSet;

use super::{Platform, PlatformError};

impl Platform {
    /// Names of what is read or asked for, and where they stand.
    fn answered(&self) -> Vec<(&'static str, &str)> {
        let optional = [
            ("search.items", self.search.items.as_deref()),
            ("list.items", self.list.as_ref().and_then(|list| list.items.as_deref())),
            ("list.since", self.list.as_ref().map(|list| list.since.as_str())),
            ("list.until", self.list.as_ref().map(|list| list.until.as_str())),
        ];
        let needed = [
            ("login.user", self.login.user.as_str()),
            ("login.password", &self.login.password),
            ("login.token", &self.login.token),
            ("login.expires_in", &self.login.expires_in),
            ("create.id", &self.create.id),
            ("search.query", &self.search.query),
            ("search.external_code", &self.search.external_code),
            ("search.id", &self.search.id),
        ];
        needed
            .into_iter()
            .chain(optional.into_iter().filter_map(|(name, path)| Some((name, path?))))
            .collect()
    }

    /// Finds what cannot work.
    pub(super) fn check(&self) -> Result<(), PlatformError> {
        let refuse = |problem: String| Err(PlatformError::Contradiction(problem));
        let list = self.list.as_ref().map(|list| ("list.path", &list.path));
        for (name, path) in [
            ("login.path", &self.login.path),
            ("create.path", &self.create.path),
            ("search.path", &self.search.path),
        ]
        .into_iter()
        .chain(list)
        {
            if !path.starts_with('/') || path.contains(['?', '#']) || path.contains(char::is_whitespace) {
                return refuse(format!("{name} must begin with / and have no query"));
            }
        }
        let word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if self.login.scheme.as_deref().is_some_and(|scheme| !word(scheme)) {
            return refuse("login.scheme must be one word".to_owned());
        }
        if self.list.as_ref().is_some_and(|list| list.most == 0 || list.longest_days == 0) {
            return refuse("list: most and longest_days must be above 0".to_owned());
        }
        if let Some((name, _)) =
            self.answered().into_iter().find(|(_, path)| path.split('.').any(str::is_empty))
        {
            return refuse(format!("{name} must not be empty, nor end or begin with a dot"));
        }
        let fields = self.fields.names();
        let names: Vec<&str> =
            fields.iter().copied().chain(self.constants.keys().map(String::as_str)).collect();
        let within = self.fields.within_photo();
        if names.iter().chain(&within).any(|name| name.split('.').any(str::is_empty)) {
            return refuse("fields, constants: a name must not be empty".to_owned());
        }
        for names in [names, within] {
            let known: BTreeSet<&str> = names.iter().copied().collect();
            if known.len() < names.len() {
                return refuse("fields, constants: two have the same name".to_owned());
            }
            let nested = |name: &str| names.iter().any(|other| other.starts_with(&format!("{name}.")));
            if let Some(name) = names.iter().find(|name| nested(name)) {
                return refuse(format!("fields, constants: {name} is a value and cannot hold others"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_work_is_refused() {
        for text in [
            "creates: {}",
            "create: {path: v2}",
            "create: {path: \"/a?b=c\"}",
            "fields: {note: address}",
            "fields: {note: photo.text}",
            "fields: {external_code: \"\"}",
            "fields: {external_code: null}",
            "list: {path: all}",
            "list: {path: /all, most: 0}",
            "list: {since: from}",
            "create: {id: \"\"}",
            "login: {token: data.}",
            "login: {scheme: \"\"}",
            "login: {scheme: two words}",
            "search: {items: .data}",
            "list: {path: /all, since: \"\"}",
            "adapter: fax",
            "open311: {format: fax}",
            "constants: {note: x}",
            "constants: {photo.source: x}",
            "constants: {\"\": x}",
            "fields: {photo_content_type: data}",
            "fields: {photo_data: null, photo_content_type: note}",
        ] {
            assert!(Platform::parse(text).is_err(), "{text}");
        }
    }
}
