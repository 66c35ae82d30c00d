-- Called by bus::outbox::claim, in autocommit. Index: report_oldest; the primary keys, push_attempt_open. Locks the picked
-- reports. Takes the lease and reads in one snapshot: what is due by now() was let go of before it.
-- Oldest first, whatever has been tried since: after an outage nobody is overtaken.
-- A report whose photo is still being fetched is left alone until the photo has come or its time is over; one that came
-- without a photo, or that a person lets go without it, waits for nothing. $7 leaves out what was refused its path or right.
with pick as materialized (
  select r.id
  from report.report r
  where r.channel = $1 and r.state = 'received' and r.push_state = 'pending' and r.push_visible_at <= now()
    and (r.photo_sha256 is not null or r.push_without_photo or r.received_at <= now() - make_interval(secs => $5))
    and (not $7::bool or r.push_error is null or not starts_with(r.push_error, 'misconfigured'))
    and not exists (select from report.push_gate g where g.channel = $1 and g.paused)
    and not exists (
      select from report.push_breaker b
      where b.channel = $1 and case when $6::bool then b.state <> 'closed' and b.owner is distinct from $2
        else b.state <> 'closed' or b.draining end
    )
  order by r.received_at, r.id
  limit $3
  for no key update skip locked
), loan as (
  update report.report r
  set push_visible_at = clock_timestamp() + make_interval(secs => $4),
      push_owner = $2,
      push_epoch = r.push_epoch + 1,
      push_attempts = r.push_attempts + 1
  from pick
  where r.id = pick.id
  returning r.id, r.push_epoch, r.push_attempts, r.reference, r.language, r.point, r.address, r.taxonomy_version, r.route,
    r.note, r.received_at, r.trace_context, r.photo_sha256
)
select l.id as "report_id!", l.push_epoch as "epoch!", l.push_attempts as "attempts!", l.reference as "reference!",
  l.language as "language!", public.st_y(l.point) as "latitude!", public.st_x(l.point) as "longitude!", l.address,
  l.taxonomy_version, l.route as "route!", l.note, l.received_at as "received_at!", l.trace_context,
  p.content_type as "photo_type?", p.bytes as "photo_bytes?", a.id as "open_attempt?"
from loan l
left join lateral (select * from report.photo p where p.sha256 = l.photo_sha256 limit 1) p on true
left join lateral (select a.id from report.push_attempt a where a.report_id = l.id and a.closed_at is null limit 1) a on true
order by l.received_at, l.id
