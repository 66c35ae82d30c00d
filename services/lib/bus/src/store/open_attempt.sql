-- Called by bus::outbox::open_attempt, in autocommit, before the request leaves. Locks the report.
-- Only where the lease is still ours and outlives the request; the unique index allows one open attempt per report.
with ours as materialized (
  select id, reference
  from report.report
  where id = $2 and push_epoch = $3 and push_state = 'pending'
    and push_visible_at > clock_timestamp() + make_interval(secs => $4)
  for no key update
)
insert into report.push_attempt (id, report_id, epoch, endpoint, external_code, body_sha256, trace_id)
select $1, id, $3, $5, reference, $6, $7 from ours
on conflict do nothing
