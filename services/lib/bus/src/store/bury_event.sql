-- Called by bus::mailbox::bury, under the chat's lock. The event itself stays where it is.
insert into inbound.dead (chat_id, seq, activity_id, channel, message_id, kind, payload, sent_at, received_at, attempts,
                          error, trace_context, dead_by)
select e.chat_id, e.seq, e.activity_id, e.channel, e.message_id, e.kind, e.payload, e.sent_at, e.received_at, $4, $5,
       e.trace_context, $6
from inbound.event e
where e.chat_id = $1 and e.seq = $2 and e.received_at = $3
