-- Called by bus::retention until it deletes nothing. What holds its chat is kept: it still waits for a person.
with old as (
  select chat_id, seq from inbound.dead
  where dead_at < now() - $1::interval and not (held and replayed_at is null and discarded_at is null)
  limit $2
)
delete from inbound.dead d using old where d.chat_id = old.chat_id and d.seq = old.seq
