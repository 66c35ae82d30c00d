-- Called by erase, before the ids of the replies. Index: receipt_outbound, receipt_provider.
delete from inbound.receipt r
where r.outbound_id in (select o.id from chat.outbound o where o.chat_id = any($1))
  or (r.channel, r.provider_id) in (
    select i.channel, i.provider_id
    from chat.outbound_id i
    join chat.outbound o on o.id = i.outbound_id
    where o.chat_id = any($1)
  )
