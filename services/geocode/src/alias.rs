//! Streets with two unrelated names. The provider knows doors by one of them only, and people by either.
//!
//! A table of lines: INE code, name in Spanish, name in Basque, and optionally a remark, by tabs. `#` begins a comment.
//! Names stand without the kind of street. Vitoria-Gasteiz has one built in; another city gives a file.

use crate::Language;
use crate::fold::key;

/// The table that this crate is built with.
const BUILTIN: &str = include_str!("data/aliases.tsv");

/// The pairs of one city.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aliases {
    pairs: Vec<Pair>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pair {
    spanish: (String, Vec<String>),
    basque: (String, Vec<String>),
}

/// A line that is none of a table.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}; wanted are the INE code, the Spanish and the Basque name, by tabs")]
pub struct AliasError {
    /// From 1.
    pub line: usize,
    /// What is wrong.
    pub problem: &'static str,
}

impl Aliases {
    /// The built-in pairs of the municipality with this INE code; none for a city without data.
    pub fn of(ine_code: &str) -> Self {
        Self::read(BUILTIN, ine_code).expect("the built-in table is read by a test")
    }

    /// The pairs of a municipality in a table.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub fn read(table: &str, ine_code: &str) -> Result<Self, AliasError> {
        let mut pairs = Vec::new();
        for (place, line) in table.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |problem| AliasError { line: place + 1, problem };
            let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
            let ([code, spanish, basque] | [code, spanish, basque, _]) = columns[..] else {
                return Err(wrong("not three or four columns"));
            };
            if code.len() != 5 || !code.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(wrong("the INE code is not five digits"));
            }
            let pair = Pair {
                spanish: (spanish.to_owned(), key(spanish)),
                basque: (basque.to_owned(), key(basque)),
            };
            if pair.spanish.1.is_empty() || pair.basque.1.is_empty() {
                return Err(wrong("a name has no words"));
            }
            if code == ine_code {
                pairs.push(pair);
            }
        }
        Ok(Self { pairs })
    }

    /// The other name of a street, in the other language.
    pub(crate) fn other(&self, name: &str) -> Option<&str> {
        let name = key(name);
        self.pairs.iter().find_map(|pair| {
            if pair.spanish.1 == name {
                Some(pair.basque.0.as_str())
            } else {
                (pair.basque.1 == name).then_some(pair.spanish.0.as_str())
            }
        })
    }

    /// The name of a street in a language, where it has one of its own there.
    pub(crate) fn name_in(&self, name: &str, language: Language) -> Option<&str> {
        let name = key(name);
        let pair = self.pairs.iter().find(|pair| pair.spanish.1 == name || pair.basque.1 == name)?;
        Some(match language {
            Language::Spanish => &pair.spanish.0,
            Language::Basque => &pair.basque.0,
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

    #[test]
    fn a_city_brings_its_own_table_and_a_broken_line_is_named() {
        let table = "# a comment\n\n48020\tCarnicería Vieja\tHarategi Zaharra\tunverified\n48020\tTendería\tDendari\n";
        let bilbao = Aliases::read(table, "48020").unwrap();
        assert_eq!(bilbao.other("dendari"), Some("Tendería"));
        assert_eq!(bilbao.other("Harategi zaharra"), Some("Carnicería Vieja"));
        assert_eq!(Aliases::read(table, "01059").unwrap(), Aliases { pairs: Vec::new() });
        for (line, problem) in [
            ("48020 Tendería Dendari", "not three or four columns"),
            ("48020\tTendería", "not three or four columns"),
            ("8020\tTendería\tDendari", "the INE code is not five digits"),
            ("48020\t-\tDendari", "a name has no words"),
        ] {
            let error = Aliases::read(&format!("# x\n{line}\n"), "48020").unwrap_err();
            assert_eq!(error, AliasError { line: 2, problem }, "{line}");
        }
    }
}
