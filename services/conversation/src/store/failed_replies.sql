-- Called by failed::run. Index: receipt_failed, receipt_outbound, outbound_id_pkey, outbound_place.
-- Replies that were taken and failed with one of these codes, unless a receipt says that they arrived after all, the same
-- was said again since (of a prompt also in other words), or nothing may be said any more. What is not echoed to us is
-- found by the provider's id.
select distinct on (o.id) o.id, o.chat_id, o.payload, o.prompt, o.report_id, o.trace_context, r.error_code as "code!",
  (select max(n.expires_at) from chat.outbound n where n.chat_id = o.chat_id) as "window_end!",
  (
    select count(*)
    from chat.outbound n
    where n.chat_id = o.chat_id and n.seq <= o.seq and n.prompt is not distinct from o.prompt
      and (o.prompt is not null or n.payload = o.payload)
      and n.created_at > now() - interval '1 day'
  ) as "times!"
from inbound.receipt r
join chat.outbound o on o.id = coalesce(
  r.outbound_id,
  (select i.outbound_id from chat.outbound_id i where i.channel = r.channel and i.provider_id = r.provider_id)
)
where r.channel = $1 and r.status = 'failed' and r.error_code = any($3::bigint[])
  and r.received_at > now() - make_interval(secs => $2)
  and o.outcome = 'sent' and o.payload <> '{}'
  and not exists (select from inbound.receipt a where a.outbound_id = o.id and a.status in ('delivered', 'read'))
  and not exists (
    select
    from chat.outbound n
    where n.chat_id = o.chat_id and n.seq > o.seq and n.prompt is not distinct from o.prompt
      and (o.prompt is not null or n.payload = o.payload)
  )
  and (o.prompt is null or o.prompt = (select s.prompt from chat.session s where s.chat_id = o.chat_id))
  and (select max(n.expires_at) from chat.outbound n where n.chat_id = o.chat_id) > now()
order by o.id, r.received_at desc
limit 200
