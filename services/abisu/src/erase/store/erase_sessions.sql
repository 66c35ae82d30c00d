-- Called by erase.
delete from chat.session where chat_id = any($1)
