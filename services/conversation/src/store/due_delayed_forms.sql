-- Called by delayed::run. Index: delayed_form_due, outbound_place. What can no longer be answered is due as well, to be
-- forgotten.
select d.chat_id
from chat.delayed_form d
join chat.outbound o on o.id = d.outbound_id
where d.channel = $1 and d.try_at <= now()
  and (
    d.reason <> 'no_flow_release'
    or exists (
      select from flow.release r
      where r.channel = d.channel and r.state = 'published' and r.language = o.payload #>> '{form,language}'
    )
    -- The window is that of the chat: whoever wrote again since waits on.
    or (select max(n.expires_at) from chat.outbound n where n.chat_id = d.chat_id) <= now()
  )
order by d.try_at
limit 50
