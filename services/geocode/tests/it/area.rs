//! Service areas for tests.

use testkit::Database;

/// The ring of Vitoria-Gasteiz, as the repository ships it.
pub(crate) const VITORIA: &str = include_str!("../../areas/vitoria-gasteiz.geojson");

/// Loads the shape of the shipped Feature as the next version of the city's area.
pub(crate) async fn load_vitoria(database: &Database) {
    sqlx::query(
        "insert into geo.service_area (area_id, version, shape)
         select feature -> 'properties' ->> 'area_id',
           1 + (select coalesce(max(version), 0) from geo.service_area),
           st_multi(st_geomfromgeojson(feature -> 'geometry'))
         from (select $1::jsonb as feature) as loaded",
    )
    .bind(VITORIA)
    .execute(&database.pool)
    .await
    .unwrap();
}

/// Loads a well-known text as an area.
pub(crate) async fn load(database: &Database, id: &str, version: i32, shape: &str) {
    sqlx::query(
        "insert into geo.service_area (area_id, version, shape) values ($1, $2, st_geomfromtext($3, 4326))",
    )
    .bind(id)
    .bind(version)
    .bind(shape)
    .execute(&database.pool)
    .await
    .unwrap();
}
