-- Called by bus::outbound::prompt_of. Ids come from answers and, where an answer was lost, from receipts. Index:
-- outbound_id_pkey, receipt_provider, outbound_pkey; as scalars, because a join is planned on the tables of a new city and
-- then reads all that was ever sent.
select o.prompt
from chat.outbound o
where o.channel = $1 and o.id = coalesce(
  (select i.outbound_id from chat.outbound_id i where i.channel = $1 and i.provider_id = $2),
  (
    select r.outbound_id from inbound.receipt r
    where r.channel = $1 and r.provider_id = $2 and r.outbound_id is not null
    limit 1
  )
)
