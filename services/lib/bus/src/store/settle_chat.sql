-- Called by bus::mailbox::settle, first in the transaction of the work. Locks the chat.
-- Only columns of the locked row are read: an append that commits meanwhile is either seen here or finds the chat
-- settled and sets `ready_at` itself.
update chat.chat as c
set done_seq = $4,
    owner = null,
    epoch = c.epoch + 1,
    ready_at = case
      when c.hold or c.next_seq - 1 <= $4 then null
      -- What was deferred without end comes back more seldom, and never dies of it.
      else clock_timestamp() + make_interval(
        secs => case when $5 = 'defer' and $4 = $3 and c.head_defers >= $9::int then greatest($6::float8, $10::float8) else $6::float8 end)
    end,
    head_attempts = case
      when $5 = 'retry' then case when $4 = $3 then c.head_attempts else 1 end
      when $5 in ('defer', 'release') and $4 = $3 then c.head_attempts - 1
      else 0
    end,
    lost = case when $4 >= c.lent_to or $4 = $3 and $5 in ('retry', 'defer') then 0 else c.lost end,
    head_defers = case
      when $5 = 'defer' then case when $4 = $3 then c.head_defers + 1 else 1 end
      when $4 = $3 then c.head_defers
      else 0
    end,
    head_error = case when $5 = 'release' and $4 = $3 then c.head_error else $7 end,
    oldest_at = case when c.next_seq - 1 <= $4 then null else coalesce($8, c.oldest_at) end
where c.id = $1 and c.epoch = $2 and c.done_seq = $3
returning c.id
