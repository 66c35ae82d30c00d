//! The gate on real PostGIS.

use geocode::coverage::{cover, covers};
use geocode::{Error, Point};

use crate::area;

fn point(latitude: f64, longitude: f64) -> Point {
    Point::new(latitude, longitude).unwrap()
}

/// Places in the city.
const INSIDE: [(f64, f64); 6] = [
    (42.8467, -2.6727),
    (42.84701, -2.67246),
    (42.84745, -2.670_354),
    (42.86508, -2.68752),
    (42.8347, -2.6926),
    (42.8828, -2.7245),
];
/// Treviño, swapped axes, and nothing at all.
const OUTSIDE: [(f64, f64); 3] = [(42.7353, -2.7443), (-2.67, 42.85), (0.0, 0.0)];

#[tokio::test]
async fn the_city_is_inside_and_the_rest_of_the_world_is_not() {
    let database = testkit::database().await;
    area::load_vitoria(&database).await;
    for (latitude, longitude) in INSIDE {
        let covered = covers(&database.pool, point(latitude, longitude)).await.unwrap();
        assert_eq!(covered.outside_by, None, "{latitude} {longitude}");
        assert_eq!((covered.area.id.as_str(), covered.area.version), ("vitoria-gasteiz", 1));
    }
    for (latitude, longitude) in OUTSIDE {
        let covered = covers(&database.pool, point(latitude, longitude)).await.unwrap();
        assert!(covered.outside_by.unwrap() > 1_000.0, "{latitude} {longitude}");
    }
    let all: Vec<Point> = INSIDE.iter().chain(&OUTSIDE).map(|(north, east)| point(*north, *east)).collect();
    let areas = cover(&database.pool, &all).await.unwrap();
    let inside: Vec<bool> = areas.iter().map(Option::is_some).collect();
    assert_eq!(inside, [true, true, true, true, true, true, false, false, false]);
}

#[tokio::test]
async fn the_border_is_inside_and_a_hole_is_outside() {
    let database = testkit::database().await;
    // Two parts, one with a hole.
    let shape = "MULTIPOLYGON(((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 1 3, 3 3, 3 1, 1 1)), ((10 0, 11 0, 11 1, 10 1, 10 0)))";
    area::load(&database, "parts", 1, shape).await;
    for (latitude, longitude, inside) in [
        (0.5, 0.5, true),
        (0.5, 10.5, true),
        (0.0, 2.0, true),
        (4.0, 4.0, true),
        (1.0, 2.0, true),
        (2.0, 2.0, false),
        (0.5, 7.0, false),
    ] {
        let covered = covers(&database.pool, point(latitude, longitude)).await.unwrap();
        assert_eq!(covered.outside_by.is_none(), inside, "{latitude} {longitude}");
    }
    let hole = covers(&database.pool, point(2.0, 2.0)).await.unwrap().outside_by.unwrap();
    assert!((110_000.0..112_000.0).contains(&hole), "a degree is some 111 km: {hole}");
}

/// A star of many vertices with a square hole, so that it is cut into many pieces.
fn star(vertices: u32) -> (String, Vec<(f64, f64)>) {
    let ring: Vec<(f64, f64)> = (0..vertices)
        .map(|n| {
            let angle = f64::from(n) * std::f64::consts::TAU / f64::from(vertices);
            let radius = if n % 2 == 0 { 0.1 } else { 0.08 };
            (42.85 + radius * angle.sin(), -2.67 + radius * angle.cos())
        })
        .collect();
    let text = |(latitude, longitude): &(f64, f64)| format!("{longitude} {latitude}");
    let outer: Vec<String> = ring.iter().chain(ring.first()).map(text).collect();
    let hole = "-2.68 42.84, -2.68 42.86, -2.66 42.86, -2.66 42.84, -2.68 42.84";
    (format!("MULTIPOLYGON((({}), ({hole})))", outer.join(", ")), ring)
}

#[tokio::test]
async fn the_pieces_decide_as_the_whole_does_at_every_vertex_edge_and_cut() {
    let database = testkit::database().await;
    let (shape, ring) = star(2000);
    area::load(&database, "star", 1, &shape).await;
    assert!(database.count("select count(*) from geo.area_part").await > 10);
    let border = ring.iter().copied().chain(ring.windows(2).map(|edge| middle(edge[0], edge[1])));
    let border: Vec<Point> = border.map(|(north, east)| point(north, east)).collect();
    let covered = cover(&database.pool, &border).await.unwrap();
    assert_eq!(covered.iter().filter(|area| area.is_none()).count(), 0, "vertices and edges are inside");
    let grid = (0..900).map(|n| (42.74 + f64::from(n % 30) * 0.0073, -2.78 + f64::from(n / 30) * 0.0073));
    let hole = [(42.84, -2.68), (42.85, -2.68), (42.86, -2.67), (42.85, -2.67), (42.8599, -2.6601)];
    let points: Vec<Point> = grid.chain(hole).map(|(north, east)| point(north, east)).collect();
    let pieces: Vec<bool> =
        cover(&database.pool, &points).await.unwrap().iter().map(Option::is_some).collect();
    let (north, east): (Vec<f64>, Vec<f64>) = points.iter().map(|p| (p.latitude, p.longitude)).unzip();
    let whole: Vec<bool> = sqlx::query_scalar(
        "select st_covers(shape, st_setsrid(st_makepoint(east, north), 4326))
         from geo.service_area, unnest($1::float8[], $2::float8[]) with ordinality as p (north, east, n)
         order by n",
    )
    .bind(&north)
    .bind(&east)
    .fetch_all(&database.pool)
    .await
    .unwrap();
    assert_eq!(pieces, whole);
    assert_eq!(
        whole[900..],
        [true, true, true, false, false],
        "the edge of a hole is inside, its middle is not"
    );
    for (latitude, longitude) in [(42.85, -2.67), (42.7, -2.67)] {
        let by = covers(&database.pool, point(latitude, longitude)).await.unwrap().outside_by.unwrap();
        let whole: f64 = sqlx::query_scalar(
            "select st_distance(shape::geography, st_setsrid(st_makepoint($2, $1), 4326)::geography)
             from geo.service_area",
        )
        .bind(latitude)
        .bind(longitude)
        .fetch_one(&database.pool)
        .await
        .unwrap();
        assert!((by - whole).abs() < 0.5, "{by} {whole}");
    }
}

fn middle(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (f64::midpoint(a.0, b.0), f64::midpoint(a.1, b.1))
}

#[tokio::test]
async fn a_new_version_decides_at_once_and_the_nearest_area_is_named() {
    let database = testkit::database().await;
    area::load(&database, "west", 1, "MULTIPOLYGON(((0 0, 1 0, 1 1, 0 1, 0 0)))").await;
    area::load(&database, "east", 1, "MULTIPOLYGON(((5 0, 6 0, 6 1, 5 1, 5 0)))").await;
    let covered = covers(&database.pool, point(0.5, 2.0)).await.unwrap();
    assert_eq!((covered.area.id.as_str(), covered.outside_by.is_some()), ("west", true));
    area::load(&database, "west", 2, "MULTIPOLYGON(((0 0, 3 0, 3 1, 0 1, 0 0)))").await;
    let covered = covers(&database.pool, point(0.5, 2.0)).await.unwrap();
    assert_eq!((covered.area.version, covered.outside_by), (2, None));
    // A version that shrinks takes the point away again, although an older one had it.
    area::load(&database, "west", 3, "MULTIPOLYGON(((0 0, 1 0, 1 1, 0 1, 0 0)))").await;
    assert!(covers(&database.pool, point(0.5, 2.0)).await.unwrap().outside_by.is_some());
    assert_eq!(cover(&database.pool, &[point(0.5, 2.0)]).await.unwrap(), [None]);
}

#[tokio::test]
async fn without_an_area_there_is_no_decision() {
    let database = testkit::database().await;
    let here = point(42.8467, -2.6727);
    assert!(matches!(covers(&database.pool, here).await, Err(Error::NoArea)));
    assert!(matches!(cover(&database.pool, &[here]).await, Err(Error::NoArea)));
    assert_eq!(cover(&database.pool, &[]).await.unwrap(), []);
}

#[tokio::test]
async fn ten_thousand_points_are_decided_against_a_short_and_a_long_border() {
    let database = testkit::database().await;
    for vertices in [40, 20_000] {
        let (shape, _) = star(vertices);
        area::load(&database, "star", i32::try_from(vertices).unwrap(), &shape).await;
        let grid =
            (0..10_000).map(|n| (42.74 + f64::from(n % 100) * 0.0022, -2.78 + f64::from(n / 100) * 0.0022));
        let points: Vec<Point> = grid.map(|(north, east)| point(north, east)).collect();
        let areas = cover(&database.pool, &points).await.unwrap();
        assert!(areas.iter().any(Option::is_some) && areas.iter().any(Option::is_none));
        assert_eq!(areas.len(), points.len());
    }
}
