//! The guard, the memory and the chain, in front of providers that fail.

use std::sync::Arc;
use std::time::{Duration, Instant};

use geocode::cache::Cached;
use geocode::cartociudad::CartoCiudad;
use geocode::chain::Chain;
use geocode::guard::{Guarded, Limits};
use geocode::metrics::Metrics;
use geocode::nominatim::Nominatim;
use geocode::provider::{Away, Provider};
use runtime::Shell;

use crate::cartociudad::{CartoCiudad as Fake, Trap};
use crate::contract::query;
use crate::osm::Osm;

const FREE: Limits = Limits { per_second: 1000, at_once: 8, rest: Duration::from_secs(60) };

fn guarded(provider: Arc<dyn Provider>, limits: Limits) -> Arc<Guarded> {
    Arc::new(Guarded::new(provider, limits, Shell::detached("geocode").metrics(Metrics::register)))
}

fn cartociudad(url: &str, limits: Limits) -> Arc<Guarded> {
    let provider = CartoCiudad::new(url, Duration::from_secs(5), "Vitoria-Gasteiz", "01059").unwrap();
    guarded(Arc::new(provider), limits)
}

#[tokio::test]
async fn one_slow_call_delays_nobody_else_and_is_made_once() {
    let city = Fake::start().await;
    let provider = Arc::new(Cached::new(cartociudad(&city.url, FREE)));
    city.hold(Some("pintoreria"));
    let slow = query("Calle Pintoreria", Some(1));
    // One who waits, and one who gives up: that takes nothing away from the first.
    let waiting = tokio::spawn({
        let (provider, slow) = (Arc::clone(&provider), slow.clone());
        async move { provider.search(&slow).await }
    });
    let impatient = tokio::time::timeout(Duration::from_millis(50), provider.search(&slow)).await;
    assert!(impatient.is_err());
    for number in 0..20 {
        assert!(provider.search(&query("Calle Dato", Some(number))).await.is_ok());
    }
    assert!(!waiting.is_finished());
    city.hold(None);
    assert_eq!(waiting.await.unwrap().unwrap().len(), 1);
    assert_eq!(provider.search(&slow).await.unwrap().len(), 1);
    let asked = city.sent("candidates", "q");
    assert_eq!(asked.iter().filter(|q| q.contains("Pintoreria")).count(), 1, "{asked:?}");
}

#[tokio::test]
async fn what_came_too_late_for_everybody_is_there_for_who_asks_again() {
    let city = Fake::start().await;
    let provider = Cached::new(cartociudad(&city.url, FREE));
    city.hold(Some("dato"));
    let door = query("Calle Dato", Some(12));
    assert!(tokio::time::timeout(Duration::from_millis(50), provider.search(&door)).await.is_err());
    city.hold(None);
    assert_eq!(provider.search(&door).await.unwrap().len(), 1);
    assert_eq!(city.sent("candidates", "q").len(), 1);
}

#[tokio::test]
async fn calls_that_hang_fill_the_room_and_the_rest_is_told_at_once() {
    let city = Fake::start().await;
    let provider = cartociudad(&city.url, Limits { at_once: 2, ..FREE });
    city.hold(Some("dato"));
    let hanging = [12, 13].map(|number| {
        let provider = Arc::clone(&provider);
        tokio::spawn(async move { provider.search(&query("Calle Dato", Some(number))).await })
    });
    testkit::eventually("both hang", || async { (city.sent("candidates", "q").len() == 2).then_some(()) })
        .await;
    assert_eq!(provider.search(&query("Calle Pintoreria", Some(1))).await, Err(Away::Busy));
    city.hold(None);
    for call in hanging {
        assert!(call.await.unwrap().is_ok());
    }
    assert!(
        provider.search(&query("Calle Pintoreria", Some(1))).await.is_ok(),
        "busy is held against nobody"
    );
}

#[tokio::test]
async fn a_server_error_is_asked_again_once_and_nothing_else_is() {
    let city = Fake::start().await;
    let provider = cartociudad(&city.url, FREE);
    let door = query("Calle Dato", Some(12));
    city.set(Trap::OneServerError);
    assert_eq!(provider.search(&door).await.unwrap().len(), 1);
    assert_eq!(city.sent("candidates", "q").len(), 2);
    city.set(Trap::Html);
    provider.search(&door).await.unwrap_err();
    assert_eq!(city.sent("candidates", "q").len(), 3);
}

#[tokio::test]
async fn a_provider_that_fails_is_left_alone_until_one_probe_finds_it_well() {
    let city = Fake::start().await;
    let provider = cartociudad(&city.url, Limits { rest: Duration::from_millis(300), ..FREE });
    let door = query("Calle Dato", Some(12));
    city.set(Trap::Html);
    for _ in 0..6 {
        assert_eq!(provider.search(&door).await, Err(Away::Unreadable));
    }
    assert_eq!(provider.search(&door).await, Err(Away::Resting));
    assert_eq!(city.sent("candidates", "q").len(), 6, "nothing is sent while it rests");
    // The probe hangs: nobody else is sent after it.
    city.set(Trap::None);
    city.hold(Some("dato"));
    let probe = testkit::eventually("the probe goes", || async {
        let call = tokio::spawn({
            let (provider, door) = (Arc::clone(&provider), door.clone());
            async move { provider.search(&door).await }
        });
        tokio::task::yield_now().await;
        testkit::eventually("it is refused or sent", || async {
            (call.is_finished() || city.sent("candidates", "q").len() == 7).then_some(())
        })
        .await;
        (!call.is_finished()).then_some(call)
    })
    .await;
    for _ in 0..5 {
        assert_eq!(provider.search(&door).await, Err(Away::Resting));
    }
    city.hold(None);
    assert!(probe.await.unwrap().is_ok());
    assert!(provider.search(&door).await.is_ok(), "well for everybody");
    assert_eq!(city.sent("candidates", "q").len(), 8);
}

#[tokio::test]
async fn a_question_that_is_refused_is_not_held_against_the_provider() {
    let map = Osm::start().await;
    // No such path: 404 for every question.
    let provider = Nominatim::new(&format!("{}/none", map.nominatim), FREE.rest, "Vitoria-Gasteiz").unwrap();
    let provider = guarded(Arc::new(provider), FREE);
    for _ in 0..10 {
        assert_eq!(provider.search(&query("Calle Dato", None)).await, Err(Away::Status(404)));
    }
}

#[tokio::test]
async fn the_rate_is_kept_and_who_would_wait_too_long_is_told_at_once() {
    let city = Fake::start().await;
    let provider = cartociudad(&city.url, Limits { per_second: 2, ..FREE });
    let started = Instant::now();
    let calls = (1..=10).map(|number| {
        let provider = Arc::clone(&provider);
        async move { provider.search(&query("Calle Dato", Some(number))).await }
    });
    let answers = futures::future::join_all(calls).await;
    let busy = answers.iter().filter(|answer| **answer == Err(Away::Busy)).count();
    // Two at once, then one each half second for as long as anybody waits in line.
    assert!((4..=6).contains(&busy), "{busy}");
    assert_eq!(city.sent("candidates", "q").len() + busy, 10);
    assert!(started.elapsed() >= Duration::from_millis(500));
}

#[tokio::test]
async fn another_provider_stands_in_while_the_first_is_away_and_only_then() {
    let (city, map) = (Fake::start().await, Osm::start().await);
    let nominatim = Nominatim::new(&map.nominatim, Duration::from_secs(5), "Vitoria-Gasteiz").unwrap();
    let chain = Chain::new(cartociudad(&city.url, FREE), vec![guarded(Arc::new(nominatim), FREE)]);
    let who = async |street: &str| {
        let found = chain.search(&query(street, Some(12))).await.unwrap();
        found.first().map(|found| found.provider)
    };
    assert_eq!(who("Calle Dato").await, Some("cartociudad"));
    assert_eq!(who("Calle Inventada").await, None, "nothing found is an answer");
    assert_eq!(map.sent("q"), Vec::<String>::new());
    city.set(Trap::ServerError);
    assert_eq!(who("Calle Dato").await, Some("nominatim"));
    let found = chain.search(&query("Calle Dato", None)).await.unwrap();
    assert!(chain.locate(&found[0]).await.unwrap().is_some(), "only who found it is asked where it is");
    map.set(Trap::Html);
    assert_eq!(
        chain.search(&query("Calle Dato", Some(12))).await,
        Err(Away::Status(500)),
        "why the first is away"
    );
}

#[tokio::test]
async fn nothing_is_believed_only_once_the_address_was_found_in_another_way() {
    let city = Fake::start().await;
    let provider = Cached::new(cartociudad(&city.url, FREE));
    let nowhere = query("Dato kalea", Some(12));
    let asked = || city.sent("candidates", "q").len();
    for times in 1..=3 {
        assert_eq!(provider.search(&nowhere).await, Ok(Vec::new()));
        assert_eq!(asked(), times, "who asks again is asked for again");
    }
    provider.confirm_nothing(std::slice::from_ref(&nowhere)).await;
    for _ in 0..3 {
        assert_eq!(provider.search(&nowhere).await, Ok(Vec::new()));
    }
    assert_eq!(asked(), 3);
    // What failed is not nothing, whoever says so.
    city.set(Trap::Html);
    let door = query("Calle Dato", Some(12));
    assert_eq!(provider.search(&door).await, Err(Away::Unreadable));
    provider.confirm_nothing(std::slice::from_ref(&door)).await;
    city.set(Trap::None);
    assert_eq!(provider.search(&door).await.unwrap().len(), 1);
}
