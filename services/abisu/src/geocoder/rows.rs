//! One row of a file with streets, understood. Pure.

/// The columns that mean something.
pub(super) const COLUMNS: [&str; 9] =
    ["street", "kind", "other_name", "number", "extension", "locality", "ine_code", "latitude", "longitude"];

/// Spain with the Canary Islands, in degrees: tells a swapped or a projected pair from a plausible one.
const SPAIN: ([f64; 2], [f64; 2]) = ([27.0, 44.5], [-19.0, 5.0]);

/// What tells one street from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Street {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) other_name: String,
    pub(super) locality: String,
    pub(super) is_place: bool,
}

/// A house. The number 0 is a house without one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Door {
    pub(super) number: i32,
    pub(super) extension: String,
    pub(super) latitude: f64,
    pub(super) longitude: f64,
}

/// A row: a street with a door, or with a point of its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) street: Street,
    /// `None` when the point is that of the street.
    pub(super) number: Option<(i32, String)>,
    pub(super) latitude: f64,
    pub(super) longitude: f64,
}

/// Why a row is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wrong {
    /// Only this row.
    Row(&'static str),
    /// All rows are likely to be wrong in the same way.
    File(String),
    /// It belongs to another municipality.
    Elsewhere,
}

/// Understands one row; `get` gives the text of a column, empty where there is none.
pub(super) fn row(get: impl Fn(&str) -> String, ine_code: &str) -> Result<Row, Wrong> {
    let text = |column: &str| get(column).split_whitespace().collect::<Vec<_>>().join(" ");
    // Spreadsheets drop the zero in front.
    let own = text("ine_code");
    if !own.is_empty() && format!("{own:0>5}") != ine_code {
        return Err(Wrong::Elsewhere);
    }
    let (latitude, longitude) = place(&text("latitude"), &text("longitude"))?;
    let (name, kind) = (text("street"), text("kind"));
    if name.is_empty() {
        return Err(Wrong::Row("street is empty"));
    }
    // Streets without a name, as the road network writes them.
    if name.contains("-997") {
        return Err(Wrong::Row("the street has no name"));
    }
    let number = number(&text("number"), &text("extension"))?;
    let other = text("other_name");
    let street = Street {
        is_place: number.is_none() && kind.is_empty(),
        kind,
        other_name: if other == name { String::new() } else { other },
        name,
        locality: text("locality"),
    };
    Ok(Row { street, number, latitude, longitude })
}

fn place(latitude: &str, longitude: &str) -> Result<(f64, f64), Wrong> {
    // Decimal commas come out of spreadsheets.
    let degrees = |text: &str| text.replace(',', ".").parse::<f64>().ok().filter(|n| n.is_finite());
    let (Some(north), Some(east)) = (degrees(latitude), degrees(longitude)) else {
        return Err(Wrong::Row("latitude and longitude must be numbers"));
    };
    if north == 0.0 && east == 0.0 {
        return Err(Wrong::Row("0, 0 is no place"));
    }
    let within = |north: f64, east: f64| {
        (SPAIN.0[0]..=SPAIN.0[1]).contains(&north) && (SPAIN.1[0]..=SPAIN.1[1]).contains(&east)
    };
    if within(north, east) {
        Ok((north, east))
    } else if within(east, north) {
        Err(Wrong::File(format!("latitude {north}, longitude {east} look swapped")))
    } else if north.abs() > 90.0 || east.abs() > 180.0 {
        Err(Wrong::File(format!(
            "{north}, {east} are not degrees; export the file in WGS 84 (EPSG:4326), or as a GeoPackage, which says \
             what they are"
        )))
    } else {
        Err(Wrong::Row("the point is not in Spain"))
    }
}

fn number(text: &str, extension: &str) -> Result<Option<(i32, String)>, Wrong> {
    let extension = extension.trim_matches(['-', ' ']);
    let lower = text.to_lowercase();
    match lower.as_str() {
        "" => return Ok(None),
        "s/n" | "sn" | "s-n" | "z/g" | "0" => return Ok(Some((0, String::new()))),
        _ => {}
    }
    let end = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let (digits, rest) = lower.split_at(end);
    // "12.0" comes out of spreadsheets.
    let rest = if rest.trim_start_matches('.').trim_matches('0').is_empty() { "" } else { rest.trim() };
    let number = digits.parse::<i32>().ok().filter(|n| *n > 0).ok_or(Wrong::Row("the number is none"))?;
    let extension = if rest.is_empty() { extension } else { rest };
    let extension = match extension.chars().count() {
        1 => extension.to_uppercase(),
        _ => extension.to_lowercase(),
    };
    Ok(Some((number, extension)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn understood(values: &[(&str, &str)]) -> Result<Row, Wrong> {
        let fixed = [("street", "Dato"), ("kind", "Calle"), ("latitude", "42.85"), ("longitude", "-2.67")];
        let get = |column: &str| {
            let given = values.iter().chain(&fixed).find(|(name, _)| *name == column);
            given.map_or("", |(_, value)| value).to_owned()
        };
        row(get, "01059")
    }

    #[test]
    fn numbers_are_read_as_files_write_them() {
        for (number, extension, expected) in [
            ("12", "", Some((12, ""))),
            ("0012", "", Some((12, ""))),
            ("12A", "", Some((12, "A"))),
            ("12 bis", "", Some((12, "bis"))),
            ("12", "b", Some((12, "B"))),
            ("12.0", "", Some((12, ""))),
            ("S/N", "", Some((0, ""))),
            ("0", "", Some((0, ""))),
            ("", "", None),
        ] {
            let row = understood(&[("number", number), ("extension", extension)]).unwrap();
            assert_eq!(row.number, expected.map(|(n, e)| (n, e.to_owned())), "{number:?} {extension:?}");
        }
        assert_eq!(understood(&[("number", "bajo")]), Err(Wrong::Row("the number is none")));
    }

    #[test]
    fn a_row_without_number_and_kind_is_a_place() {
        assert!(!understood(&[]).unwrap().street.is_place);
        assert!(understood(&[("kind", ""), ("street", "Parque  de la Florida")]).unwrap().street.is_place);
        assert!(
            !understood(&[("kind", ""), ("street", "Arkaute"), ("number", "5")]).unwrap().street.is_place
        );
    }

    #[test]
    fn coordinates_that_are_wrong_everywhere_refuse_the_file_and_others_the_row() {
        let at = |latitude, longitude| understood(&[("latitude", latitude), ("longitude", longitude)]);
        assert!(at("42,85", "-2,67").is_ok(), "decimal commas");
        for (latitude, longitude) in [("-2.67", "42.85"), ("4744000", "526000")] {
            assert!(matches!(at(latitude, longitude), Err(Wrong::File(_))), "{latitude} {longitude}");
        }
        for (latitude, longitude) in [("", ""), ("0", "0"), ("x", "1"), ("60", "10")] {
            assert!(matches!(at(latitude, longitude), Err(Wrong::Row(_))), "{latitude} {longitude}");
        }
    }

    #[test]
    fn rows_of_other_municipalities_are_left_out_also_without_the_zero_in_front() {
        assert!(understood(&[("ine_code", "1059")]).is_ok());
        assert_eq!(understood(&[("ine_code", "01018")]), Err(Wrong::Elsewhere));
    }
}
