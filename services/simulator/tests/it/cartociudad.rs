use serde_json::{Value, json};

use crate::support::{World, answer};

async fn ask(world: &World, method: &str, query: &[(&str, &str)]) -> (u16, Value) {
    let call = world.http.get(world.url(&format!("/cartociudad/{method}"))).query(query);
    answer(call.send().await.unwrap()).await
}

async fn addresses(world: &World, q: &str) -> Vec<String> {
    let (status, list) = ask(world, "candidates", &[("q", q)]).await;
    assert_eq!(status, 200, "{q}");
    list.as_array().unwrap().iter().map(|one| one["address"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_door_is_found_and_a_missing_number_gives_a_neighbour() {
    let world = World::new().await;
    for (q, number) in [
        ("Calle Mateo Benigno de Moraza 9", 9),
        ("pintorria 1", 1),
        ("Pintorería 2", 1),
        ("Pintorería 22", 20),
        ("Portal de Foronda 53", 53),
        ("avda gasteiz 45A", 45),
        ("C/ Dato, 12", 12),
    ] {
        let (_, list) = ask(&world, "candidates", &[("q", q), ("limit", "1")]).await;
        assert_eq!(list[0]["portalNumber"], number, "{q}");
        assert_eq!(list[0]["type"], "portal");
        assert_eq!(list[0].as_object().unwrap().len(), 22);
    }
}

#[tokio::test]
async fn the_traps_are_there() {
    let world = World::new().await;
    for q in [
        "Calle Pintorería 1, 01001",
        "Pintorería 1 Álava",
        "Pintore kalea 1",
        "Dato 12 Vitoria",
        "Calle Dato Vitoria",
        "mayor12",
    ] {
        assert_eq!(addresses(&world, q).await, Vec::<String>::new(), "{q}");
    }
    assert_eq!(addresses(&world, "Dato 1 Vitoria-Gasteiz").await.len(), 4);
    assert_eq!(addresses(&world, "0100").await.len(), 6);
    assert_eq!(addresses(&world, "Portal Foronda S-N").await.len(), 1);
    for q in ["12345678901234", "34600000001", "calle \"dato\" 1"] {
        assert_eq!(ask(&world, "candidates", &[("q", q)]).await.0, 500, "{q}");
    }
    assert_eq!(ask(&world, "candidates", &[]).await.0, 204);
    assert_eq!(ask(&world, "candidates", &[("q", "dato"), ("limit", "x")]).await.0, 404);
}

#[tokio::test]
async fn streets_have_no_coordinates_until_they_are_found_by_id() {
    let world = World::new().await;
    let (_, list) = ask(&world, "candidates", &[("q", "Aiztogile")]).await;
    assert_eq!((&list[0]["lat"], &list[0]["lng"]), (&json!(0.0), &json!(0.0)));
    let id = list[0]["id"].as_str().unwrap();
    let (_, street) = ask(&world, "find", &[("id", id), ("type", "callejero")]).await;
    assert_eq!((&street["address"], &street["tip_via"]), (&json!("CUCHILLERÍA"), &json!("CALLE")));
    assert!(street["geom"].as_str().unwrap().starts_with("LINESTRING(") && street["lat"] != 0.0);
    assert_eq!(ask(&world, "find", &[("q", "Etxeberria")]).await.0, 204);
    let (_, doors) = ask(&world, "candidates", &[("q", "Dato 12")]).await;
    let door = doors[0]["id"].as_str().unwrap();
    assert_eq!(ask(&world, "find", &[("id", door), ("type", "portal")]).await.1["portalNumber"], 12);
    assert_eq!(ask(&world, "find", &[("id", door), ("type", "callejero")]).await.0, 500);
}

#[tokio::test]
async fn filters_hold_in_candidates_only() {
    let world = World::new().await;
    let there = [("q", "Parrales 2"), ("municipio_filter", "vitoria-gasteiz")];
    assert_eq!(ask(&world, "candidates", &there).await.1, json!([]));
    assert_eq!(ask(&world, "find", &there).await.1["muniCode"], "01901");
    let skipped = [("q", "Santa María"), ("no_process", "callejero,municipio")];
    let (_, list) = ask(&world, "candidates", &skipped).await;
    assert!(list.as_array().unwrap().iter().all(|one| one["type"] == "toponimo"));
}

#[tokio::test]
async fn reverse_takes_the_nearest_door_within_reach() {
    let world = World::new().await;
    let near = [("lat", "42.8470"), ("lon", "-2.6724")];
    assert_eq!(ask(&world, "reverseGeocode", &near).await.1["address"], "MATEO BENIGNO DE MORAZA");
    for far in [[("lat", "42.8828"), ("lon", "-2.7245")], [("lat", "-2.67"), ("lon", "42.84")]] {
        assert_eq!(ask(&world, "reverseGeocode", &far).await.0, 204);
    }
    assert_eq!(ask(&world, "reverseGeocode", &[]).await.0, 204);
    assert_eq!(ask(&world, "reverseGeocode", &[("lat", "x"), ("lon", "1")]).await.0, 404);
}

#[tokio::test]
async fn each_trap_is_a_switch() {
    let world = World::new().await;
    let spring = async |trap: &str, method: &str| {
        world.fault(json!({"surface": "cartociudad", "kind": "trap", "trap": trap, "times": 1})).await;
        let query: &[(&str, &str)] = match method {
            "candidates" => &[("q", "Dato 12")],
            "find" => &[("q", "Dato 12")],
            _ => &[("lat", "42.8470"), ("lon", "-2.6724")],
        };
        let call = world.http.get(world.url(&format!("/cartociudad/{method}"))).query(query);
        let response = call.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    for method in ["candidates", "find", "reverseGeocode"] {
        assert_eq!(spring("callback", method).await, (200, "callback([])".to_owned()));
        assert!(spring("html", method).await.1.starts_with("<html>"));
        assert!(serde_json::from_str::<Value>(&spring("cut", method).await.1).is_err());
        assert_eq!(spring("no_content", method).await, (204, String::new()));
        let list = async |trap| -> Value {
            let (status, text) = spring(trap, method).await;
            assert_eq!(status, 200, "{trap}");
            serde_json::from_str(&text).unwrap()
        };
        let first = |answer: &Value| if answer.is_array() { answer[0].clone() } else { answer.clone() };
        assert_eq!(first(&list("other_town").await)["muniCode"], "17055", "{method}");
        assert_eq!(first(&list("no_coordinates").await)["lat"], 0.0, "{method}");
        assert!(first(&list("unnamed").await)["address"].as_str().unwrap().contains("-997"), "{method}");
        assert_eq!(first(&list("lying_state").await)["state"], 1, "{method}");
        assert_eq!(first(&list("other_id").await)["id"], "0105999999", "{method}");
        assert!(first(&list("old_point").await)["geom"].as_str().unwrap().starts_with("POINT ("), "{method}");
    }
    let odd: Value = serde_json::from_str(&spring("odd_types", "candidates").await.1).unwrap();
    assert_eq!((odd[0].is_string(), &odd[2]["type"]), (true, &json!("PORTAL")));
    let crossed: Value = serde_json::from_str(&spring("crossed_over", "candidates").await.1).unwrap();
    assert_eq!(crossed[0]["muni"], "Madrid");
    // Spent: the next answer is as usual.
    assert_eq!(ask(&world, "candidates", &[("q", "Dato 12")]).await.1[0]["muniCode"], "01059");
}
