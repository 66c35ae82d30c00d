-- Called by `synthetic report`, at its end: whether the replies and the push have ended where they must, and whether
-- every row of the report says that it is synthetic.
select
  r.push_state = 'sent' and r.partner_id = $2 and not exists (select from report.push_attempt p where p.report_id = r.id)
    as "push_sunk!",
  not exists (
    select from chat.outbound o
    where o.chat_id = r.chat_id and (o.outcome is distinct from 'sent' or not exists (
      select from chat.outbound_id i where i.outbound_id = o.id and i.provider_id = $2 || ':' || o.id))
  ) as "replies_sunk!",
  r.synthetic
    and not exists (select from report.timeline t where t.report_id = r.id and not t.synthetic)
    and not exists (select from chat.alias x where x.chat_id = r.chat_id and not x.synthetic)
    and not exists (select from chat.chat x where x.id = r.chat_id and not x.synthetic)
    and not exists (select from chat.session x where x.chat_id = r.chat_id and not x.synthetic)
    and not exists (select from chat.sender x where x.id = r.chat_id and not x.synthetic)
    and not exists (select from chat.outbound x where x.chat_id = r.chat_id and not x.synthetic)
    and not exists (
      select from inbound.event x
      where x.chat_id = r.chat_id and x.received_at >= r.created_at - interval '1 hour' and not x.synthetic)
    as "marked!"
from report.report r
where r.id = $1
