-- Called by delayed::bring_back, under the chat's lock. Locks the delayed form. Its window is its own for as long as that is
-- open, then that of the chat.
with taken as (
  delete from chat.delayed_form where chat_id = $1 and try_at <= now()
  returning channel, outbound_id
), kept as (
  select t.channel, o.payload, o.prompt, o.report_id, o.trace_context,
    case
      when o.expires_at > now() then o.expires_at
      else (select max(n.expires_at) from chat.outbound n where n.chat_id = $1)
    end as expires_at
  from taken t
  join chat.outbound o on o.id = t.outbound_id
)
select o.channel as "channel!", o.payload as "payload!", o.prompt, o.report_id, o.expires_at as "expires_at!", o.trace_context,
  coalesce(s.prompt = o.prompt, false) and o.expires_at > now() as "is_awaited!"
from kept o
left join chat.session s on s.chat_id = $1
