//! `abisu flows check`, `preview`, `build` and `diff`: from files to files, with no account and no database.

use std::path::{Path, PathBuf};

use crate::abisu;

/// Another city, with three levels and three languages.
fn harbour() -> (String, String) {
    let city = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lib/flow-json/tests/city");
    let folder = |name: &str| city.join(name).to_str().unwrap().to_owned();
    (folder("flows"), folder("catalogs"))
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("abisu-forms-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[tokio::test]
async fn the_built_in_city_and_another_are_checked() {
    let said = abisu(None, &[], &["flows", "check"]).await;
    assert_eq!(said.code, 0, "{}", said.error);
    assert!(
        said.out.contains("35 routes to report by, mapped to 11 categories; 2 that only inform"),
        "{}",
        said.out
    );
    assert!(said.out.contains("eu: right; 11 of 11 screens"), "{}", said.out);
    assert!(said.out.ends_with("the words of the conversation: right\n"), "{}", said.out);

    let (flows, catalogs) = harbour();
    let variables = [("ABISU_FLOWS_DIR", flows.as_str()), ("ABISU_CATALOGS_DIR", catalogs.as_str())];
    let said = abisu(None, &variables, &["flows", "check"]).await;
    assert_eq!(said.code, 0, "{}", said.error);
    for language in ["ca", "en", "gl"] {
        assert!(said.out.contains(&format!("{language}: right; 11 of 11 screens")), "{}", said.out);
    }
    assert!(said.out.ends_with("the conversation speaks none of these languages\n"), "{}", said.out);
}

#[tokio::test]
async fn a_problem_is_said_with_the_file_as_given_the_line_the_key_and_what_to_do() {
    let (flows, catalogs) = harbour();
    let broken = scratch("broken");
    for file in std::fs::read_dir(&catalogs).unwrap() {
        let file = file.unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        let text = text
            .replace("submit: \"Send the report\"", "submit: \"Send the report that you have made to us\"");
        std::fs::write(broken.join(file.file_name()), text).unwrap();
    }
    let broken = broken.to_str().unwrap();
    let said =
        abisu(None, &[("ABISU_FLOWS_DIR", flows.as_str())], &["flows", "check", "--catalogs-dir", broken])
            .await;
    assert_eq!(said.code, 1);
    let expected =
        format!("{broken}/en.yaml:11: form.submit: 40 characters long; 35 are shown; shorten it by 5");
    assert!(said.error.lines().any(|line| line == expected), "{}", said.error);
    let said = abisu(None, &[], &["flows", "check", "--catalogs-dir", "/absent"]).await;
    assert_eq!(said.code, 64);
    assert!(said.error.contains("ABISU_CATALOGS_DIR: cannot read /absent"), "{}", said.error);
}

#[tokio::test]
async fn a_problem_in_the_words_of_the_conversation_is_said_too() {
    let folder = scratch("words");
    let catalogs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogs");
    for file in std::fs::read_dir(catalogs).unwrap() {
        let file = file.unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        std::fs::write(folder.join(file.file_name()), text.replace("  greeting:", "  greting:")).unwrap();
    }
    let folder = folder.to_str().unwrap();
    let said = abisu(None, &[("ABISU_CATALOGS_DIR", folder)], &["flows", "check"]).await;
    assert_eq!(said.code, 1);
    for line in [
        "abisu: 4 problem(s) in the words of the conversation",
        &format!("{folder}/es.yaml: chat.greeting is missing"),
        &format!("{folder}/eu.yaml: chat.greting is used nowhere; remove it"),
    ] {
        assert!(said.error.lines().any(|said| said == line), "{line}\n{}", said.error);
    }
}

#[tokio::test]
async fn a_form_is_previewed_as_a_tree() {
    let said = abisu(None, &[], &["flows", "preview", "--lang", "eu"]).await;
    assert_eq!(said.code, 0, "{}", said.error);
    for line in [
        "Abisu berria [ROOT] “Zeren berri eman nahi duzu?”",
        "├─ Edukiontzia  (Gainezka, hautsita, zikin edo desagertuta)  → Edukiontzia [CONTAINER] “Zer gertatzen zaio edukiontziari?”",
        "│  │  ├─ Beira  → SUMMARY",
        "   └─ Etxetresna elektrikoak  → BRIDGE",
        "Jarraitu aurretik [BRIDGE]",
        "  [ Kalean dago: abisatu ] → SUMMARY",
        "  [ Etxekoa biltzea nahi dut ] → INFO",
        "  (+) Arazoaren argazkia: Argazki bakarra, pertsonarik eta matrikularik gabe.",
        "  [ Bidali abisua ]",
    ] {
        assert!(said.out.lines().any(|said| said == line), "{line}\n{}", said.out);
    }
    let said = abisu(None, &[], &["flows", "preview", "--lang", "fr"]).await;
    assert_eq!(
        (said.code, said.error.as_str()),
        (64, "abisu: --lang: no catalog for \"fr\"; there are es, eu\n")
    );
}

#[tokio::test]
async fn forms_are_built_checked_as_files_and_compared() {
    let folder = scratch("build");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let said = abisu(None, &[], &["flows", "build", "--out", &at("")]).await;
    assert_eq!(said.code, 0, "{}", said.error);
    let (es, eu) = (at("report.es.json"), at("report.eu.json"));
    let said = abisu(None, &[], &["flows", "check", &es, &eu]).await;
    assert_eq!((said.code, said.out.lines().count()), (0, 2), "{}", said.error);
    let printed = abisu(None, &[], &["flows", "build", "--lang", "es"]).await;
    assert_eq!(printed.out, std::fs::read_to_string(&es).unwrap());
    assert_eq!(abisu(None, &[], &["flows", "build"]).await.code, 64);

    assert_eq!(abisu(None, &[], &["flows", "diff", &es, &es]).await.out, "no difference\n");
    let said = abisu(None, &[], &["flows", "diff", &es, &eu]).await;
    assert!(
        said.out.starts_with("~ /screens[ROOT]/title: \"Nuevo aviso\" → \"Abisu berria\"\n"),
        "{}",
        said.out
    );
    assert!(!said.out.contains("\n+ ") && !said.out.contains("\n- "), "{}", said.out);

    let broken = at("broken.json");
    std::fs::write(&broken, printed.out.replace("\"name\": \"STREET\"", "\"name\": \"STRET\"")).unwrap();
    let said = abisu(None, &[], &["flows", "check", &broken]).await;
    assert_eq!(said.code, 1);
    let line =
        said.error.lines().find(|line| line.contains("INVALID_NAVIGATE_ACTION_NEXT_SCREEN_NAME")).unwrap();
    assert!(line.starts_with(&format!("{broken}:")) && line.contains("there is no screen `STRET`"), "{line}");
}
