-- Called by bus::outbox::claim, after the leases are committed. Locks nothing.
-- Only loans that still stand are read: the epoch is the one that was claimed, never the one that happens to be there.
select r.id as report_id, r.push_epoch as epoch, r.push_attempts as attempts, r.reference as "reference!", r.language,
  public.st_y(r.point) as "latitude!", public.st_x(r.point) as "longitude!", r.address, r.taxonomy_version,
  r.route as "route!", r.note, r.received_at as "received_at!", r.trace_context,
  p.content_type as "photo_type?", p.bytes as "photo_bytes?", a.id as "open_attempt?"
from unnest($1::uuid[], $2::bigint[]) as loan (id, epoch)
join report.report r on r.id = loan.id and r.push_epoch = loan.epoch
left join report.photo p on p.sha256 = r.photo_sha256
left join report.push_attempt a on a.report_id = r.id and a.closed_at is null
order by r.received_at
