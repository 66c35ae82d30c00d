-- Called by bus::outbox::claim, in autocommit. Index: report_oldest. Locks the picked reports.
-- Oldest first, whatever has been tried since: after an outage nobody is overtaken.
-- A report whose photo is still being fetched is left alone until the photo has come or its time is over; one that came
-- without a photo, or that a person lets go without it, waits for nothing.
with pick as materialized (
  select r.id
  from report.report r
  where r.channel = $1 and r.state = 'received' and r.push_state = 'pending' and r.push_visible_at <= now()
    and (r.photo_sha256 is not null or r.push_without_photo or r.received_at <= now() - make_interval(secs => $5))
  order by r.received_at, r.id
  limit $3
  for no key update skip locked
)
update report.report r
set push_visible_at = now() + make_interval(secs => $4),
    push_owner = $2,
    push_epoch = r.push_epoch + 1,
    push_attempts = r.push_attempts + 1
from pick
where r.id = pick.id
returning r.id, r.push_epoch as epoch
