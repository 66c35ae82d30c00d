-- Called by bus::outbound::claim, in autocommit. Index: sender_ready. The protocol of claim_chats.sql.
with pick as materialized (
  select id, ready_at, owner is not null as expired
  from chat.sender
  where channel = $1 and ready_at <= now()
    and not exists (select from chat.channel_state c where c.channel = $1 and c.paused_at is not null)
  order by ready_at
  limit $3
  for no key update skip locked
)
update chat.sender as s
set ready_at = now() + make_interval(secs => $5),
    owner = $2,
    epoch = s.epoch + 1,
    head_attempts = least(s.head_attempts + 1, 32000),
    lost = least(s.lost + (s.owner is not null)::int, 32000),
    lent_to = greatest(s.lent_to, least(s.next_seq - 1, s.done_seq + $4))
from pick
where s.id = pick.id
returning s.id as chat_id, s.epoch, s.head_attempts as attempts, s.head_error, s.done_seq as from_seq,
  pick.ready_at as "ready_since!", pick.expired as "expired!",
  least(s.next_seq - 1, s.done_seq + $4) as "to_seq!"
