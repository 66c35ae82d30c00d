-- Called by gate while the trial is ours: others leave it alone for so long.
update report.push_breaker
set until = clock_timestamp() + make_interval(secs => $3)
where channel = $1 and state = 'trial' and owner = $2
