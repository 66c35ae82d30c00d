-- Called by bus::outbox::claim, after the leases are committed. Indexes: the primary keys, push_attempt_report. Locks nothing.
-- Only loans that still stand are read: the epoch is the one that was claimed, never the one that happens to be there.
-- Each report is read by itself, for the reason that read_events.sql gives.
select r.id as "report_id!", r.push_epoch as "epoch!", r.push_attempts as "attempts!", r.reference as "reference!",
  r.language as "language!", public.st_y(r.point) as "latitude!", public.st_x(r.point) as "longitude!", r.address,
  r.taxonomy_version, r.route as "route!", r.note, r.received_at as "received_at!", r.trace_context,
  p.content_type as "photo_type?", p.bytes as "photo_bytes?", a.id as "open_attempt?"
from unnest($1::uuid[], $2::bigint[]) as loan (id, epoch)
cross join lateral (select * from report.report r where r.id = loan.id and r.push_epoch = loan.epoch limit 1) r
left join lateral (select * from report.photo p where p.sha256 = r.photo_sha256 limit 1) p on true
left join lateral (select * from report.push_attempt a where a.report_id = r.id and a.closed_at is null limit 1) a on true
order by r.received_at
