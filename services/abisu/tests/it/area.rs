//! `abisu area load`.

use std::path::PathBuf;

use testkit::Database;

use crate::{Said, abisu};

/// A file with a ring, removed at the end.
struct File(PathBuf);

impl File {
    fn new(name: &str, ring: &str) -> Self {
        let path = std::env::temp_dir().join(format!("abisu-{name}-{}.geojson", std::process::id()));
        let text = format!(
            r#"{{"type":"Feature","properties":{{"area_id":"town"}},
                "geometry":{{"type":"Polygon","coordinates":[{ring}]}}}}"#
        );
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    async fn load(&self, database: &Database) -> Said {
        abisu(Some(&database.url), &[], &["area", "load", self.0.to_str().unwrap()]).await
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[tokio::test]
async fn a_new_shape_is_the_next_version_and_the_same_shape_is_none() {
    let database = testkit::database().await;
    let first = File::new("first", "[[-2.7,42.8],[-2.6,42.8],[-2.6,42.9],[-2.7,42.8]]");
    let second = File::new("second", "[[-2.7,42.8],[-2.6,42.8],[-2.6,42.9],[-2.7,42.9],[-2.7,42.8]]");
    let cases = [
        (&first, "area town: version 1 is in force (45."),
        (&first, "area town: version 1 has this shape already"),
        (&second, "area town: version 2 is in force (90."),
        (&first, "area town: version 3 is in force (45."),
    ];
    for (file, says) in cases {
        let said = file.load(&database).await;
        assert_eq!(said.code, 0, "{}", said.error);
        assert!(said.out.starts_with(says), "{says}: {}", said.out);
    }
    assert_eq!(database.count("select count(*) from geo.service_area").await, 3);
}

#[tokio::test]
async fn a_ring_that_crosses_itself_is_refused_with_the_place() {
    let database = testkit::database().await;
    let file = File::new("crossed", "[[-2.7,42.8],[-2.6,42.9],[-2.6,42.8],[-2.7,42.9],[-2.7,42.8]]");
    let said = file.load(&database).await;
    assert_eq!(said.code, 64);
    assert!(said.error.contains("Self-intersection at longitude -2.65"), "{}", said.error);
    assert_eq!(said.error.lines().count(), 1, "{}", said.error);
    assert_eq!(database.count("select count(*) from geo.service_area").await, 0);
}

#[tokio::test]
async fn the_area_that_comes_with_the_service_can_be_loaded() {
    let database = testkit::database().await;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../geocode/areas/vitoria-gasteiz.geojson");
    let said = abisu(Some(&database.url), &[], &["area", "load", file]).await;
    assert_eq!(said.code, 0, "{}", said.error);
    assert!(said.out.starts_with("area vitoria-gasteiz: version 1 is in force"), "{}", said.out);
}
