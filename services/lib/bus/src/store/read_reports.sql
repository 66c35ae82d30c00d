-- Called by bus::outbox::claim, after the leases are committed. Locks nothing.
select r.id as report_id, r.push_epoch as epoch, r.push_attempts as attempts, r.reference as "reference!", r.language,
  public.st_y(r.point) as "latitude!", public.st_x(r.point) as "longitude!", r.address, r.taxonomy_version,
  r.route as "route!", r.note, r.received_at as "received_at!", r.trace_context,
  p.content_type as "photo_type?", p.bytes as "photo_bytes?", a.id as "open_attempt?"
from report.report r
left join report.photo p on p.sha256 = r.photo_sha256
left join report.push_attempt a on a.report_id = r.id and a.closed_at is null
where r.id = any ($1) and r.push_owner = $2
order by r.received_at
