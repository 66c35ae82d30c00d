-- Called by bus::mailbox::renew, in autocommit. Locks the chats in id order.
with held as materialized (
  select c.id
  from chat.chat c
  join unnest($2::uuid[], $3::bigint[]) as loan (id, epoch) on c.id = loan.id and c.epoch = loan.epoch
  where c.owner = $1
  order by c.id
  for no key update of c
)
update chat.chat c
set ready_at = clock_timestamp() + make_interval(secs => $4)
from held
where c.id = held.id
returning c.id
