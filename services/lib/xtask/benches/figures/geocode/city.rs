//! A city of invented streets, and a shape with many corners.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use proto::geocode::v1::Point;
use serde_json::json;

const STREETS: usize = 1_000;
const NUMBERS: usize = 100;
/// All doors.
pub(super) const DOORS: usize = STREETS * NUMBERS;
/// The middle of the shape, latitude and longitude, and how far it reaches, in degrees.
const MIDDLE: (f64, f64) = (42.85, -2.68);
const REACH: f64 = 0.08;

/// Writes a shape with so many corners and a winding border that does not cross itself. Returns the file.
pub(super) fn write_shape(path: &Path, corners: usize) -> anyhow::Result<PathBuf> {
    let mut ring: Vec<[f64; 2]> = (0..corners)
        .map(|corner| {
            let angle = std::f64::consts::TAU * corner as f64 / corners as f64;
            // Coves, and smaller coves in them.
            let reach = REACH * (1.0 + 0.1 * (12.0 * angle).sin() + 0.02 * (400.0 * angle).sin());
            [MIDDLE.1 + reach * angle.cos(), MIDDLE.0 + reach * angle.sin()]
        })
        .collect();
    ring.push(ring[0]);
    let shape = json!({"type": "MultiPolygon", "coordinates": [[ring]]});
    std::fs::write(path, shape.to_string())?;
    Ok(path.to_owned())
}

/// Writes all doors as `abisu geocoder load` takes them. Returns the names of the streets.
pub(super) fn write_doors(path: &Path) -> anyhow::Result<Vec<String>> {
    let names: Vec<String> = (0..STREETS).map(street).collect();
    let mut text = String::from("kind,street,number,latitude,longitude\n");
    for (row, name) in names.iter().enumerate() {
        // Streets from south to north, doors from west to east, all well inside.
        let latitude = MIDDLE.0 - 0.02 + 0.04 * row as f64 / STREETS as f64;
        for number in 1..=NUMBERS {
            let longitude = MIDDLE.1 - 0.02 + 0.04 * number as f64 / NUMBERS as f64;
            writeln!(text, "Calle,{name},{number},{latitude:.6},{longitude:.6}")?;
        }
    }
    std::fs::write(path, text)?;
    Ok(names)
}

/// Three syllables in one word and two in another, different for each street.
fn street(index: usize) -> String {
    const SYLLABLES: [&str; 10] = ["ba", "do", "gue", "li", "mar", "nes", "pi", "ru", "tor", "za"];
    let digit = |place: u32| SYLLABLES[index / 10_usize.pow(place) % 10];
    let name = format!("{}{}{}", digit(2), digit(0), digit(1));
    let saint = SYLLABLES[(index * 7 + 3) % 10];
    format!("{}{} {}{}", name[..1].to_uppercase(), &name[1..], saint, digit(1))
}

/// The address of some door.
pub(super) fn address(streets: &[String]) -> String {
    let street = &streets[rand::random_range(0..streets.len())];
    format!("Calle {street} {}", rand::random_range(1..=NUMBERS))
}

/// Some point in or around the shape.
pub(super) fn point() -> Point {
    let around = |middle: f64| middle + rand::random_range(-1.2 * REACH..1.2 * REACH);
    Point { latitude: around(MIDDLE.0), longitude: around(MIDDLE.1) }
}
