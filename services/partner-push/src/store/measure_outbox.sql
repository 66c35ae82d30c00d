-- Called by metrics every few seconds. Indexes: report_oldest, report_stuck. Locks nothing.
select p.pending as "pending!", p.ready as "ready!", p.oldest_seconds as "oldest_seconds!",
  s.review as "review!", s.dead as "dead!"
from (
  select count(*) as pending, count(*) filter (where push_visible_at <= now()) as ready,
    coalesce(extract(epoch from now() - min(received_at)), 0)::float8 as oldest_seconds
  from report.report
  where channel = any($1) and state = 'received' and push_state = 'pending'
) p, (
  select count(*) filter (where push_state = 'review') as review, count(*) filter (where push_state = 'dead') as dead
  from report.report
  where channel = any($1) and push_state in ('review', 'dead')
) s
