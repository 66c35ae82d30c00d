-- Called by bus::mailbox, in autocommit. Index: chat_ready. The floor leaves out the dead left edge of that index.
-- Locks the picked chats; a locked chat is skipped.
-- What was picked is updated where it lies: by id, the planner may read all chats to find a thousand. A chat that
-- somebody changed between the look and the lock lies elsewhere by then; it is left for the next claim.
-- The CTE is materialised, or the planner may run the LIMIT again and claim more than it was asked for.
-- An owner that is still there means that its lease was lost. After a lost lease or a failure one event is handed out,
-- so that a crash or an error is charged to what caused it.
with pick as materialized (
  select ctid, ready_at, owner is not null as expired
  from chat.chat
  where channel = $1 and ready_at <= now()
    and ready_at >= coalesce($7::timestamptz, now() - make_interval(secs => $8), '-infinity')
    and (lost + (owner is not null)::int >= 2) = $6
  order by ready_at
  limit $3
  for no key update skip locked
)
update chat.chat as c
set ready_at = now() + make_interval(secs => $5),
    owner = $2,
    epoch = c.epoch + 1,
    -- Bounded, because a number out of range would fail the claim of everybody.
    head_attempts = least(c.head_attempts + 1, 32000),
    lost = least(c.lost + (c.owner is not null)::int, 32000),
    lent_to = greatest(c.lent_to, least(c.next_seq - 1, c.done_seq
      + case when c.lost > 0 or c.owner is not null or c.head_attempts > 0 then 1 else $4::bigint end))
from pick
where c.ctid = pick.ctid
returning c.id as chat_id, c.epoch, c.head_attempts as attempts, c.done_seq as from_seq, c.oldest_at,
  c.head_defers as defers, pick.ready_at as "ready_since!", pick.expired as "expired!",
  least(c.next_seq - 1, c.done_seq + case when c.lost > 0 or c.head_attempts > 1 then 1 else $4::bigint end) as "to_seq!"
