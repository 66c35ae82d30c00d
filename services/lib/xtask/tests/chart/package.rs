//! The chart's archive.

use std::fs;

use serde_json::json;
use xtask::chart;
use xtask::chart::tools::Helm;

use super::support;

#[test]
fn the_same_chart_is_the_same_archive_whatever_its_files_times_are() {
    let folder = std::env::temp_dir().join(format!("abisu-chart-{}", std::process::id()));
    copy(&chart::folder(), &folder);
    let (name, bytes) = chart::archive(&chart::folder()).unwrap();
    let (_, again) = chart::archive(&folder).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert!(name.starts_with("abisu-") && name.ends_with(".tgz"), "{name}");
    assert!(bytes == again, "two checkouts of one chart give different archives");
}

#[test]
fn the_archive_renders_what_the_folder_renders_and_works_below_an_umbrella() {
    let folder = std::env::temp_dir().join(format!("abisu-umbrella-{}", std::process::id()));
    let charts = folder.join("charts");
    fs::create_dir_all(&charts).unwrap();
    let (name, bytes) = chart::archive(&chart::folder()).unwrap();
    let archive = charts.join(name);
    fs::write(&archive, bytes).unwrap();
    let helm = Helm::find().unwrap();
    let file = support::values_file("full");
    let from_archive = helm.render("abisu", &archive, &["--values", &file]).unwrap();
    let from_folder = helm.render("abisu", &chart::folder(), &["--values", &file]).unwrap();

    let version = fs::read_to_string(chart::folder().join("Chart.yaml")).unwrap();
    let version: serde_json::Value =
        serde_json::to_value(chart::documents(&version).unwrap().remove(0)).unwrap();
    let umbrella = format!(
        "apiVersion: v2\nname: umbrella\nversion: 1.0.0\ndependencies:\n  - {{name: abisu, version: {}, condition: abisu.enabled}}\n",
        version["version"].as_str().unwrap()
    );
    fs::write(folder.join("Chart.yaml"), umbrella).unwrap();
    let global = json!({"imageRegistry": "mirror.example", "somebody": {"elses": true}});
    let below = |enabled: bool| {
        let mut values: serde_json::Value =
            chart::documents(&fs::read_to_string(&file).unwrap()).unwrap().remove(0);
        values["enabled"] = json!(enabled);
        let values = json!({"global": global, "abisu": values}).to_string();
        helm.render("city", &folder, &["--set-json", &values]).unwrap()
    };
    let (on, off) = (below(true), below(false));
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(from_archive, from_folder);
    assert!(on.contains("image: mirror.example/abisu/conversation:"), "the global registry is taken");
    assert!(on.contains("name: city-abisu-ingest"));
    assert_eq!(chart::documents(&off).unwrap().len(), 0, "off, nothing is made");
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            // Not `fs::copy`: the new file has a time of its own.
            fs::write(target, fs::read(&path).unwrap()).unwrap();
        }
    }
}
