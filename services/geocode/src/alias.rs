//! Streets with two unrelated names. The provider knows doors by one of them only, and people by either.

use crate::Language;
use crate::fold::key;

/// The pairs of one city.
#[derive(Debug, Clone)]
pub struct Aliases {
    pairs: Vec<Pair>,
}

#[derive(Debug, Clone)]
struct Pair {
    spanish: (&'static str, Vec<String>),
    basque: (&'static str, Vec<String>),
}

impl Aliases {
    /// The pairs of the municipality with this INE code; none for a city without data.
    pub fn of(ine_code: &str) -> Self {
        let pairs = include_str!("data/aliases.tsv").lines().filter(|line| !line.starts_with('#'));
        let pairs = pairs.filter_map(|line| {
            let mut columns = line.split('\t');
            let (code, spanish, basque) = (columns.next()?, columns.next()?, columns.next()?);
            (code == ine_code)
                .then(|| Pair { spanish: (spanish, key(spanish)), basque: (basque, key(basque)) })
        });
        Self { pairs: pairs.collect() }
    }

    /// The other name of a street, in the other language.
    pub(crate) fn other(&self, name: &str) -> Option<&'static str> {
        let name = key(name);
        self.pairs.iter().find_map(|pair| {
            if pair.spanish.1 == name {
                Some(pair.basque.0)
            } else {
                (pair.basque.1 == name).then_some(pair.spanish.0)
            }
        })
    }

    /// The name of a street in a language, where it has one of its own there.
    pub(crate) fn name_in(&self, name: &str, language: Language) -> Option<&'static str> {
        let name = key(name);
        let pair = self.pairs.iter().find(|pair| pair.spanish.1 == name || pair.basque.1 == name)?;
        Some(match language {
            Language::Spanish => pair.spanish.0,
            Language::Basque => pair.basque.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_street_is_found_by_either_name_however_it_is_spelt() {
        let aliases = Aliases::of("01059");
        assert_eq!(aliases.other("PINTORERIA"), Some("Pintore"));
        assert_eq!(aliases.other("aiztogile"), Some("Cuchillería"));
        assert_eq!(aliases.name_in("Pintore", Language::Spanish), Some("Pintorería"));
        assert_eq!(aliases.other("Dato"), None);
        assert_eq!(Aliases::of("48020").other("Pintore"), None);
    }
}
