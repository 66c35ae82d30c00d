-- Called by bus::mailbox::repair, hourly. Reads every chat of the channel; locks those it changes, in id order.
-- Work and no time to do it, though nobody stopped the chat: no step of the protocol leaves this behind.
-- A chat with work has a time of its oldest; one without is given that of its next event, and never one without an end,
-- which neither a claim nor a measure could read.
with asleep as materialized (
  select id
  from chat.chat
  where channel = $1 and ready_at is null and not hold and merged_into is null and next_seq - 1 > done_seq
  order by id
  for no key update skip locked
)
update chat.chat c
set ready_at = now(), owner = null,
    oldest_at = coalesce(
      c.oldest_at,
      (select e.received_at from inbound.event e where e.chat_id = c.id and e.seq = c.done_seq + 1 limit 1),
      'epoch'
    )
from asleep
where c.id = asleep.id
returning c.id
