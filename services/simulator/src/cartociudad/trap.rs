//! What happens now and then, and each time to somebody who was not ready for it.

use axum::{
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::{Value, json};

/// An oddity of one answer.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Trap {
    /// `callback([])`, as the sister method says that there is nothing.
    Callback,
    /// HTML with status 200.
    Html,
    /// JSON that breaks off.
    Cut,
    /// 204 without a body, whatever was asked.
    NoContent,
    /// The list of somebody else's question: parallel requests share a field of the server.
    CrossedOver,
    /// All of another municipality, some 600 km away.
    OtherTown,
    /// Types in capitals, kinds nobody knows, and entries that are no objects.
    OddTypes,
    /// A street without a name in front of the others: "-997".
    Unnamed,
    /// Doors at 0, 0.
    NoCoordinates,
    /// The answer is about another id than was asked for.
    OtherId,
    /// `POINT (x y)`, with the space of old.
    OldPoint,
    /// Called exact by a field of old, and yet the middle of the municipality.
    LyingState,
}

impl Trap {
    /// The answer that comes in place of one.
    pub(super) fn instead(self) -> Option<Response> {
        let answer = |status: StatusCode, kind: &'static str, body: &'static str| {
            Some((status, [(CONTENT_TYPE, kind)], body).into_response())
        };
        match self {
            Self::Callback => answer(StatusCode::OK, "application/javascript", "callback([])"),
            Self::Html => {
                answer(StatusCode::OK, "text/html;charset=utf-8", "<html><body>Mantenimiento</body></html>")
            }
            Self::Cut => answer(StatusCode::OK, "application/json", "[{\"id\":\"0105900001\",\"muni\":"),
            Self::NoContent => Some(StatusCode::NO_CONTENT.into_response()),
            Self::CrossedOver
            | Self::OtherTown
            | Self::OddTypes
            | Self::Unnamed
            | Self::NoCoordinates
            | Self::OtherId
            | Self::OldPoint
            | Self::LyingState => None,
        }
    }

    /// Among the candidates.
    pub(super) fn among(self, list: &mut Vec<Value>) {
        match self {
            Self::CrossedOver => {
                let other = json!({"id": "280790465320", "type": "portal", "muni": "Madrid", "muniCode": "28079",
                    "address": "CALLE MAYOR 1, Madrid (Madrid)", "tip_via": "CALLE", "portalNumber": 1,
                    "lat": 40.416461, "lng": -3.704658, "province": "Madrid", "provinceCode": "28"});
                *list = vec![other];
            }
            Self::OddTypes => {
                for entry in list.iter_mut() {
                    entry["type"] = json!(entry["type"].as_str().unwrap_or_default().to_uppercase());
                }
                list.insert(0, json!({"type": "a kind of tomorrow", "muniCode": "01059", "lat": "x"}));
                list.insert(0, json!("not even an object"));
            }
            Self::Unnamed => {
                if let Some(mut street) = list.first().cloned() {
                    street["address"] = json!("-997 12, Vitoria-Gasteiz (Vitoria-Gasteiz)");
                    street["tip_via"] = Value::Null;
                    list.insert(0, street);
                }
            }
            Self::OtherTown | Self::NoCoordinates | Self::OtherId | Self::OldPoint | Self::LyingState => {
                list.iter_mut().for_each(|entry| *entry = self.changed(entry.take()))
            }
            Self::Callback | Self::Html | Self::Cut | Self::NoContent => {}
        }
    }

    /// An answer that is one object.
    pub(super) fn of_one(trap: Option<Self>, value: Value) -> Value {
        match trap {
            Some(trap) => trap.changed(value),
            None => value,
        }
    }

    fn changed(self, mut value: Value) -> Value {
        let mut set = |fields: &[(&str, Value)]| {
            for (key, new) in fields {
                value[*key] = new.clone();
            }
        };
        match self {
            Self::OtherTown => set(&[("muni", json!("Colomers")), ("muniCode", json!("17055"))]),
            Self::NoCoordinates => set(&[("lat", json!(0.0)), ("lng", json!(0.0)), ("geom", Value::Null)]),
            Self::OtherId => set(&[("id", json!("0105999999"))]),
            Self::OddTypes => set(&[("type", json!("PORTAL"))]),
            Self::Unnamed => set(&[("address", json!("-997")), ("tip_via", Value::Null)]),
            Self::OldPoint => {
                if let Some(geom) = value["geom"].as_str().map(|geom| geom.replacen("POINT(", "POINT (", 1)) {
                    value["geom"] = json!(geom);
                }
            }
            Self::LyingState => set(&[
                ("state", json!(1)),
                ("stateMsg", json!("Resultado exacto")),
                ("type", json!("Municipio")),
                ("portalNumber", Value::Null),
            ]),
            Self::Callback | Self::Html | Self::Cut | Self::NoContent | Self::CrossedOver => {}
        }
        value
    }
}
