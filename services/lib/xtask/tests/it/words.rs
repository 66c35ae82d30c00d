//! A city's own words, from a folder instead of the built-in ones.

use flow_json::BUILTIN;

use crate::town::{PATIENCE, Town};

#[tokio::test(flavor = "multi_thread")]
async fn a_citizen_hears_the_words_of_the_city_and_its_form_has_its_labels() {
    let folder = std::env::temp_dir().join(format!("abisu-words-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (language, text) in BUILTIN.catalogs {
        let own = text.replace("¡Hola!", "¡Buenas!").replace("title: Contenedor\n", "title: Cubo\n");
        std::fs::write(folder.join(format!("{language}.yaml")), own).unwrap();
    }
    std::fs::write(folder.join("partner.yaml"), BUILTIN.partner).unwrap();
    let town = Town::start("words", &[("ABISU_CATALOGS_DIR", folder.to_str().unwrap())]).await;
    let citizen = town.citizen("Ane").await;

    citizen.say("Hola").await.unwrap();
    let greeting = citizen.reply(None, PATIENCE).await.unwrap();

    assert!(greeting.text.as_deref().unwrap().starts_with("¡Buenas!"), "{greeting:?}");
    let labels: String = sqlx::query_scalar(
        "select leaf #>> '{labels,es}' from flow.release, jsonb_array_elements(compiled -> 'leaves') leaf
         where language = 'es' and leaf ->> 'route' = 'container/overflowing/glass'",
    )
    .fetch_one(&town.database.pool)
    .await
    .unwrap();
    assert!(labels.contains("Cubo"), "{labels}");
    std::fs::remove_dir_all(folder).unwrap();
}
