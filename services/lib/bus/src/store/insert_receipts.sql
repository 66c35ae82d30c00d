-- Called by bus::append. Receipts are only inserted; the same one again changes nothing.
insert into inbound.receipt (channel, key, provider_id, outbound_id, status, error_code, occurred_at)
select $1, u.*
from unnest($2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::bigint[], $7::timestamptz[]) as u
order by 2
on conflict (key) do nothing
