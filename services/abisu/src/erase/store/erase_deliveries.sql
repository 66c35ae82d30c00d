-- Called by erase. Reads every raw delivery: receipts name a person too. What else came in the same call goes with it;
-- its messages stand in rows of their own.
update inbound.delivery d
set body = ''
where d.body <> ''
  and (
    d.id in (select e.delivery_id from inbound.event e where e.chat_id = any($1))
    or exists (select from unnest($2::text[]) as needle where position(convert_to(needle, 'UTF8') in d.body) > 0)
  )
