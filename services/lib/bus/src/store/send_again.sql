-- Called by bus::outbox::send_again under the report's lock, when its record is proven absent. In an outage, and while what
-- gathered in one drains, the attempt is given back; while it lasts, the report also waits, so that the next trial is
-- another's.
update report.report r
set push_state = 'pending', push_epoch = r.push_epoch + 1, push_error = null,
    push_attempts = greatest(r.push_attempts - case when o.failing or o.draining then 1 else 0 end, 0),
    push_visible_at = clock_timestamp() + make_interval(secs => case when o.failing then $3::float8 else 0 end)
from (
  select coalesce(bool_or(b.state <> 'closed'), false) as failing, coalesce(bool_or(b.draining), false) as draining
  from report.push_breaker b
  where b.channel = (select channel from report.report where id = $1)
) o
where r.id = $1 and r.push_epoch = $2 and r.push_state = 'review'
