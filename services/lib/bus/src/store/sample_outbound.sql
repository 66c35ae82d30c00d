-- Called by bus::metrics. Index: sender_ready, so the cost is that of the chats with replies to send.
select count(*) filter (where ready_at <= now()) as "ready!",
  count(*) filter (where ready_at > now() and owner is not null) as "in_flight!",
  coalesce(sum(next_seq - 1 - done_seq), 0)::bigint as "depth!",
  coalesce(greatest(extract(epoch from now() - min(oldest_at)), 0), 0)::float8 as "oldest_s!"
from chat.sender
where channel = $1 and ready_at is not null
