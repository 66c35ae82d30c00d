-- Called by `outbox backlog`. Indexes: push_gate_pkey, push_breaker_pkey, the outbox's partial index.
select coalesce(g.paused, false) as "paused!", g.changed_by as "paused_by?", g.because as "paused_because?",
  coalesce(b.state, 'closed') as "breaker!", b.cause as "breaker_cause?",
  case when b.state = 'open' then b.until end as "breaker_until?", coalesce(b.doubts, 0) as "breaker_doubts!",
  (select count(*) from report.report r
   where r.channel = c.channel and r.state = 'received' and r.push_state = 'pending') as "total!"
from (values ($1::text)) as c (channel)
left join report.push_gate g on g.channel = c.channel
left join report.push_breaker b on b.channel = c.channel
