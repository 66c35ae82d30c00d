-- Called by bus::outbound::claim, after the leases are committed. Index: outbound_place.
-- Each chat by itself, for the reason in read_events.sql.
select o.chat_id, o.id, o.seq, o.payload, o.prompt, o.report_id, o.expires_at, o.trace_context,
  o.outcome is not null as "finished!"
from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as c (id, from_seq, to_seq)
cross join lateral (
  select *
  from chat.outbound o
  where o.chat_id = c.id and o.seq > c.from_seq and o.seq <= c.to_seq
  order by o.seq
  limit c.to_seq - c.from_seq
) o
order by o.chat_id, o.seq
