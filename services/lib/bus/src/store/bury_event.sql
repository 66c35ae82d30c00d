-- Called by bus::mailbox::bury, after the settle and under the chat's lock. The event itself stays where it is.
-- Where the channel wants it so, the chat stops here until a person has dealt with the event.
with buried as (
  insert into inbound.dead (chat_id, seq, activity_id, channel, message_id, kind, payload, sent_at, received_at,
                            attempts, error, trace_context, dead_by, held)
  select e.chat_id, e.seq, e.activity_id, e.channel, e.message_id, e.kind, e.payload, e.sent_at, e.received_at, $4, $5,
         e.trace_context, $6,
         exists (select from inbound.channel_option o where o.channel = e.channel and o.hold_on_dead)
  from inbound.event e
  where e.chat_id = $1 and e.seq = $2 and e.received_at = $3
  returning held
), held as (
  update chat.chat c set hold = true, ready_at = null from buried where c.id = $1 and buried.held
)
select held from buried
