-- Called by bus::operate::dead::list. Reads the whole table, which is small or an alarm. Locks nothing.
select activity_id, channel, chat_id, seq, kind, received_at, dead_at, dead_by, attempts, error, trace_context, held,
  replayed_at, replay_seq, discarded_at
from inbound.dead
where ($1::uuid[] is null or activity_id = any ($1))
  and ($2::text is null or channel = $2)
  and ($3::timestamptz is null or dead_at >= $3)
  and ($4::text is null or strpos(error, $4) > 0)
  and ($5 or replayed_at is null and discarded_at is null)
order by dead_at, activity_id
limit $6
