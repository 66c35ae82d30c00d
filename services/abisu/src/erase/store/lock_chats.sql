-- Called by erase. Index: alias_pkey. Locks the chats of a contact, and those that were merged into them, in id order.
with recursive found as (
  select a.chat_id as id from chat.alias a where a.kind = $1 and a.value = $2
  union
  select c.id from chat.chat c join found on c.merged_into = found.id
)
select c.id from chat.chat c where c.id in (select id from found) order by c.id for update
