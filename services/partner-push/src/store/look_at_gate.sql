-- Called where a claim found less than it could take, and where nothing may leave. Indexes: push_gate_pkey,
-- push_breaker_pkey. Locks nothing.
select coalesce(g.paused, false) as "paused!",
  coalesce(b.state, 'closed') as "state!",
  coalesce(b.owner = $2, false) as "mine!",
  coalesce(extract(epoch from b.until - clock_timestamp()), 0)::float8 as "left!",
  coalesce(b.doubts > 0, false) as "doubtful!",
  coalesce(b.draining, false) as "draining!",
  coalesce(extract(epoch from b.paced_until - clock_timestamp()), 0)::float8 as "ahead!"
from (values ($1::text)) as c (channel)
left join report.push_gate g on g.channel = c.channel
left join report.push_breaker b on b.channel = c.channel
