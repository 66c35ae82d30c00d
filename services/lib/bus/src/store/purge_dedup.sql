-- Called by bus::retention until it deletes nothing, each call a transaction of its own. Index: dedup_day.
with old as (
  select key from inbound.dedup where day < ((now() - $1::interval) at time zone 'UTC')::date order by day limit $2
)
delete from inbound.dedup d using old where d.key = old.key
