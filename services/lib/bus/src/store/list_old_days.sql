-- Called by bus::retention, under the purge's lock. Reads the catalogue. A day is old when all of it is.
select c.relname::text as "name!", p.relname::text as "parent?", coalesce(i.inhdetachpending, false) as "pending_detach!"
from pg_class c
join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'inbound'
left join pg_inherits i on i.inhrelid = c.oid
left join pg_class p on p.oid = i.inhparent
where c.relkind = 'r' and c.relname ~ '^(event|delivery)_\d{8}$'
  and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= (now() - $1::interval) at time zone 'UTC'
order by i.inhdetachpending desc nulls last, c.relname
