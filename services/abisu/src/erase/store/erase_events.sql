-- Called by erase. Index: event_place. The message's id holds the number of who sent it.
update inbound.event
set payload = '{}', message_id = 'erased:' || activity_id
where chat_id = any($1) and payload <> '{}'
