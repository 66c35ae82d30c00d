//! What every adapter must do.

use partner::{Answer, NoPass, Picture, Proof, Seen};

use crate::platform::{KINDS, Platform, incident, photo};

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
async fn only_a_platform_that_can_be_searched_says_absent() {
    use partner::Found;
    for kind in KINDS {
        let platform = Platform::start(kind).await;
        let pass = platform.partner.pass().await.unwrap();
        let find = async |body: &str| {
            platform.found(body);
            platform.partner.find(&pass, "REF-2026-00001").await
        };
        let empty = find("[]").await;
        assert_eq!(empty == Found::Absent, platform.partner.searchable(), "{}: {empty:?}", kind.name);
        assert!(matches!(find("{}").await, Found::Unclear(_)), "{}", kind.name);
        platform.others(500);
        assert!(matches!(find("[]").await, Found::Unclear(_)), "{}", kind.name);
    }
}
