-- Called by store::prompt_fate. Index: outbound_place, from its end, where an open prompt stands.
select o.outcome = 'dropped' as dropped, o.error,
  exists (select from inbound.receipt r where r.outbound_id = o.id and r.status = 'failed')
    and not exists (select from inbound.receipt r where r.outbound_id = o.id and r.status in ('delivered', 'read'))
    as "failed!"
from chat.outbound o
where o.chat_id = $1 and o.prompt = $2
order by o.seq desc
limit 1
