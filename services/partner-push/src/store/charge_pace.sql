-- Called by gate after a claim while a backlog drains. $2 reports take $3 seconds; none left: the backlog is gone.
update report.push_breaker
set paced_until = greatest(paced_until, clock_timestamp()) + make_interval(secs => $3), draining = $2 > 0
where channel = $1 and draining
