-- Called by erase. It can no longer be replayed.
update inbound.dead
set payload = '{}', message_id = 'erased:' || activity_id, error = 'erased'
where chat_id = any($1) and payload <> '{}'
