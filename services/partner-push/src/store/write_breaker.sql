-- Called by gate under the breaker's lock.
update report.push_breaker
set state = $2, streak = $3, trips = $4, until = clock_timestamp() + make_interval(secs => $5), owner = null,
  cause = coalesce($6, cause), doubts = $7, changed_at = clock_timestamp()
where channel = $1
