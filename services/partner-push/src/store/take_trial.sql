-- Called by gate when an open breaker's time is over, or when the owner of a trial has gone. One replica gets it.
update report.push_breaker
set state = 'trial', owner = $2, until = clock_timestamp() + make_interval(secs => $3), changed_at = clock_timestamp()
where channel = $1 and state in ('open', 'trial') and until <= clock_timestamp()
returning doubts, trips
