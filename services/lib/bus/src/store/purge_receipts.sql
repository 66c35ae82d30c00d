-- Called by bus::retention until it deletes nothing, each call a transaction of its own. Without an index on the time,
-- which every receipt would pay for: the old ones stand first in the table.
with old as (
  select key from inbound.receipt where received_at < now() - $1::interval limit $2
)
delete from inbound.receipt r using old where r.key = old.key
