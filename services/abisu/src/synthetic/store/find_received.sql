-- Called by `synthetic report` while it waits. The last reply is queued in the statement's transaction that received it.
select r.id, r.reference as "reference!",
  (select count(*) from chat.outbound o where o.chat_id = r.chat_id) as "replies!"
from chat.alias a
join report.report r on r.chat_id = a.chat_id
where a.channel = $1 and a.kind = 'user_id' and a.value = $2 and r.state = 'received'
