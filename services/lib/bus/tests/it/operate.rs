//! The operator's hand: what is replayed comes once, at the tail, to whom its chat belongs now; what is held waits.

use bus::mailbox::{self, Claimed, Outcome};
use bus::operate::rejected::Resolution;
use bus::operate::{Act, Filter, dead, operations, rejected};
use runtime::database::with_tx;
use uuid::Uuid;

use crate::support::{CHANNEL, World, by_both, by_phone, by_user, messages, settlement, world};

const ACT: Act<'static> = Act { by: "ane", because: "mended" };

/// Gives up the first event of a loan, as conversation does.
async fn give_up(world: &World, loan: Claimed) {
    with_tx(&world.pool, loan, |tx, loan| {
        Box::pin(async move {
            mailbox::settle(tx, &settlement(loan, 1, Outcome::Done)).await?;
            mailbox::bury(tx, loan.chat_id, &loan.events[0], 5, "refused", "conversation").await
        })
    })
    .await
    .unwrap();
}

/// A chat with `count` messages of which the first is dead. Returns the chat and the dead event's activity id.
async fn with_dead(world: &World, phone: &str, count: usize) -> (Uuid, Uuid) {
    let chat = world.chat_with(phone, count).await;
    give_up(world, world.claim_one(1).await).await;
    let mut on = world.pool.acquire().await.unwrap();
    let listed = dead::list(&mut on, &Filter { limit: 10, ..Filter::default() }).await.unwrap();
    (chat, listed.iter().find(|one| one.chat_id == chat).unwrap().activity_id)
}

#[tokio::test]
async fn a_replay_comes_once_and_at_the_tail_and_the_original_stays_dead() {
    let world = world().await;
    let (chat, id) = with_dead(&world, "34600000001", 3).await;
    let mut on = world.pool.acquire().await.unwrap();
    assert_eq!(dead::replay(&mut on, id, ACT).await.unwrap(), Some(4));
    assert_eq!(dead::replay(&mut on, id, ACT).await.unwrap(), None, "a repeat does nothing");
    assert!(!dead::discard(&mut on, id, ACT).await.unwrap());
    let loan = world.claim_one(10).await;
    assert_eq!(messages(&loan), ["34600000001-2", "34600000001-3", "34600000001-1"]);
    assert!(loan.events[2].received_at > loan.events[1].received_at, "time follows sequence");
    world.settle(&loan, 3, Outcome::Done).await.unwrap();
    assert_eq!(world.mailbox(chat).await.done_seq, 4);
    let dead = "select count(*) from inbound.event_state where state = 'dead' and seq = 1";
    assert_eq!(world.db.count(dead).await, 1);
    let linked = "select count(*) from inbound.event e join inbound.dead d on e.replay_of = d.activity_id \
                  where e.seq = 4 and d.replay_seq = 4 and d.replayed_by = 'ane'";
    assert_eq!(world.db.count(linked).await, 1);
    let done = operations(&mut on, id).await.unwrap();
    assert_eq!(done.len(), 1);
    assert_eq!(
        (done[0].by.as_str(), done[0].act.as_str(), done[0].because.as_str()),
        ("ane", "dead_replay", "mended")
    );
    assert!(dead::list(&mut on, &Filter { limit: 10, ..Filter::default() }).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_replay_by_two_at_once_comes_once() {
    let world = world().await;
    let (_, id) = with_dead(&world, "34600000001", 1).await;
    let replays: Vec<_> = (0..6)
        .map(|_| {
            let pool = world.pool.clone();
            tokio::spawn(async move {
                let mut on = pool.acquire().await.unwrap();
                dead::replay(&mut on, id, ACT).await
            })
        })
        .collect();
    let mut placed = 0;
    for replay in replays {
        // Who loses finds nothing, or is told that somebody else is at it.
        placed += usize::from(matches!(replay.await.unwrap(), Ok(Some(_))));
    }
    assert_eq!(placed, 1);
    assert_eq!(world.db.count("select count(*) from inbound.event").await, 2);
    assert_eq!(
        world.db.count("select count(*) from chat.chat where next_seq = 3").await,
        1,
        "without a hole"
    );
}

#[tokio::test]
async fn a_replay_wakes_a_chat_at_rest_and_cuts_no_backoff_short() {
    let world = world().await;
    let (chat, id) = with_dead(&world, "34600000001", 1).await;
    assert!(!world.mailbox(chat).await.scheduled);
    let mut on = world.pool.acquire().await.unwrap();
    dead::replay(&mut on, id, ACT).await.unwrap();
    assert!(world.mailbox(chat).await.ready);
    let (chat, id) = with_dead_of_two(&world).await;
    world
        .settle(&claim_of(&world, chat).await, 0, Outcome::Defer(std::time::Duration::from_secs(60)))
        .await
        .unwrap();
    dead::replay(&mut on, id, ACT).await.unwrap();
    let row = world.mailbox(chat).await;
    assert!(row.scheduled && !row.ready);
}

async fn with_dead_of_two(world: &World) -> (Uuid, Uuid) {
    let chat = world.chat_with("34600000002", 2).await;
    give_up(world, claim_of(world, chat).await).await;
    let id = sqlx::query_scalar("select activity_id from inbound.dead where chat_id = $1")
        .bind(chat)
        .fetch_one(&world.pool)
        .await
        .unwrap();
    (chat, id)
}

async fn claim_of(world: &World, chat: Uuid) -> Claimed {
    world.claim(10, 1).await.into_iter().find(|loan| loan.chat_id == chat).unwrap()
}

#[tokio::test]
async fn a_replay_follows_its_person_to_the_chat_they_have_now() {
    let world = world().await;
    let (old, id) = with_dead(&world, "34600000001", 1).await;
    world.append(vec![by_user("ES.1", "u")]).await;
    world.append(vec![by_both("ES.1", "34600000001", "both")]).await;
    let home = world.chat_of("u").await;
    assert_eq!(world.mailbox(old).await.merged_into, Some(home));
    let mut on = world.pool.acquire().await.unwrap();
    assert_eq!(dead::replay(&mut on, id, ACT).await.unwrap(), Some(3));
    assert_eq!(messages(&world.claim_one(10).await), ["u", "both", "34600000001-1"]);
    assert_eq!(world.mailbox(old).await.next_seq, 2, "a retired chat gets nothing");
}

#[tokio::test]
async fn a_dead_event_stops_its_chat_only_where_that_is_wanted() {
    let world = world().await;
    let (chat, _) = with_dead(&world, "34600000001", 2).await;
    assert!(world.mailbox(chat).await.ready, "by default the chat goes on");
    world.settle(&world.claim_one(10).await, 1, Outcome::Done).await.unwrap();

    let mut on = world.pool.acquire().await.unwrap();
    assert!(dead::hold_on_dead(&mut on, CHANNEL, true, ACT).await.unwrap());
    assert!(!dead::hold_on_dead(&mut on, CHANNEL, true, ACT).await.unwrap(), "it was so before");
    for discarded in [false, true] {
        let phone = if discarded { "34600000003" } else { "34600000002" };
        let (chat, id) = with_dead(&world, phone, 2).await;
        assert!(!world.mailbox(chat).await.scheduled, "the rest waits");
        world.append(vec![by_phone(phone, &format!("{phone}-late"))]).await;
        assert!(world.claim(10, 10).await.is_empty());
        if discarded {
            assert!(dead::discard(&mut on, id, ACT).await.unwrap());
        } else {
            assert_eq!(dead::replay(&mut on, id, ACT).await.unwrap(), Some(4));
        }
        let loan = world.claim_one(10).await;
        assert_eq!((loan.chat_id, loan.events.len()), (chat, if discarded { 2 } else { 3 }));
        world.settle(&loan, loan.events.len(), Outcome::Done).await.unwrap();
    }
    assert!(dead::hold_on_dead(&mut on, CHANNEL, false, ACT).await.unwrap());
    let (chat, _) = with_dead(&world, "34600000004", 2).await;
    assert!(world.mailbox(chat).await.ready);
}

#[tokio::test]
async fn a_rejection_is_dealt_with_once_and_stays_to_be_seen() {
    let world = world().await;
    world.append(vec![by_phone("34600000001", "nul \0 in the id")]).await;
    let mut on = world.pool.acquire().await.unwrap();
    let all = Filter { resolved: true, limit: 10, ..Filter::default() };
    let open = Filter { resolved: false, ..all.clone() };
    let found = rejected::list(&mut on, &open).await.unwrap();
    assert_eq!(found[0].reason, "refused_by_database");
    assert!(rejected::resolve(&mut on, found[0].id, Resolution::Discarded, ACT).await.unwrap());
    assert!(!rejected::resolve(&mut on, found[0].id, Resolution::Replayed, ACT).await.unwrap());
    assert!(rejected::list(&mut on, &open).await.unwrap().is_empty());
    let seen = rejected::list(&mut on, &all).await.unwrap();
    assert_eq!(seen[0].resolution.as_deref(), Some("discarded"));
    let done = operations(&mut on, found[0].id).await.unwrap();
    assert_eq!(done[0].act, "rejection_discarded");
    let other = Filter { about: Some("unparsable".to_owned()), ..all };
    assert!(rejected::list(&mut on, &other).await.unwrap().is_empty());
}
