-- Called by store::prompt_fate. Index: outbound_place, from its end, where an open prompt stands; delayed_form_pkey. A form
-- that was put aside and is no longer kept for later, because its window closed, is as lost as any other.
select o.outcome = 'dropped' as dropped,
  exists (select from chat.delayed_form d where d.chat_id = o.chat_id and d.outbound_id = o.id) as "delayed!",
  exists (select from inbound.receipt r where r.outbound_id = o.id and r.status = 'failed')
    and not exists (select from inbound.receipt r where r.outbound_id = o.id and r.status in ('delivered', 'read'))
    as "failed!"
from chat.outbound o
where o.chat_id = $1 and o.prompt = $2
order by o.seq desc
limit 1
