-- Called by bus::mailbox::claim, after the leases are committed. Index: event_place. Locks nothing.
-- The bounds on the time leave out the days of the past and those that were made ahead, each of which would cost a look
-- into its index; an hour covers the clocks of two servers that differ.
-- Each chat is read by itself: the limit leaves the planner no other way. A join would be planned as a scan of the whole
-- day while the day is young, and a pool's connections keep that plan while it grows to hundreds of thousands.
select e.chat_id, e.seq, e.activity_id, e.message_id, e.kind, e.payload, e.sent_at, e.received_at, e.trace_context
from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::timestamptz[]) as c (id, from_seq, to_seq, oldest_at)
cross join lateral (
  select *
  from inbound.event e
  where e.chat_id = c.id and e.seq > c.from_seq and e.seq <= c.to_seq
    and e.received_at >= c.oldest_at - interval '1 hour' and e.received_at <= now() + interval '1 hour'
  order by e.seq
  limit c.to_seq - c.from_seq
) e
order by e.chat_id, e.seq
