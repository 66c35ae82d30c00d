//! Names of towns and provinces: those of the city itself say nothing and are left out, any other one says that the
//! citizen is somewhere else.

use std::collections::HashMap;

use crate::fold::fold;

/// Names that are true of any address in the country.
const EVERYWHERE: [&str; 9] = [
    "españa",
    "espainia",
    "spain",
    "euskadi",
    "euskal herria",
    "pais vasco",
    "basque country",
    "comunidad autónoma del país vasco",
    "cae",
];
/// No name in the lists has more words.
const LONGEST: usize = 6;

/// What a name of a town says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locality {
    /// It is the city, or contains it.
    Own,
    /// It is somewhere else.
    Other(&'static str),
}

/// The names as one city sees them.
#[derive(Debug, Clone)]
pub struct Gazetteer {
    names: HashMap<String, Locality>,
    /// Every way to write the city itself.
    city: Vec<String>,
    province_code: String,
}

impl Gazetteer {
    /// The names as seen from the municipality with this official name, in the province with this code.
    pub fn of(city_name: &str, province_code: &str) -> Self {
        let mut names = HashMap::new();
        for (code, forms) in provinces() {
            let locality = match code == province_code {
                true => Locality::Own,
                false => Locality::Other(first(forms)),
            };
            names.extend(forms.split('/').map(|form| (plain(form), locality)));
        }
        let parts: Vec<&str> = city_name.split(['-', '/']).collect();
        let initials: String = parts.iter().filter_map(|part| part.trim().chars().next()).collect();
        let initials = Some(initials).filter(|initials| initials.chars().count() > 1);
        let own: Vec<String> =
            parts.into_iter().chain([city_name]).chain(initials.as_deref()).map(plain).collect();
        for forms in include_str!("data/towns.txt").lines().filter(|line| !line.starts_with('#')) {
            let forms_plain: Vec<String> = forms.split('/').map(plain).collect();
            let locality = match forms_plain.iter().any(|form| own.contains(form)) {
                true => Locality::Own,
                false => Locality::Other(first(forms)),
            };
            names.extend(forms_plain.into_iter().map(|form| (form, locality)));
        }
        // The city comes last: its own names win over a town or a province of the same name.
        let city = own.clone();
        let own = own.into_iter().chain(EVERYWHERE.map(plain));
        names.extend(own.map(|form| (form, Locality::Own)));
        Self { names, city, province_code: province_code.to_owned() }
    }

    /// What a run of folded words says if it is made of names of towns and nothing else. Another town wins over names
    /// of the city: "Llodio, Álava" is Llodio.
    pub(crate) fn read(&self, words: &[&str]) -> Option<Locality> {
        let words: Vec<&str> = words.iter().flat_map(|word| pieces(word)).collect();
        let mut found = None;
        let mut at = 0;
        while at < words.len() {
            let (length, locality) = (1..=LONGEST.min(words.len() - at)).rev().find_map(|length| {
                let name = words[at..at + length].join(" ");
                self.names.get(&name).map(|locality| (length, *locality))
            })?;
            if !matches!(found, Some(Locality::Other(_))) {
                found = Some(locality);
            }
            at += length;
        }
        found
    }

    /// Whether a run of folded words begins with the name of the city and says nothing else than where that is. A
    /// province alone does not: a general was of Álava, and a street is named after him.
    pub(crate) fn names_city(&self, words: &[&str]) -> bool {
        let pieces: Vec<&str> = words.iter().flat_map(|word| pieces(word)).collect();
        let city =
            (1..=pieces.len().min(LONGEST)).any(|length| self.city.contains(&pieces[..length].join(" ")));
        city && self.read(words) == Some(Locality::Own)
    }

    /// The province that a postcode belongs to, if it is another one.
    pub(crate) fn foreign_postcode(&self, postcode: &str) -> Option<&'static str> {
        let code = postcode.get(..2)?;
        if code == self.province_code {
            return None;
        }
        provinces().find(|(known, _)| *known == code).map(|(_, forms)| first(forms))
    }
}

fn provinces() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("data/provinces.txt")
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(c, _)| *c != "#")
}

fn first(forms: &'static str) -> &'static str {
    forms.split('/').next().unwrap_or(forms)
}

fn plain(name: &str) -> String {
    pieces(&fold(name)).collect::<Vec<_>>().join(" ")
}

fn pieces(word: &str) -> impl Iterator<Item = &str> {
    word.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_the_city_is_the_city() {
        let names = Gazetteer::of("Vitoria-Gasteiz", "01");
        for own in ["vitoria", "gasteiz", "vitoria-gasteiz", "vg", "alava", "euskadi", "vitoria/gasteiz"] {
            assert_eq!(names.read(&[own]), Some(Locality::Own), "{own}");
        }
        assert_eq!(names.read(&["vitoria", "gasteiz", "araba", "pais", "vasco"]), Some(Locality::Own));
        assert_eq!(names.read(&["dato"]), None);
        assert!(names.names_city(&["vitoria", "gasteiz", "alava"]) && names.names_city(&["vitoria-gasteiz"]));
        assert!(!names.names_city(&["alava"]) && !names.names_city(&["vitoria", "dato"]));
        assert_eq!(names.read(&[]), None);
    }

    #[test]
    fn another_town_is_seen_from_every_city_but_its_own() {
        let vitoria = Gazetteer::of("Vitoria-Gasteiz", "01");
        assert_eq!(vitoria.read(&["bilbo"]), Some(Locality::Other("Bilbao")));
        assert_eq!(vitoria.read(&["llodio", "alava"]), Some(Locality::Other("Llodio")));
        assert_eq!(vitoria.read(&["miranda", "de", "ebro"]), Some(Locality::Other("Miranda de Ebro")));
        assert_eq!(vitoria.foreign_postcode("48001"), Some("Bizkaia"));
        assert_eq!(vitoria.foreign_postcode("01001"), None);
        let bilbao = Gazetteer::of("Bilbao", "48");
        assert_eq!(bilbao.read(&["bilbao"]), Some(Locality::Own));
        assert_eq!(bilbao.read(&["bilbo"]), Some(Locality::Own));
        assert_eq!(bilbao.read(&["vitoria"]), Some(Locality::Other("Vitoria-Gasteiz")));
    }
}
