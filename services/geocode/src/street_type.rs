//! The words for kinds of streets in both languages. In Spanish they come first ("Calle Dato"), in Basque last ("Dato
//! kalea"), where the endings of cases stick to them: those are listed, not stemmed, because a stemmer also eats
//! names.

use crate::fold::fold;

/// One kind of street.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StreetType {
    /// As Spanish addresses write it, before the name.
    pub(crate) es: &'static str,
    /// As Basque addresses write it, after the name; `None` keeps the Spanish form, as for "Portal de Foronda".
    pub(crate) eu: Option<&'static str>,
    /// Whether it is so small that it is a place by itself, without a door.
    pub(crate) spot: bool,
    spanish: &'static [&'static str],
    basque: &'static [&'static str],
}

const fn kind(
    es: &'static str,
    eu: Option<&'static str>,
    spanish: &'static [&'static str],
    basque: &'static [&'static str],
) -> StreetType {
    StreetType { es, eu, spot: false, spanish, basque }
}

const fn spot(
    es: &'static str,
    eu: &'static str,
    spanish: &'static [&'static str],
    basque: &'static [&'static str],
) -> StreetType {
    StreetType { es, eu: Some(eu), spot: true, spanish, basque }
}

/// Index in [`TYPES`] of the type whose word also means the door of a house.
const PORTAL: usize = 0;

static TYPES: [StreetType; 24] = [
    kind("Portal", None, &[], &["atea", "ateko", "atean"]),
    kind(
        "Calle",
        Some("kalea"),
        &["calle", "c", "cl", "cll", "cale", "caye", "kalle"],
        &["kalea", "kale", "k", "kalean", "kaleko", "kaletik", "kalera", "kalearen", "karrika", "karrikan"],
    ),
    kind(
        "Avenida",
        Some("etorbidea"),
        &["avenida", "avda", "avd", "av", "avenid"],
        &[
            "etorbidea",
            "etorbide",
            "etorb",
            "etdea",
            "etorbidean",
            "etorbideko",
            "etorbidetik",
            "etorbidera",
            "etorbidearen",
            "hiribidea",
            "hiribide",
            "hiribidean",
            "hiribideko",
        ],
    ),
    spot(
        "Plaza",
        "plaza",
        &["plaza", "pza", "plz", "plza", "pl", "pz", "plazuela", "plazoleta"],
        &[
            "plaza",
            "plazan",
            "plazako",
            "plazatik",
            "plazara",
            "plazaren",
            "enparantza",
            "enparantzan",
            "enparantzako",
            "eptza",
            "enp",
        ],
    ),
    kind(
        "Paseo",
        Some("pasealekua"),
        &["paseo", "pso", "pº", "ps"],
        &[
            "pasealekua",
            "pasealeku",
            "pasealekuan",
            "pasealekuko",
            "pasealekutik",
            "ibilbidea",
            "ibilbide",
            "ibilbidean",
            "ibilbideko",
        ],
    ),
    kind(
        "Carretera",
        Some("errepidea"),
        &["carretera", "ctra", "crta", "carr"],
        &["errepidea", "errepide", "err", "errepidean", "errepideko", "errepidetik"],
    ),
    kind(
        "Camino",
        Some("bidea"),
        &["camino", "cmno", "cno"],
        &["bidea", "bide", "bidean", "bideko", "bidetik"],
    ),
    kind("Autopista", Some("autopista"), &["autopista"], &["autopista", "autopistan"]),
    kind("Autovía", Some("autobidea"), &["autovia"], &["autobidea", "autobidean", "autobia"]),
    kind(
        "Travesía",
        Some("zeharkalea"),
        &["travesia", "trav", "trva", "tva"],
        &["zeharkalea", "zeharkale", "zeharkalean", "zeharkaleko"],
    ),
    kind("Cantón", Some("kantoia"), &["canton", "ctn"], &["kantoia", "kantoi", "kantoian", "kantoiko"]),
    kind(
        "Barrio",
        Some("auzoa"),
        &["barrio", "bº", "bda", "barriada"],
        &["auzoa", "auzo", "auzoan", "auzoko", "auzunea", "auzune", "auzunean"],
    ),
    kind(
        "Polígono",
        Some("industrialdea"),
        &["poligono", "pol", "polig", "pgno"],
        &["industrialdea", "industrialdean", "industrialdeko", "poligonoa", "poligonoan"],
    ),
    spot("Puente", "zubia", &["puente", "pte"], &["zubia", "zubi", "zubian", "zubiko"]),
    spot("Parque", "parkea", &["parque", "pque"], &["parkea", "parke", "parkean", "parkeko", "parkearen"]),
    kind("Cuesta", Some("aldapa"), &["cuesta", "cta"], &["aldapa", "aldapan", "aldapako"]),
    kind("Senda", Some("bidexka"), &["senda", "sda", "sendero"], &["bidexka", "bidexkan"]),
    kind("Ronda", Some("ronda"), &["ronda", "rda"], &["ronda", "rondan"]),
    spot("Glorieta", "biribilgunea", &["glorieta", "gta", "rotonda"], &["biribilgunea", "biribilgunean"]),
    kind("Pasaje", Some("pasabidea"), &["pasaje", "pje", "psje"], &["pasabidea", "pasabidean", "pasagunea"]),
    kind("Callejón", None, &["callejon", "cjon", "calleja"], &[]),
    spot("Jardines", "lorategia", &["jardines", "jardin"], &["lorategia", "lorategiak", "lorategian"]),
    kind("Bulevar", Some("bulebarra"), &["bulevar", "blvr", "boulevard"], &["bulebarra", "bulebarrean"]),
    kind("Alameda", Some("zumardia"), &["alameda", "almda"], &["zumardia", "zumardi", "zumardian"]),
];

/// Short words that mean nothing else.
const WORDS: [&str; 10] = ["kale", "cale", "caye", "avda", "pza", "plza", "ctra", "crta", "pso", "pque"];

/// In which language a word means a kind of street; some do in both.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    /// The kind.
    pub(crate) kind: &'static StreetType,
    /// It may stand before a name.
    pub(crate) spanish: bool,
    /// It may stand after a name.
    pub(crate) basque: bool,
    /// Written out, so that it means the kind of street wherever it stands.
    pub(crate) plain: bool,
}

/// Reads a folded word without its last full stop.
pub(crate) fn read(word: &str) -> Option<Reading> {
    TYPES.iter().find_map(|kind| {
        let (spanish, basque) = (kind.spanish.contains(&word), kind.basque.contains(&word));
        // Abbreviations count only where a type is expected.
        let plain = word.chars().count() >= 5 && kind != portal() || WORDS.contains(&word);
        (spanish || basque).then_some(Reading { kind, spanish, basque, plain })
    })
}

impl StreetType {
    /// Whether it is a part of the town, in which there are streets.
    pub(crate) fn is_quarter(&self) -> bool {
        matches!(self.es, "Barrio" | "Polígono")
    }

    /// A name without the case that this kind gives it in Basque: "Forondako atea" is the gate of Foronda.
    pub(crate) fn bare<'n>(&self, name: &'n str) -> &'n str {
        if self != portal() {
            return name;
        }
        name.strip_suffix("ko").or_else(|| name.strip_suffix("KO")).unwrap_or(name)
    }
}

/// The type of "Portal de Foronda". Its word is not in [`read`]: whether it means a street or a door depends on what
/// follows.
pub(crate) fn portal() -> &'static StreetType {
    &TYPES[PORTAL]
}

/// The type that a provider names, in any language and any case.
pub(crate) fn named(text: &str) -> Option<&'static StreetType> {
    let word = fold(text);
    let word = word.trim().trim_end_matches('.').trim_end_matches(" de");
    if word == "portal" { Some(portal()) } else { read(word).map(|reading| reading.kind) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_means_two_kinds() {
        let mut seen = std::collections::BTreeMap::new();
        for kind in &TYPES {
            for form in kind.spanish.iter().chain(kind.basque) {
                let first = seen.entry(*form).or_insert(kind.es);
                assert_eq!(*first, kind.es, "{form}");
                assert_eq!(*form, fold(form), "forms are folded");
            }
        }
        assert_eq!(portal().es, "Portal");
    }

    #[test]
    fn a_provider_names_types_in_capitals_and_both_languages() {
        assert_eq!(named("CALLE").map(|t| t.es), Some("Calle"));
        assert_eq!(named("KALEA").map(|t| t.es), Some("Calle"));
        assert_eq!(named("PORTAL DE").map(|t| t.es), Some("Portal"));
        assert!(named("XYZ").is_none());
        assert_eq!(named("ATEA"), Some(portal()));
    }

    #[test]
    fn only_a_gate_changes_the_name_it_stands_behind() {
        assert_eq!(portal().bare("Forondako"), "Foronda");
        assert_eq!(named("kalea").map(|kind| kind.bare("Forondako")), Some("Forondako"));
    }
}
