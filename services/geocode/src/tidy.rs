//! An address as people write it, in their language, from what a provider shouts in capitals.

use crate::Language;
use crate::alias::Aliases;
use crate::parse::Door;
use crate::provider::{Found, FoundKind};
use crate::street_type;

/// Words inside of a name that are written small.
const SMALL: [&str; 9] = ["de", "del", "la", "las", "el", "los", "y", "e", "eta"];

/// The whole address of something that was found.
pub(crate) fn address(found: &Found, language: Language, aliases: &Aliases) -> String {
    let street = street(found, language, aliases);
    match (&found.door, language) {
        (None, Language::Spanish | Language::Basque) => street,
        (Some(Door::Unnumbered), Language::Basque) => format!("{street} z/g"),
        (Some(door), Language::Spanish | Language::Basque) => format!("{street} {door}"),
    }
}

/// The street of something that was found, without a door.
pub(crate) fn street(found: &Found, language: Language, aliases: &Aliases) -> String {
    let name = aliases.name_in(&found.name, language).map_or_else(|| name(&found.name), str::to_owned);
    if found.kind == FoundKind::Place && found.street_type.is_empty() {
        return name;
    }
    let Some(kind) = street_type::named(&found.street_type) else {
        return format!("{} {name}", self::name(&found.street_type)).trim().to_owned();
    };
    match (language, kind.eu) {
        (Language::Basque, Some(basque)) => format!("{} {basque}", without_article(&name)),
        (Language::Basque, None) | (Language::Spanish, _) => format!("{} {name}", kind.es),
    }
}

/// A name in ordinary letters, with its article where it belongs: "ARROYO (DEL)" is "del Arroyo".
pub(crate) fn name(raw: &str) -> String {
    let raw = raw.trim();
    let turned = match raw.strip_suffix(')').and_then(|head| head.rsplit_once('(')) {
        Some((head, article)) if article.chars().count() <= 6 => {
            format!("{} {}", article.trim(), head.trim())
        }
        Some(_) | None => raw.to_owned(),
    };
    if turned.chars().any(char::is_lowercase) {
        return turned;
    }
    let words = turned.split_whitespace().enumerate().map(|(place, word)| {
        let small = word.to_lowercase();
        // The first word is small only if it joins the name to its kind, as in "Calle de la Paz".
        let joins = SMALL.contains(&small.as_str()) && (place > 0 || small.starts_with("de"));
        if joins { small } else { capital(&small) }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Capitals at the beginning and behind a hyphen, an apostrophe or a full stop.
fn capital(word: &str) -> String {
    let mut start = true;
    let mut out = String::with_capacity(word.len());
    for letter in word.chars() {
        if start {
            out.extend(letter.to_uppercase());
        } else {
            out.push(letter);
        }
        start = matches!(letter, '-' | '\'' | '.' | '/');
    }
    out
}

fn without_article(name: &str) -> &str {
    ["de la ", "de las ", "de los ", "del ", "de "]
        .iter()
        .find_map(|lead| name.strip_prefix(lead))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(street_type: &str, name: &str, door: Option<u32>) -> Found {
        Found {
            provider: "test",
            kind: FoundKind::Door,
            id: None,
            street_type: street_type.to_owned(),
            name: name.to_owned(),
            door: door.map(|number| Door::Numbered { number, extension: None }),
            locality: String::new(),
            point: None,
            area: None,
        }
    }

    #[test]
    fn an_address_reads_as_people_write_it_in_each_language() {
        let aliases = Aliases::of("01059");
        for (kind, name, door, spanish, basque) in [
            ("CALLE", "DATO", Some(12), "Calle Dato 12", "Dato kalea 12"),
            (
                "CALLE",
                "MATEO BENIGNO DE MORAZA",
                Some(9),
                "Calle Mateo Benigno de Moraza 9",
                "Mateo Benigno de Moraza kalea 9",
            ),
            ("CALLE", "PINTORERIA", Some(1), "Calle Pintorería 1", "Pintore kalea 1"),
            ("KALEA", "PINTORE", Some(1), "Calle Pintorería 1", "Pintore kalea 1"),
            ("PORTAL", "DE FORONDA", Some(4), "Portal de Foronda 4", "Portal de Foronda 4"),
            ("PASEO", "SENDA (DE LA)", None, "Paseo de la Senda", "Senda pasealekua"),
            ("", "ARKAUTE", Some(5), "Arkaute 5", "Arkaute 5"),
            ("XYZ", "SAN-JUAN", None, "Xyz San-Juan", "Xyz San-Juan"),
        ] {
            let found = found(kind, name, door);
            assert_eq!(address(&found, Language::Spanish, &aliases), spanish);
            assert_eq!(address(&found, Language::Basque, &aliases), basque);
        }
    }
}
