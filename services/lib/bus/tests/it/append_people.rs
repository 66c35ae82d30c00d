//! One person, two identities: a chat is found by phone or business-scoped id, and two people never share one.

use bus::mailbox::Outcome;
use testkit::eventually;

use crate::support::{World, append_held, by_both, by_phone, by_user, delivery, world};

const PHONE: &str = "34600000001";

/// How many chats have aliases of more than one business-scoped id.
async fn shared_chats(world: &World) -> i64 {
    world
        .db
        .count(
            "select count(*) from (select from chat.alias where kind = 'user_id' group by chat_id having count(*) > 1) x",
        )
        .await
}

#[tokio::test]
async fn a_first_contact_twice_at_once_is_one_chat_and_no_message_is_lost() {
    let world = world().await;
    let mut other = world.connect().await;
    let held = append_held(&mut other, &by_phone(PHONE, "a")).await;
    let appender = world.appender.clone();
    let call = tokio::spawn(async move { appender.append(delivery(vec![by_phone(PHONE, "b")])).await });
    world.someone_waits().await;
    held.commit().await.unwrap();
    assert_eq!(call.await.unwrap().unwrap().created.len(), 1);
    let (chat, first) = world.place_of("a").await;
    assert_eq!((first, world.place_of("b").await), (1, (chat, 2)));
}

#[tokio::test]
async fn a_phone_that_turns_out_to_have_an_id_keeps_its_chat() {
    let world = world().await;
    world.append(vec![by_phone(PHONE, "a")]).await;
    world.append(vec![by_both("ES.1", PHONE, "b")]).await;
    world.append(vec![by_user("ES.1", "c")]).await;
    let (chat, _) = world.place_of("a").await;
    assert_eq!(world.place_of("b").await, (chat, 2));
    assert_eq!(world.place_of("c").await, (chat, 3));
}

#[tokio::test]
async fn in_one_delivery_the_message_that_names_both_joins_the_others() {
    let world = world().await;
    world.append(vec![by_phone(PHONE, "a"), by_user("ES.1", "b"), by_both("ES.1", PHONE, "c")]).await;
    let (chat, _) = world.place_of("a").await;
    assert_eq!(world.place_of("b").await, (chat, 2));
    assert_eq!(world.place_of("c").await, (chat, 3));
}

#[tokio::test]
async fn two_new_phones_of_one_id_in_one_delivery_are_one_chat() {
    let world = world().await;
    world.append(vec![by_both("ES.1", PHONE, "a"), by_both("ES.1", "34600000002", "b")]).await;
    world.append(vec![by_phone("34600000002", "c")]).await;
    let (chat, _) = world.place_of("a").await;
    assert_eq!(world.place_of("b").await, (chat, 2));
    assert_eq!(world.place_of("c").await, (chat, 3));
}

#[tokio::test]
async fn an_id_that_names_a_known_phone_goes_on_in_its_chat_whatever_else_it_names() {
    let world = world().await;
    world.append(vec![by_phone(PHONE, "a")]).await;
    world.append(vec![by_both("ES.1", "34600000002", "b"), by_both("ES.1", PHONE, "c")]).await;
    let (chat, _) = world.place_of("a").await;
    assert_eq!(world.place_of("b").await, (chat, 2));
    assert_eq!(world.place_of("c").await, (chat, 3));
}

#[tokio::test]
async fn a_chat_at_rest_is_retired_when_its_phone_belongs_to_another() {
    let world = world().await;
    let leaves = world.chat_with(PHONE, 1).await;
    world.settle(&world.claim_one(10).await, 1, Outcome::Done).await.unwrap();
    world.append(vec![by_user("ES.1", "u1")]).await;
    let stays = world.chat_of("u1").await;
    let epoch = world.mailbox(leaves).await.epoch;
    world.append(vec![by_both("ES.1", PHONE, "u2")]).await;
    world.append(vec![by_phone(PHONE, "u3")]).await;
    assert_eq!(world.place_of("u2").await, (stays, 2));
    assert_eq!(world.place_of("u3").await, (stays, 3));
    let retired = world.mailbox(leaves).await;
    assert_eq!((retired.merged_into, retired.epoch, retired.scheduled), (Some(stays), epoch + 1, false));
}

#[tokio::test]
async fn a_chat_with_work_left_is_not_retired_until_it_is_done() {
    let world = world().await;
    let leaves = world.chat_with(PHONE, 1).await;
    world.append(vec![by_user("ES.1", "u1")]).await;
    let stays = world.chat_of("u1").await;
    world.append(vec![by_both("ES.1", PHONE, "pending")]).await;
    assert_eq!(world.mailbox(leaves).await.merged_into, None, "an event is pending");
    let loans = world.claim(10, 10).await;
    world.append(vec![by_both("ES.1", PHONE, "leased")]).await;
    assert_eq!(world.mailbox(leaves).await.merged_into, None, "a worker has it");
    let loan = loans.iter().find(|loan| loan.chat_id == leaves).unwrap();
    world.settle(loan, 1, Outcome::Done).await.unwrap();
    sqlx::query("insert into chat.session (chat_id, step, state) values ($1, 'awaiting_location', '{}')")
        .bind(leaves)
        .execute(&world.pool)
        .await
        .unwrap();
    world.append(vec![by_both("ES.1", PHONE, "in a dialogue")]).await;
    assert_eq!(world.mailbox(leaves).await.merged_into, None, "its person is in the middle of something");
    world.run("update chat.session set step = 'idle'").await;
    world.append(vec![by_both("ES.1", PHONE, "at rest")]).await;
    assert_eq!(world.mailbox(leaves).await.merged_into, Some(stays));
    assert_eq!(world.place_of("at rest").await.0, stays, "what names both always goes to the id's chat");
}

#[tokio::test]
async fn an_append_that_found_a_chat_before_it_was_retired_goes_to_its_heir() {
    let world = world().await;
    let leaves = world.chat_with(PHONE, 1).await;
    world.settle(&world.claim_one(10).await, 1, Outcome::Done).await.unwrap();
    world.append(vec![by_user("ES.1", "u1")]).await;
    let stays = world.chat_of("u1").await;
    let mut other = world.connect().await;
    let held = append_held(&mut other, &by_both("ES.1", PHONE, "u2")).await;
    let appender = world.appender.clone();
    let call = tokio::spawn(async move { appender.append(delivery(vec![by_phone(PHONE, "late")])).await });
    world.someone_waits().await;
    held.commit().await.unwrap();
    call.await.unwrap().unwrap();
    assert_eq!(world.mailbox(leaves).await.next_seq, 2, "nothing lands in a retired chat");
    assert_eq!(world.place_of("late").await, (stays, 3));
}

#[tokio::test]
async fn a_recycled_number_goes_to_its_new_owner_and_the_chat_stays_with_the_old_one() {
    let world = world().await;
    world.append(vec![by_both("ES.old", PHONE, "a")]).await;
    let old = world.chat_of("a").await;
    world.append(vec![by_both("ES.new", PHONE, "b")]).await;
    let new = world.chat_of("b").await;
    assert_ne!(old, new);
    world.append(vec![by_phone(PHONE, "c"), by_user("ES.old", "d")]).await;
    assert_eq!(world.chat_of("c").await, new);
    assert_eq!(world.chat_of("d").await, old);
    assert_eq!(world.mailbox(old).await.merged_into, None);
}

#[tokio::test]
async fn two_ids_that_name_one_known_phone_in_one_delivery_do_not_share_its_chat() {
    let world = world().await;
    world.append(vec![by_phone(PHONE, "a")]).await;
    world.append(vec![by_both("ES.1", PHONE, "b"), by_both("ES.2", PHONE, "c")]).await;
    assert_eq!(world.chat_of("b").await, world.chat_of("a").await);
    assert_ne!(world.chat_of("c").await, world.chat_of("a").await);
    assert_eq!(shared_chats(&world).await, 0);
}

#[tokio::test]
async fn two_ids_that_name_one_known_phone_at_once_do_not_share_its_chat() {
    let world = world().await;
    world.append(vec![by_phone(PHONE, "a")]).await;
    let mut other = world.connect().await;
    let held = append_held(&mut other, &by_both("ES.1", PHONE, "b")).await;
    let appender = world.appender.clone();
    let call =
        tokio::spawn(async move { appender.append(delivery(vec![by_both("ES.2", PHONE, "c")])).await });
    world.someone_waits().await;
    held.commit().await.unwrap();
    call.await.unwrap().unwrap();
    assert_eq!(world.chat_of("b").await, world.chat_of("a").await);
    assert_ne!(world.chat_of("c").await, world.chat_of("a").await);
    assert_eq!(shared_chats(&world).await, 0);
}

#[tokio::test]
async fn an_alias_that_lost_its_race_leads_to_the_winners_chat() {
    let world = world().await;
    let mut other = world.connect().await;
    // The same new id at once under two phones: the second call makes an alias for a chat that will have no message.
    let held = append_held(&mut other, &by_both("ES.1", PHONE, "a")).await;
    let appender = world.appender.clone();
    let call =
        tokio::spawn(
            async move { appender.append(delivery(vec![by_both("ES.1", "34600000002", "b")])).await },
        );
    world.someone_waits().await;
    held.commit().await.unwrap();
    call.await.unwrap().unwrap();
    world.append(vec![by_phone("34600000002", "c")]).await;
    let (chat, _) = world.place_of("a").await;
    assert_eq!(world.place_of("b").await, (chat, 2));
    assert_eq!(world.place_of("c").await, (chat, 3));
}

#[tokio::test]
async fn every_alias_leads_to_a_chat_that_exists() {
    let world = world().await;
    let calls: Vec<_> = (0..12)
        .map(|n| {
            let appender = world.appender.clone();
            let (user, phone) = (format!("ES.{}", n % 3), format!("3460000000{}", n % 4));
            let events = vec![
                by_phone(&phone, &format!("p{n}")),
                by_both(&user, &phone, &format!("b{n}")),
                by_user(&user, &format!("u{n}")),
            ];
            tokio::spawn(async move { appender.append(delivery(events)).await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap().created.len(), 3);
    }
    assert_eq!(shared_chats(&world).await, 0);
    eventually("each alias has its chat", async || {
        let lost = world
            .db
            .count(
                "select count(*) from chat.alias a where not exists \
                 (select from chat.chat c where c.id = a.chat_id and c.merged_into is null)",
            )
            .await;
        (lost == 0).then_some(())
    })
    .await;
}
