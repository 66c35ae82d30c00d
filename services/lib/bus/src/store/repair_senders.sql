-- Called by bus::outbound::repair, hourly. Reads every outgoing mailbox of the channel; locks those it changes, in id
-- order. Replies and no time to send them: no step of the protocol leaves this behind.
with asleep as materialized (
  select id
  from chat.sender
  where channel = $1 and ready_at is null and next_seq - 1 > done_seq
  order by id
  for no key update skip locked
)
update chat.sender s
set ready_at = now(), owner = null,
    oldest_at = coalesce(
      s.oldest_at,
      (select o.created_at from chat.outbound o where o.chat_id = s.id and o.seq = s.done_seq + 1),
      now()
    )
from asleep
where s.id = asleep.id
returning s.id
