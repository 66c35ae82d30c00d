-- Called by bus::retention until it deletes nothing.
with old as (select id from inbound.rejection where received_at < now() - $1::interval limit $2)
delete from inbound.rejection r using old where r.id = old.id
