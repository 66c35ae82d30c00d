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
