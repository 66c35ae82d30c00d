-- Called by push when a report is refused for a path or a right, which is rare. Reads the attempts since $3, an id that is
-- made of a time, once: push_attempt_pkey. Locks nothing.
-- It is the report's own matter where that befell the same report before, or one of its category, and reports were taken
-- since; of its category none, or it would not be the category.
with since as materialized (
  select a.id, a.outcome, r.id as report_id, r.route
  from report.push_attempt a
  join report.report r on r.id = a.report_id
  where a.id > $3 and a.outcome in ('misconfigured', 'accepted', 'accepted_no_id', 'rejected') and r.channel = $2
), refused as (
  select id, report_id, route from since where outcome = 'misconfigured'
), answered as (
  select id, route from since where outcome <> 'misconfigured'
)
select exists (
  select from refused f
  join report.report r on r.id = $1
  where (f.report_id = r.id
      or f.route = r.route and not exists (select from answered a where a.id > f.id and a.route = f.route))
    and exists (select from answered a where a.id > f.id)
) as "its_own!"
