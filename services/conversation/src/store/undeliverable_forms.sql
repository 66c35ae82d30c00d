-- Called by undeliverable::run. Index: receipt_undeliverable. Recent ones only: a word that comes late helps nobody.
select distinct on (o.id) o.id, o.chat_id, o.expires_at, o.trace_context
from inbound.receipt r
join chat.outbound o on o.id = coalesce(
  r.outbound_id,
  (select i.outbound_id from chat.outbound_id i where i.channel = r.channel and i.provider_id = r.provider_id)
)
where r.channel = $1 and r.status = 'failed' and r.error_code = 131026
  and r.received_at > now() - interval '10 minutes'
  and o.payload ? 'form' and o.expires_at > now()
