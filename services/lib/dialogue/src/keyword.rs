//! Words that mean the same at every step, in both languages.
//!
//! Only the whole message counts, after case, accents and punctuation are folded away: a report text that
//! begins with such a word is not a command. Nothing here is fuzzy, because the words are short.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::Language;

/// What a whole message can mean whatever is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    /// Forget what was begun.
    Cancel,
    /// Begin again, or choose the language again, which is the same.
    Restart,
    /// Explain.
    Help,
    /// Go on in this language.
    Language(Language),
    /// A word of thanks.
    Thanks,
}

const CANCEL: &[&str] = &[
    "cancelar",
    "cancela",
    "anular",
    "anula",
    "salir",
    "parar",
    "stop",
    "utzi",
    "ezeztatu",
    "bertan behera",
    "bertan behera utzi",
    "irten",
];
const RESTART: &[&str] = &[
    "reiniciar",
    "empezar",
    "empezar de nuevo",
    "volver a empezar",
    "inicio",
    "menu",
    "idioma",
    "cambiar idioma",
    "cambiar de idioma",
    "berriro hasi",
    "berrabiarazi",
    "hasi",
    "hasiera",
    "menua",
    "hizkuntza",
    "hizkuntza aldatu",
    "aldatu hizkuntza",
];
const HELP: &[&str] = &["ayuda", "laguntza", "help"];
const SPANISH: &[&str] =
    &["castellano", "en castellano", "espanol", "en espanol", "gaztelania", "gaztelaniaz"];
const BASQUE: &[&str] = &["euskara", "euskera", "euskaraz", "en euskera", "vasco"];
const THANKS: &[&str] = &[
    "gracias",
    "muchas gracias",
    "mil gracias",
    "ok gracias",
    "vale gracias",
    "eskerrik asko",
    "mila esker",
    "milesker",
    "esker mila",
    "eskerrak",
];
const YES: &[&str] = &[
    "si",
    "vale",
    "ok",
    "claro",
    "correcto",
    "exacto",
    "es ahi",
    "si es ahi",
    "bai",
    "ados",
    "ondo",
    "hor da",
    "bai hor da",
];
const NO: &[&str] =
    &["no", "no es ahi", "no en otro sitio", "no otro sitio", "ez", "ez da hor", "ez beste leku bat"];
/// A message of such words only is a greeting.
const GREETING: &[&str] = &[
    "hola",
    "buenas",
    "buenos",
    "dias",
    "tardes",
    "noches",
    "muy",
    "kaixo",
    "egun",
    "on",
    "arratsalde",
    "gabon",
    "gau",
    "aupa",
    "epa",
    "hello",
    "hi",
    "hey",
];

/// Case, accents, punctuation and spacing folded away; letters and digits remain, parted by single spaces.
pub(crate) fn fold(text: &str) -> String {
    let plain: String = text
        .nfkd()
        .filter(|character| !is_combining_mark(*character))
        .map(|character| if character.is_alphanumeric() { character } else { ' ' })
        .flat_map(char::to_lowercase)
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The keyword a whole message is, if it is one.
pub(crate) fn read(text: &str) -> Option<Keyword> {
    let folded = fold(text);
    let words: [(&[&str], Keyword); 6] = [
        (CANCEL, Keyword::Cancel),
        (RESTART, Keyword::Restart),
        (HELP, Keyword::Help),
        (SPANISH, Keyword::Language(Language::Es)),
        (BASQUE, Keyword::Language(Language::Eu)),
        (THANKS, Keyword::Thanks),
    ];
    words.into_iter().find(|(list, _)| list.contains(&folded.as_str())).map(|(_, keyword)| keyword)
}

/// A plain yes or no, where one was asked for.
pub(crate) fn yes_or_no(text: &str) -> Option<bool> {
    let folded = fold(text);
    match (YES.contains(&folded.as_str()), NO.contains(&folded.as_str())) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

/// Whether a message says nothing that could be an answer: a greeting, or no letter and no digit at all.
pub(crate) fn is_small_talk(text: &str) -> bool {
    fold(text).split(' ').all(|word| word.is_empty() || GREETING.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_found_whatever_their_case_accents_and_punctuation() {
        for (text, expected) in [
            ("CANCELAR", Keyword::Cancel),
            ("  ¡cancela! ", Keyword::Cancel),
            ("Bertan  behera.", Keyword::Cancel),
            ("Menú", Keyword::Restart),
            ("volver a empezar", Keyword::Restart),
            ("Berriro hasi!", Keyword::Restart),
            ("ayuda?", Keyword::Help),
            ("LAGUNTZA", Keyword::Help),
            ("Espan\u{303}ol", Keyword::Language(Language::Es)),
            ("gaztelania", Keyword::Language(Language::Es)),
            ("¡Euskaraz!", Keyword::Language(Language::Eu)),
            ("euskera", Keyword::Language(Language::Eu)),
            ("Eskerrik asko 🙂", Keyword::Thanks),
        ] {
            assert_eq!(read(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_text_that_begins_with_a_keyword_is_not_a_command() {
        for text in [
            "Utzi dute altzari bat kalean",
            "no hay papelera",
            "salir a la calle Mayor 3",
            "Calle Castellano 5",
            "euskara kalea",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
            assert_eq!(yes_or_no(text), None, "{text}");
        }
    }

    #[test]
    fn every_keyword_is_written_folded_and_means_one_thing() {
        let lists = [CANCEL, RESTART, HELP, SPANISH, BASQUE, THANKS, YES, NO];
        let all: Vec<&str> = lists.iter().flat_map(|list| list.iter().copied()).collect();
        for word in &all {
            assert_eq!(&fold(word), word);
            assert_eq!(all.iter().filter(|other| *other == word).count(), 1, "{word}");
            assert!(!is_small_talk(word), "{word}");
        }
    }

    #[test]
    fn greetings_and_bare_emoji_are_small_talk_and_addresses_are_not() {
        for text in ["Hola!", "buenos días", "Egun on", "👍", "…", "Kaixo, arratsalde on"] {
            assert!(is_small_talk(text), "{text}");
        }
        for text in ["Hola, calle Mayor 3", "5", "Plaza"] {
            assert!(!is_small_talk(text), "{text}");
        }
    }

    #[test]
    fn the_words_that_the_help_text_offers_are_keywords() {
        for language in Language::ALL {
            let help = crate::texts::say(language, crate::texts::Key::Help, &[]);
            let offered: Vec<_> =
                help.split('«').skip(1).filter_map(|rest| read(rest.split_once('»')?.0)).collect();
            assert_eq!(offered, [Keyword::Cancel, Keyword::Restart], "{help}");
        }
    }
}
