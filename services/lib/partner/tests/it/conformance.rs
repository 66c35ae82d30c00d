//! What every adapter must do.

use chrono::DateTime;
use partner::list::{self, Unlisted};
use partner::{Answer, NoPass, Photos, Picture, Proof, Seen};

use crate::platform::{KINDS, LINK, List, Platform, incident, photo, photo_for};

fn answer(seen: Seen) -> (Answer, String) {
    match seen.proof {
        Proof::Answer(answer) => (answer, seen.detail),
        other => panic!("an answer was expected: {other:?}"),
    }
}

async fn create(platform: &Platform, picture: Picture) -> Seen {
    let pass = platform.partner.pass().await.unwrap();
    let prepared = platform.partner.prepare(&incident(picture));
    platform.partner.create(&pass, &prepared).await
}

#[tokio::test]
async fn a_create_is_one_request_with_the_reference_and_its_answer_has_the_id() {
    for kind in KINDS {
        let platform = Platform::start(kind).await;
        platform.creates(201, kind.accepted, &[]);
        let (answer, _) = answer(create(&platform, photo()).await);
        assert_eq!((answer.status, answer.id.as_deref()), (201, Some("R-7")), "{}", kind.name);
        let posted = platform.posted();
        assert_eq!(posted.len(), 1, "{}", kind.name);
        assert_eq!(posted[0].body.matches("REF-2026-00001").count(), 1, "{}: {}", kind.name, posted[0].body);
    }
}

#[tokio::test]
async fn an_acceptance_without_an_id_is_one_all_the_same() {
    for kind in KINDS {
        let platform = Platform::start(kind).await;
        for body in [kind.nameless, "", "<html>"] {
            platform.creates(200, body, &[]);
            let (answer, _) = answer(create(&platform, photo()).await);
            assert_eq!((answer.status, answer.id), (200, None), "{}: {body}", kind.name);
        }
        assert_eq!(platform.posted().len(), 3, "{}: nothing is sent twice", kind.name);
    }
}

#[tokio::test]
async fn a_record_that_exists_is_recognised() {
    for kind in KINDS {
        let platform = Platform::start(kind).await;
        let (status, body) = kind.exists;
        platform.creates(status, body, &[]);
        let (answer, _) = answer(create(&platform, photo()).await);
        assert!(answer.already_exists && !answer.unclear, "{}", kind.name);
    }
}

#[tokio::test]
async fn a_refusal_is_final_and_never_quoted() {
    for kind in KINDS {
        let platform = Platform::start(kind).await;
        let (status, body) = kind.refused;
        platform.creates(status, body, &[]);
        let (answer, detail) = answer(create(&platform, photo()).await);
        assert!(!answer.already_exists && !answer.unclear, "{}", kind.name);
        assert!(!detail.contains("Aitor"), "{}: {detail}", kind.name);
    }
}

#[tokio::test]
async fn redirects_are_not_followed_and_pauses_are_told() {
    for kind in KINDS {
        let platform = Platform::start(kind).await;
        platform.creates(307, "", &[("location", "/elsewhere")]);
        assert_eq!(answer(create(&platform, photo()).await).0.status, 307, "{}", kind.name);
        platform.creates(429, "", &[("retry-after", "7")]);
        let told = answer(create(&platform, photo()).await).0.retry_after;
        assert_eq!(told.map(|wait| wait.as_secs()), Some(7), "{}", kind.name);
        assert!(platform.asked().iter().all(|one| one.uri.path() != "/elsewhere"), "{}", kind.name);
    }
}

#[tokio::test]
async fn what_is_kept_of_a_request_holds_no_credentials_and_is_the_same_each_time() {
    for kind in KINDS {
        let platform = Platform::start(kind).await;
        let one = platform.partner.prepare(&incident(photo()));
        let text = String::from_utf8(one.body.to_vec()).unwrap() + &one.endpoint;
        assert!(!text.contains("pass"), "{}: {text}", kind.name);
        assert_eq!(
            one.body_sha256,
            platform.partner.prepare(&incident(photo())).body_sha256,
            "{}",
            kind.name
        );
        assert!(platform.asked().is_empty(), "{}: preparing talks to nobody", kind.name);
    }
}

#[tokio::test]
async fn a_photo_that_stays_behind_is_told_in_the_note() {
    for kind in KINDS {
        let platform = Platform::start(kind).await;
        for (picture, told) in
            [(photo(), ""), (Picture::TooLarge, "demasiado"), (Picture::Missing, "obtener")]
        {
            let body = platform.partner.prepare(&incident(picture)).body;
            let body = String::from_utf8(body.to_vec()).unwrap();
            assert!(body.contains("junto") && body.contains(told), "{}: {body}", kind.name);
            assert_eq!(
                body.contains("La+foto") || body.contains("La foto"),
                !told.is_empty(),
                "{}",
                kind.name
            );
        }
    }
}

#[tokio::test]
async fn a_photo_goes_in_the_way_in_which_the_platform_takes_it_and_in_no_other() {
    for kind in KINDS {
        let platform = Platform::start(kind).await;
        let body = |picture| {
            let prepared = platform.partner.prepare(&incident(picture));
            String::from_utf8(prepared.body.to_vec()).unwrap()
        };
        let right = photo_for(platform.partner.as_ref());
        assert!(body(right).contains(kind.pictured), "{}", kind.name);
        let wrong = match platform.partner.photos() {
            Photos::Inline => Picture::Link(LINK.to_owned()),
            Photos::Linked | Photos::Unwanted => photo(),
        };
        for none in [wrong, Picture::None, Picture::Missing, Picture::TooLarge] {
            assert!(!body(none).contains(kind.pictured), "{}", kind.name);
        }
    }
}

#[tokio::test]
async fn a_knock_makes_no_record_and_tells_what_keeps_us_out() {
    for kind in KINDS {
        let platform = Platform::start(kind).await;
        assert_eq!(platform.partner.knock().await, Ok(()), "{}", kind.name);
        platform.others(403);
        assert_eq!(platform.partner.knock().await, Err(NoPass::Refused(403)), "{}", kind.name);
        platform.others(429);
        assert_eq!(platform.partner.knock().await, Err(NoPass::Throttled(None)), "{}", kind.name);
        platform.others(503);
        let away = platform.partner.knock().await;
        assert!(matches!(away, Err(NoPass::Unavailable(_))), "{}: {away:?}", kind.name);
        assert!(platform.posted().is_empty(), "{}", kind.name);
    }
}

#[tokio::test]
async fn a_read_makes_no_record_and_fails_only_with_the_platform() {
    for kind in KINDS {
        let platform = Platform::start(kind).await;
        let pass = platform.partner.pass().await.unwrap();
        for status in [200, 302, 400, 401, 403, 404, 405, 501] {
            platform.others(status);
            assert_eq!(platform.partner.browse(&pass).await, Ok(()), "{}: {status}", kind.name);
        }
        for status in [500, 502, 503, 504] {
            platform.others(status);
            let failing = platform.partner.browse(&pass).await;
            assert!(matches!(failing, Err(NoPass::Unavailable(_))), "{}: {failing:?}", kind.name);
        }
        platform.others(429);
        assert_eq!(platform.partner.browse(&pass).await, Err(NoPass::Throttled(None)), "{}", kind.name);
        assert!(platform.posted().is_empty(), "{}", kind.name);
    }
}

#[tokio::test]
async fn only_a_platform_that_can_be_searched_says_absent() {
    use partner::Found;
    for kind in KINDS {
        let platform = Platform::start(kind).await;
        let pass = platform.partner.pass().await.unwrap();
        let find = async |body: &str| {
            platform.found(body);
            platform.partner.find(&pass, "REF-2026-00001").await
        };
        let empty = find(&kind.listed(&[])).await;
        assert_eq!(empty == Found::Absent, platform.partner.searchable(), "{}: {empty:?}", kind.name);
        assert!(matches!(find("{}").await, Found::Unclear(_)), "{}", kind.name);
        platform.others(500);
        assert!(matches!(find(&kind.listed(&[])).await, Found::Unclear(_)), "{}", kind.name);
    }
}

/// A platform may have another form of answer for those who do not say what they want.
#[tokio::test]
async fn every_request_says_in_what_it_wants_its_answer() {
    for kind in KINDS {
        let platform = Platform::start(kind).await;
        platform.creates(201, kind.accepted, &[]);
        create(&platform, photo()).await;
        platform.partner.knock().await.unwrap();
        let pass = platform.partner.pass().await.unwrap();
        platform.partner.browse(&pass).await.unwrap();
        platform.partner.find(&pass, "REF-2026-00001").await;
        let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
        platform.partner.list(&pass, at(1), at(2)).await;
        platform.partner.redeem(&pass, "T-1").await;
        let form = if kind.create.ends_with(".xml") { "application/xml" } else { "application/json" };
        for asked in platform.asked() {
            let said = asked.accept.unwrap_or_default();
            assert!(said.starts_with(form) && !said.contains("*/*"), "{}: {} {said}", kind.name, asked.uri);
        }
    }
}

#[tokio::test]
async fn a_list_shows_every_record_of_a_time_once_however_little_fits_into_an_answer() {
    for kind in KINDS {
        let platform = Platform::start(kind).await;
        let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
        let all = || list::all(platform.partner.as_ref(), at(1_000_000), at(1_000_000 + 200 * 86_400));
        let Some(List { most, record, .. }) = kind.list else {
            assert!(matches!(all().await, Err(Unlisted::Unclear(_))), "{}", kind.name);
            continue;
        };
        let count = most as i64 * 3;
        // Most of them within minutes, a few of them before and after the time that is asked for.
        let made = |n: i64| 1_000_000 + 86_400 + n;
        let shown =
            |n: i64| record.replace("CODE", &format!("REF-2026-{n:05}")).replace("ID", &n.to_string());
        let mut records: Vec<(i64, String)> = (0..count).map(|n| (made(n), shown(n))).collect();
        records.extend([(0, shown(90_000)), (900_000_000, shown(90_001))]);
        platform.records(records);
        let mut found = all().await.unwrap();
        found.sort();
        let codes: Vec<String> = found.into_iter().map(|one| one.external_code.unwrap()).collect();
        let expected: Vec<String> = (0..count).map(|n| format!("REF-2026-{n:05}")).collect();
        assert_eq!(codes, expected, "{}", kind.name);

        platform.records((0..count).map(|n| (2_000_000, shown(n))).collect());
        assert!(matches!(all().await, Err(Unlisted::Unclear(_))), "{}: more than it shows", kind.name);
        platform.others(500);
        assert_eq!(all().await, Err(Unlisted::Unclear("http 500".to_owned())), "{}", kind.name);
    }
}
