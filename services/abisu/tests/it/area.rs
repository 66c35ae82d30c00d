//! `abisu area`.

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
        self.area(database, "load", &[]).await
    }

    async fn area(&self, database: &Database, command: &str, more: &[&str]) -> Said {
        let args = [&["area", command, self.0.to_str().unwrap()], more].concat();
        abisu(Some(&database.url), &[], &args).await
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

#[tokio::test]
async fn a_dry_run_and_a_check_say_what_would_change_and_load_nothing() {
    let database = testkit::database().await;
    let first = File::new("dry-first", "[[-2.7,42.8],[-2.6,42.8],[-2.6,42.9],[-2.7,42.8]]");
    let second = File::new("dry-second", "[[-2.7,42.8],[-2.6,42.8],[-2.6,42.9],[-2.7,42.9],[-2.7,42.8]]");
    for (command, more) in [("load", &["--dry-run"][..]), ("check", &[])] {
        let said = first.area(&database, command, more).await;
        assert_eq!(said.code, 0, "{}", said.error);
        for line in [
            "area town: would be version 1",
            "km² in 1 part with 0 holes",
            "vertices      4",
            "latitude 42.800000 to 42.900000, longitude -2.700000 to -2.600000",
            "change        a new area",
        ] {
            assert!(said.out.contains(line), "{command}: {line}: {}", said.out);
        }
    }
    assert_eq!(database.count("select count(*) from geo.service_area").await, 0);
    first.load(&database).await;
    let same = first.area(&database, "load", &["--dry-run"]).await;
    assert!(same.out.contains("version 1 has this shape already, nothing would be loaded"), "{}", same.out);
    let other = second.area(&database, "check", &[]).await;
    assert!(other.out.contains("area town: would be version 2"), "{}", other.out);
    let change = other.out.lines().find(|line| line.contains("change")).unwrap();
    assert!(change.contains("45.") && change.contains("and 0.000 km² lost against version 1"), "{change}");
    assert_eq!(database.count("select count(*) from geo.service_area").await, 1);
    assert_eq!(database.count("select count(*) from geo.area_part").await, 1);
}

#[tokio::test]
async fn what_is_refused_is_refused_by_every_command_with_its_place() {
    let database = testkit::database().await;
    for (name, ring, says) in [
        (
            "swapped",
            "[[42.8,-2.7],[42.8,-2.6],[42.9,-2.6],[42.8,-2.7]]",
            "position 1: [42.8, -2.7] looks like latitude first",
        ),
        ("open", "[[-2.7,42.8],[-2.6,42.8],[-2.6,42.9],[-2.7,42.85]]", "ring 1: the ring is not closed"),
        (
            "metres",
            "[[526000,4744000],[527000,4744000],[527000,4745000],[526000,4744000]]",
            "are not degrees",
        ),
        (
            "crossed-too",
            "[[-2.7,42.8],[-2.6,42.9],[-2.6,42.8],[-2.7,42.9],[-2.7,42.8]]",
            "Self-intersection at longitude -2.65",
        ),
        ("spike", "[[-2.7,42.8],[-2.7,42.8],[-2.7,42.8],[-2.7,42.8]]", "Too few points"),
    ] {
        let file = File::new(name, ring);
        for (command, more) in [("load", &[][..]), ("load", &["--dry-run"]), ("check", &[])] {
            let said = file.area(&database, command, more).await;
            assert_eq!(said.code, 64, "{name} {command}: {}", said.out);
            assert!(said.error.contains(says), "{name} {command}: {}", said.error);
            assert_eq!(said.error.lines().count(), 1, "{}", said.error);
        }
    }
    assert_eq!(database.count("select count(*) from geo.service_area").await, 0);
}

#[tokio::test]
async fn areas_are_listed_and_shown_with_the_time_in_which_each_version_was_in_force() {
    let database = testkit::database().await;
    let area = async |args: &[&str]| abisu(Some(&database.url), &[], &[&["area"], args].concat()).await;
    assert!(area(&["list"]).await.out.starts_with("no area is loaded"));
    assert_eq!(area(&["check", "--at", "42.85,-2.65"]).await.code, 64);
    let first = File::new("list-first", "[[-2.7,42.8],[-2.6,42.8],[-2.6,42.9],[-2.7,42.8]]");
    let second = File::new("list-second", "[[-2.7,42.8],[-2.6,42.8],[-2.6,42.9],[-2.7,42.9],[-2.7,42.8]]");
    first.load(&database).await;
    second.load(&database).await;
    let list = area(&["list"]).await.out;
    assert!(
        list.lines().any(|line| line.starts_with("town  2        20") && line.contains(" 90.")),
        "{list}"
    );
    let shown = area(&["show", "town"]).await.out;
    let versions: Vec<&str> = shown.lines().filter(|line| line.starts_with("version")).collect();
    assert_eq!(versions.len(), 2, "{shown}");
    assert!(
        versions[0].starts_with("version 2: in force from 20") && versions[0].contains("until now"),
        "{shown}"
    );
    assert!(
        versions[1].starts_with("version 1: in force from 20") && versions[1].contains("until 20"),
        "{shown}"
    );
    let one = area(&["show", "town", "--version", "1"]).await.out;
    assert!(!one.contains("version 2") && one.contains("vertices      4"), "{one}");
    assert_eq!(area(&["show", "town", "--version", "9"]).await.code, 64);
    assert_eq!(area(&["show", "village"]).await.code, 64);
    // What is shown can be loaded again, and is the same.
    let path = std::env::temp_dir().join(format!("abisu-again-{}.geojson", std::process::id()));
    std::fs::write(&path, area(&["show", "town", "--geojson"]).await.out).unwrap();
    let again = area(&["load", path.to_str().unwrap()]).await;
    std::fs::remove_file(&path).unwrap();
    assert!(
        again.out.starts_with("area town: version 2 has this shape already"),
        "{} {}",
        again.out,
        again.error
    );
}

#[tokio::test]
async fn a_point_is_told_which_area_covers_it_and_its_border_is_inside() {
    let database = testkit::database().await;
    File::new("at", "[[-2.7,42.8],[-2.6,42.8],[-2.6,42.9],[-2.7,42.9],[-2.7,42.8]]").load(&database).await;
    for (at, says) in [
        ("42.85,-2.65", "area town, version 1: inside"),
        ("42.8,-2.65", "area town, version 1: inside"),
        ("42.9,-2.7", "area town, version 1: inside"),
        ("42.91,-2.65", "area town, version 1: outside, 11"),
        ("-2.65,42.85", "area town, version 1: outside"),
    ] {
        let said = abisu(Some(&database.url), &[], &["area", "check", "--at", at]).await;
        assert!(said.out.starts_with(says), "{at}: {} {}", said.out, said.error);
    }
}
