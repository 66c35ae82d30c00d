//! The response object: 22 keys, nulls present, and the rule that 0, 0 is no coordinate.

use serde_json::{Value, json};

use super::middle;
use crate::streets::{Place, Portal, Street, Town, VITORIA};

/// What a search can find.
#[derive(Clone, Copy)]
pub(crate) enum Record {
    Portal(&'static Street, &'static Portal),
    Street(&'static Street),
    Place(&'static Place),
    Town(&'static Town),
    /// A postcode.
    Postcode(&'static str),
}

impl Record {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Portal(..) => "portal",
            Self::Street(_) => "callejero",
            Self::Place(_) => "toponimo",
            Self::Town(_) => "Municipio",
            Self::Postcode(_) => "Codpost",
        }
    }

    pub(crate) fn town(&self) -> &'static str {
        match self {
            Self::Portal(street, _) | Self::Street(street) => street.town.name,
            Self::Town(town) => town.name,
            Self::Place(_) | Self::Postcode(_) => VITORIA.name,
        }
    }

    pub(crate) fn postcode(&self) -> &'static str {
        match self {
            Self::Portal(street, _) | Self::Street(street) => street.postcode,
            Self::Postcode(code) => code,
            Self::Place(_) | Self::Town(_) => "",
        }
    }

    /// As `candidates` shows it: the whole composed text, and coordinates only where a point is known.
    pub(crate) fn candidate(&self) -> Value {
        let address = match self {
            Self::Portal(street, portal) => {
                let number = if portal.number == 0 { "S-N".to_owned() } else { portal.number.to_string() };
                let text = format!("{} {} {number} {}", street.kind, street.name, portal.extension);
                format!("{}, {} ({})", text.trim_end(), street.town.name, street.town.name)
            }
            Self::Street(street) => {
                format!("{} {}, {} ({})", street.kind, street.name, street.town.name, street.town.name)
            }
            Self::Place(place) => format!("{}, {}", place.name, VITORIA.name),
            Self::Town(town) => town.name.to_owned(),
            Self::Postcode(code) => (*code).to_owned(),
        };
        let point = match self {
            Self::Portal(_, portal) => Some((portal.latitude, portal.longitude)),
            Self::Place(place) => Some((place.latitude, place.longitude)),
            Self::Street(_) | Self::Town(_) | Self::Postcode(_) => None,
        };
        let geom = point.map(|(latitude, longitude)| format!("POINT({longitude} {latitude})"));
        self.object(&address, point, geom)
    }

    /// As `find` and `reverseGeocode` show it: the bare name, and a geometry.
    pub(crate) fn found(&self) -> Value {
        let Self::Street(street) = self else {
            let mut value = self.candidate();
            if let Self::Portal(street, _) = self {
                value["address"] = json!(street.name);
            }
            return value;
        };
        let line: Vec<String> =
            street.portals.iter().map(|one| format!("{} {}", one.longitude, one.latitude)).collect();
        let geom = format!("LINESTRING({})", line.join(", "));
        let point = middle(street).map(|portal| (portal.latitude, portal.longitude));
        self.object(street.name, point, Some(geom))
    }

    fn object(&self, address: &str, point: Option<(f64, f64)>, geom: Option<String>) -> Value {
        let (id, town) = match self {
            // Text of digits, longer than a double holds: the street's id and the portal's number.
            Self::Portal(street, portal) => (format!("{}{:05}", street.id, portal.number), street.town),
            Self::Street(street) => (street.id.to_owned(), street.town),
            Self::Place(place) => (place.id.to_owned(), &VITORIA),
            Self::Town(town) => (town.code.to_owned(), *town),
            Self::Postcode(code) => ((*code).to_owned(), &VITORIA),
        };
        let street = match self {
            Self::Portal(street, _) | Self::Street(street) => Some(*street),
            Self::Place(_) | Self::Town(_) | Self::Postcode(_) => None,
        };
        let portal = match self {
            Self::Portal(_, portal) => Some(*portal),
            Self::Street(_) | Self::Place(_) | Self::Town(_) | Self::Postcode(_) => None,
        };
        let (latitude, longitude) = point.unwrap_or((0.0, 0.0));
        json!({
            "id": id,
            "province": "Araba/Álava",
            "provinceCode": "01",
            "comunidadAutonoma": "País Vasco/Euskadi",
            "comunidadAutonomaCode": "16",
            "muni": town.name,
            "muniCode": town.code,
            "type": self.kind(),
            "address": address,
            "postalCode": Some(self.postcode()).filter(|code| !code.is_empty()),
            "poblacion": street.map(|street| street.town.name),
            "geom": geom,
            "tip_via": street.map(|street| street.kind),
            "lat": latitude,
            "lng": longitude,
            "portalNumber": portal.map(|portal| portal.number).filter(|&number| number > 0),
            "noNumber": portal.is_some_and(|portal| portal.number == 0),
            "refCatastral": null,
            "countryCode": "011",
            "stateMsg": "",
            "extension": portal.map(|portal| portal.extension).filter(|text| !text.is_empty()),
            "state": 0,
        })
    }
}
