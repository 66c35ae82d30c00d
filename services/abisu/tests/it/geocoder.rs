//! `abisu geocoder`.

use std::path::PathBuf;

use testkit::Database;

use crate::{Said, abisu};

/// A file with streets, removed at the end.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("abisu-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    async fn load(&self, database: &Database, more: &[&str]) -> Said {
        let args = [&["geocoder", "load", self.0.to_str().unwrap()], more].concat();
        abisu(Some(&database.url), &[], &args).await
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

const STREETS: &str = "kind,street,other_name,number,extension,latitude,longitude,ine_code\n\
    Calle,Dato,,2,,42.8450,-2.6720,01059\nCalle,Dato,,12,,42.8460,-2.6720,01059\n\
    Calle,Dato,,12,A,42.8461,-2.6720,01059\nCalle,Pintorería,Pintore,1,,42.8474,-2.6703,01059\n\
    ,Parque de la Florida,Florida parkea,,,42.8439,-2.6745,01059\nCalle,Otra,,1,,42.9,-2.7,01018\n";

#[tokio::test]
async fn streets_are_loaded_and_replace_those_of_the_same_municipality_only() {
    let database = testkit::database().await;
    let file = File::new("streets.csv", STREETS);
    let dry = file.load(&database, &["--dry-run"]).await;
    assert_eq!(
        dry.out,
        "municipality 01059: 3 streets and 4 doors, 1 rows of other municipalities left out; nothing loaded\n"
    );
    assert_eq!(database.count("select count(*) from geo.street").await, 0);
    for _ in 0..2 {
        let said = file.load(&database, &[]).await;
        assert_eq!(said.code, 0, "{}", said.error);
        assert_eq!(database.count("select count(*) from geo.street").await, 3);
        assert_eq!(database.count("select count(*) from geo.portal").await, 4);
    }
    let other = file.load(&database, &["--city-ine-code", "01018"]).await;
    assert_eq!(other.code, 0, "{}", other.error);
    assert_eq!(database.count("select count(*) from geo.street").await, 4);
    let status = abisu(Some(&database.url), &[], &["geocoder", "status"]).await;
    let lines: Vec<&str> = status.out.lines().collect();
    assert_eq!(
        lines,
        [
            "municipality 01018: 1 streets, 0 places, 1 doors",
            "municipality 01059: 2 streets, 1 places, 4 doors"
        ]
    );
}

#[tokio::test]
async fn a_street_has_the_point_of_its_middle_door_and_a_place_its_own() {
    let database = testkit::database().await;
    File::new("middle.csv", STREETS).load(&database, &[]).await;
    let middle = "select count(*) from geo.street where name = 'Dato' and st_y(point) = 42.8460";
    assert_eq!(database.count(middle).await, 1);
    let own =
        "select count(*) from geo.street where is_place and st_y(point) = 42.8439 and sound like '%florida%'";
    assert_eq!(database.count(own).await, 1);
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_refused_in_one_line_and_nothing_is_lost() {
    let database = testkit::database().await;
    File::new("good.csv", STREETS).load(&database, &[]).await;
    for (name, text, says) in [
        (
            "columns.csv",
            "via,lat\nDato,42.8\n",
            "no column \"street\"; name it by --column street=THEIRS (there are: via, lat)",
        ),
        (
            "swapped.csv",
            "street,latitude,longitude\nDato,-2.67,42.85\n",
            "line 2: latitude -2.67, longitude 42.85 look swapped",
        ),
        ("metres.csv", "street,latitude,longitude\nDato,4744000,526000\n", "are not degrees"),
        ("empty.csv", "street,latitude,longitude\n", "no street of municipality 01059 in it"),
        ("broken.geojson", "{\"type\":", "not GeoJSON"),
    ] {
        let said = File::new(name, text).load(&database, &[]).await;
        assert_eq!(said.code, 64, "{name}: {}", said.out);
        assert!(said.error.contains(says), "{name}: {}", said.error);
        assert_eq!(said.error.lines().count(), 1, "{}", said.error);
    }
    assert_eq!(database.count("select count(*) from geo.street").await, 3);
}

#[tokio::test]
async fn the_streets_that_come_with_the_service_can_be_loaded() {
    let database = testkit::database().await;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../geocode/streets/vitoria-gasteiz.csv");
    let said = abisu(Some(&database.url), &[], &["geocoder", "load", file]).await;
    assert_eq!(said.code, 0, "{}", said.error);
    assert!(said.out.ends_with("doors; loaded\n"), "every row is understood: {}", said.out);
}

/// A GeoPackage with one layer of three doors and a place, in a coordinate system.
fn geopackage(name: &str, srid: i32, points: [(f64, f64); 4]) -> File {
    let file = File::new(name, "");
    std::fs::remove_file(&file.0).unwrap();
    let made = rusqlite::Connection::open(&file.0).unwrap();
    made.execute_batch(&format!(
        "create table gpkg_spatial_ref_sys (srs_name text, srs_id integer, organization text,
           organization_coordsys_id integer, definition text);
         insert into gpkg_spatial_ref_sys values ('a system', 7, 'EPSG', {srid}, ''), ('none', -1, 'NONE', -1, '');
         create table gpkg_contents (table_name text, data_type text, srs_id integer);
         insert into gpkg_contents values ('portal_pk', 'features', 7), ('notes', 'attributes', null);
         create table gpkg_geometry_columns (table_name text, column_name text, geometry_type_name text, srs_id integer);
         insert into gpkg_geometry_columns values ('portal_pk', 'geom', 'POINT', 7);
         create table portal_pk (fid integer primary key, geom blob, tipo_via text, nombre_via text, numero integer,
           extension text, ine_mun text);"
    ))
    .unwrap();
    let rows = [
        ("CALLE", "DATO", Some(2), None, "01059"),
        ("CALLE", "DATO", Some(12), Some("A"), "01059"),
        ("CALLE", "OTRA", Some(1), None, "01018"),
        ("", "PARQUE DE LA FLORIDA", None, None, "01059"),
    ];
    for ((x, y), (kind, street, number, extension, ine_code)) in points.into_iter().zip(rows) {
        let mut geometry = b"GP\0\x01".to_vec();
        geometry.extend(7_i32.to_le_bytes());
        geometry.push(1);
        geometry.extend(1_u32.to_le_bytes());
        geometry.extend(x.to_le_bytes());
        geometry.extend(y.to_le_bytes());
        made.execute(
            "insert into portal_pk (geom, tipo_via, nombre_via, numero, extension, ine_mun)
             values (?1, ?2, ?3, ?4, ?5, ?6)",
            rusqlite::params![geometry, kind, street, number, extension, ine_code],
        )
        .unwrap();
    }
    file
}

const THEIRS: [&str; 8] = [
    "--column",
    "street=nombre_via",
    "--column",
    "kind=tipo_via",
    "--column",
    "number=numero",
    "--column",
    "ine_code=ine_mun",
];

#[tokio::test]
async fn a_geopackage_is_loaded_as_it_is_in_degrees_and_in_metres() {
    let degrees = [(-2.6720, 42.8450), (-2.6720, 42.8460), (-2.7, 42.9), (-2.6745, 42.8439)];
    // The same points in ETRS 89 / UTM zone 30 north.
    let metres = [
        (526_801.9, 4_743_654.7),
        (526_801.4, 4_743_765.8),
        (524_492.1, 4_749_753.7),
        (526_598.0, 4_743_531.8),
    ];
    for (name, srid, points) in
        [("wgs84.gpkg", 4326, degrees), ("etrs89.gpkg", 4258, degrees), ("utm30.gpkg", 25_830, metres)]
    {
        let database = testkit::database().await;
        let file = geopackage(name, srid, points);
        let said = file.load(&database, &THEIRS).await;
        assert_eq!(said.code, 0, "{name}: {}", said.error);
        assert_eq!(
            said.out,
            "municipality 01059: 2 streets and 2 doors, 1 rows of other municipalities left out; loaded\n"
        );
        let near = "select count(*) from geo.portal where extension = 'A' and number = 12
            and st_distance(point::geography, st_setsrid(st_makepoint(-2.6720, 42.8460), 4326)::geography) < 5";
        assert_eq!(database.count(near).await, 1, "{name}");
        let place = "select count(*) from geo.street where is_place
            and st_distance(point::geography, st_setsrid(st_makepoint(-2.6745, 42.8439), 4326)::geography) < 5";
        assert_eq!(database.count(place).await, 1, "{name}");
    }
}

#[tokio::test]
async fn a_geopackage_that_cannot_be_used_says_what_is_missing() {
    let database = testkit::database().await;
    let degrees = [(-2.6720, 42.8450); 4];
    let file = geopackage("columns.gpkg", 4326, degrees);
    let said = file.load(&database, &[]).await;
    assert_eq!(said.code, 64);
    let expected = "layer \"portal_pk\" has no column \"street\"; name it by --column street=THEIRS (there are: fid, \
                    tipo_via, nombre_via, numero, extension, ine_mun)";
    assert!(said.error.contains(expected), "{}", said.error);
    let said = file.load(&database, &["--layer", "vial"]).await;
    assert!(said.error.contains("has no layer \"vial\"; there are portal_pk"), "{}", said.error);
    for (change, says) in [
        ("update gpkg_geometry_columns set srs_id = -1", "no EPSG one (none); convert it: ogr2ogr"),
        (
            "update gpkg_geometry_columns set srs_id = 7; update gpkg_spatial_ref_sys set organization_coordsys_id = 999999",
            "EPSG:999999, which the database does not know",
        ),
        (
            "insert into gpkg_contents values ('vial', 'features', 7)",
            "has the layers portal_pk, vial; name one by --layer",
        ),
        ("drop table gpkg_contents", "not a GeoPackage"),
    ] {
        rusqlite::Connection::open(&file.0).unwrap().execute_batch(change).unwrap();
        let said = file.load(&database, &THEIRS).await;
        assert_eq!(said.code, 64, "{change}: {}", said.out);
        assert!(said.error.contains(says), "{change}: {}", said.error);
        assert_eq!(said.error.lines().count(), 1, "{}", said.error);
    }
    let said = File::new("plain.csv", STREETS).load(&database, &["--layer", "x"]).await;
    assert!(said.error.contains("--layer: only a GeoPackage has layers"), "{}", said.error);
    assert_eq!(database.count("select count(*) from geo.street").await, 0);
}
