-- Called by bus::retention until it deletes nothing, each call a transaction of its own. Locks rows that nobody writes any
-- more: replies that ended and that their mailbox has left behind, with the ids by which providers know them. Without
-- indexes of its own, which every reply would pay for: the old ones stand first in the table.
with old as (
  select o.id
  from chat.outbound o
  join chat.sender s on s.id = o.chat_id and s.done_seq >= o.seq
  where o.created_at < now() - $1::interval and o.outcome is not null
  limit $2
), ids as (
  delete from chat.outbound_id i using old where i.outbound_id = old.id
)
delete from chat.outbound o using old where o.id = old.id
