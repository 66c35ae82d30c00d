-- Called by gate when something failed, in a transaction of its own. Locks the breaker and nothing else.
select state, streak, trips, doubts, greatest(extract(epoch from until - clock_timestamp()), 0)::float8 as "left!"
from report.push_breaker
where channel = $1
for no key update
