-- Called by bus::outbound::prompt_of. Ids come from answers and, where an answer was lost, from receipts.
select o.prompt
from chat.outbound o
where o.channel = $1 and o.id in (
  select i.outbound_id from chat.outbound_id i where i.channel = $1 and i.provider_id = $2
  union all
  select r.outbound_id from inbound.receipt r where r.channel = $1 and r.provider_id = $2 and r.outbound_id is not null
)
limit 1
