-- Called by `synthetic report` while it waits. Indexes: alias_pkey, outbound_place.
select o.payload, o.prompt
from chat.alias a
join chat.outbound o on o.chat_id = a.chat_id
where a.channel = $1 and a.kind = 'user_id' and a.value = $2 and o.payload ? $3::text
order by o.seq desc
limit 1
