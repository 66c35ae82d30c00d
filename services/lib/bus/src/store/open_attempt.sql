-- Called by bus::outbox::open_attempt, in autocommit, before the request leaves. Locks the report.
-- Only where nothing is paused, the breaker is closed or on our own trial, and the lease is still ours and outlives the
-- request; the unique index allows one open attempt per report.
with ours as materialized (
  select r.id, r.reference, r.channel
  from report.report r
  where r.id = $2 and r.push_epoch = $3 and r.push_state = 'pending'
    and r.push_visible_at > clock_timestamp() + make_interval(secs => $4)
    and not exists (select from report.push_gate g where g.channel = r.channel and g.paused)
    and not exists (
      select from report.push_breaker b
      where b.channel = r.channel and b.state <> 'closed' and b.owner is distinct from $8
    )
  for no key update
), opened as (
  insert into report.push_attempt (id, report_id, epoch, endpoint, external_code, body_sha256, trace_id)
  select $1, id, $3, $5, reference, $6, $7 from ours
  on conflict do nothing
  returning report_id
)
select exists (
    select from report.push_breaker b where b.channel = ours.channel and (b.state <> 'closed' or b.streak > 0)
  ) as "troubled!"
from opened
join ours on ours.id = opened.report_id
