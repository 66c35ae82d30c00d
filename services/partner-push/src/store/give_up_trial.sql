-- Called by gate when a process stops: another one may take the trial at once.
update report.push_breaker
set state = 'open', owner = null, until = clock_timestamp(), changed_at = clock_timestamp()
where channel = $1 and state = 'trial' and owner = $2
