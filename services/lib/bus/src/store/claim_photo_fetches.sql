-- Called by bus::photo::claim, in autocommit. Index: photo_fetch_due. Locks the picked rows.
with pick as materialized (
  select report_id
  from report.photo_fetch
  where channel = $1 and failed_at is null and visible_at <= now()
  order by visible_at
  limit $3
  for no key update skip locked
)
update report.photo_fetch f
set visible_at = now() + make_interval(secs => $4), owner = $2, epoch = f.epoch + 1, attempts = f.attempts + 1
from pick
where f.report_id = pick.report_id
returning f.report_id, f.epoch, f.attempts, f.media_id, f.sha256, f.give_up_at, f.trace_context
