-- Called by bus::metrics. Index: chat_ready, so the cost is that of the chats with work; the dead are few or an alarm.
select count(*) filter (where ready_at <= now()) as "ready!",
  count(*) filter (where ready_at > now() and owner is not null) as "in_flight!",
  coalesce(sum(next_seq - 1 - done_seq), 0)::bigint as "depth!",
  coalesce(greatest(extract(epoch from now() - min(oldest_at)), 0), 0)::float8 as "oldest_s!",
  (select count(*) from inbound.dead d
   where d.channel = $1 and d.replayed_at is null and d.discarded_at is null) as "dead!"
from chat.chat
where channel = $1 and ready_at is not null
