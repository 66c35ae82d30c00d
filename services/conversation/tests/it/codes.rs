//! Every row of the provider's error table, as a fault of the simulator, through the whole sender.

use serde_json::json;

use crate::support::World;

/// Each with the HTTP status that the provider's table gives it.
type Codes = &'static [(i64, u16)];

/// A person must act: the channel pauses, and goes on once its number can be read.
const PAUSING: Codes = &[
    (0, 401),
    (190, 401),
    (3, 500),
    (10, 403),
    (200, 403),
    (299, 403),
    (33, 400),
    (368, 403),
    (131_005, 403),
    (131_031, 403),
    (131_037, 400),
    (131_042, 400),
    (131_045, 500),
    (131_048, 400),
    (131_064, 400),
    (133_005, 400),
    (133_006, 400),
    (133_008, 400),
    (133_009, 400),
    (133_010, 400),
    (133_015, 400),
    (133_016, 400),
];
/// It passes: the reply goes at another attempt.
const PASSING: Codes = &[
    (1, 400),
    (131_000, 500),
    (2, 503),
    (131_016, 500),
    (131_057, 500),
    (133_000, 500),
    (133_004, 503),
    (4, 400),
    (4, 429),
    (613, 400),
    (80_007, 400),
    (80_007, 429),
    (130_429, 400),
    (130_429, 429),
    (131_056, 400),
    (999_999, 500),
];
/// This message can never be sent: dropped with its reason, and the next one goes.
const HOPELESS: Codes = &[
    (100, 400),
    (130_472, 400),
    (130_497, 403),
    (131_008, 400),
    (131_009, 400),
    (131_021, 400),
    (131_026, 400),
    (131_030, 400),
    (131_047, 400),
    (131_049, 400),
    (131_050, 400),
    (131_051, 400),
    (131_052, 400),
    (131_053, 400),
    (131_062, 400),
    (131_063, 400),
    (132_000, 400),
    (132_001, 404),
    (132_005, 400),
    (132_007, 400),
    (132_008, 400),
    (132_012, 400),
    (132_015, 400),
    (132_016, 400),
    (135_000, 400),
    (137_000, 400),
    (139_000, 400),
    (999_999, 400),
];

/// Somebody writes, and the first reply meets this refusal.
async fn refused<'w>(
    world: &'w World,
    number: usize,
    (code, status): (i64, u16),
) -> crate::citizen::Citizen<'w> {
    let citizen = world.citizen(&format!("346010{number:05}")).await;
    world
        .fault(json!({"surface": "meta.messages", "kind": "meta_error", "code": code, "status": status,
                      "retry_after": u8::from(code == 131_056), "times": 1}))
        .await;
    citizen.say("Hola").await;
    citizen
}

#[tokio::test]
async fn what_a_person_must_put_right_pauses_the_channel_and_loses_nothing() {
    let world = World::new().await;
    let _service = world.serve().await;
    for (number, &(code, status)) in PAUSING.iter().enumerate() {
        let probed = world.calls("meta.other").await;
        let citizen = refused(&world, number, (code, status)).await;
        assert_eq!(citizen.hears().await["kind"], "button", "{code}");
        assert_eq!(world.calls("meta.messages").await, 2 * (number + 1), "{code} is one call more");
        assert!(world.calls("meta.other").await > probed, "{code}: the number was read first");
    }
    world.at_rest().await;
    assert_eq!(
        world.value::<i64>("select count(*) from chat.outbound where outcome is distinct from 'sent'").await,
        0
    );
}

#[tokio::test]
async fn what_passes_is_sent_at_another_attempt_and_pauses_nothing() {
    let world = World::new().await;
    let _service = world.serve().await;
    for (number, &(code, status)) in PASSING.iter().enumerate() {
        let citizen = refused(&world, number, (code, status)).await;
        assert_eq!(citizen.hears().await["kind"], "button", "{code}");
        assert_eq!(world.calls("meta.messages").await, 2 * (number + 1), "{code} is one call more");
    }
    world.at_rest().await;
    assert_eq!(world.calls("meta.other").await, 0, "nothing was paused");
}

#[tokio::test]
async fn what_can_never_be_sent_is_dropped_with_its_reason_and_the_next_reply_goes() {
    let world = World::new().await;
    let _service = world.serve().await;
    for (number, &(code, status)) in HOPELESS.iter().enumerate() {
        let citizen = refused(&world, number, (code, status)).await;
        testkit::eventually("the reply is dropped", async || {
            let dropped = "select error from chat.outbound where outcome = 'dropped' order by outcome_at";
            let reasons: Vec<String> = world.values(dropped).await;
            let last = reasons.get(number)?;
            assert!(last.contains(&format!("code {code},")), "{code}: {last}");
            Some(())
        })
        .await;
        citizen.say("ayuda").await;
        assert_eq!(citizen.hears().await["kind"], "button", "{code}");
        assert_eq!(world.calls("meta.messages").await, 2 * (number + 1), "{code} is tried once");
    }
    world.at_rest().await;
    assert_eq!(world.calls("meta.other").await, 0, "nothing was paused");
}
