-- Called by metrics every few seconds. Index: report_oldest. Locks nothing.
select count(*) as "pending!",
  count(*) filter (where push_visible_at <= now()) as "ready!",
  coalesce(extract(epoch from now() - min(received_at)), 0)::float8 as "oldest_seconds!"
from report.report
where channel = $1 and state = 'received' and push_state = 'pending'
