-- Called by bus::append. A rejected message that is delivered again is kept once.
insert into inbound.rejection (channel, delivery_id, trace_context, id, key, message_id, reason, detail, raw)
select $1, $2, $3, u.*
from unnest($4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::bytea[]) as u
order by 5
on conflict (key) do nothing
