//! What must hold after anything that happened, read in the database and at the other sides.

use std::time::Duration;

use anyhow::ensure;

use super::crowd;
use super::kube::until;
use super::load::Outcome;
use super::site::Site;
use super::world::World;

/// How long the queues may take to be empty: what is left of leases, backoff, and work for two cores.
const REST: Duration = Duration::from_secs(150);

/// Nothing that was accepted is lost or there twice, every report is at the contractor's once, and all queues are empty
/// with nothing given up.
pub(super) async fn all_is_well(
    world: &World,
    site: &Site,
    load: &Outcome,
    references: &[String],
) -> anyhow::Result<()> {
    stored_once(site, &load.acked).await?;
    crowd::at_the_contractor(&world.simulator, references).await?;
    at_rest(site).await
}

/// Every message that was accepted is one event.
async fn stored_once(site: &Site, acked: &[String]) -> anyhow::Result<()> {
    let (events, messages): (i64, i64) = sqlx::query_as(
        "select count(*), count(distinct message_id) from inbound.event where message_id = any($1)",
    )
    .bind(acked)
    .fetch_one(&site.pool)
    .await?;
    let accepted = i64::try_from(acked.len())?;
    ensure!(messages == accepted, "{} of {accepted} accepted messages are not stored", accepted - messages);
    ensure!(events == messages, "{} accepted messages are stored more than once", events - messages);
    Ok(())
}

/// Nothing is under way, waiting or given up.
pub(super) async fn at_rest(site: &Site) -> anyhow::Result<()> {
    let busy = "select (select count(*) from chat.chat where owner is not null or done_seq < next_seq - 1) \
                + (select count(*) from chat.sender where owner is not null or done_seq < next_seq - 1) \
                + (select count(*) from report.photo_fetch) \
                + (select count(*) from report.report where state = 'received' and push_state = 'pending')";
    until("all queues are empty", REST, async || {
        let left = site.count(busy).await?;
        ensure!(left == 0, "{left} chats, replies, photos and reports are left");
        Ok(Some(()))
    })
    .await?;
    for (what, statement) in [
        ("events are dead", "select count(*) from inbound.dead"),
        ("messages were rejected", "select count(*) from inbound.rejection"),
        (
            "reports were given up or are in doubt",
            "select count(*) from report.report where push_state in ('review', 'dead')",
        ),
        ("replies were dropped", "select count(*) from chat.outbound where outcome = 'dropped'"),
        (
            "events are missing in the middle of a chat",
            "select count(*) from (select chat_id from inbound.event group by chat_id having max(seq) <> count(*)) as gap",
        ),
        (
            "references are given twice",
            "select count(*) - count(distinct reference) from report.report where state = 'received'",
        ),
    ] {
        let found = site.count(statement).await?;
        ensure!(found == 0, "{found} {what}");
    }
    Ok(())
}
