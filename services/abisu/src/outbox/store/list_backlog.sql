-- Called by `outbox backlog`. Index: report_oldest.
select reference as "reference!", received_at as "received_at!", route as "route!",
  photo_sha256 is not null as "has_photo!", photo_sha256 is null and not push_without_photo as "awaits_photo!",
  push_attempts, push_error, push_visible_at
from report.report
where channel = $1 and state = 'received' and push_state = 'pending'
order by received_at, reference
limit $2
