//! The table of `cases.txt`, and what must hold for any text.

use super::*;

fn names() -> Gazetteer {
    Gazetteer::of("Vitoria-Gasteiz", "01")
}

fn shown(parsed: &Parsed) -> String {
    match parsed {
        Parsed::Address(Address { kind, kind_last, name, door, kilometre }) => {
            let kind = kind.map_or("-", |kind| kind.es);
            let last = if *kind_last { "<" } else { "" };
            let door = door.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
            format!("{last}{kind} | {name} | {}{door}", if *kilometre { "km " } else { "" })
        }
        Parsed::Number(door) => format!("number {door}"),
        Parsed::Pin(point) => format!("pin {} {}", point.latitude, point.longitude),
        Parsed::OtherTown(name) => format!("town {name}"),
        Parsed::Vague => "vague".to_owned(),
    }
}

#[test]
fn every_shape_of_a_typed_address_is_understood() {
    let names = names();
    let cases: Vec<(&str, &str)> =
        include_str!("cases.txt").lines().filter_map(|line| line.split_once(" => ")).collect();
    assert!(cases.len() >= 200, "{}", cases.len());
    let wrong: Vec<String> = cases
        .into_iter()
        .filter(|(text, _)| !text.starts_with("# What"))
        .filter_map(|(text, expected)| {
            let text = text.replace("\\n", "\n").replace("\\t", "\t");
            let found = shown(&parse(&text, &names));
            (found != expected).then(|| format!("{text}\n   expected {expected}\n   found    {found}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_text_that_is_cut_torn_or_doubled_anywhere_is_still_read() {
    let names = names();
    let odd = ["\u{0}", "\u{301}", "\u{200f}", "º", "/", "-", ",", "9999999999999999999999", "ß", "İ"];
    for (text, _) in include_str!("cases.txt").lines().filter_map(|line| line.split_once(" => ")) {
        for (at, _) in text.char_indices() {
            let (before, after) = text.split_at(at);
            for text in [before, after] {
                parse(text, &names);
            }
            parse(&format!("{before}{}{after}", odd[at % odd.len()]), &names);
        }
        for sign in odd {
            parse(&format!("{sign}{text}{sign}"), &names);
        }
        parse(&text.repeat(200), &names);
    }
}

#[test]
fn decomposed_letters_are_the_same_letters() {
    use unicode_normalization::UnicodeNormalization;
    for text in ["Calle Pintorería 1", "Cantón de Santa María 4", "Calle Peña 3"] {
        let decomposed: String = text.nfd().collect();
        assert_eq!(parse(&decomposed, &names()), parse(text, &names()));
    }
}

#[test]
fn capitals_and_missing_accents_change_nothing_but_the_name_s_looks() {
    let plain = |text: &str| shown(&parse(text, &names())).to_lowercase();
    for text in ["Calle Dato 12, 3º B", "Gasteiz etorbidea 30", "Portal de Foronda 4", "Bilbao, Gran Vía 1"]
    {
        assert_eq!(plain(&text.to_uppercase()), plain(text));
    }
}
