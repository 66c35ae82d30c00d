-- Called by bus::mailbox::settle_all, first in the transaction of the work. settle_chat.sql for many chats in one call:
-- what is said there of each column holds here.
-- Locks the chats in id order: every row comes out of `locked` before it is written, and that hands them out in order.
-- The fence is looked at twice, under the lock and by the update, which reads the columns of the row as it is then.
with loan as (
  select * from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::float8[], $7::text[],
                       $8::timestamptz[])
    as u (id, epoch, from_seq, to_seq, outcome, delay, error, last_received_at)
), locked as materialized (
  select c.id
  from chat.chat c
  join loan on loan.id = c.id and loan.epoch = c.epoch and loan.from_seq = c.done_seq
  order by c.id
  for no key update of c
)
update chat.chat as c
set done_seq = u.to_seq,
    owner = null,
    epoch = c.epoch + 1,
    ready_at = case
      when c.hold or c.next_seq - 1 <= u.to_seq then null
      else clock_timestamp() + make_interval(secs => case
        when u.outcome = 'defer' and u.to_seq = u.from_seq and c.head_defers >= $9::int then greatest(u.delay, $10::float8)
        else u.delay
      end)
    end,
    head_attempts = case
      when u.outcome = 'retry' then case when u.to_seq = u.from_seq then c.head_attempts else 1 end
      when u.outcome in ('defer', 'release') and u.to_seq = u.from_seq then c.head_attempts - 1
      else 0
    end,
    lost = case
      when u.to_seq >= c.lent_to or u.to_seq = u.from_seq and u.outcome in ('retry', 'defer') then 0
      else c.lost
    end,
    head_defers = case
      when u.outcome = 'defer' then case when u.to_seq = u.from_seq then c.head_defers + 1 else 1 end
      when u.to_seq = u.from_seq then c.head_defers
      else 0
    end,
    head_error = case when u.outcome = 'release' and u.to_seq = u.from_seq then c.head_error else u.error end,
    oldest_at = case when c.next_seq - 1 <= u.to_seq then null else coalesce(u.last_received_at, c.oldest_at) end
from loan as u
join locked using (id)
where c.id = u.id and c.epoch = u.epoch and c.done_seq = u.from_seq
returning c.id
