-- Called by names every few seconds. Takes tokens that are due and says when they are due again, so that replicas
-- share them: after $2 seconds, doubling up to an hour. One that has been asked for a week is given up.
with due as materialized (
  select report_id from report.push_token
  where channel = $1 and next_at <= now()
  order by next_at
  limit 20
  for update skip locked
), given_up as (
  delete from report.push_token t using due
  where t.report_id = due.report_id and t.created_at < now() - interval '7 days'
), taken as (
  update report.push_token t
  set asked = t.asked + 1,
    next_at = now() + least(interval '1 hour', make_interval(secs => $2) * 2 ^ least(t.asked, 20))
  from due
  where t.report_id = due.report_id and t.created_at >= now() - interval '7 days'
  returning t.report_id, t.token
)
select t.report_id, nullif(t.token, '') as "token?", r.reference as "reference!"
from taken t
join report.report r on r.id = t.report_id
