-- Called by `queue status`: one row per channel that has ever been used. Reads whole mailboxes (narrow rows), the
-- last delivery of each channel by delivery_pkey backwards. What a person gave up for good is no longer counted as dead.
-- Takes no lock.
with known as (
  select channel from flow.release
  union select channel from chat.chat
  union select channel from report.report
  union select channel from inbound.rejection
), chats as (
  select channel,
         count(*) filter (where ready_at <= now()) as ready,
         count(*) filter (where ready_at > now() and owner is null) as waiting,
         count(*) filter (where ready_at > now() and owner is not null) as in_flight,
         count(*) filter (where hold) as held,
         sum(next_seq - 1 - done_seq)::bigint as depth,
         extract(epoch from now() - min(oldest_at) filter (where done_seq < next_seq - 1))::bigint as oldest_s
  from chat.chat
  group by channel
), senders as (
  select channel, sum(next_seq - 1 - done_seq)::bigint as pending,
         count(*) filter (where ready_at > now() and owner is not null) as in_flight,
         extract(epoch from now() - min(oldest_at) filter (where done_seq < next_seq - 1))::bigint as oldest_s
  from chat.sender
  group by channel
), dead as (
  select channel, count(*) as events from inbound.dead
  where replayed_at is null and discarded_at is null
  group by channel
), rejected as (
  select channel, count(*) as messages from inbound.rejection
  where resolved_at is null
  group by channel
), pushes as (
  select channel,
         count(*) filter (where push_state = 'pending') as pending,
         count(*) filter (where push_state = 'pending' and push_owner is not null and push_visible_at > now())
           as in_flight,
         extract(epoch from now() - min(received_at) filter (where push_state = 'pending'))::bigint as oldest_s,
         count(*) filter (where push_state = 'review') as review,
         count(*) filter (where push_state = 'dead' and push_error is distinct from 'discarded') as dead
  from report.report
  where state = 'received' and push_state <> 'sent'
  group by channel
)
select known.channel as "channel!",
       coalesce(chats.ready, 0) as "ready_chats!",
       coalesce(chats.waiting, 0) as "waiting_chats!",
       coalesce(chats.in_flight, 0) as "in_flight_chats!",
       coalesce(chats.held, 0) as "held_chats!",
       coalesce(chats.depth, 0) as "pending_events!",
       chats.oldest_s as "oldest_event_s",
       coalesce(senders.pending, 0) as "pending_outbounds!",
       coalesce(senders.in_flight, 0) as "in_flight_outbounds!",
       senders.oldest_s as "oldest_outbound_s",
       coalesce(dead.events, 0) as "dead_events!",
       coalesce(rejected.messages, 0) as "rejected_messages!",
       coalesce(pushes.pending, 0) as "pending_pushes!",
       coalesce(pushes.in_flight, 0) as "in_flight_pushes!",
       pushes.oldest_s as "oldest_push_s",
       coalesce(pushes.review, 0) as "review_pushes!",
       coalesce(pushes.dead, 0) as "dead_pushes!",
       last.received_at as "last_inbound_at?"
from known
left join chats on chats.channel = known.channel
left join senders on senders.channel = known.channel
left join dead on dead.channel = known.channel
left join rejected on rejected.channel = known.channel
left join pushes on pushes.channel = known.channel
left join lateral (
  select received_at from inbound.delivery
  where delivery.channel = known.channel
  order by received_at desc
  limit 1
) last on true
order by known.channel
