-- Called by bus::outbound::enqueue, under the chat's lock. Locks the sender; the numbers are ours until the commit.
insert into chat.sender as s (id, channel, next_seq, ready_at, oldest_at)
values ($1, $2, 1 + $3::bigint, now(), now())
on conflict (id) do update set
  next_seq = s.next_seq + $3::bigint,
  ready_at = coalesce(s.ready_at, excluded.ready_at),
  oldest_at = case when s.done_seq = s.next_seq - 1 then excluded.oldest_at else s.oldest_at end
returning next_seq
