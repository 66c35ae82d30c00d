-- Called by bus::operate::rejected::list. Reads the whole table, which is small or an alarm. Locks nothing.
select id, channel, reason, detail, length(raw) as "raw_bytes!", delivery_id, received_at, trace_context, resolved_at,
  resolution
from inbound.rejection
where ($1::uuid[] is null or id = any ($1))
  and ($2::text is null or channel = $2)
  and ($3::timestamptz is null or received_at >= $3)
  and ($4::text is null or reason = $4)
  and ($5 or resolved_at is null)
order by received_at, id
limit $6
