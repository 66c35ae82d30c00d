-- How the way to each contractor stands, for whoever watches: `doubts` above 0 says that creates left reports in review.
set local lock_timeout = '5s';

create view metrics.breaker as
select channel, state, doubts, draining, changed_at
from report.push_breaker;

grant select on metrics.breaker to abisu_metrics;
