-- Called by delayed::bring_back, under the chat's lock. Locks the delayed form.
with taken as (
  delete from chat.delayed_form where chat_id = $1 and try_at <= now()
  returning channel, outbound_id
)
select t.channel as "channel!", o.payload as "payload!", o.prompt, o.report_id, o.expires_at as "expires_at!", o.trace_context,
  coalesce(s.prompt = o.prompt, false) and o.expires_at > now() as "is_awaited!"
from taken t
join chat.outbound o on o.id = t.outbound_id
left join chat.session s on s.chat_id = $1
