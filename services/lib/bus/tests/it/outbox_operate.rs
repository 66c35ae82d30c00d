//! What a person does to a report by hand meets no worker half way and is kept with who and why.

use std::time::Duration;

use bus::Lease;
use bus::operate::Act;
use bus::outbox::operate::{self, Acted};
use bus::outbox::{self, Claim};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::support::{CHANNEL, World, world};

const REFERENCE: &str = "REF-2026-00001";
const ACT: Act<'static> = Act { by: "ane", because: "asked them" };

fn acted(push_state: &str, under_way: bool, done: bool) -> Option<Acted> {
    Some(Acted { push_state: push_state.to_owned(), under_way, done })
}

async fn owner(world: &World) -> PgConnection {
    world.connect().await
}

#[tokio::test]
async fn what_a_worker_holds_or_may_have_sent_just_now_is_left_alone() {
    let world = world().await;
    let report = world.received(REFERENCE).await;
    let mut on = owner(&world).await;
    let due = Claim {
        channel: CHANNEL,
        owner: Uuid::now_v7(),
        limit: 1,
        lease: Lease { length: Duration::from_secs(60) },
        photo_wait: Duration::ZERO,
        allowed: false,
        unrefused: false,
    };
    assert_eq!(outbox::claim(&world.pool, &due).await.unwrap().len(), 1);
    let held = acted("pending", true, false);
    assert_eq!(operate::discard(&mut on, REFERENCE, ACT).await.unwrap(), held);
    assert_eq!(operate::resolve_as_sent(&mut on, REFERENCE, "7", true, ACT).await.unwrap(), held);
    assert_eq!(operate::resend(&mut on, REFERENCE, false, true, ACT).await.unwrap(), held);
    world
        .run(
            "insert into report.push_attempt (id, report_id, epoch, endpoint, external_code, body_sha256)
             select gen_random_uuid(), id, 1, 'http://x', reference, '' from report.report",
        )
        .await;
    world.run("update report.report set push_state = 'review', push_owner = null").await;
    let sent = acted("review", true, false);
    assert_eq!(operate::discard(&mut on, REFERENCE, ACT).await.unwrap(), sent);
    assert_eq!(operate::resolve_as_sent(&mut on, REFERENCE, "7", true, ACT).await.unwrap(), sent);
    assert_eq!(operate::resend(&mut on, REFERENCE, false, true, ACT).await.unwrap(), sent);
    assert_eq!(world.push_of(report).await.0, "review");
    assert_eq!(world.db.count("select count(*) from report.push_act").await, 0);
    world.run("update report.push_attempt set opened_at = now() - interval '1 hour'").await;
    let done = acted("review", false, true);
    assert_eq!(operate::resend(&mut on, REFERENCE, false, false, ACT).await.unwrap(), done);
    let closed =
        "select count(*) from report.push_attempt where outcome = 'absent' and closed_at is not null";
    assert_eq!(world.db.count(closed).await, 1, "no worker takes it for one of unknown end");
}

#[tokio::test]
async fn each_act_is_possible_from_its_states_only_and_fences_whoever_had_it() {
    let world = world().await;
    let report = world.received(REFERENCE).await;
    let mut on = owner(&world).await;
    for (from, discard, sent, resend, forced) in [
        ("pending", "dead", "sent", "pending", "pending"),
        ("review", "dead", "sent", "pending", "pending"),
        ("dead", "dead", "sent", "pending", "pending"),
        ("sent", "sent", "sent", "sent", "pending"),
    ] {
        let put = async || {
            sqlx::query("update report.report set push_state = $1, push_attempts = 3, push_epoch = 5, partner_id = null")
                .bind(from)
                .execute(&world.pool)
                .await
                .unwrap();
        };
        // The state it is in afterwards, and that its epoch is another one exactly when something was done.
        let check = async |said: Option<Acted>, to: &str| {
            let epoch: i64 = sqlx::query_scalar("select push_epoch from report.report where id = $1")
                .bind(report)
                .fetch_one(&world.pool)
                .await
                .unwrap();
            let said = said.unwrap();
            assert_eq!(said.push_state, from);
            assert_eq!(said.done, epoch == 6, "{from} to {to}");
            assert_eq!(world.push_of(report).await.0, to, "from {from}");
        };
        put().await;
        check(operate::discard(&mut on, REFERENCE, ACT).await.unwrap(), discard).await;
        put().await;
        check(operate::resolve_as_sent(&mut on, REFERENCE, "7", false, ACT).await.unwrap(), sent).await;
        put().await;
        check(operate::resend(&mut on, REFERENCE, false, false, ACT).await.unwrap(), resend).await;
        put().await;
        check(operate::resend(&mut on, REFERENCE, true, true, ACT).await.unwrap(), forced).await;
    }
    assert_eq!(operate::discard(&mut on, "REF-2026-99999", ACT).await.unwrap(), None);
    let kept: Vec<(String, i64)> = sqlx::query_as(
        "select act, count(*) from report.push_act where by = 'ane' and because = 'asked them' group by act order by act",
    )
    .fetch_all(&world.pool)
    .await
    .unwrap();
    let kept: Vec<(&str, i64)> = kept.iter().map(|(act, count)| (act.as_str(), *count)).collect();
    assert_eq!(kept, [("discard", 2), ("resend", 5), ("resolve_sent", 3)]);
}
