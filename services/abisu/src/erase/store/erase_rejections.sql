-- Called by erase. A rejected message belongs to no chat; its own bytes say whose it is.
update inbound.rejection r
set raw = '', detail = 'erased', message_id = null
where exists (select from unnest($1::text[]) as needle where position(convert_to(needle, 'UTF8') in r.raw) > 0)
