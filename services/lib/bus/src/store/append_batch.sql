-- Called by bus::append, in autocommit. Locks: dedup keys, aliases, chats, receipts (see the function).
select activity_id as "activity_id!"
from inbound.append_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
                       $22)
