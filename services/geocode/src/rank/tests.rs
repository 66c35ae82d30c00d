//! Tables of candidates and what they amount to.

use super::*;
use crate::coverage::Area;
use crate::gazetteer::Gazetteer;
use crate::parse::{Parsed, parse};
use crate::{Language, Point, tidy};

fn asked(text: &str) -> Address {
    match parse(text, &Gazetteer::of("Vitoria-Gasteiz", "01")) {
        Parsed::Address(address) => address,
        other => panic!("{text}: {other:?}"),
    }
}

/// "portal CALLE/DATO/12A", "callejero CALLE/DATO", "toponimo /Parque de la Florida"; "!" in front: outside of the area.
fn candidate(text: &str) -> Found {
    let (outside, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
    let (kind, rest) = text.split_once(' ').unwrap();
    let mut parts = rest.split('/');
    let (street_type, name) = (parts.next().unwrap(), parts.next().unwrap());
    let door = parts.next().map(|door| {
        let end = door.find(|c: char| !c.is_ascii_digit()).unwrap_or(door.len());
        let extension = Some(door[end..].trim().to_owned()).filter(|extension| !extension.is_empty());
        match door[..end].parse() {
            Ok(number) => Door::Numbered { number, extension },
            Err(_) => Door::Unnumbered,
        }
    });
    let (kind, point) = match kind {
        "portal" => (FoundKind::Door, true),
        "callejero" => (FoundKind::Street, false),
        _ => (FoundKind::Place, true),
    };
    Found {
        provider: "test",
        kind,
        id: None,
        street_type: street_type.to_owned(),
        name: name.to_owned(),
        door,
        locality: parts.next().unwrap_or_default().to_owned(),
        point: point.then(|| Point::new(42.85, -2.67).unwrap()),
        area: (point && !outside).then(|| Area { id: "a".to_owned(), version: 1 }),
    }
}

fn judged(text: &str, candidates: &[&str]) -> String {
    let aliases = Aliases::of("01059");
    let found: Vec<Found> = candidates.iter().map(|text| candidate(text)).collect();
    let show = |m: &Match| tidy::address(&m.found, Language::Spanish, &aliases);
    match gate(rank(&asked(text), &found, &aliases)) {
        Verdict::Exact(found) => format!("exact {}", show(&found)),
        Verdict::Nearest { found, asked } => format!("nearest {} for {asked}", show(&found)),
        Verdict::Street(Some(found)) => format!("street {}", show(&found)),
        Verdict::Street(None) => "streets".to_owned(),
        Verdict::Place(found) => format!("place {}", show(&found)),
        Verdict::Several(several) => {
            format!("several {}", several.iter().map(show).collect::<Vec<_>>().join(", "))
        }
        Verdict::Outside(found) => format!("outside {}", found.iter().map(show).collect::<String>()),
        Verdict::NotFound => "nothing".to_owned(),
    }
}

#[test]
fn candidates_amount_to_what_they_prove() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("Calle Dato 12", &["portal CALLE/DATO/12"], "exact Calle Dato 12"),
        ("dato 12", &["portal CALLE/DATO/14", "portal CALLE/DATO/12"], "exact Calle Dato 12"),
        ("Calle Dato 12", &["callejero CALLE/DATO", "portal CALLE/DATO/12"], "exact Calle Dato 12"),
        // A neighbour is said, and the same side of the street is nearer.
        ("Calle Dato 13", &["portal CALLE/DATO/15"], "nearest Calle Dato 15 for 13"),
        ("Calle Dato 13", &["portal CALLE/DATO/14", "portal CALLE/DATO/15"], "nearest Calle Dato 15 for 13"),
        ("Calle Dato 12A", &["portal CALLE/DATO/12"], "nearest Calle Dato 12 for 12 A"),
        ("Calle Dato 12A", &["portal CALLE/DATO/12", "portal CALLE/DATO/12A"], "exact Calle Dato 12 A"),
        ("Calle Dato 12", &["portal CALLE/DATO/12B"], "nearest Calle Dato 12 B for 12"),
        ("Calle Dato 12 bis", &["portal CALLE/DATO/12 bis"], "exact Calle Dato 12 bis"),
        // A number that nobody has, and none at all.
        ("Calle Dato 12", &["callejero CALLE/DATO"], "street Calle Dato"),
        ("Calle Dato s/n", &["portal CALLE/DATO/12"], "street Calle Dato"),
        ("Calle Dato s/n", &["portal CALLE/DATO/x"], "exact Calle Dato s/n"),
        // Both names of a street.
        ("Pintore kalea 1", &["portal CALLE/PINTORERIA/1"], "exact Calle Pintorería 1"),
        ("Pintorería 1", &["portal KALEA/PINTORE/1"], "exact Calle Pintorería 1"),
        // A slip, another kind, a part of the name: asked, not taken.
        ("Calle Dado 12", &["portal CALLE/DATO/12"], "several Calle Dato 12"),
        ("Calle Santa María 4", &["portal CANTON/DE SANTA MARIA/4"], "several Cantón de Santa Maria 4"),
        (
            "Mateo Benigno 9",
            &["portal CALLE/MATEO BENIGNO DE MORAZA/9"],
            "several Calle Mateo Benigno de Moraza 9",
        ),
        ("Moraza 9", &["portal CALLE/MATEO BENIGNO DE MORAZA/9"], "exact Calle Mateo Benigno de Moraza 9"),
        // Two streets of one name.
        (
            "Santa María 4",
            &["portal CANTON/DE SANTA MARIA/4", "portal PLAZA/DE SANTA MARIA/4"],
            "several Cantón de Santa Maria 4, Plaza de Santa Maria 4",
        ),
        (
            "Plaza Santa María 4",
            &["portal CANTON/DE SANTA MARIA/4", "portal PLAZA/DE SANTA MARIA/4"],
            "exact Plaza de Santa Maria 4",
        ),
        ("Santa María", &["callejero CANTON/DE SANTA MARIA", "callejero PLAZA/DE SANTA MARIA"], "streets"),
        (
            "Calle Mayor 3",
            &["portal CALLE/MAYOR/3/Armentia", "portal CALLE/MAYOR/3/Ali"],
            "several Calle Mayor 3, Calle Mayor 3",
        ),
        // The true name wins over a similar one.
        (
            "Santa Marta 1",
            &["portal CALLE/SANTA MARIA/1", "portal CALLE/SANTA MARTA/1"],
            "exact Calle Santa Marta 1",
        ),
        // Without a number.
        ("Calle Dato", &["callejero CALLE/DATO"], "street Calle Dato"),
        ("Calle Dato", &["portal CALLE/DATO/1", "portal CALLE/DATO/3"], "street Calle Dato"),
        ("Parque de la Florida", &["toponimo /Parque de la Florida"], "place Parque de la Florida"),
        ("Estación de autobuses", &["toponimo /Estación de autobuses"], "place Estación de autobuses"),
        ("Plaza de España", &["callejero PLAZA/DE ESPAÑA", "toponimo /España"], "place España"),
        // What does not fit is nothing.
        ("Calle Dato 12", &["portal CALLE/POSTAS/12"], "nothing"),
        ("Calle Dato 12", &[], "nothing"),
        // Outside is outside, and among several only those inside are offered.
        ("Calle Dato 12", &["!portal CALLE/DATO/12"], "outside Calle Dato 12"),
        (
            "Santa María 4",
            &["!portal CANTON/DE SANTA MARIA/4", "portal PLAZA/DE SANTA MARIA/4"],
            "several Plaza de Santa Maria 4",
        ),
        ("Calle Dado 12", &["!portal CALLE/DATO/12"], "outside "),
        // A kilometre is a place.
        ("N-1 km 5", &["portal CARRETERA/N-1/5"], "place Carretera N-1 5"),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, candidates, expected)| (judged(text, candidates), text, candidates, expected))
        .filter(|(found, _, _, expected)| found != *expected)
        .map(|(found, text, candidates, _)| format!("{text} among {candidates:?}: {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn confidence_falls_with_what_differs() {
    let confidence = |text: &str, known: &str| {
        let aliases = Aliases::of("01059");
        match rank(&asked(text), &[candidate(known)], &aliases) {
            Verdict::Exact(m) | Verdict::Nearest { found: m, .. } => m.confidence,
            Verdict::Several(list) => list[0].confidence,
            other => panic!("{other:?}"),
        }
    };
    let exact = confidence("Calle Dato 12", "portal CALLE/DATO/12");
    let nearest = confidence("Calle Dato 12", "portal CALLE/DATO/14");
    let slip = confidence("Calle Dado 12", "portal CALLE/DATO/14");
    assert!(exact > nearest && nearest > slip, "{exact} {nearest} {slip}");
}
