-- Called by erase. A provider's id holds the number of whom it was sent to.
delete from chat.outbound_id i using chat.outbound o where o.id = i.outbound_id and o.chat_id = any($1)
