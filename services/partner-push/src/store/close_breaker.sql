-- Called by gate when the partner answered. Touches no row while nothing has failed. An open breaker takes no notice:
-- what is answered then left before it opened. A trial that succeeds lets out what gathered, at the set rate.
with before as materialized (
  select channel, state from report.push_breaker
  where channel = $1 and (state = 'trial' or state = 'closed' and streak > 0)
  for no key update
)
update report.push_breaker b
set state = 'closed', streak = 0, trips = 0, doubts = 0, owner = null, cause = null, changed_at = clock_timestamp(),
  draining = b.draining or before.state = 'trial'
from before
where b.channel = before.channel
returning before.state = 'trial' as "reopened!"
