//! The streets of a municipality in the database.

use std::collections::BTreeMap;

use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::geopackage::Layer;
use super::read::Known;
use super::rows::Street;
use crate::Failure;

/// Rows in one statement.
const AT_ONCE: usize = 5_000;

/// Doors as columns.
#[derive(Default)]
struct Doors {
    streets: Vec<Uuid>,
    numbers: Vec<i32>,
    extensions: Vec<String>,
    latitudes: Vec<f64>,
    longitudes: Vec<f64>,
}

/// Converts the points of a layer to degrees of WGS 84.
///
/// # Errors
/// The database does not know the coordinate system, or is away.
pub(super) async fn to_degrees(on: &mut PgConnection, layer: &mut Layer) -> Result<(), Failure> {
    let srid = layer.srid;
    let is_known = sqlx::query_scalar!(
        r#"select exists (select from public.spatial_ref_sys where srid = $1) as "known!""#,
        srid
    );
    if !is_known.fetch_one(&mut *on).await? {
        return Err(Failure::Usage(format!(
            "the layer is in EPSG:{srid}, which the database does not know; convert it: ogr2ogr -t_srs EPSG:4326"
        )));
    }
    let mut open: Vec<&mut (f64, f64)> =
        layer.records.iter_mut().filter_map(|record| record.point.as_mut()).collect();
    for chunk in open.chunks_mut(AT_ONCE) {
        let (east, north): (Vec<f64>, Vec<f64>) = chunk.iter().map(|point| **point).unzip();
        let rows = sqlx::query_file!("src/geocoder/store/to_degrees.sql", srid, &east, &north)
            .fetch_all(&mut *on)
            .await?;
        for (point, row) in chunk.iter_mut().zip(rows) {
            **point = (row.longitude, row.latitude);
        }
    }
    layer.srid = 4326;
    Ok(())
}

/// Puts streets in place of all that are loaded for a municipality.
pub(super) async fn replace(
    on: &mut PgConnection,
    ine_code: &str,
    streets: BTreeMap<Street, Known>,
) -> Result<(), Failure> {
    let mut tx = on.begin().await?;
    // A province is more than a statement may usually take; other loads wait, searches do not.
    sqlx::query!("set local statement_timeout = 0").execute(&mut *tx).await?;
    sqlx::query!("lock table geo.street in share row exclusive mode").execute(&mut *tx).await?;
    sqlx::query!("delete from geo.street where ine_code = $1", ine_code).execute(&mut *tx).await?;
    let mut doors = Doors::default();
    let all: Vec<(Uuid, Street, Known)> =
        streets.into_iter().map(|(street, known)| (Uuid::now_v7(), street, known)).collect();
    for chunk in all.chunks(AT_ONCE) {
        insert_streets(&mut tx, ine_code, chunk).await?;
    }
    for (id, _, known) in all {
        for door in known.doors {
            doors.streets.push(id);
            doors.numbers.push(door.number);
            doors.extensions.push(door.extension);
            doors.latitudes.push(door.latitude);
            doors.longitudes.push(door.longitude);
        }
        if doors.streets.len() >= AT_ONCE {
            insert_doors(&mut tx, std::mem::take(&mut doors)).await?;
        }
    }
    insert_doors(&mut tx, doors).await?;
    sqlx::query_file!("src/geocoder/store/place_streets.sql", ine_code).execute(&mut *tx).await?;
    tx.commit().await?;
    sqlx::query!("analyze geo.street, geo.portal").execute(on).await?;
    Ok(())
}

async fn insert_streets(
    on: &mut PgConnection,
    ine_code: &str,
    streets: &[(Uuid, Street, Known)],
) -> Result<(), Failure> {
    let ids: Vec<Uuid> = streets.iter().map(|(id, _, _)| *id).collect();
    let column = |of: fn(&Street) -> &String| -> Vec<String> {
        streets.iter().map(|(_, street, _)| of(street).clone()).collect()
    };
    let places: Vec<bool> = streets.iter().map(|(_, street, _)| street.is_place).collect();
    let axis = |of: fn((f64, f64)) -> f64| -> Vec<Option<f64>> {
        streets.iter().map(|(_, _, known)| known.point.map(of)).collect()
    };
    sqlx::query_file!(
        "src/geocoder/store/insert_streets.sql",
        ine_code,
        &ids,
        &column(|street| &street.kind),
        &column(|street| &street.name),
        &column(|street| &street.other_name),
        &column(|street| &street.locality),
        &places,
        &axis(|point| point.0) as &[Option<f64>],
        &axis(|point| point.1) as &[Option<f64>],
    )
    .execute(on)
    .await?;
    Ok(())
}

async fn insert_doors(on: &mut PgConnection, doors: Doors) -> Result<(), Failure> {
    let Doors { streets, numbers, extensions, latitudes, longitudes } = doors;
    sqlx::query_file!(
        "src/geocoder/store/insert_doors.sql",
        &streets,
        &numbers,
        &extensions,
        &latitudes,
        &longitudes
    )
    .execute(on)
    .await?;
    Ok(())
}

/// What is loaded, as text.
pub(super) async fn status(on: &mut PgConnection) -> Result<String, Failure> {
    let rows = sqlx::query_file!("src/geocoder/store/status.sql").fetch_all(on).await?;
    if rows.is_empty() {
        return Ok("no streets are loaded; load some with `abisu geocoder load FILE`\n".to_owned());
    }
    let lines = rows.into_iter().map(|row| {
        let (code, streets, places, doors) = (row.ine_code, row.streets, row.places, row.doors);
        format!("municipality {code}: {streets} streets, {places} places, {doors} doors\n")
    });
    Ok(lines.collect())
}
